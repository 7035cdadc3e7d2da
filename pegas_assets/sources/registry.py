"""From bytes to a document: finds the reader for what they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from pegas_assets.errors import Refused
from pegas_assets.model import DocumentKind, ParsedDocument
from pegas_assets.sources.chunking import CountTokens
from pegas_assets.sources.delimited import read_delimited
from pegas_assets.sources.epub import read_epub
from pegas_assets.sources.fb2 import read_fb2
from pegas_assets.sources.feed import read_feed
from pegas_assets.sources.notebook import read_notebook
from pegas_assets.sources.office import EXCEL, POWERPOINT, WORD, is_locked, read_office
from pegas_assets.sources.pdf import read_pdf
from pegas_assets.sources.reading import Reading
from pegas_assets.sources.records import JSON_LINES, read_records
from pegas_assets.sources.sitemap import is_sitemap
from pegas_assets.sources.sniff import Sniffed, is_html, sniff
from pegas_assets.sources.subtitles import read_subtitles
from pegas_assets.sources.text import read_text
from pegas_assets.sources.web import read_web

Reader = Callable[[bytes, Reading], ParsedDocument]


def _records(body: bytes, reading: Reading) -> ParsedDocument:
    """JSON as records where it holds some, else as code."""
    return read_records(body, reading) or read_text(body, reading)


READERS: dict[str, Reader] = {
    WORD: read_office,
    EXCEL: read_office,
    POWERPOINT: read_office,
    "text/html": read_web,
    "application/rss+xml": read_feed,
    "application/pdf": read_pdf,
    "text/csv": read_delimited,
    "text/tab-separated-values": read_delimited,
    "application/json": _records,
    JSON_LINES: _records,
    "application/x-ipynb+json": read_notebook,
    "application/x-subrip": read_subtitles,
    "text/vtt": read_subtitles,
    "application/epub+zip": read_epub,
    "application/x-fictionbook+xml": read_fb2,
    "application/x-zip-compressed-fb2": read_fb2,
}
"""Readers by media type. What is text and not here is read as text; what is not text and not here is refused."""


_CLAIMS = {
    ".pdf": "a PDF",
    ".epub": "a book",
    ".docx": "a Word document",
    ".xlsx": "an Excel workbook",
    ".pptx": "a PowerPoint file",
}
"""What a file's name promises, where that is no text."""


def parse(
    body: bytes,
    *,
    media_type: str = "",
    name: str = "",
    uri: str = "",
    charset: str = "",
    kind: DocumentKind | None = None,
    count_tokens: CountTokens | None = None,
    max_tokens: int = 512,
    max_chars: int = 20_000_000,
    default_encoding: str = "",
) -> ParsedDocument:
    """The document that some bytes are, cut into chunks. The same arguments give the same document.

    Args:
        body: the bytes as they came.
        media_type: the declared one; the bytes' own mark wins over it.
        name: a file name, for the kind and the title.
        uri: where it came from.
        charset: declared beside the bytes, as in a Content-Type header.
        kind: of the document's row; a stored atom and a fetched page keep theirs.
        count_tokens: tokens of a passage in the embedding model; a quarter of the characters where none is given.
        max_tokens: the most that model reads.
        max_chars: the longest text that is read.
        default_encoding: tried on text without any mark of its encoding.

    Raises:
        Refused: empty, binary, too long, nothing readable in it, or a kind that has no reader.
    """
    if not body.strip(b" \t\r\n\x00\xef\xbb\xbf"):
        raise Refused(
            "The document is empty: there is nothing to remember.", hint="Give one with words.", item=name or uri
        )
    found = sniff(body, media_type=media_type, name=name)
    if kind is DocumentKind.WEB and is_sitemap(body):
        raise Refused(
            "The page is a sitemap: a list of addresses, with nothing to remember.",
            hint="Take in the pages that it names: pegas ingest --sitemap URL.",
            item=uri or name,
        )
    if kind is DocumentKind.MANUAL and found.textual:
        # What an agent stored as its own words stays word for word, tags and all.
        found = Sniffed(media_type or "text/markdown", found.name, True)
    claimed = _CLAIMS.get(PurePosixPath(name).suffix.lower())
    if claimed and found.textual and is_html(body) and not uri.startswith(("http://", "https://")):
        raise Refused(
            f"The file is named as {claimed} and is HTML inside: most likely a page that asks to sign in, or an error.",
            hint="Download it again; or name it .html where the page itself is meant.",
            item=name or uri,
        )
    reader = READERS.get(found.media_type) or (read_text if found.textual else None)
    if reader is None:
        if is_locked(body):
            raise Refused(
                "The file is an Office document that needs a password.",
                hint="Save it without one, and ingest that.",
                item=name or uri,
            )
        raise _refused(found, name or uri)
    reading = Reading(
        media_type=found.media_type,
        name=name,
        uri=uri,
        charset=charset,
        default_encoding=default_encoding,
        count_tokens=count_tokens or _estimate,
        max_tokens=max_tokens,
        max_chars=max_chars,
    )
    document = reader(body, reading)
    if kind in (DocumentKind.MANUAL, DocumentKind.WEB, DocumentKind.CHAT) and document.kind is not kind:
        document = document.model_copy(update={"kind": kind})
    return document


def _refused(found: Sniffed, item: str) -> Refused:
    return Refused(
        f"The document is {found.name}, not text.", hint="Give text, Markdown, HTML, source or data files.", item=item
    )


def _estimate(text: str) -> int:
    return 2 + (len(text.encode()) + 3) // 4
