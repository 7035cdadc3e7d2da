"""The blocks of a Word document: its styles tell headings, lists, quotes and code; runs as they are shown."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pegas_assets.model import BlockKind
from pegas_assets.sources.office import OfficeBlock, OfficeContent
from pegas_assets.sources.page_code import fenced
from pegas_assets.sources.pipe_table import pipe_row
from pegas_assets.sources.word_numbers import Numbering
from pegas_assets.sources.word_text import W, WordText, children, first

if TYPE_CHECKING:
    from docx.document import Document

_HEADING = re.compile(
    r"^(?:heading|заголовок|titre|überschrift|título|titolo|kop|nagłówek|rubrik|标题|見出し)\s*(\d)\b", re.IGNORECASE
)
_CODE = re.compile(r"\b(?:code|source|listing|preformatted|листинг|код)\b", re.IGNORECASE)
_QUOTE = re.compile(r"\b(?:quote|quotation|цитата)\b", re.IGNORECASE)
_CONTENTS = re.compile(r"^(?:toc|оглавление)\s*\d|^table of figures", re.IGNORECASE)
_LIST = re.compile(r"^list (bullet|number)|^маркированный список|^нумерованный список", re.IGNORECASE)
_MONO = re.compile(r"courier|consolas|mono|menlo|lucida console", re.IGNORECASE)


def read_word(body: bytes, max_chars: int) -> OfficeContent:
    """Runs where `confined` runs it. The whole document without heads, feet, what was deleted and what is hidden."""
    import docx

    document = docx.Document(io.BytesIO(body))
    reading = _Reading(document)
    reading.read(document.element.body)
    properties = document.core_properties
    when = properties.created
    # What the template was made is no date of the document.
    published = when.date().isoformat() if when and when.year > 2013 else ""
    content = OfficeContent(
        blocks=reading.finished(),
        title=reading.title or (properties.title or ""),
        author=properties.author if properties.author not in ("python-docx", None) else "",
        published=published,
        pictures=sum(1 for _ in document.element.body.iter(f"{W}drawing", f"{W}pict")),
        meta={"paragraphs": reading.number},
    )
    return content


class _Reading:
    def __init__(self, document: Document) -> None:
        self.number = 0
        self.title = ""
        self._styles = {style.style_id: style for style in document.styles}
        self._default = next((style.style_id for style in document.styles if _is_default(style)), "")
        self._text = WordText(document)
        self._numbering = Numbering(document)
        self._blocks: list[OfficeBlock] = []

    def finished(self) -> list[OfficeBlock]:
        """The blocks, runs of code and of list items joined, and the notes and comments after them."""
        blocks = list(_joined(self._blocks))
        for text, at in self._text.notes():
            blocks.append(OfficeBlock(BlockKind.PARAGRAPH, text, at or self.number))
        return blocks

    def read(self, container: Any) -> None:
        for child in container:
            tag = child.tag
            if tag == f"{W}p":
                self._paragraph(child)
            elif tag == f"{W}tbl":
                self._table(child)
            elif tag in (f"{W}sdt", f"{W}ins", f"{W}moveTo", f"{W}customXml", f"{W}sdtContent"):
                self.read(
                    first(child, "sdtContent") if tag == f"{W}sdt" and first(child, "sdtContent") is not None else child
                )

    def _paragraph(self, paragraph: Any) -> None:
        self.number += 1
        self._text.at = self.number
        text = self._text.of(paragraph)
        boxes = self._text.boxes_of(paragraph)
        style = self._style_of(paragraph)
        name = style.name or "" if style is not None else ""
        if text.strip() and not _CONTENTS.match(name):
            self._add(paragraph, style, name, text)
        for box in boxes:
            self.read(box)

    def _add(self, paragraph: Any, style: Any, name: str, text: str) -> None:
        level = self._level(paragraph, style, name)
        marker, depth = self._numbering.marker(paragraph, style)
        if name.lower() in ("title", "название") and not self.title:
            self.title = " ".join(text.split())
            level = 1
        elif level and self.title:
            # Under the title, chapters are the second level.
            level += 1
        if level:
            heading = f"{marker} {text}" if marker and marker != "-" else text
            self._blocks.append(OfficeBlock(BlockKind.HEADING, heading, self.number, level=min(level, 6)))
        elif _CODE.search(name) or self._is_mono(paragraph):
            self._blocks.append(OfficeBlock(BlockKind.CODE, self._text.of(paragraph, code=True), self.number))
        elif marker or _LIST.match(name):
            item = f"{'  ' * depth}{marker or '-'} {' '.join(text.split())}"
            self._blocks.append(OfficeBlock(BlockKind.LIST, item, self.number))
        elif _QUOTE.search(name):
            quoted = "\n".join(f"> {line}" for line in text.split("\n"))
            self._blocks.append(OfficeBlock(BlockKind.QUOTE, quoted, self.number))
        else:
            self._blocks.append(OfficeBlock(BlockKind.PARAGRAPH, text, self.number))

    def _table(self, table: Any) -> None:
        rows = list(children(table, "tr"))
        if len(rows) == 1 and len(list(children(rows[0], "tc"))) == 1:
            # One cell is a box around paragraphs.
            self.read(next(children(rows[0], "tc")))
            return
        lines: list[tuple[int, str]] = []
        for row in rows:
            at = self.number + 1
            cells: list[str] = []
            for cell in children(row, "tc"):
                properties = first(cell, "tcPr")
                merged = first(properties, "vMerge") if properties is not None else None
                span = first(properties, "gridSpan") if properties is not None else None
                width = span.get(f"{W}val") if span is not None else "1"
                text = self._cell(cell)
                goes_on = merged is not None and merged.get(f"{W}val") != "restart"
                cells.append("" if goes_on else text)
                cells.extend([""] * (min(int(width), 50) - 1 if width and width.isdigit() else 0))
            if any(cells):
                lines.append((at, pipe_row(cells)))
        if lines:
            width = max(line.count(" | ") for _, line in lines) + 1
            lines.insert(1, (0, "|" + "---|" * width))
            self._blocks.append(OfficeBlock(BlockKind.TABLE, "", lines[0][0], rows=lines))

    def _cell(self, cell: Any) -> str:
        """The text of a cell, its paragraphs on lines; of a table inside it, cell by cell."""
        parts: list[str] = []
        for part in cell.iter(f"{W}p"):
            self.number += 1
            self._text.at = self.number
            parts.append(self._text.of(part))
        return "\n".join(part for part in parts if part.strip())

    def _style_of(self, paragraph: Any) -> Any:
        properties = first(paragraph, "pPr")
        named = first(properties, "pStyle") if properties is not None else None
        return self._styles.get(named.get(f"{W}val") if named is not None else self._default)

    def _level(self, paragraph: Any, style: Any, name: str) -> int:
        properties = first(paragraph, "pPr")
        outline = first(properties, "outlineLvl") if properties is not None else None
        seen = 0
        while outline is None and style is not None and seen < 12:
            if match := _HEADING.match(style.name or ""):
                return int(match.group(1)) or 1
            own = first(style.element, "pPr")
            outline = first(own, "outlineLvl") if own is not None else None
            style, seen = style.base_style, seen + 1
        if outline is None:
            return 0
        level = outline.get(f"{W}val") or "9"
        return int(level) + 1 if level.isdigit() and int(level) < 9 else 0

    def _is_mono(self, paragraph: Any) -> bool:
        """Whether all of it is set in a typewriter's font."""
        fonts = []
        for run in paragraph.iter(f"{W}r"):
            if not "".join(text.text or "" for text in run.iter(f"{W}t")).strip():
                continue
            properties = first(run, "rPr")
            font = first(properties, "rFonts") if properties is not None else None
            fonts.append((font.get(f"{W}ascii") or "") if font is not None else "")
        return bool(fonts) and all(_MONO.search(font) for font in fonts)


