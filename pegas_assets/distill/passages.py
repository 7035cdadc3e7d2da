"""What a chunk consists of, for the extractors: sentences, labelled lines, tables and code, each with its span."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from pegas_assets.distill.sentence import Sentence, enumerator_length
from pegas_assets.model import Block, BlockKind, ChunkToDistil
from pegas_assets.text.sentences import split_sentences

MAX_PIECE_CHARS = 6000
"""A longer stretch is cut at a line or a blank before its sentences are looked for."""

_FENCE = re.compile(r"(?m)^[ \t]*(```+|~~~+)[ \t]*([\w+#.-]*)[^\n`]*$")
_TABLE_LINE = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_LIST_LINE = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S")
_ITEM = re.compile(r"(?m)^[ \t]*(?:[-*+•·▪]|\d{1,3}[.)])[ \t]+")
_TERMINAL = re.compile(r"[.!?…;,:—–-][\"'»”’)\]*_`]*\s*$")
_NEW_THOUGHT = re.compile(r"[\s\"'«“(\[*_`]*(?:[A-ZА-ЯЁ]|\d)")
_UNIT_ENDS = re.compile(
    r"\d\s?(?:mm|cm|km|m|kg|g|mg|lb|oz|l|ml|min|hr|h|s|sec|ft|in|W|kW|V|A|Hz|kHz|MHz|GHz|MB|GB|KB|TB|°C|°F|%)\.\s+(?=[\"“«]?[A-ZА-ЯЁ])"
)
"""A measure at the end of a sentence; what splits sentences takes the point for an abbreviation's."""
_NUMBERING_ONLY = re.compile(r"(?:\d{1,3}\.)+$|\d{1,3}\)$|[-*+•]$")


def blocks_of(chunk: ChunkToDistil) -> tuple[Block, ...]:
    """The chunk's blocks in order, spans clamped to its content; found by their Markdown marks where none are given."""
    size = len(chunk.content)
    if chunk.blocks:
        clamped = (
            block.model_copy(update={"start": max(0, min(block.start, size)), "end": max(0, min(block.end, size))})
            for block in chunk.blocks
        )
        return tuple(block for block in clamped if block.start < block.end)
    return tuple(_scan(chunk.content))


def _scan(text: str) -> Iterator[Block]:
    """Blocks by their first marks. An unclosed fence ends with its text."""
    at = 0
    while at < len(text):
        fence = _FENCE.search(text, at)
        yield from _scan_prose(text, at, fence.start() if fence else len(text))
        if not fence:
            return
        closing = re.compile(rf"(?m)^[ \t]*{re.escape(fence.group(1))}[ \t]*$").search(text, fence.end())
        end = closing.end() if closing else len(text)
        yield Block(kind=BlockKind.CODE, start=fence.start(), end=end, info=fence.group(2))
        at = end


def _scan_prose(text: str, start: int, end: int) -> Iterator[Block]:
    at = start
    for piece in re.split(r"(\n[ \t]*\n\s*)", text[start:end]):
        if piece.strip():
            yield from _split_paragraph(piece, at)
        at += len(piece)


def _split_paragraph(piece: str, offset: int) -> Iterator[Block]:
    """A stretch without blank lines, cut where the kind of its lines changes."""
    kind, start, at = None, offset, offset
    for line in piece.splitlines(keepends=True):
        found = _kind_of_line(line, kind)
        if kind is not None and (found is not kind or kind is BlockKind.HEADING):
            yield Block(kind=kind, start=start, end=at)
            start = at
        kind = found
        at += len(line)
    if kind is not None:
        yield Block(kind=kind, start=start, end=at)


def _kind_of_line(line: str, previous: BlockKind | None) -> BlockKind:
    if re.match(r"[ \t]{0,3}#{1,6}[ \t]", line):
        return BlockKind.HEADING
    if _TABLE_LINE.match(line.rstrip("\r\n")):
        return BlockKind.TABLE
    if line.lstrip().startswith(">"):
        return BlockKind.QUOTE
    if _LIST_LINE.match(line) or (previous is BlockKind.LIST and line[:1] in " \t"):
        return BlockKind.LIST
    return BlockKind.PARAGRAPH


