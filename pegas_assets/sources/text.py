"""Reads plain text and Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from pegas_assets.errors import Refused
from pegas_assets.model import BlockKind, DocumentKind, ParsedDocument
from pegas_assets.sources.blocks import SourceBlock
from pegas_assets.sources.chunking import CHUNKER
from pegas_assets.sources.front_matter import FrontMatter, parse_front_matter
from pegas_assets.sources.markdown_blocks import markdown_blocks, plain_inline
from pegas_assets.sources.plain_blocks import looks_like_markdown, plain_blocks, whole_block
from pegas_assets.sources.reading import Reading
from pegas_assets.sources.sniff import CODE_SUFFIXES
from pegas_assets.text.cleaning import clean_text
from pegas_assets.text.language import detect_language

READER = "text/1"

_TABLES = ("text/csv", "text/tab-separated-values")
_DATA = {
    "application/json": "json",
    "application/x-ndjson": "json",
    "application/xml": "xml",
    "application/yaml": "yaml",
    "application/x-yaml": "yaml",
    "application/toml": "toml",
}
_HEADLINE = re.compile(r"[^\n]{2,99}[^\s.,;:!?…]")
"""One short line without an end mark."""

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_text(body: bytes, reading: Reading) -> ParsedDocument:
    """A document from the bytes of a text, Markdown, source or data file.

    Line ends become `\\n`; controls, ANSI sequences and byte order marks go; all else stays as it came. Front matter
    goes to `meta` and is not part of the text. A plain text that uses Markdown's headings, fences or tables is read as
    Markdown.

    Raises:
        Refused: nothing to read in it, or longer than `max_chars`.
    """
    decoded = reading.decoded(body)
    text = clean_text(decoded.text)
    if len(text) > reading.max_chars:
        raise Refused(
            f"The text {_named(reading.name)}has {len(text):,} characters; at most {reading.max_chars:,} are read.",
            hint="Split the file, or raise PEGAS_MAX_TEXT_CHARS.",
            item=reading.name,
        )
    suffix = PurePosixPath(reading.name.replace("\\", "/")).suffix.lower()
    markdown = reading.media_type == "text/markdown"
    front = parse_front_matter(text) if markdown or suffix in ("", ".txt", ".rst") else FrontMatter()
    text = text[front.end :].strip("\n").rstrip()
    if not text.strip() and not front.values:
        raise Refused(
            f"The text {_named(reading.name)}is empty: there is nothing to remember.",
            hint="Give a text with words.",
            item=reading.name,
        )
    blocks = _blocks(text, media_type=reading.media_type, suffix=suffix)
    prose = _prose(text, blocks)
    language = detect_language(prose or text)
    warnings = [*decoded.warnings, *([front.warning] if front.warning else [])]
    return ParsedDocument(
        kind=DocumentKind.TEXT,
        text=text,
        chunks=reading.cut(text, blocks, language=language),
        title=title_of(text, blocks, front.values, reading.name),
        language=language,
        author=_joined(front.values.get("author") or front.values.get("authors")),
        published=_date(front.values.get("date") or front.values.get("published")),
        encoding=decoded.encoding,
        encoding_confidence=decoded.confidence,
        meta=front.values,
        warnings=tuple(warnings),
        reader=f"{READER}+{CHUNKER}",
    )


def title_of(text: str, blocks: Sequence[SourceBlock], meta: dict[str, Any], name: str = "") -> str:
    """The front matter's title, else the first heading of the highest level, else a headline that opens a plain text,
    else the file's name, else the first line."""
    if isinstance(title := meta.get("title"), (str, int, float)) and str(title).strip():
        return _short(str(title))
    headings = [block for block in blocks if block.kind is BlockKind.HEADING and block.title]
    if headings:
        highest = min(block.level for block in headings)
        return _short(next(block.title for block in headings if block.level == highest))
    if len(blocks) > 1 and _HEADLINE.fullmatch(opening := text[blocks[0].start : blocks[0].end].strip()):
        return _short(plain_inline(opening))
    stem = PurePosixPath(name.replace("\\", "/")).stem
    if stem:
        return _short(stem)
    first = next((line for line in text.split("\n") if line.strip()), "")
    return _short(plain_inline(first), 80)


def _blocks(text: str, *, media_type: str, suffix: str) -> list[SourceBlock]:
    if media_type in _TABLES:
        return whole_block(text, BlockKind.TABLE)
    language = _DATA.get(media_type) or CODE_SUFFIXES.get(suffix, "")
    if language:
        return whole_block(text, BlockKind.CODE, language)
    if media_type == "text/markdown" or looks_like_markdown(text):
        return markdown_blocks(text)
    return plain_blocks(text)


def _prose(text: str, blocks: Sequence[SourceBlock]) -> str:
    """Enough of what is no code to tell the language by."""
    parts: list[str] = []
    size = 0
    for block in blocks:
        if block.kind is not BlockKind.CODE:
            parts.append(text[block.start : min(block.end, block.start + 1000)])
            size += len(parts[-1])
            if size > 3000:
                break
    return "\n".join(parts)


def _named(name: str) -> str:
    return f"“{PurePosixPath(name).name}” " if name else ""


def _short(title: str, limit: int = 300) -> str:
    title = " ".join(title.split())
    if len(title) <= limit:
        return title
    head = title[: limit - 1]
    return (head[: head.rfind(" ")] if " " in head[limit // 2 :] else head) + "…"


def _joined(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value if isinstance(item, (str, int, float)))[:300]
    return str(value)[:300] if isinstance(value, (str, int, float)) else ""


def _date(value: object) -> str:
    match = _ISO_DATE.match(str(value)) if value else None
    return match.group() if match else ""