def _is_default(style: Any) -> bool:
    return style.element.get(f"{W}default") in ("1", "true") and style.element.get(f"{W}type") == "paragraph"


def _joined(blocks: list[OfficeBlock]) -> Iterator[OfficeBlock]:
    """Items that follow each other as one list, lines of code as one listing."""
    run: list[OfficeBlock] = []
    for block in [*blocks, None]:
        if run and (block is None or block.kind is not run[0].kind or _is_other_list(run[0], block)):
            yield _one(run)
            run = []
        if block is None:
            return
        if block.kind in (BlockKind.LIST, BlockKind.CODE):
            run.append(block)
        else:
            yield block


def _is_other_list(opening: OfficeBlock, block: OfficeBlock) -> bool:
    """Whether bullets follow numbers, or numbers bullets."""
    bullets = [one.text.startswith("-") for one in (opening, block) if not one.text.startswith(" ")]
    return block.kind is BlockKind.LIST and len(set(bullets)) > 1


def _one(run: list[OfficeBlock]) -> OfficeBlock:
    text = "\n".join(block.text for block in run)
    if run[0].kind is BlockKind.CODE:
        return OfficeBlock(BlockKind.CODE, fenced(text), run[0].at)
    kind = BlockKind.LIST if len(run) > 1 else BlockKind.PARAGRAPH
    return OfficeBlock(kind, text, run[0].at)
