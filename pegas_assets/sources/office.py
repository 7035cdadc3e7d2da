"""Reads Word documents, Excel workbooks and PowerPoint slides; the libraries run in a process of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath

from pegas_assets.errors import Refused
from pegas_assets.model import BlockKind, ParsedDocument
from pegas_assets.sources.archive import Caps, open_archive
from pegas_assets.sources.composing import Composer, composed
from pegas_assets.sources.confined import confined
from pegas_assets.sources.reading import Reading

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
POWERPOINT = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_UNITS = {WORD: "paragraph", EXCEL: "row", POWERPOINT: "page"}
_READERS = {WORD: "word", EXCEL: "workbook", POWERPOINT: "slides"}
_NAMES = {WORD: "Word document", EXCEL: "Excel workbook", POWERPOINT: "PowerPoint file"}


@dataclass
class OfficeBlock:
    """One block, or with `rows` a table; `at` is the number of its paragraph, row or slide, from 1."""

    kind: BlockKind
    text: str
    at: int
    level: int = 0
    info: str = ""
    rows: list[tuple[int, str]] = field(default_factory=list)
    """The lines of a table, each with its row number in the source."""


@dataclass
class OfficeContent:
    blocks: list[OfficeBlock]
    title: str = ""
    author: str = ""
    published: str = ""
    pictures: int = 0
    meta: dict[str, object] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def read_office(body: bytes, reading: Reading) -> ParsedDocument:
    """A document from the bytes of a .docx, .xlsx or .pptx, macro and template variants too.

    A block of a Word document says its paragraph, a row of a workbook its row, and a slide is a page.

    Raises:
        Refused: damaged, too large unpacked, longer than `max_chars`, or without text (`needs_ocr` where it has pictures).
    """
    kind = _NAMES[reading.media_type]
    # The libraries unpack all parts at once.
    archive = open_archive(body, shown=f"The {kind}", caps=Caps(declared_bytes=600_000_000))
    module = _READERS[reading.media_type]
    content: OfficeContent = confined(
        f"pegas_assets.sources.{module}:read_{module}", body, reading.max_chars, item=reading.name
    )
    composer = Composer(_UNITS[reading.media_type])
    for block in content.blocks:
        if block.rows:
            composer.add_lines(BlockKind.TABLE, [(at or None, line) for at, line in block.rows])
        else:
            composer.add(block.kind, block.text, at=block.at, level=block.level, info=block.info)
    if not composer.blocks:
        refused = Refused(
            f"The {kind} has no text" + (": it holds only pictures." if content.pictures else "."),
            hint="Run OCR over it, or give one with words." if content.pictures else "Give one with words.",
            item=reading.name,
        )
        refused.needs_ocr = content.pictures > 0
        raise refused
    return composed(
        composer,
        reading,
        reader=f"{module}/1",
        # The name of its first sheet says little of a workbook.
        title=content.title or (PurePosixPath(reading.name).stem if reading.media_type == EXCEL else ""),
        author=content.author,
        published=content.published,
        meta=content.meta,
        warnings=[*archive.warnings, *content.warnings],
    )


def is_locked(body: bytes) -> bool:
    """Whether some bytes are an Office file under a password, which is an old container around it."""
    return body.startswith(b"\xd0\xcf\x11\xe0") and "EncryptedPackage".encode("utf-16-le") in body
