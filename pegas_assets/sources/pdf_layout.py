"""Reading order: the lines of a page as a person reads them, column by column, with what stands in rows as tables."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from pegas_assets.sources.pdf_raw import RawLine, RawPage, RawTable

_WIDE = 0.62
"""A line this much of its region wide stands over all columns."""
LEADERS = re.compile(r"\s*(?:(?:\.\s?){4,}|…{2,})\s*")
"""The dots of a table of contents."""
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")


@dataclass
class PlacedLine:
    """A line in reading order; `left` and `right` are the edges of the column that it stands in."""

    line: RawLine
    left: float
    right: float
    column: int


@dataclass
class PlacedTable:
    """A table in reading order, as its rows of cells."""

    rows: list[list[str | None]]
    y0: float
    column: int


Placed = PlacedLine | PlacedTable


@dataclass
class _Item:
    """A line or a ruled table, as a box."""

    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    line: RawLine | None = None
    table: RawTable | None = None
    letters: int = field(default=0)


def reading_order(page: RawPage) -> list[Placed]:
    """The lines and tables of a page in order. Lines inside a ruled table are its cells and come no second time."""
    _set_initials(page.lines)
    items: list[_Item] = []
    for table in page.tables:
        items.append(_Item(table.x0, table.y0, table.x1, table.y1, 10.0, table=table, letters=200))
    turned = []
    for line in page.lines:
        if not line.upright:
            turned.append(line)
        elif not any(_inside(line, table) for table in page.tables):
            letters = len(line.text.strip())
            items.append(_Item(line.x0, line.y0, line.x1, line.y1, line.size, line=line, letters=letters))
    if sum(len(line.text) for line in turned) > sum(len(line.text) for line in page.lines) / 2:
        items.extend(_turned_back(turned))
        turned = []
    ordering = _Ordering(rtl=_is_rtl(page.lines))
    ordering.order(items)
    # A stamp along the edge is no part of the text, and is kept after it.
    for line in turned:
        ordering.placed.append(PlacedLine(line, line.x0, line.x1, -1))
    return ordering.placed


def _set_initials(lines: list[RawLine]) -> None:
    """Puts a letter that is set over several lines before the line that it opens."""
    for initial in [line for line in lines if len(line.text.strip()) <= 2 and line.text.strip().isalpha()]:
        opened = [
            line
            for line in lines
            if line is not initial
            and initial.size > 1.8 * line.size
            and -0.3 * initial.size < line.x0 - initial.x1 < 0.6 * initial.size
            and initial.y0 - 0.2 * initial.size < line.y0 < initial.y1
        ]
        if len(opened) > 1:
            first = min(opened, key=lambda line: line.y0)
            first.text = initial.text.strip() + first.text.lstrip()
            lines.remove(initial)


def _inside(line: RawLine, table: RawTable) -> bool:
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    return table.x0 <= x <= table.x1 and table.y0 <= y <= table.y1


def _turned_back(lines: Sequence[RawLine]) -> list[_Item]:
    """The lines of a page that is printed on its side, as if it lay upright."""
    most = max((line.x1 for line in lines), default=0.0)
    items = []
    for line in lines:
        x0, x1, y0, y1 = -line.y1, -line.y0, line.x0, line.x1
        if line.y0 > line.y1:
            x0, x1, y0, y1 = line.y0, line.y1, most - line.x1, most - line.x0
        flat = RawLine(line.text, x0, y0, x1, y1, line.size, line.bold, line.mono)
        items.append(_Item(x0, y0, x1, y1, line.size, line=flat, letters=len(line.text.strip())))
    return items


def _is_rtl(lines: Sequence[RawLine]) -> bool:
    text = "".join(line.text for line in lines[:200])
    return len(_RTL.findall(text)) > 0.4 * max(1, sum(character.isalpha() for character in text))


class _Ordering:
    def __init__(self, *, rtl: bool) -> None:
        self.placed: list[Placed] = []
        self._rtl = rtl
        self._columns = 0

    def order(self, items: list[_Item], depth: int = 0) -> None:
        if not items:
            return
        gutter = _gutter(items) if depth < 8 else None
        if gutter is None:
            self._column(items)
            return
        x0, x1 = gutter
        left = [item for item in items if item.x1 <= x0 + 1]
        right = [item for item in items if item.x0 >= x1 - 1]
        one_sided = {id(item) for item in (*left, *right)}
        over = sorted((item for item in items if id(item) not in one_sided), key=lambda item: item.y0)
        sides = (right, left) if self._rtl else (left, right)
        together: list[_Item] = []
        start = -float("inf")
        for item in over:
            if any(start <= _middle(one) < item.y0 for side in sides for one in side):
                self._column(together)
                together = []
                self._sides(sides, start, item.y0, depth)
            together.append(item)
            start = item.y0
        self._column(together)
        self._sides(sides, start, float("inf"), depth)

    def _sides(self, sides: Sequence[Sequence[_Item]], start: float, stop: float, depth: int) -> None:
        for side in sides:
            self.order([item for item in side if start <= _middle(item) < stop], depth + 1)

    def _column(self, items: list[_Item]) -> None:
        """Lines of one column: row by row; rows whose parts stand under each other are a table."""
        if not items:
            return
        self._columns += 1
        left, right = min(item.x0 for item in items), max(item.x1 for item in items)
        rows = _rows(items, rtl=self._rtl)
        at = 0
        while at < len(rows):
            row = rows[at]
            if row[0].table is not None:
                self.placed.append(PlacedTable(row[0].table.rows, row[0].y0, self._columns))
                at += 1
                continue
            end = _table_end(rows, at)
            if end - at >= 3:
                self.placed.append(PlacedTable(_grid(rows[at:end]), row[0].y0, self._columns))
                at = end
                continue
            self.placed.append(PlacedLine(_joined(row), left, right, self._columns))
            at += 1


def _middle(item: _Item) -> float:
    return (item.y0 + item.y1) / 2


def _gutter(items: Sequence[_Item]) -> tuple[float, float] | None:
    """The space between two columns of text that most lines keep free, if there is one."""
    width = max(item.x1 for item in items) - min(item.x0 for item in items)
    narrow = [item for item in items if item.x1 - item.x0 < _WIDE * width]
    if len(narrow) < 6:
        return None
    # A heading, or a caption, may reach over.
    allowed = max(2, int(0.1 * len(narrow)))
    size = median(item.size for item in narrow)
    events = sorted([(item.x0, 1) for item in narrow] + [(item.x1, -1) for item in narrow])
    best: tuple[float, float, float] | None = None
    covering = 0
    for (x, step), (following, _) in itertools.pairwise(events):
        covering += step
        if covering <= allowed and following - x >= max(6.0, 0.7 * size):
            left = [item for item in narrow if item.x1 <= x + 1]
            right = [item for item in narrow if item.x0 >= following - 1]
            if _are_columns(left, right):
                worth = min(len(left), len(right)) * min(following - x, 40.0)
                if best is None or worth > best[0]:
                    best = (worth, x, following)
    return (best[1], best[2]) if best else None


def _are_columns(left: Sequence[_Item], right: Sequence[_Item]) -> bool:
    """Whether two groups of lines are columns of running text, and not the cells of rows."""
    if min(len(left), len(right)) < 3:
        return False
    top, bottom = (
        max(min(i.y0 for i in left), min(i.y0 for i in right)),
        min(max(i.y1 for i in left), max(i.y1 for i in right)),
    )
    shorter = min(max(i.y1 for i in side) - min(i.y0 for i in side) for side in (left, right))
    if bottom - top < 0.4 * shorter:
        return False
    average = min(sum(item.letters for item in side) / len(side) for side in (left, right))
    heights = sorted(item.y0 for item in right)
    beside = sum(any(abs(height - item.y0) < 0.3 * item.size for height in heights) for item in left)
    if beside < 0.5 * min(len(left), len(right)):
        return average >= 8
    return average >= 18


def _rows(items: Sequence[_Item], *, rtl: bool) -> list[list[_Item]]:
    """Items on one base line, from top to bottom, each row in the direction of reading."""
    rows: list[list[_Item]] = []
    for item in sorted(items, key=lambda item: (_middle(item), item.x0)):
        last = rows[-1][0] if rows else None
        if (
            last is not None
            and item.table is None
            and last.table is None
            and abs(_middle(item) - _middle(last)) < 0.45 * min(item.y1 - item.y0, last.y1 - last.y0)
        ):
            rows[-1].append(item)
        else:
            rows.append([item])
    for row in rows:
        row.sort(key=lambda item: item.x0, reverse=rtl)
    return rows


def _cells(row: Sequence[_Item]) -> list[_Item]:
    """The parts of a row, those that nearly touch as one."""
    cells: list[_Item] = []
    for item in sorted(row, key=lambda item: item.x0):
        if cells and item.x0 - cells[-1].x1 < 0.9 * item.size:
            last = cells[-1]
            assert last.line is not None
            assert item.line is not None
            cells[-1] = _Item(
                last.x0,
                last.y0,
                item.x1,
                item.y1,
                last.size,
                _merged(last.line, item.line),
                None,
                last.letters + item.letters,
            )
        else:
            cells.append(item)
    return cells


def _table_end(rows: Sequence[Sequence[_Item]], start: int) -> int:
    """Where a run of rows ends whose parts stand under each other; `start` where there is none."""
    first = _cells(rows[start]) if rows[start][0].table is None else []
    if len(first) < 2 or any(LEADERS.search(cell.line.text) for cell in first if cell.line):
        return start
    at = start + 1
    edges = first
    while at < len(rows):
        if rows[at][0].table is not None:
            break
        cells = _cells(rows[at])
        apart = cells[0].y0 - rows[at - 1][0].y1
        if len(cells) != len(first) or apart > 2.5 * cells[0].size or not all(map(_aligned, edges, cells)):
            break
        at += 1
    long = sum(cell.letters > 60 for row in rows[start:at] for cell in _cells(row))
    return start if long > (at - start) // 2 else at


def _aligned(one: _Item, other: _Item) -> bool:
    near = 0.9 * max(one.size, other.size)
    return (
        abs(one.x0 - other.x0) < near
        or abs(one.x1 - other.x1) < near
        or abs((one.x0 + one.x1) - (other.x0 + other.x1)) < 2 * near
    )


def _grid(rows: Sequence[Sequence[_Item]]) -> list[list[str | None]]:
    return [[cell.line.text if cell.line else "" for cell in _cells(row)] for row in rows]


def _joined(row: Sequence[_Item]) -> RawLine:
    lines = [item.line for item in row if item.line is not None]
    whole = lines[0]
    for line in lines[1:]:
        whole = _merged(whole, line)
    return whole


def _merged(one: RawLine, other: RawLine) -> RawLine:
    apart = max(other.x0 - one.x1, one.x0 - other.x1)
    space = "" if apart < 0.12 * one.size else " "
    longer = one if len(one.text) >= len(other.text) else other
    return RawLine(
        text=one.text.rstrip() + space + other.text.lstrip(),
        x0=min(one.x0, other.x0),
        y0=min(one.y0, other.y0),
        x1=max(one.x1, other.x1),
        y1=max(one.y1, other.y1),
        size=longer.size,
        bold=one.bold and other.bold,
        mono=one.mono and other.mono,
    )
