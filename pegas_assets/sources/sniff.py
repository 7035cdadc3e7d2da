"""What some bytes are: by their first bytes, then the header that came with them, then the name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from pegas_assets.sources.archive import member_names
from pegas_assets.sources.notebook import is_notebook
from pegas_assets.sources.subtitles import looks_like_subtitles
from pegas_assets.text.decoding import decode, looks_binary

_MAGIC: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png", "a PNG image"),
    (0, b"\xff\xd8\xff", "image/jpeg", "a JPEG image"),
    (0, b"GIF8", "image/gif", "a GIF image"),
    (8, b"WEBP", "image/webp", "a WebP image"),
    (0, b"II*\x00", "image/tiff", "a TIFF image"),
    (0, b"MM\x00*", "image/tiff", "a TIFF image"),
    (0, b"\x00\x00\x01\x00", "image/x-icon", "an icon"),
    (0, b"AT&TFORM", "image/vnd.djvu", "a DjVu document"),
    (0, b"\x1f\x8b", "application/gzip", "a gzip archive"),
    (0, b"BZh", "application/x-bzip2", "a bzip2 archive"),
    (0, b"\xfd7zXZ\x00", "application/x-xz", "an xz archive"),
    (0, b"(\xb5/\xfd", "application/zstd", "a zstd archive"),
    (0, b"7z\xbc\xaf'\x1c", "application/x-7z-compressed", "a 7z archive"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar", "a RAR archive"),
    (257, b"ustar", "application/x-tar", "a tar archive"),
    (0, b"\x7fELF", "application/x-executable", "a program"),
    (0, b"SQLite format 3\x00", "application/vnd.sqlite3", "an SQLite database"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage", "an old Microsoft Office document"),
    (0, b"{\\rtf", "application/rtf", "an RTF document"),
    (0, b"%!PS", "application/postscript", "a PostScript document"),
    (0, b"PAR1", "application/vnd.apache.parquet", "a Parquet file"),
    (0, b"\x00asm", "application/wasm", "a WebAssembly module"),
    (0, b"ID3", "audio/mpeg", "an MP3 recording"),
    (0, b"OggS", "audio/ogg", "an Ogg recording"),
    (0, b"fLaC", "audio/flac", "a FLAC recording"),
    (8, b"WAVE", "audio/wav", "a WAV recording"),
    (4, b"ftyp", "video/mp4", "an MP4 video"),
    (0, b"\x1aE\xdf\xa3", "video/x-matroska", "a Matroska video"),
    (0, b"wOFF", "font/woff", "a font"),
    (0, b"wOF2", "font/woff2", "a font"),
)
_OFFICE = (
    ("word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "a Word document"),
    ("xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "an Excel workbook"),
    ("ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation", "a PowerPoint file"),
)
_NO_BOOK = frozenset(("[content_types].xml", "meta-inf/manifest.mf"))
"""What Office files and programs have, which may hold the parts of a book as well."""

_HTML = re.compile(
    rb"\A\s*(?:<!--.*?-->\s*)*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*"
    rb"(?:<!doctype\s+html|<(?:html|head|body|title|meta|article|main|div|p|h1|table)[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_WHOLE_PAGE = re.compile(rb"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_XML = re.compile(rb"\A\s*<\?xml[\s>]|\A\s*<(?:rss|feed|svg|opml)[\s>]", re.IGNORECASE)
_FICTION_BOOK = re.compile(rb"\A\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<FictionBook[\s>]", re.DOTALL)
_FEED = re.compile(
    rb"\A\s*(?:<\?xml[^>]*\?>\s*)?(?:<\?[^>]*\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*"
    rb"<(?:rss[\s>]|(?:\w+:)?RDF[\s>][^>]*purl\.org/rss|feed[\s>][^>]*(?:w3\.org/2005/Atom|purl\.org/atom))",
    re.IGNORECASE | re.DOTALL,
)
_TEXTUAL = re.compile(
    r"text/.*|application/(?:(?:[\w.+-]*\+)?(?:json|xml|yaml)|x-yaml|toml|x-ndjson|javascript|x-sh|sql|x-httpd-php)"
)

_BY_SUFFIX = {
    ".md": "text/markdown", ".markdown": "text/markdown", ".mdx": "text/markdown", ".mkd": "text/markdown",
    ".txt": "text/plain", ".text": "text/plain", ".log": "text/plain", ".rst": "text/plain", ".org": "text/plain",
    ".adoc": "text/plain", ".tex": "text/plain", ".html": "text/html", ".htm": "text/html", ".xhtml": "text/html",
    ".csv": "text/csv", ".tsv": "text/tab-separated-values", ".json": "application/json",
    ".jsonl": "application/x-ndjson", ".ndjson": "application/x-ndjson", ".xml": "application/xml",
    ".yaml": "application/yaml", ".yml": "application/yaml", ".toml": "application/toml",
    ".ipynb": "application/x-ipynb+json", ".srt": "application/x-subrip", ".vtt": "text/vtt",
    ".pdf": "application/pdf", ".epub": "application/epub+zip",
}  # fmt: skip
CODE_SUFFIXES = {
    ".py": "python", ".js": "javascript", ".mjs": "javascript", ".jsx": "jsx", ".ts": "typescript", ".tsx": "tsx",
    ".go": "go", ".rs": "rust", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".hpp": "cpp", ".java": "java",
    ".kt": "kotlin", ".cs": "csharp", ".rb": "ruby", ".php": "php", ".swift": "swift", ".scala": "scala",
    ".sh": "sh", ".bash": "sh", ".sql": "sql", ".lua": "lua", ".pl": "perl", ".r": "r", ".css": "css", ".ini": "ini",
    ".cfg": "ini", ".proto": "proto", ".tf": "hcl",
}  # fmt: skip
"""Suffixes of source files, and the language that their code is in."""


@dataclass(frozen=True)
class Sniffed:
    """A media type in lower case without parameters, what to call such a thing, and whether it is text."""

    media_type: str
    name: str
    textual: bool


_EPUB = Sniffed("application/epub+zip", "an EPUB book", False)
_ARCHIVE_BY_SUFFIX = {".epub": _EPUB} | {
    suffix: Sniffed(media_type, name, False)
    for (_, media_type, name), suffixes in zip(
        _OFFICE, ((".docx", ".docm", ".dotx"), (".xlsx", ".xlsm", ".xltx"), (".pptx", ".pptm", ".ppsx")), strict=True
    )
    for suffix in suffixes
}


def sniff(body: bytes, *, media_type: str = "", name: str = "") -> Sniffed:
    """The kind of some bytes. Their own first bytes win over the declared type, and that over the name.

    Declared types that say nothing (`application/octet-stream`, `binary/octet-stream`, `text/plain`) give way to the
    name; HTML and JSON are recognised whatever was declared.
    """
    declared = media_type.split(";")[0].strip().lower()
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    if (magic := _by_magic(body)) is not None:
        # An archive that does not say what it is may be damaged: its reader tells.
        return _ARCHIVE_BY_SUFFIX.get(suffix, magic) if magic.media_type == "application/zip" else magic
    if "application/epub+zip" in (declared, _BY_SUFFIX.get(suffix)) and b"PK\x03\x04" in body:
        # Damaged at its beginning: the reader sees what is left.
        return _EPUB
    if looks_binary(body):
        kind = declared if declared and not _TEXTUAL.fullmatch(declared) else "application/octet-stream"
        return Sniffed(kind, "a binary file", False)
    by_name = _BY_SUFFIX.get(suffix) or (f"text/x-{CODE_SUFFIXES[suffix]}" if suffix in CODE_SUFFIXES else "")
    head = _as_utf8(body[:4096])
    if _FICTION_BOOK.match(head):
        return Sniffed("application/x-fictionbook+xml", "a FictionBook", True)
    if _FEED.match(head) and by_name in ("", "text/html", "application/xml", "text/plain"):
        return Sniffed("application/rss+xml", "a feed", True)
    # A Markdown file may open with a tag, a program may hold one: there the name knows better.
    if _HTML.match(head) and by_name in ("", "text/html", "application/xml", "text/plain"):
        if by_name == "text/plain" and declared != "text/html":
            return Sniffed("text/plain", "a text", True)
        if declared == "text/markdown" and not _WHOLE_PAGE.search(head):
            return Sniffed("text/markdown", "a text", True)
        return Sniffed("text/html", "a web page", True)
    if by_name in ("", "text/html") and head.lstrip().startswith(b"<") and _WHOLE_PAGE.search(head):
        # What a server's own troubles put before the page.
        return Sniffed("text/html", "a web page", True)
    if by_name in ("", "text/html", "text/plain", "application/pdf", "application/epub+zip") and _json(head, body):
        kind = "application/x-ipynb+json" if is_notebook(decode(body).text) else "application/json"
        return Sniffed(kind, "JSON", True)
    if by_name in ("", "text/plain") and looks_like_subtitles(decode(body[:4096]).text):
        return Sniffed("text/vtt" if head.startswith(b"WEBVTT") else "application/x-subrip", "subtitles", True)
    if declared in ("text/html", "application/xhtml+xml"):
        return Sniffed("text/html", "a web page", True)
    if by_name in ("application/pdf", "application/epub+zip"):
        by_name = ""
    if by_name and declared in ("", "text/plain", "application/octet-stream", "binary/octet-stream"):
        return Sniffed(by_name, "a text", True)
    if _XML.match(head):
        return Sniffed("application/xml", "XML", True)
    if _TEXTUAL.fullmatch(declared):
        return Sniffed(declared, "a text", True)
    return Sniffed("text/plain", "a text", True)


def is_html(body: bytes) -> bool:
    """Whether some bytes open as a web page does."""
    return bool(_HTML.match(_as_utf8(body[:4096])))


def _by_magic(body: bytes) -> Sniffed | None:
    if b"%PDF-" in body[:1024]:
        return Sniffed("application/pdf", "a PDF document", False)
    if body.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zipped(body)
    for at, mark, media_type, name in _MAGIC:
        if body[at : at + len(mark)] == mark and (at == 0 or looks_binary(body)) and _sure(mark, body):
            return Sniffed(media_type, name, False)
    return None


def _zipped(body: bytes) -> Sniffed:
    """What is in a ZIP, by the names in it."""
    # Only there: an archive of books holds the same words a little later.
    if body[30:38] == b"mimetype" and b"application/epub+zip" in body[38:200]:
        return _EPUB
    names = {name.lower() for name in member_names(body)}
    if not names & _NO_BOOK and any(name.endswith(("meta-inf/container.xml", ".opf")) for name in names):
        return _EPUB
    if len(names) == 1 and next(iter(names)).endswith(".fb2"):
        return Sniffed("application/x-zip-compressed-fb2", "a FictionBook", False)
    if "[content_types].xml" in names:
        for folder, media_type, name in _OFFICE:
            if any(member.startswith(folder) for member in names):
                return Sniffed(media_type, name, False)
    if b"mimetypeapplication/vnd.oasis.opendocument" in body[:200]:
        return Sniffed("application/vnd.oasis.opendocument", "an OpenDocument file", False)
    return Sniffed("application/zip", "a ZIP archive", False)


def _as_utf8(head: bytes) -> bytes:
    """The first bytes with their mark gone and two-byte encodings undone, so that tags can be seen."""
    if b"\x00" in head or head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return decode(head).text.encode("utf-8", "replace")
    return head.removeprefix(b"\xef\xbb\xbf")


def _sure(mark: bytes, body: bytes) -> bool:
    """Marks that are letters could open a text as well: there the rest must be binary."""
    return looks_binary(body) if mark.isalnum() and len(mark) < 5 else True


def _json(head: bytes, body: bytes) -> bool:
    if head.lstrip()[:1] not in (b"{", b"[") or len(body) > 5_000_000:
        return False
    import json

    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
