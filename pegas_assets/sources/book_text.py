"""Puts a book's pages together: one text, its blocks, and where its pages turn."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from pegas_assets.errors import Refused
from pegas_assets.model import BlockKind, DocumentKind, ParsedDocument
from pegas_assets.sources.blocks import Marks, SourceBlock
from pegas_assets.sources.book_markup import PAGE_MARKS
from pegas_assets.sources.chunking import CHUNKER
from pegas_assets.sources.markdown_blocks import heading_title, markdown_blocks
from pegas_assets.sources.page_text import PageBlock, page_blocks, page_body
from pegas_assets.sources.page_tree import prepare
from pegas_assets.sources.reading import Reading
from pegas_assets.sources.text import title_of
from pegas_assets.text.cleaning import clean_text
from pegas_assets.text.language import detect_language

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_WARNINGS = 20
_LISTS = ("ul", "ol", "dl")
_HEADING = re.compile("h[1-6]")
_OPENING = re.compile(r"[#>|*\s-]*(?:\d+\.\s*)?")
_MARKDOWN_HEADING = re.compile(r"#{1,6} ")


@dataclass(frozen=True)
class BookFacts:
    """What a book says of itself. `published` is an ISO date, `language` a code of two letters, or empty."""

    title: str = ""
    author: str = ""
    published: str = ""
    language: str = ""
    meta: dict[str, Any] | None = None


def named_book(name: str) -> str:
    """What to call a book at the start of a sentence."""
    return f"The book “{PurePosixPath(name.replace(chr(92), '/')).name}”" if name else "The book"


class BookText:
    """Takes in one page after another."""

    def __init__(self, shown: str, max_chars: int) -> None:
        self._shown = shown
        self._max_chars = max_chars
        self._parts: list[str] = []
        self._size = 0
        self._blocks: list[SourceBlock] = []
        self._places: list[tuple[int, float]] = []

    @property
    def chars(self) -> int:
        return self._size

    def add(self, blocks: Iterable[tuple[PageBlock, str]]) -> None:
        """The blocks of a page, each with its Markdown, whose page turns are still marked in it.

        Raises:
            Refused: the text grew longer than is read.
        """
        for block, markdown in blocks:
            start = self._size + 2 if self._parts else 0
            pieces = PAGE_MARKS.split(clean_text(markdown))
            text = ""
            for at, piece in enumerate(pieces):
                if at % 2:
                    # What opens a block is no text: a turn after it is before the block.
                    at_start = _OPENING.fullmatch(text) is not None
                    self._places.append((start if at_start else start + len(text.rstrip("\n")), float(piece)))
                else:
                    # Blanks on both sides of a turn are one.
                    text += piece.lstrip(" ") if at and text[-1:] in ("", " ", "\n") else piece
            text = text.rstrip()
            if not text:
                continue
            for inner in _inner_blocks(block, text):
                self._blocks.append(replace(inner, start=start + inner.start, end=start + inner.end))
            self._parts.append(text)
            self._size = start + len(text)
            if self._size > self._max_chars:
                raise Refused(
                    f"{self._shown} is too large: it has over {self._max_chars:,} characters of text.",
                    hint="Split the file, or raise PEGAS_MAX_TEXT_CHARS.",
                    item=self._shown,
                )

    def document(
        self,
        facts: BookFacts,
        *,
        reader: str,
        reading: Reading,
        encoding: str,
        confidence: float,
        warnings: Iterable[str],
    ) -> ParsedDocument:
        text = "\n\n".join(self._parts)
        blocks = self._blocks
        language = detect_language(_prose(text, blocks) or text, hint=facts.language or "und")
        return ParsedDocument(
            kind=DocumentKind.EPUB,
            text=text,
            chunks=reading.cut(text, blocks, language=language, marks=self._marks(len(text))),
            title=title_of(text, blocks, {"title": facts.title}, reading.name),
            language=language,
            author=facts.author,
            published=facts.published,
            encoding=encoding,
            encoding_confidence=confidence,
            meta=facts.meta or {},
            warnings=_first_of(warnings),
            reader=f"{reader}+{CHUNKER}",
        )

    def _marks(self, end: int) -> Marks | None:
        """The pages; of several turns at one place the last counts."""
        places = {start: number for start, number in self._places if start < end}
        return Marks("page", tuple(sorted(places.items()))) if places else None


def written_blocks(root: HtmlElement) -> list[tuple[PageBlock, str]]:
    """The blocks of a page with their Markdown, tables and code in their places. Changes the tree."""
    aside = prepare(root)
    try:
        found = page_blocks(page_body(root))
    except RecursionError:
        found = [PageBlock(root, " ".join(page_body(root).text_content().split()))]
    return [(block, re.sub(r"[ \t]+\n", "\n", aside.back(block.markdown))) for block in found]


def letters_in(blocks: Iterable[tuple[PageBlock, str]]) -> int:
    """How many letters a reader would see."""
    return sum(sum(map(str.isalpha, markdown)) for _, markdown in blocks)


def _first_of(warnings: Iterable[str]) -> tuple[str, ...]:
    """Each once, and of very many the first."""
    told = list(dict.fromkeys(warnings))
    more = len(told) - _WARNINGS
    return (*told[:_WARNINGS], f"There are {more} further warnings of this kind.") if more > 1 else tuple(told)


def _prose(text: str, blocks: Iterable[SourceBlock]) -> str:
    """Enough of the book's middle to tell its language by: a book in Russian may open with a page in English."""
    prose = [block for block in blocks if block.kind is BlockKind.PARAGRAPH and block.end - block.start > 80]
    middle = prose[len(prose) // 3 :][:20]
    return "\n".join(text[block.start : min(block.end, block.start + 1000)] for block in middle)


def _inner_blocks(block: PageBlock, text: str) -> list[SourceBlock]:
    """What a block is, by its element; only quotes and what has tables or code in it are looked into as Markdown."""
    tag = block.element.tag
    if isinstance(tag, str) and _HEADING.fullmatch(tag) and _MARKDOWN_HEADING.match(text) and "\n" not in text:
        return [SourceBlock(BlockKind.HEADING, 0, len(text), level=int(tag[1]), title=heading_title(text))]
    if tag == "blockquote" or "\n```" in f"\n{text}" or "\n|" in f"\n{text}":
        return markdown_blocks(text)
    return [SourceBlock(BlockKind.LIST if tag in _LISTS else BlockKind.PARAGRAPH, 0, len(text))]
