"""What MuPDF sees in a PDF: the lines of each page with their places and fonts, its ruled tables, its outline.

Runs in a process of its own (`confined`). What a reader of the page would not see is left out here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pegas_assets.errors import Refused
from pegas_assets.sources.pdf_rules import ruled_tables

MAX_PAGES = 20_000
_BOLD = 16
_MONO = 8
_SUPERSCRIPT = 1
_PAINTED = 16 | 32
"""Of a span's `char_flags`: filled, stroked. Text with neither is drawn invisible, as the text under a scan is."""
_WHITE = 0xF4


@dataclass
class RawLine:
    """One line of text; places in points from the top left of the page, as it is shown."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool = False
    mono: bool = False
    upright: bool = True


@dataclass
class RawTable:
    """A table with rules: its cells by row, None where a cell reaches over from its neighbour."""

    x0: float
    y0: float
    x1: float
    y1: float
    rows: list[list[str | None]]


@dataclass
class RawPage:
    width: float
    height: float
    lines: list[RawLine] = field(default_factory=list)
    tables: list[RawTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Of annotations and form fields."""
    image_share: float = 0.0
    """How much of the page its largest image takes, where that had to be asked."""
    unmapped: int = 0
    """Glyphs for which the font names no character."""
    failed: str = ""


@dataclass
class RawPdf:
    pages: list[RawPage]
    outline: list[tuple[int, str, int]]
    """Level from 1, title, page from 1."""
    metadata: dict[str, str]
    language: str = ""
    repaired: bool = False
    labels: list[str] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)


def read_raw(body: bytes, item: str, max_chars: int) -> RawPdf:
    """Raises:
    Refused: no PDF, locked, damaged beyond repair, without pages, or longer than may be read.
    """
    document = _opened(body, item)
    if document.needs_pass:
        raise Refused(
            "The PDF needs a password.",
            hint="Give it once with --password or in PEGAS_PASSWORD; it is not kept.",
            item=item,
        )
    count = document.page_count
    if not count:
        raise damaged("it has no pages", item)
    if count > MAX_PAGES:
        raise Refused(f"The PDF has {count:,} pages; at most {MAX_PAGES:,} are read.", hint="Split it.", item=item)
    pages: list[RawPage] = []
    characters = 0
    for number in range(count):
        page = _page(document, number)
        characters += sum(len(line.text) for line in page.lines)
        if characters > max_chars:
            raise Refused(f"The PDF has more than {max_chars:,} characters.", hint="Split the file.", item=item)
        pages.append(page)
    return RawPdf(
        pages=pages,
        outline=_outline(document, count),
        metadata={key: str(value) for key, value in (document.metadata or {}).items() if value},
        language=_language(document),
        repaired=bool(document.is_repaired),
        labels=_labels(document, count),
        attachments=_attachments(document),
    )


def unlocked(body: bytes, password: str, item: str) -> bytes:
    """The same PDF without its lock; the same bytes where it has none.

    Raises:
        Refused: the password is wrong or missing, or the file is damaged.
    """
    import pymupdf

    document = _opened(body, item)
    if not document.needs_pass:
        return body
    if not password or not document.authenticate(password):
        raise Refused(
            "The PDF needs a password." if not password else "The password of the PDF is wrong.",
            hint="Give it once with --password or in PEGAS_PASSWORD; it is not kept.",
            item=item,
        )
    return bytes(document.tobytes(encryption=pymupdf.PDF_ENCRYPT_NONE, no_new_id=True))


def is_locked(body: bytes) -> bool:
    """Raises:
    Refused: it is damaged.
    """
    return bool(_opened(body, "").needs_pass)


def damaged(why: str, item: str) -> Refused:
    return Refused(f"The PDF is damaged: {why}.", hint="Download or export it again.", item=item)


def _opened(body: bytes, item: str) -> Any:
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    start = body.find(b"%PDF-", 0, 1024)
    try:
        document = pymupdf.open(stream=body, filetype="pdf")
    except Exception:  # noqa: BLE001 - MuPDF has many errors for one thing
        raise damaged("it is cut off, or not a PDF inside", item) from None
    if start < 0 or not document.is_pdf:
        raise damaged("it is not a PDF inside", item)
    return document


def _page(document: Any, number: int) -> RawPage:
    try:
        page = document.load_page(number)
        rect = page.rect
    except Exception as error:  # noqa: BLE001 - one page that cannot be had leaves the others
        return RawPage(0.0, 0.0, failed=_reason(error))
    raw = RawPage(rect.width, rect.height)
    try:
        _read_lines(page, raw)
        if len(raw.lines) > 3:
            raw.tables = _ruled_tables(page)
        seen = "\n".join(line.text for line in raw.lines)
        raw.notes = list(_notes(page, seen))
    except Exception as error:  # noqa: BLE001
        raw.failed = _reason(error)
        if "malloc" in raw.failed:
            raise MemoryError from None
    return raw


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__


