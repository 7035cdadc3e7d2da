"""Finds the tables of a page by the rules that are drawn around their cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_NEAR = 3.0
"""Points within which two rules are one, or meet."""
_THIN = 3.0
_SHORT = 5.0
_MAX_RULES = 4000


@dataclass(frozen=True)
class _Rule:
    """A line across the page or down it: where it stands, and from where to where it goes."""

    at: float
    start: float
    end: float


@dataclass
class RuledTable:
    """The edges of a table's rows and columns, and which cells have a rule to their right or below."""

    xs: list[float]
    ys: list[float]
    down: list[_Rule]
    across: list[_Rule]

    @property
    def box(self) -> tuple[float, float, float, float]:
        return self.xs[0], self.ys[0], self.xs[-1], self.ys[-1]

    def rows(self, words: Sequence[Any]) -> list[list[str | None]]:
        """The text of each cell, its lines parted by line ends; None for one that its neighbour reaches over.

        `words` are MuPDF's: x0, y0, x1, y1, word, block, line, number.
        """
        height, width = len(self.ys) - 1, len(self.xs) - 1
        owner = {(row, column): self._owner(row, column) for row in range(height) for column in range(width)}
        texts: dict[tuple[int, int], dict[tuple[int, int], list[str]]] = defaultdict(dict)
        for x0, y0, x1, y1, word, block, line, _ in words:
            column, row = _slot(self.xs, (x0 + x1) / 2), _slot(self.ys, (y0 + y1) / 2)
            if column is not None and row is not None:
                texts[_root(owner, (row, column))].setdefault((block, line), []).append(word)
        return [
            [
                "\n".join(" ".join(line) for line in texts[row, column].values())
                if owner[row, column] == (row, column)
                else None
                for column in range(width)
            ]
            for row in range(height)
        ]

    def _owner(self, row: int, column: int) -> tuple[int, int]:
        """The cell to the left, or above, that no rule parts this one from; itself where rules do."""
        x, y = (self.xs[column] + self.xs[column + 1]) / 2, (self.ys[row] + self.ys[row + 1]) / 2
        if column and not _is_ruled(self.down, self.xs[column], y):
            return row, column - 1
        if row and not _is_ruled(self.across, self.ys[row], x):
            return row - 1, column
        return row, column


def ruled_tables(drawings: Sequence[dict[str, Any]]) -> list[RuledTable]:
    """The tables with at least two rows and two columns, from the page's drawings (`get_cdrawings`)."""
    across: list[_Rule] = []
    down: list[_Rule] = []
    for rule, is_across in _rules(drawings):
        (across if is_across else down).append(rule)
        if len(across) + len(down) > _MAX_RULES:
            return []
    tables = []
    for own_across, own_down in _connected(across, down):
        ys, xs = _edges(own_across), _edges(own_down)
        if len(ys) >= 3 and len(xs) >= 3:
            tables.append(RuledTable(xs, ys, own_down, own_across))
    return tables


def _rules(drawings: Sequence[dict[str, Any]]) -> Iterator[tuple[_Rule, bool]]:
    for drawing in drawings:
        stroked = "s" in (drawing.get("type") or "")
        for item in drawing.get("items", ()):
            if item[0] == "l" and stroked:
                (x0, y0), (x1, y1) = item[1], item[2]
                yield from _line(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
            elif item[0] == "re":
                yield from _box(*item[1], stroked=stroked)
            elif item[0] == "qu" and stroked:
                corners = [tuple(corner) for corner in item[1]]
                xs, ys = [corner[0] for corner in corners], [corner[1] for corner in corners]
                yield from _box(min(xs), min(ys), max(xs), max(ys), stroked=True)


def _line(x0: float, y0: float, x1: float, y1: float) -> Iterator[tuple[_Rule, bool]]:
    if y1 - y0 < _THIN and x1 - x0 > _SHORT:
        yield _Rule((y0 + y1) / 2, x0, x1), True
    elif x1 - x0 < _THIN and y1 - y0 > _SHORT:
        yield _Rule((x0 + x1) / 2, y0, y1), False


def _box(x0: float, y0: float, x1: float, y1: float, *, stroked: bool) -> Iterator[tuple[_Rule, bool]]:
    """A thin filled box is a rule; a stroked one has four."""
    if x1 - x0 < _THIN or y1 - y0 < _THIN:
        yield from _line(x0, y0, x1, y1)
    elif stroked and x1 - x0 > _SHORT and y1 - y0 > _SHORT:
        for y in (y0, y1):
            yield _Rule(y, x0, x1), True
        for x in (x0, x1):
            yield _Rule(x, y0, y1), False


def _connected(across: list[_Rule], down: list[_Rule]) -> Iterator[tuple[list[_Rule], list[_Rule]]]:
    """Groups of rules that cross or touch each other."""
    if len(across) < 3 or len(down) < 3:
        return
    parent = list(range(len(across) + len(down)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for one, rule in enumerate(across):
        for other, crossing in enumerate(down):
            meets = rule.start - _NEAR <= crossing.at <= rule.end + _NEAR
            if meets and crossing.start - _NEAR <= rule.at <= crossing.end + _NEAR:
                parent[root(one)] = root(len(across) + other)
    groups: dict[int, tuple[list[_Rule], list[_Rule]]] = defaultdict(lambda: ([], []))
    for at in range(len(parent)):
        if at < len(across):
            groups[root(at)][0].append(across[at])
        else:
            groups[root(at)][1].append(down[at - len(across)])
    yield from groups.values()


def _edges(rules: Sequence[_Rule]) -> list[float]:
    edges: list[float] = []
    for at in sorted(rule.at for rule in rules):
        if not edges or at - edges[-1] > _NEAR:
            edges.append(at)
    return edges


def _is_ruled(rules: Sequence[_Rule], at: float, middle: float) -> bool:
    return any(abs(rule.at - at) <= _NEAR and rule.start <= middle <= rule.end for rule in rules)


def _slot(edges: Sequence[float], at: float) -> int | None:
    for place in range(len(edges) - 1):
        if edges[place] <= at <= edges[place + 1]:
            return place
    return None


def _root(owner: dict[tuple[int, int], tuple[int, int]], cell: tuple[int, int]) -> tuple[int, int]:
    while owner[cell] != cell:
        cell = owner[cell]
    return cell
