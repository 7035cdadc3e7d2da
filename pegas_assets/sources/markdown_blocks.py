"""Markdown to blocks with spans, by the token maps of markdown-it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from pegas_assets.model import BlockKind
from pegas_assets.sources.blocks import SourceBlock

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_KINDS = {
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "blockquote_open": BlockKind.QUOTE,
    "table_open": BlockKind.TABLE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "html_block": BlockKind.PARAGRAPH,
    "hr": BlockKind.PARAGRAPH,
}
_INNER = ("fence", "code_block", "table_open")
_CONTAINERS = (BlockKind.LIST, BlockKind.QUOTE)

_LINK = re.compile(r"!?\[([^\]\n]*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\]\n]*\])")
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|~~)(?=\S)([^\n]+?)(?<=\S)\1(?!\w)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]*>|\s*\{#[\w-]+\}\s*$")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def markdown_blocks(text: str) -> list[SourceBlock]:
    """The blocks of a Markdown text, in order; together they hold every character that is not white space.

    ATX and setext headings, paragraphs, lists, quotes, pipe tables, fenced and indented code. A table or code block
    inside a list or a quote is a block of its own. Lines that make no block (link definitions) are paragraphs.
    """
    starts = _line_starts(text)
    line_count = len(starts) - 1
    blocks: list[SourceBlock] = []
    done = 0
    for first, last, token, inner in _top_level(_parser().parse(text)):
        if first > done:
            blocks.extend(_paragraphs(text, starts, done, first))
        first, last = max(first, done), min(last, line_count)
        if last <= first:
            continue
        kind = _KINDS.get(token.type, BlockKind.PARAGRAPH)
        at = first
        for inner_first, inner_last, inner_token in inner if kind in _CONTAINERS else ():
            if inner_first > at:
                blocks.extend(_block(text, starts, at, inner_first, kind))
            if inner_last > inner_first >= at:
                inner_kind = _KINDS[inner_token.type]
                blocks.extend(_block(text, starts, inner_first, inner_last, inner_kind, _language(inner_token)))
                at = inner_last
        if kind is BlockKind.HEADING:
            line = text[starts[first] : starts[last]]
            blocks.extend(_block(text, starts, first, last, kind, "", int(token.tag[1]), heading_title(line)))
        else:
            blocks.extend(_block(text, starts, at, last, kind, _language(token)))
        done = last
    if done < line_count:
        blocks.extend(_paragraphs(text, starts, done, line_count))
    return blocks


def heading_title(line: str) -> str:
    """A heading without its marks, links and emphasis, on one line."""
    lines = line.strip().split("\n")
    if len(lines) > 1 and re.fullmatch(r"\s*(=+|-+)\s*", lines[-1]):
        lines = lines[:-1]
    title = re.sub(r"^\s*#{1,6}(?:\s+|$)|\s+#+\s*$", "", " ".join(part.strip() for part in lines))
    return plain_inline(title)


def plain_inline(text: str) -> str:
    """A line of Markdown as a reader sees it: link texts, no emphasis, no code marks, no tags."""
    text = _TAG.sub("", _LINK.sub(r"\1", text))
    for _ in range(3):
        text = _EMPHASIS.sub(r"\2", text)
    return " ".join(_ESCAPE.sub(r"\1", text.replace("`", "")).split())


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    # Only lines are wanted: inline markup is two thirds of the work.
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


_Inner = list[tuple[int, int, "Token"]]


def _top_level(tokens: Sequence[Token]) -> Iterator[tuple[int, int, Token, _Inner]]:
    """Each block at level 0 with its lines, and the tables and code blocks inside it."""
    current: tuple[int, int, Token, _Inner] | None = None
    for token in tokens:
        if token.map is None or token.nesting < 0:
            continue
        if token.level == 0:
            if current:
                yield current
            current = (token.map[0], token.map[1], token, [])
        elif current and token.type in _INNER:
            current[3].append((token.map[0], token.map[1], token))
    if current:
        yield current


def _language(token: Token) -> str:
    words = token.info.strip().split()
    return words[0].strip("{}.").lower()[:40] if token.type == "fence" and words else ""


def _line_starts(text: str) -> list[int]:
    starts = [0]
    starts.extend(match.end() for match in re.finditer("\n", text))
    if starts[-1] != len(text):
        starts.append(len(text))
    return starts


def _block(
    text: str,
    starts: list[int],
    first: int,
    last: int,
    kind: BlockKind,
    info: str = "",
    level: int = 0,
    title: str = "",
) -> Iterator[SourceBlock]:
    """The lines as one block, blank lines at both ends left out; nothing where all are blank."""
    start, end = starts[first], starts[last]
    piece = text[start:end]
    kept = piece.rstrip()
    if kept:
        lead = len(piece) - len(piece.lstrip())
        start += piece.rfind("\n", 0, lead) + 1
        yield SourceBlock(kind, start, starts[first] + len(kept), info, level, title)


def _paragraphs(text: str, starts: list[int], first: int, last: int) -> Iterator[SourceBlock]:
    """Lines that Markdown makes nothing of, as paragraphs between blank lines."""
    at = first
    for line in range(first, last + 1):
        if line == last or not text[starts[line] : starts[line + 1]].strip():
            if line > at:
                yield from _block(text, starts, at, line, BlockKind.PARAGRAPH)
            at = line + 1
