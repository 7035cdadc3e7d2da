"""Makes paragraphs, headings, lists, tables and code of the lines of all pages."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from pegas_assets.model import BlockKind
from pegas_assets.sources.pdf_layout import LEADERS, Placed, PlacedLine, PlacedTable
from pegas_assets.sources.pdf_words import Hyphens, mended
from pegas_assets.sources.pipe_table import pipe_table

_ITEM = re.compile(r"^(?:[-–•*]|\(?\d{1,3}[.)]|\(?[a-zа-я]\))\s+\S")
_ENDED = re.compile(r"[.!?:;…。！？][\"»”’)\]]*$")
_NUMBERED = re.compile(
    r"^(?:\d{1,2}\.)*\d{1,2}\.?\s+\S|^(?:[IVX]{1,5}|[A-Z])\.\s+\S|^(?:chapter|part|appendix|глава|часть|раздел)\b",
    re.IGNORECASE,
)
_HEADING_CHARS = 200
_LEADING = 1.2


@dataclass
class FlowBlock:
    """One block; `pieces` are the pages that its text comes from, each with the text that stands there."""

    kind: BlockKind
    pieces: list[tuple[int, str]]
    size: float = 0.0
    bold: bool = False
    level: int = 0
    note: bool = False
    """Smaller than the text, at a page's foot."""

    @property
    def page(self) -> int:
        return self.pieces[0][0]

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)


@dataclass
class _Run:
    """Lines that belong together, with the page of each."""

    lines: list[tuple[int, PlacedLine]] = field(default_factory=list)

    @property
    def last(self) -> PlacedLine:
        return self.lines[-1][1]

    @property
    def first(self) -> PlacedLine:
        return self.lines[0][1]


