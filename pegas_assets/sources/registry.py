"""From bytes to a document: finds the reader for what they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from pegas_assets.sources.records import read_records
from pegas_assets.sources.sitemap import is_sitemap
from pegas_assets.sources.sniff import Sniffed, is_html, sniff
from pegas_assets.sources.subtitles import read_subtitles
from pegas_assets.sources.text import read_text
from pegas_assets.sources.web import read_web


@dataclass(frozen=True)
class Reading:
    """What a reader is told beside the bytes."""

    kind: Sniffed
    name: str
    uri: str
    charset: str
    default_encoding: str
    count_tokens: CountTokens
    max_tokens: int
    max_chars: int


Reader = Callable[[bytes, Reading], ParsedDocument]


def _text(body: bytes, reading: Reading) -> ParsedDocument:
    return read_text(
        body,
        count_tokens=reading.count_tokens,
        max_tokens=reading.max_tokens,
        name=reading.name,
        media_type=reading.kind.media_type,
        declared_charset=reading.charset,
        default_encoding=reading.default_encoding,
        max_chars=reading.max_chars,
    )


def _web(body: bytes, reading: Reading) -> ParsedDocument:
    return read_web(
        body,
        count_tokens=reading.count_tokens,
        max_tokens=reading.max_tokens,
        # After redirects the address that gave the bytes is the one that its links are relative to.
        url=reading.name if reading.name.startswith(("http://", "https://")) else reading.uri,
        charset=reading.charset,
        default_encoding=reading.default_encoding,
        max_chars=reading.max_chars,
    )


def _epub(body: bytes, reading: Reading) -> ParsedDocument:
    return _book(read_epub, body, reading)


def _fb2(body: bytes, reading: Reading) -> ParsedDocument:
    return _book(read_fb2, body, reading)


def _book(read: Callable[..., ParsedDocument], body: bytes, reading: Reading) -> ParsedDocument:
    return read(
        body,
        count_tokens=reading.count_tokens,
        max_tokens=reading.max_tokens,
        name=reading.name,
        default_encoding=reading.default_encoding,
        max_chars=reading.max_chars,
    )


def _feed(body: bytes, reading: Reading) -> ParsedDocument:
    return read_feed(
        body,
        count_tokens=reading.count_tokens,
        max_tokens=reading.max_tokens,
        name=reading.name,
        charset=reading.charset,
        default_encoding=reading.default_encoding,
        max_chars=reading.max_chars,
    )


def _pdf(body: bytes, reading: Reading) -> ParsedDocument:
    return read_pdf(
        body,
        count_tokens=reading.count_tokens,
        max_tokens=reading.max_tokens,
        name=reading.name,
        max_chars=reading.max_chars,
    )


def _delimited(body: bytes, reading: Reading) -> ParsedDocument:
    return read_delimited(
        body,
        count_tokens=reading.count_tokens,
        max_tokens=reading.max_tokens,
        name=reading.name,
        media_type=reading.kind.media_type,
        declared_charset=reading.charset,
        default_encoding=reading.default_encoding,
        max_chars=reading.max_chars,
    )


def _records(body: bytes, reading: Reading) -> ParsedDocument:
    found = read_records(
        body,
        count_tokens=reading.count_tokens,
        max_tokens=reading.max_tokens,
        name=reading.name,
        lines=reading.kind.media_type == "application/x-ndjson",
        declared_charset=reading.charset,
        default_encoding=reading.default_encoding,
        max_chars=reading.max_chars,
    )
    return found or _text(body, reading)


def _notebook(body: bytes, reading: Reading) -> ParsedDocument:
    return read_notebook(
        body,
        count_tokens=reading.count_tokens,
        max_tokens=reading.max_tokens,
        name=reading.name,
        max_chars=reading.max_chars,
    )


def _subtitles(body: bytes, reading: Reading) -> ParsedDocument:
    return read_subtitles(
        body,
        count_tokens=reading.count_tokens,
        max_tokens=reading.max_tokens,
        name=reading.name,
        declared_charset=reading.charset,
        default_encoding=reading.default_encoding,
        max_chars=reading.max_chars,
    )


def _office(body: bytes, reading: Reading) -> ParsedDocument:
    return read_office(
        body,
        count_tokens=reading.count_tokens,
        max_tokens=reading.max_tokens,
        media_type=reading.kind.media_type,
        name=reading.name,
        max_chars=reading.max_chars,
    )


READERS: dict[str, Reader] = {
    WORD: _office,
    EXCEL: _office,
    POWERPOINT: _office,
    "text/html": _web,
    "application/rss+xml": _feed,
    "application/pdf": _pdf,
    "text/csv": _delimited,
    "text/tab-separated-values": _delimited,
    "application/json": _records,
    "application/x-ndjson": _records,
    "application/x-ipynb+json": _notebook,
    "application/x-subrip": _subtitles,
    "text/vtt": _subtitles,
    "application/epub+zip": _epub,
    "application/x-fictionbook+xml": _fb2,
    "application/x-zip-compressed-fb2": _fb2,
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
    reader = READERS.get(found.media_type) or (_text if found.textual else None)
    if reader is None:
        if is_locked(body):
            raise Refused(
                "The file is an Office document that needs a password.",
                hint="Save it without one, and ingest that.",
                item=name or uri,
            )
        raise _refused(found, name or uri)
    reading = Reading(
        kind=found,
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
