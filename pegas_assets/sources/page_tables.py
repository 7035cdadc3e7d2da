"""Tells tables of data from tables of layout and of code, and writes the former as Markdown."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MAX_SPAN = 30
_LONG_CELL_CHARS = 400
_BLANKS = re.compile(r"[ \t\r\n\f]+")
_BREAKS = ("li", "p", "div", "dd", "dt", "br")


class TableKind(Enum):
    DATA = auto()
    LAYOUT = auto()


def classify(table: HtmlElement) -> TableKind:
    """A table that holds other tables, headings, whole articles or only one row or column is layout."""
    if (table.get("role") or "").lower() in ("presentation", "none"):
        return TableKind.LAYOUT
    if next(table.iter("h1", "h2", "h3", "form", "article", "main", "nav"), None) is not None:
        return TableKind.LAYOUT
    if any(inner is not table for inner in table.iter("table")):
        return TableKind.LAYOUT
    rows = table_rows(table)
    widest = max((len(row) for row in rows), default=0)
    if widest <= 1:
        return TableKind.LAYOUT
    headed = next(table.iter("th", "caption", "thead"), None) is not None
    if headed:
        return TableKind.DATA
    if len(rows) == 1:
        return TableKind.LAYOUT
    longest = max(len(cell.text_content()) for row in rows for cell in row)
    if longest > 4 * _LONG_CELL_CHARS or (longest > _LONG_CELL_CHARS and len(rows) <= 3):
        return TableKind.LAYOUT
    return TableKind.DATA


def table_to_markdown(table: HtmlElement) -> str:
    """A pipe table; its caption is a line before it. Empty where no cell has a word.

    The first row is the header, as Markdown has no table without one. A cell over several rows is repeated in each,
    one over several columns stands in the first.
    """
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for row in table_rows(table):
        line: list[str] = []
        for cell in row:
            _hang(line, hanging)
            text = cell_text(cell)
            rows = _span(cell, "rowspan")
            if rows > 1:
                hanging[len(line)] = (rows - 1, text)
            line.append(text)
            line.extend([""] * (_span(cell, "colspan") - 1))
        _hang(line, hanging)
        if any(line):
            grid.append(line)
    if not grid:
        return ""
    width = max(len(line) for line in grid)
    for line in grid:
        line.extend([""] * (width - len(line)))
    # Columns and rows that only make room go.
    kept = [column for column in range(width) if any(line[column] for line in grid)]
    lines = ["| " + " | ".join(line[column] for column in kept) + " |" for line in grid]
    lines.insert(1, "|" + "---|" * len(kept))
    caption = next((cell_text(element) for element in table.iter("caption")), "")
    return (f"{caption}\n\n" if caption else "") + "\n".join(lines)


def cell_text(cell: HtmlElement) -> str:
    """A cell on one line: list items, paragraphs and line breaks parted by semicolons, pipes escaped."""
    parts: list[str] = []

    def walk(element: HtmlElement) -> None:
        if not isinstance(element.tag, str):
            return
        mark = "`" if element.tag == "code" else ""
        if element.tag in _BREAKS:
            parts.append("\n")
        parts.append(mark + _BLANKS.sub(" ", element.text or ""))
        if element.tag == "img":
            parts.append(element.get("alt") or "")
        for child in element:
            walk(child)
            parts.append(_BLANKS.sub(" ", child.tail or ""))
        parts.append(mark)
        if element.tag in _BREAKS and element.tag != "br":
            parts.append("\n")

    walk(cell)
    lines = (" ".join(line.split(" ")) for line in "".join(parts).split("\n"))
    text = "; ".join(line for line in (re.sub(" +", " ", line).strip() for line in lines) if line)
    return text.replace("``", "").replace("|", "\\|")


def table_rows(table: HtmlElement) -> list[list[HtmlElement]]:
    """The cells by row of this table itself, without those of tables inside it."""
    rows = []
    for row in table.iter("tr"):
        around = next((place for place in row.iterancestors() if place.tag == "table"), None)
        if around is table:
            rows.append([cell for cell in row if cell.tag in ("td", "th")])
    return [row for row in rows if row]


def _span(cell: HtmlElement, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return max(1, min(int(value), _MAX_SPAN)) if value.isdecimal() and len(value) < 6 else 1


def _hang(line: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """Puts in the cells that reach down from rows above."""
    while len(line) in hanging:
        at = len(line)
        rows, text = hanging.pop(at)
        if rows > 1:
            hanging[at] = (rows - 1, text)
        line.append(text)
