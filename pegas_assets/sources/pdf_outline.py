"""Gives the headings of a PDF their levels, by its outline where it has one, and by their size else."""

from __future__ import annotations

import re

from pegas_assets.model import BlockKind
from pegas_assets.sources.pdf_flow import FlowBlock
from pegas_assets.sources.pdf_raw import RawPdf

_NOT_WORDS = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"^(?:\d+)+")


def with_outline(blocks: list[FlowBlock], raw: RawPdf, body_size: float) -> list[FlowBlock]:
    """The blocks with a level for each heading; an entry of the outline whose title is nowhere opens a section on its
    page. Notes of the pages (annotations, form fields) come after the page's text."""
    _by_size(blocks, body_size)
    content = list(blocks)
    if raw.outline:
        content = _by_outline(content, raw)
    for number, page in enumerate(raw.pages, 1):
        if page.notes:
            after = next((at for at, block in enumerate(content) if block.page > number), len(content))
            content[after:after] = [FlowBlock(BlockKind.PARAGRAPH, [(number, note)]) for note in page.notes]
    return content


def _by_size(blocks: list[FlowBlock], body_size: float) -> None:
    headings = [block for block in blocks if block.kind is BlockKind.HEADING]
    large = sorted({round(block.size) for block in headings if block.size > 1.12 * body_size}, reverse=True)[:5]
    for block in headings:
        size = round(block.size)
        block.level = large.index(size) + 1 if size in large else len(large) + 1


def _by_outline(blocks: list[FlowBlock], raw: RawPdf) -> list[FlowBlock]:
    at = 0
    placed: dict[int, list[FlowBlock]] = {}
    known: set[int] = set()
    for level, title, page in raw.outline:
        found = _find(blocks, title, page, at)
        if found is None:
            first = next((place for place, block in enumerate(blocks) if block.page >= page), len(blocks))
            place = max(at, first)
            opened = FlowBlock(BlockKind.HEADING, [(page, title)], level=min(level, 6))
            placed.setdefault(place, []).append(opened)
            at = place
            continue
        block = blocks[found]
        block.kind, block.level, block.note = BlockKind.HEADING, min(level, 6), False
        known.add(id(block))
        at = found + 1
    content: list[FlowBlock] = []
    current = 0
    for place, block in enumerate(blocks):
        for opened in placed.get(place, ()):
            content.append(opened)
            current = opened.level
        if block.kind is BlockKind.HEADING:
            if id(block) in known:
                current = block.level
            else:
                # A heading that the outline leaves out is below the section it stands in.
                block.level = min(6, current + max(1, block.level - 1) if current else block.level)
        content.append(block)
    for opened in placed.get(len(blocks), ()):
        content.append(opened)
    return content


def _find(blocks: list[FlowBlock], title: str, page: int, start: int) -> int | None:
    """The block on the entry's page that is its title, with or without a number before it."""
    wanted = _folded(title)
    if not wanted:
        return None
    bare = _NUMBER.sub("", wanted)
    for at in range(start, len(blocks)):
        block = blocks[at]
        if block.page > page:
            break
        if block.page != page or block.kind not in (BlockKind.HEADING, BlockKind.PARAGRAPH) or len(block.text) > 320:
            continue
        text = _folded(block.text)
        if text and (text == wanted or (bare and _NUMBER.sub("", text) == bare)):
            return at
    return None


def _folded(text: str) -> str:
    return _NOT_WORDS.sub("", text).casefold()
