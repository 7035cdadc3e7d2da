"""Splits a block that is too large for a chunk, at the best places it has."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from pegas_assets.model import BlockKind
from pegas_assets.sources.blocks import SourceBlock
from pegas_assets.text.sentences import split_sentences

_LINE = re.compile(r"[^\n]+")
_PARAGRAPH = re.compile(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")
_DELIMITER_ROW = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*")
_ITEM = re.compile(r"^([ \t]*)(?:[-*+•–—]|\d{1,9}[.)])(?=[ \t])", re.MULTILINE)
_VISIBLE = re.compile(r"\S")
_JOINERS = "\u200d\ufe0e\ufe0f"


@dataclass(frozen=True)
class Piece:
    """A part of a block that is not cut further. `tokens` are without the model's prefix and specials.

    `continues` says that the piece before it is of the same block. For a table that was cut, `info` is its header
    row from the second piece on, for code its language.
    """

    kind: BlockKind
    start: int
    end: int
    tokens: int
    info: str = ""
    continues: bool = False


def split_block(
    text: str, block: SourceBlock, *, count: Callable[[str], int], room: int, language: str = "und"
) -> Iterator[Piece]:
    """The pieces of a block, in order, each of at most `room` tokens, with all its visible characters.

    A table is cut between rows, its header row and the line under it staying with the first; code between lines, at
    blank lines where the parts between them fit; a list between items; anything else between sentences. What is still
    too large is cut between words, and a word without end between characters.
    """
    if block.kind is BlockKind.TABLE:
        spans = list(_table_rows(text, block))
    elif block.kind is BlockKind.CODE:
        spans = list(_code_parts(text, block, count, room))
    elif block.kind is BlockKind.LIST:
        spans = list(_list_items(text, block, count, room, language))
    else:
        spans = list(_sentences(text, block.start, block.end, language))
    header = " ".join(text[spans[0][0] : spans[0][1]].split("\n")[0].split()) if block.kind is BlockKind.TABLE else ""
    first = True
    for start, end in spans:
        for piece in _fit(text, start, end, block, count, room):
            info = piece.info if first or not header else header[:300]
            yield replace(piece, continues=not first, info=info)
            first = False


def _fit(
    text: str, start: int, end: int, block: SourceBlock, count: Callable[[str], int], room: int
) -> Iterator[Piece]:
    """One span, cut between words or characters as long as it is too large."""
    width = max(1, 4 * room)
    while start < end:
        stop = min(end, start + max(width, 1))
        if stop < end:
            stop = _cut_before(text, start, stop)
        kept = start + len(text[start:stop].rstrip())
        tokens = count(text[start:kept])
        if tokens > room and kept - start > 1:
            width = max(1, min(int((kept - start) * room / tokens * 0.95), kept - start - 1))
            continue
        if kept > start:
            yield Piece(block.kind, start, kept, tokens, block.info)
        visible = _VISIBLE.search(text, stop, end)
        start = visible.start() if visible else end
        if stop < end and tokens < 0.5 * room:
            width = width * 2


def _cut_before(text: str, start: int, stop: int) -> int:
    """The last white space in the second half of a span, else a place that parts no character from its marks."""
    at = max(text.rfind(" ", start + (stop - start) // 2, stop), text.rfind("\n", start + (stop - start) // 2, stop))
    if at > start:
        return at
    while stop - start > 1 and (
        text[stop] in _JOINERS or text[stop - 1] == "\u200d" or unicodedata.combining(text[stop])
    ):
        stop -= 1
    return stop


def _table_rows(text: str, block: SourceBlock) -> Iterator[tuple[int, int]]:
    rows = [(match.start(), match.end()) for match in _LINE.finditer(text, block.start, block.end)]
    rows = [row for row in rows if text[row[0] : row[1]].strip()]
    if len(rows) > 2 and _DELIMITER_ROW.fullmatch(text, *rows[1]):
        rows[:2] = [(rows[0][0], rows[1][1])]
    yield from rows


def _sentences(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    return ((start + left, start + right) for left, right in split_sentences(text[start:end], language))


def _list_items(
    text: str, block: SourceBlock, count: Callable[[str], int], room: int, language: str
) -> Iterator[tuple[int, int]]:
    """The items of the outermost level, or the sentences of one that is too large."""
    margin = _ITEM.match(text, block.start)
    depth = len(margin.group(1)) if margin else 0
    starts = [match.start() for match in _ITEM.finditer(text, block.start, block.end) if len(match.group(1)) <= depth]
    bounds = [block.start, *(at for at in starts if at > block.start), block.end]
    for left, right in pairwise(bounds):
        end = left + len(text[left:right].rstrip())
        if right - left <= 20 * room and count(text[left:end]) <= room:
            yield left, end
        else:
            yield from _sentences(text, left, end, language)


def _code_parts(text: str, block: SourceBlock, count: Callable[[str], int], room: int) -> Iterator[tuple[int, int]]:
    for match in _PARAGRAPH.finditer(text, block.start, block.end):
        start, end = match.span()
        if end - start <= 20 * room and count(text[start:end]) <= room:
            yield start, end
            continue
        yield from (line.span() for line in _LINE.finditer(text, start, end) if line.group().strip())
