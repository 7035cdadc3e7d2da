"""Reads PDF: pages in reading order, with their headings, tables and code, and what the file says of itself."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from pegas_assets.errors import Refused
from pegas_assets.model import BlockKind, DocumentKind, ParsedDocument
from pegas_assets.sources.blocks import Marks, SourceBlock
from pegas_assets.sources.chunking import CHUNKER
from pegas_assets.sources.confined import confined
from pegas_assets.sources.pdf_flow import Flow, FlowBlock
from pegas_assets.sources.pdf_furniture import without_furniture
from pegas_assets.sources.pdf_layout import reading_order
from pegas_assets.sources.pdf_outline import with_outline
from pegas_assets.sources.pdf_raw import RawPdf
from pegas_assets.sources.reading import Reading
from pegas_assets.text.cleaning import clean_text
from pegas_assets.text.language import detect_language

READER = "pdf/1"

_FEW_CHARS = 20
"""A page with less text than this beside a picture of the page is a scan."""
_NO_TITLE = re.compile(
    r"^(?:untitled|unknown|document\d*|title|slide \d+|powerpoint presentation|безымянный|документ\d*|без имени.*)$"
    r"|\.(?:docx?|tex|dvi|pdf|pptx?|xlsx?|rtf|odt|indd|qxd|pm[56]|ps|html?|txt)$|^(?:microsoft|untitled)\b.* - ",
    re.IGNORECASE,
)
_DATE = re.compile(r"^(?:D:)?((?:19|20)\d{2})(\d{2})?(\d{2})?")


def read_pdf(body: bytes, reading: Reading) -> ParsedDocument:
    """A document from the bytes of a PDF; its chunks say their pages, counted from 1.

    Repeated heads, feet and page numbers go; words cut at line ends are joined; a paragraph goes on over the page's end.
    Ruled tables and rows of cells become pipe tables, lines in a typewriter's font code. Headings are told by the
    outline, and else by their size. Text that nobody sees is left out, the text under a scan is kept.

    Raises:
        Refused: locked, damaged beyond repair, or without text (`needs_ocr`); longer than `max_chars`.
    """
    raw: RawPdf = confined(
        "pegas_assets.sources.pdf_raw:read_raw", body, reading.name, reading.max_chars, item=reading.name
    )
    warnings = list(_warnings(raw))
    _require_text(raw, reading.name, warnings)
    for page, lines in zip(raw.pages, without_furniture(raw.pages), strict=True):
        page.lines = lines
    flow = Flow([(number, reading_order(page)) for number, page in enumerate(raw.pages, 1)])
    content = with_outline(flow.blocks(), raw, flow.body_size)
    text, blocks, marks = _written(content)
    if not text.strip():
        raise _no_text(raw, reading.name)
    language = detect_language(
        _prose(text, blocks), hint=raw.language if re.fullmatch("[a-z]{2}", raw.language) else "und"
    )
    meta: dict[str, object] = {"pages": len(raw.pages)}
    if raw.labels and raw.labels != [str(number) for number in range(1, len(raw.labels) + 1)]:
        meta["page_labels"] = raw.labels
    return ParsedDocument(
        kind=DocumentKind.PDF,
        text=text,
        chunks=reading.cut(text, blocks, language=language, marks=marks),
        title=_title(raw, content, flow.body_size, reading.name),
        language=language,
        author=_flat(raw.metadata.get("author", ""))[:300],
        published=_date(raw.metadata.get("creationDate", "")),
        meta=meta,
        warnings=tuple(warnings),
        reader=f"{READER}+{CHUNKER}",
    )


def unlocked_pdf(body: bytes, password: str, item: str = "") -> bytes:
    """A locked PDF without its lock, so that its password need not be kept; any other bytes as they are.

    Raises:
        Refused: the password is wrong, or the file is damaged.
    """
    if b"%PDF-" not in body[:1024] or b"/Encrypt" not in body:
        return body
    opened: bytes = confined("pegas_assets.sources.pdf_raw:unlocked", body, password, item, item=item)
    return opened


def is_locked_pdf(body: bytes) -> bool:
    """Whether some bytes are a PDF that opens only with a password; not so one that is only locked against changes."""
    if b"%PDF-" not in body[:1024] or b"/Encrypt" not in body:
        return False
    try:
        return bool(confined("pegas_assets.sources.pdf_raw:is_locked", body, item=""))
    except Refused:
        return False


def _warnings(raw: RawPdf) -> list[str]:
    warnings = []
    if raw.repaired:
        warnings.append("The file was damaged and was repaired: pages may be missing.")
    failed = [number for number, page in enumerate(raw.pages, 1) if page.failed]
    if failed:
        warnings.append(f"{_pages(failed)} could not be read.")
    unmapped = sum(page.unmapped for page in raw.pages)
    if unmapped:
        warnings.append(f"The fonts name no character for {unmapped:,} of the glyphs: these are lost.")
    if raw.attachments:
        warnings.append(f"Files inside the PDF were not read: {', '.join(raw.attachments)[:200]}.")
    return warnings


def _require_text(raw: RawPdf, name: str, warnings: list[str]) -> None:
    """Pages without text are named; a file of such pages, or of glyphs that mean nothing, has none.

    Raises:
        Refused: `needs_ocr`.
    """
    empty = [
        number
        for number, page in enumerate(raw.pages, 1)
        if sum(len(line.text.strip()) for line in page.lines) < _FEW_CHARS and page.image_share > 0.1 and not page.notes
    ]
    letters = sum(len(line.text) for page in raw.pages for line in page.lines)
    unmapped = sum(page.unmapped for page in raw.pages)
    nothing = not any(line.text.strip() for page in raw.pages for line in page.lines) and not any(
        page.notes for page in raw.pages
    )
    if nothing or (unmapped > 0.5 * letters and letters):
        if all(page.failed for page in raw.pages):
            raise Refused(
                "The PDF is damaged: none of its pages can be read.", hint="Download or export it again.", item=name
            )
        raise _no_text(raw, name)
    if empty:
        warnings.append(
            f"{_pages(empty)} without a text layer: only a picture, which needs OCR and is not in the text."
        )


def _no_text(raw: RawPdf, name: str) -> Refused:
    count = len(raw.pages)
    if not any(page.image_share for page in raw.pages) and not any(page.unmapped for page in raw.pages):
        return Refused(f"The PDF has no text: its pages ({count}) are empty.", hint="Export it again.", item=name)
    refused = Refused(
        f"The PDF has no text layer: its pages ({count}) need OCR.",
        hint="Run OCR over it (ocrmypdf does) and ingest the result.",
        item=name,
    )
    refused.needs_ocr = True
    return refused


def _pages(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:20])) + (" …" if len(numbers) > 20 else "")
    return f"Page{'s' if len(numbers) > 1 else ''} {shown}"


def _written(content: list[FlowBlock]) -> tuple[str, list[SourceBlock], Marks]:
    """The text of all blocks, where each stands in it, and where the pages begin."""
    parts: list[str] = []
    blocks: list[SourceBlock] = []
    places: list[tuple[int, float]] = []
    length = 0
    for block in content:
        pieces = [(page, clean_text(text)) for page, text in block.pieces]
        if not any(text.strip() for _, text in pieces):
            continue
        if parts:
            parts.append("\n\n")
            length += 2
        start = length
        if block.kind is BlockKind.HEADING:
            parts.append("#" * block.level + " ")
            length += block.level + 1
        for at, (page, text) in enumerate(pieces):
            if not places or places[-1][1] != page:
                # The piece may open with the blank or line end that parts it from the one before.
                opens = length + len(text) - len(text.lstrip()) if at else start
                places.append((opens, float(page)))
            parts.append(text)
            length += len(text)
        title = "".join(text for _, text in pieces).strip() if block.kind is BlockKind.HEADING else ""
        blocks.append(SourceBlock(block.kind, start, length, level=block.level, title=title))
    return "".join(parts), blocks, Marks("page", tuple(places))


def _prose(text: str, blocks: list[SourceBlock]) -> str:
    prose = [text[block.start : block.end] for block in blocks if block.kind is not BlockKind.CODE]
    return "\n".join(prose)[:6000] or text[:6000]


def _title(raw: RawPdf, content: list[FlowBlock], body_size: float, name: str) -> str:
    """The file's own, where it means something; the largest text of the first page; the first heading; the name."""
    own = _flat(raw.metadata.get("title", ""))
    if len(own) > 2 and not _NO_TITLE.search(own):
        return own[:300]
    first = [block for block in content if block.page == 1 and block.kind is BlockKind.HEADING and block.size]
    if first:
        largest = max(first, key=lambda block: block.size)
        if largest.size > 1.1 * body_size:
            return _flat(largest.text)[:300]
    headings = [block for block in content if block.kind is BlockKind.HEADING]
    stem = PurePosixPath(name.replace("\\", "/")).stem
    # Of several chapters none is the title.
    if headings and sum(block.level <= headings[0].level for block in headings) == 1:
        return _flat(headings[0].text)[:300]
    return stem or _flat(content[0].text)[:80]


def _flat(text: str) -> str:
    return " ".join(clean_text(text).split())


def _date(value: str) -> str:
    match = _DATE.match(value)
    if not match:
        return ""
    year, month, day = match.groups()
    if not month or not 1 <= int(month) <= 12:
        return year
    return f"{year}-{month}" + (f"-{day}" if day and 1 <= int(day) <= 31 else "")
