"""The slides of a PowerPoint file: title, texts from the top down, tables, and the speaker's notes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from pegas_assets.model import BlockKind
from pegas_assets.sources.office import OfficeBlock, OfficeContent
from pegas_assets.sources.pipe_table import pipe_table


def read_slides(body: bytes, max_chars: int) -> OfficeContent:
    """Runs where `confined` runs it. A slide is a page; hidden ones are left out."""
    import pptx

    deck = pptx.Presentation(io.BytesIO(body))
    blocks: list[OfficeBlock] = []
    pictures = 0
    for number, slide in enumerate(deck.slides, 1):
        if slide.element.get("show") == "0":
            continue
        title = slide.shapes.title
        heading = " ".join(title.text_frame.text.split()) if title is not None and title.has_text_frame else ""
        if heading:
            blocks.append(OfficeBlock(BlockKind.HEADING, heading, number, level=2))
        for shape in sorted(_shapes(slide.shapes), key=_place):
            if title is not None and shape.shape_id == title.shape_id:
                continue
            if getattr(shape, "has_table", False) and shape.has_table:
                table = pipe_table([[cell.text for cell in row.cells] for row in shape.table.rows])
                blocks.append(OfficeBlock(BlockKind.TABLE, table, number))
            elif shape.has_text_frame:
                blocks.extend(_text(shape.text_frame, number))
            elif hasattr(shape, "image"):
                pictures += 1
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = slide.notes_slide.notes_text_frame.text.strip()
            if notes:
                blocks.append(OfficeBlock(BlockKind.PARAGRAPH, f"Notes: {notes}", number))
    properties = deck.core_properties
    created = properties.created
    return OfficeContent(
        blocks=blocks,
        title=properties.title or "",
        author=properties.author or "",
        published=created.date().isoformat() if created and created.year > 2013 else "",
        pictures=pictures,
        meta={"pages": len(deck.slides)},
    )


def _shapes(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _place(shape: Any) -> tuple[int, int]:
    return (shape.top or 0) // 100_000, shape.left or 0


def _text(frame: Any, number: int) -> Iterator[OfficeBlock]:
    """Paragraphs; those of several are points of a list, set in by their level."""
    lines = [(part.level, " ".join(part.text.replace("\v", " ").split())) for part in frame.paragraphs]
    lines = [(level, text) for level, text in lines if text]
    if len(lines) > 1:
        listed = "\n".join(f"{'  ' * level}- {text}" for level, text in lines)
        yield OfficeBlock(BlockKind.LIST, listed, number)
    elif lines:
        yield OfficeBlock(BlockKind.PARAGRAPH, lines[0][1], number)