class Flow:
    """The blocks of a document from its pages' lines in reading order (page number from 1, lines)."""

    def __init__(self, pages: Sequence[tuple[int, list[Placed]]]) -> None:
        self._pages = pages
        lines = [placed.line for _, page in pages for placed in page if isinstance(placed, PlacedLine)]
        for line in lines:
            if not line.mono:
                line.text = mended(line.text)
        sizes: Counter[float] = Counter()
        for line in lines:
            sizes[line.size] += len(line.text)
        self.body_size = sizes.most_common(1)[0][0] if sizes else 10.0
        mono = sum(len(line.text) for line in lines if line.mono)
        self._typewriter = mono > 0.7 * max(1, sum(len(line.text) for line in lines))
        self._hyphens = Hyphens(line.text for line in lines)
        self._leading = self._usual_leading()

    def blocks(self) -> list[FlowBlock]:
        """In reading order; a paragraph that goes on over a page's end is one block."""
        found: list[FlowBlock] = []
        for part in self._parts():
            if isinstance(part, FlowBlock):
                found.append(part)
            elif self._is_code(part.first):
                found.append(self._code(part))
            else:
                found.append(self._paragraph(part))
        return _lists(self._over_pages(found))

    def _usual_leading(self) -> float:
        steps = []
        for _, page in self._pages:
            for above, below in itertools.pairwise(page):
                if (
                    isinstance(above, PlacedLine)
                    and isinstance(below, PlacedLine)
                    and above.column == below.column
                    and above.line.size == below.line.size
                ):
                    step = (below.line.y0 - above.line.y0) / max(1.0, above.line.size)
                    if 0.8 < step < 2.6:
                        steps.append(step)
        return median(steps) if len(steps) > 3 else _LEADING

    def _parts(self) -> Iterator[FlowBlock | _Run]:
        run = _Run()
        for number, page in self._pages:
            for placed in page:
                if isinstance(placed, PlacedTable):
                    if run.lines:
                        yield run
                        run = _Run()
                    table = pipe_table(
                        [[mended(cell) if cell and "\n" not in cell else cell for cell in row] for row in placed.rows]
                    )
                    if table:
                        yield FlowBlock(BlockKind.TABLE, [(number, table)])
                    continue
                if run.lines and (run.lines[-1][0] != number or self._parted(run, placed)):
                    yield run
                    run = _Run()
                if placed.line.text.strip():
                    run.lines.append((number, placed))
        if run.lines:
            yield run

    def _is_code(self, placed: PlacedLine) -> bool:
        return placed.line.mono and not self._typewriter

    def _parted(self, run: _Run, below: PlacedLine) -> bool:
        """Whether a line opens another paragraph than the one above it is in."""
        above = run.last
        one, other = above.line, below.line
        if above.column != below.column:
            return True
        if self._is_code(above) or self._is_code(below):
            return self._is_code(above) != self._is_code(below) or other.y0 - one.y1 > 3 * one.size
        if abs(one.size - other.size) > 0.12 * max(one.size, other.size) or one.bold != other.bold:
            # A few words in bold, or larger, inside a line do not count: the line's main font does.
            return True
        if other.y0 - one.y0 > max(1.3 * self._leading, self._leading + 0.45) * max(one.size, other.size):
            return True
        if _ITEM.match(other.text) or LEADERS.search(one.text):
            return True
        width = max(1.0, above.right - above.left)
        ended = bool(_ENDED.search(one.text))
        item = bool(_ITEM.match(run.first.line.text))
        if item and other.x0 < run.first.line.x0 - 0.5 * other.size:
            return True
        if item:
            return ended and other.x0 < run.first.line.x0 + 0.5 * other.size and one.x1 < above.right - 0.1 * width
        set_in = other.x0 - below.left > 0.8 * other.size and one.x0 - above.left < 0.5 * one.size
        if set_in and (ended or len(run.lines) > 1):
            return True
        return ended and one.x1 < above.right - 0.15 * width

    def _paragraph(self, run: _Run) -> FlowBlock:
        text = ""
        for _, placed in run.lines:
            text = self._hyphens.joined(text, LEADERS.sub(" … ", placed.line.text))
        number, first = run.lines[0]
        size = max(placed.line.size for _, placed in run.lines)
        bold = all(placed.line.bold for _, placed in run.lines)
        block = FlowBlock(BlockKind.PARAGRAPH, [(number, text)], size=size, bold=bold)
        if self._is_heading(block, len(run.lines)):
            block.kind = BlockKind.HEADING
        elif (size < 0.92 * self.body_size and first.line.text[:1] in "*†‡§") or (
            size < 0.92 * self.body_size and re.match(r"\[?\d{1,3}\]?\.?\s?\w", text)
        ):
            block.note = True
        return block

    def _is_heading(self, block: FlowBlock, lines: int) -> bool:
        text = block.text
        if len(text) > _HEADING_CHARS or lines > 4 or not any(character.isalpha() for character in text):
            return False
        if text.startswith("• "):
            return False
        if block.size > 1.12 * self.body_size:
            return not (text.endswith((".", ",", ";")) and len(text) > 80)
        if block.bold and lines <= 2 and len(text) <= 120:
            return not text.endswith((".", ",", ";", ":")) or bool(_NUMBERED.match(text) and len(text) < 80)
        return False

    def _code(self, run: _Run) -> FlowBlock:
        left = min(placed.line.x0 for _, placed in run.lines)
        widths = [
            (placed.line.x1 - placed.line.x0) / len(placed.line.text)
            for _, placed in run.lines
            if len(placed.line.text) > 3
        ]
        width = median(widths) if widths else 0.6 * run.first.line.size
        lines: list[str] = []
        above: PlacedLine | None = None
        for _, placed in run.lines:
            if above is not None:
                empty = round((placed.line.y0 - above.line.y0) / (1.2 * placed.line.size)) - 1
                lines.extend([""] * min(max(empty, 0), 2))
            lines.append(" " * round((placed.line.x0 - left) / max(width, 1.0)) + placed.line.text.rstrip())
            above = placed
        fence = "`" * max(3, 1 + max((len(ticks) for line in lines for ticks in re.findall("`+", line)), default=0))
        text = "\n".join([fence, *lines, fence])
        return FlowBlock(BlockKind.CODE, [(run.lines[0][0], text)])

    def _over_pages(self, blocks: Sequence[FlowBlock]) -> list[FlowBlock]:
        """Paragraphs that a page's or a column's end cut in two are joined; the notes between come after."""
        joined: list[FlowBlock] = []
        for block in blocks:
            at = len(joined) - 1
            while at >= 0 and joined[at].note and not block.note:
                at -= 1
            before = joined[at] if at >= 0 else None
            if before is not None and self._goes_on(before, block):
                last_page, text = before.pieces[-1]
                whole = self._hyphens.joined(text, block.pieces[0][1])
                kept = len(whole) - len(block.pieces[0][1])
                if block.page == last_page:
                    before.pieces[-1] = (last_page, whole)
                else:
                    before.pieces[-1] = (last_page, whole[:kept])
                    before.pieces.append((block.page, whole[kept:]))
            else:
                joined.append(block)
        return joined

    def _goes_on(self, before: FlowBlock, block: FlowBlock) -> bool:
        if before.kind is not BlockKind.PARAGRAPH or block.kind is not BlockKind.PARAGRAPH or block.note or before.note:
            return False
        text = before.text
        if abs(before.size - block.size) > 0.6 or _ENDED.search(text) or _ITEM.match(block.text):
            return False
        opening = block.text[:1]
        cut = bool(re.search(r"\w[-\u2010\u00ad]$", text))
        return opening.islower() or cut or (len(text) > 60 and text.endswith((",", " and", " of", " the")))


def _lists(blocks: Sequence[FlowBlock]) -> list[FlowBlock]:
    """Items that follow each other as one list, their bullets as Markdown has them."""
    found: list[FlowBlock] = []
    for block in blocks:
        if block.kind is not BlockKind.PARAGRAPH or not _ITEM.match(block.text):
            found.append(block)
            continue
        page, text = block.pieces[0]
        block.pieces[0] = (page, re.sub(r"^[•–*]\s+", "- ", text))
        last = found[-1] if found else None
        if last is not None and last.kind is BlockKind.LIST and _same_marks(last.text, block.text):
            if last.pieces[-1][0] == page:
                page, before = last.pieces.pop()
                block.pieces[0] = (page, f"{before}\n{block.pieces[0][1]}")
            else:
                block.pieces[0] = (page, f"\n{block.pieces[0][1]}")
            last.pieces.extend(block.pieces)
        else:
            block.kind = BlockKind.LIST
            found.append(block)
    for block in found:
        if block.kind is BlockKind.LIST and "\n" not in block.text:
            block.kind = BlockKind.PARAGRAPH
    return found


def _same_marks(one: str, other: str) -> bool:
    return (one[0] == "-") == (other[0] == "-")