def sentences_of(chunk: ChunkToDistil, block: Block) -> list[Sentence]:
    """The sentences of a paragraph, list or quote, in order, without bullets and numbering.

    A short line of its own above other lines is taken as the heading of what follows.
    """
    found: list[Sentence] = []
    section = chunk.section
    for start, end in _stretches(chunk.content, block):
        if _is_caption(chunk.content[start:end]) and end < block.end and block.kind is not BlockKind.LIST:
            section = (*chunk.section, chunk.content[start:end].strip())
            continue
        spans = _sentence_spans(chunk.content, start, end, chunk.language)
        for left, right in spans:
            raw = chunk.content[left:right]
            found.append(
                Sentence(
                    raw=raw,
                    start=left,
                    end=right,
                    russian=is_russian(raw, chunk.language),
                    in_list=block.kind is BlockKind.LIST,
                    alone=len(spans) == 1,
                    section=section,
                    title=chunk.document_title,
                )
            )
    return found


def is_russian(text: str, language: str) -> bool:
    """Whether the text is to be read by the Russian rules: by its letters, and by the chunk's language where few."""
    cyrillic = sum("\u0400" <= letter <= "\u04ff" for letter in text[:400])
    latin = sum(letter.isascii() and letter.isalpha() for letter in text[:400])
    return cyrillic > latin / 2 if cyrillic + latin else language == "ru"


def _stretches(content: str, block: Block) -> Iterator[tuple[int, int]]:
    """List items, or the parts of a paragraph between lines that were broken on purpose."""
    text = content[block.start : block.end]
    if block.kind is BlockKind.LIST:
        starts = [found.start() for found in _ITEM.finditer(text)] or [0]
        cuts = sorted({0, *starts, len(text)})
    else:
        cuts = [0, *_deliberate_breaks(text), len(text)]
    for left, right in itertools.pairwise(cuts):
        yield from _bounded(content, block.start + left, block.start + right)


def _deliberate_breaks(text: str) -> Iterator[int]:
    """Where a line ends although the next word would have fitted, and the next line begins anew.

    A wrapped line is as full as it can be; a line of verse, a caption or an ingredient is not.
    """
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return
    width = max(len(line.rstrip()) for line in lines)
    at = 0
    for line, following in itertools.pairwise(lines):
        at += len(line)
        words = following.split(maxsplit=1)
        fits = bool(words) and len(line.rstrip()) + 1 + len(words[0]) <= width
        if (fits and _NEW_THOUGHT.match(following)) or _LIST_LINE.match(following):
            yield at


def _is_caption(text: str) -> bool:
    kept = text.strip()
    return (
        2 < len(kept) <= 70 and not _TERMINAL.search(kept) and not kept.startswith(("|", "{", "<")) and "\n" not in kept
    )


def _bounded(content: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > MAX_PIECE_CHARS:
        window = content[start : start + MAX_PIECE_CHARS]
        cut = max(window.rfind("\n"), window.rfind(". ") + 1)
        cut = start + (cut if cut > MAX_PIECE_CHARS // 2 else MAX_PIECE_CHARS)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _sentence_spans(content: str, start: int, end: int, language: str) -> list[tuple[int, int]]:
    """Spans of sentences without the bullet or number they open with."""
    spans: list[tuple[int, int]] = []
    for left, right in split_sentences(content[start:end], language):
        left, right = start + left, start + right
        if _NUMBERING_ONLY.match(content[left:right]):
            continue
        left += enumerator_length(content[left:right])
        for found in _UNIT_ENDS.finditer(content, left, right):
            cut = found.start() + len(found.group().rstrip())
            spans.append((left, cut))
            left = found.end()
        if left < right:
            spans.append((left, right))
    return spans


def within(sentence: Sentence, left: int, right: int) -> Sentence:
    """A part of a sentence as a sentence: offsets into its `raw`."""
    return replace(
        sentence, raw=sentence.raw[left:right], start=sentence.start + left, end=sentence.start + right, alone=False
    )