def _read_lines(page: Any, raw: RawPage) -> None:
    import pymupdf

    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
    blocks = page.get_text("dict", flags=flags)["blocks"]
    lines = [line for block in blocks for line in block.get("lines", ())]
    if any(_invisible(span) for line in lines for span in line["spans"]) or not lines:
        raw.image_share = _image_share(page)
        # Letters drawn as shapes are a picture too.
        if not lines and not raw.image_share and len(page.get_cdrawings()) > 20:
            raw.image_share = 1.0
    shades = _Backgrounds(page)
    for line in lines:
        spans = [
            span
            for span in line["spans"]
            if (raw.image_share > 0.4 if _invisible(span) else not shades.hides(span)) and span["size"] >= 1.5
        ]
        text = "".join(span["text"] for span in spans)
        if not text.strip():
            continue
        raw.unmapped += text.count("\ufffd")
        x0, y0, x1, y1 = line["bbox"]
        if x1 < 0 or y1 < 0 or x0 > raw.width or y0 > raw.height:
            continue
        main = max(spans, key=lambda span: len(span["text"].strip()))
        solid = [span for span in spans if span["text"].strip()]
        raw.lines.append(
            RawLine(
                text=text,
                x0=x0,
                y0=y0,
                x1=x1,
                y1=y1,
                size=round(main["size"], 1),
                bold=all(_is_bold(span) for span in solid),
                mono=all(span["flags"] & _MONO for span in solid),
                upright=abs(line["dir"][0]) > 0.9 or line["wmode"] == 1,
            )
        )


def _invisible(span: dict[str, Any]) -> bool:
    return not span["char_flags"] & _PAINTED


def _is_bold(span: dict[str, Any]) -> bool:
    return bool(span["flags"] & _BOLD) or "bold" in span["font"].lower() or "black" in span["font"].lower()


class _Backgrounds:
    """Tells white text on a white page, which nobody sees, from white text on a dark bar. Looks only where it must."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._dark: list[Any] | None = None

    def hides(self, span: dict[str, Any]) -> bool:
        if span.get("alpha", 255) < 13:
            return True
        color = span["color"]
        if min(color >> 16 & 255, color >> 8 & 255, color & 255) < _WHITE:
            return False
        if self._dark is None:
            self._dark = [
                drawing["rect"]
                for drawing in self._page.get_cdrawings()
                if drawing.get("fill") and min(drawing["fill"]) < 0.9
            ]
            self._dark += [image["bbox"] for image in self._page.get_image_info()]
        x0, y0, x1, y1 = span["bbox"]
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        return not any(left <= x <= right and top <= y <= bottom for left, top, right, bottom in self._dark)


def _image_share(page: Any) -> float:
    whole = max(1.0, page.rect.width * page.rect.height)
    sizes = [
        max(0.0, (right - left) * (bottom - top))
        for left, top, right, bottom in (image["bbox"] for image in page.get_image_info())
    ]
    return float(min(1.0, max(sizes, default=0.0) / whole))


def _ruled_tables(page: Any) -> list[RawTable]:
    """Tables whose cells have rules around them."""
    import pymupdf

    found = ruled_tables(page.get_cdrawings())
    words = page.get_text("words", flags=pymupdf.TEXT_MEDIABOX_CLIP) if found else []
    tables = []
    for table in found:
        rows = table.rows(words)
        if sum(bool(cell) for row in rows for cell in row) >= 3:
            tables.append(RawTable(*table.box, rows))
    return tables


def _notes(page: Any, seen: str) -> Iterator[str]:
    """What readers wrote on the page, and what a form's fields hold, where it is not drawn as text anyway."""
    for annotation in page.annots() or ():
        content = (annotation.info.get("content") or "").strip()
        if content and annotation.type[1] not in ("Link", "Popup", "Widget") and content not in seen:
            yield content
    for widget in page.widgets() or ():
        value = str(widget.field_value or "").strip()
        name = (widget.field_label or widget.field_name or "").strip()
        if value and value not in seen and widget.field_type_string in ("Text", "ComboBox", "ListBox"):
            yield f"{name}: {value}" if name else value


def _outline(document: Any, pages: int) -> list[tuple[int, str, int]]:
    try:
        entries = document.get_toc(simple=True)
    except Exception:  # noqa: BLE001 - an outline is a help, not the text
        return []
    outline = []
    for level, title, page in entries[:5000]:
        title = " ".join(str(title).split())
        if title:
            outline.append((max(1, int(level)), title[:300], min(max(1, int(page)), pages)))
    return outline


def _language(document: Any) -> str:
    try:
        kind, value = document.xref_get_key(document.pdf_catalog(), "Lang")
    except Exception:  # noqa: BLE001
        return ""
    return str(value)[:2].lower() if kind == "string" else ""


def _labels(document: Any, pages: int) -> list[str]:
    try:
        if not document.get_page_labels():
            return []
        return [document[number].get_label() for number in range(min(pages, 5000))]
    except Exception:  # noqa: BLE001
        return []


def _attachments(document: Any) -> list[str]:
    try:
        return [str(name)[:200] for name in document.embfile_names()][:50]
    except Exception:  # noqa: BLE001
        return []
