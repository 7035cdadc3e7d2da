"""Plain text to blocks: paragraphs between blank lines, list runs; code and tables by the kind of file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pegas_assets.model import BlockKind
from pegas_assets.sources.blocks import SourceBlock

_RUN = re.compile(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")
_ITEM = re.compile(r"[ \t]*(?:[-*+•–—]|\d{1,3}[.)])[ \t]+\S")
_UNWRAPPED_CHARS = 110
"""Lines longer than this on average are not wrapped: each is a paragraph."""

_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_DELIMITER_ROW = re.compile(r"^ {0,3}\|?[ \t]*:?-{2,}:?[ \t]*\|[-:| \t]*$", re.MULTILINE)
_ATX = re.compile(r"(?:\A|\n[ \t]*\n)#{1,6} +\S[^\n]*(?=\n[ \t]*\n|\n[^\n#]|\Z)")
_SETEXT = re.compile(r"(?:\A|\n[ \t]*\n)[^\n]*\w[^\n]*\n(?:={3,}|-{3,})[ \t]*(?=\n|\Z)")


def looks_like_markdown(text: str) -> bool:
    """Whether a text of unknown kind uses Markdown's headings, fences or tables. Looks at the first 100,000 chars."""
    head = text[:100_000]
    return (
        len(_FENCE.findall(head)) >= 2
        or bool(_DELIMITER_ROW.search(head))
        or bool(_ATX.search(head))
        or bool(_SETEXT.search(head))
    )


def plain_blocks(text: str) -> list[SourceBlock]:
    """The paragraphs and lists of a plain text, in order.

    Lines between blank lines are one paragraph, unless they are so long that nobody wrapped them, or the first line of
    each paragraph is set in: then each is its own.
    """
    blocks: list[SourceBlock] = []
    for match in _RUN.finditer(text):
        lines = list(_lines(text, match.start(), match.end()))
        if len(lines) == 1:
            blocks.extend(_kept(text, lines[0][0], lines[0][1]))
            continue
        if sum(end - start for start, end in lines) > _UNWRAPPED_CHARS * len(lines):
            groups = [[line] for line in lines]
        else:
            groups = _by_indent_or_item(text, lines)
        for group in groups:
            blocks.extend(_kept(text, group[0][0], group[-1][1]))
    return _joined_lists(text, blocks)


def whole_block(text: str, kind: BlockKind, info: str = "") -> list[SourceBlock]:
    """The whole text as one block of a kind: a source file, a CSV."""
    kept = text.rstrip()
    if not kept:
        return []
    lead = len(kept) - len(kept.lstrip())
    return [SourceBlock(kind, kept.rfind("\n", 0, lead) + 1, len(kept), info)]


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield start, stop
        start = stop + 1


def _by_indent_or_item(text: str, lines: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    indented = [text[start] in " \t\u3000\u00a0" for start, _ in lines]
    set_in = indented[0] and not all(indented)
    groups: list[list[tuple[int, int]]] = []
    for index, line in enumerate(lines):
        starts_new = not groups or (set_in and indented[index]) or bool(_ITEM.match(text, line[0], line[1]))
        if starts_new:
            groups.append([line])
        else:
            groups[-1].append(line)
    return groups


def _kept(text: str, start: int, end: int) -> Iterator[SourceBlock]:
    piece = text[start:end].rstrip()
    kind = BlockKind.LIST if _ITEM.match(text, start, end) else BlockKind.PARAGRAPH
    yield SourceBlock(kind, start, start + len(piece))


def _joined_lists(text: str, blocks: list[SourceBlock]) -> list[SourceBlock]:
    """Items on neighbouring lines become one list; one item alone is a paragraph, and a dash opens speech."""
    joined: list[SourceBlock] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if (
            last
            and block.kind is BlockKind.LIST is last.kind
            and text.count("\n", last.end, block.start) == 1
            and _marker(text, last.start) == _marker(text, block.start) not in ("—", "–")
        ):
            joined[-1] = SourceBlock(BlockKind.LIST, last.start, block.end)
        else:
            joined.append(block)
    return [
        SourceBlock(BlockKind.PARAGRAPH, block.start, block.end)
        if block.kind is BlockKind.LIST and "\n" not in text[block.start : block.end]
        else block
        for block in joined
    ]


def _marker(text: str, start: int) -> str:
    match = _ITEM.match(text, start)
    mark = match.group().split()[0] if match else ""
    return "1" if mark[:1].isdigit() else mark
