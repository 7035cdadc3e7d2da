"""The sheets of an Excel workbook as tables, with the values that were last computed."""

from __future__ import annotations

import datetime
import io
from typing import Any

from pegas_assets.model import BlockKind
from pegas_assets.sources.delimited import has_header
from pegas_assets.sources.office import OfficeBlock, OfficeContent
from pegas_assets.sources.pipe_table import pipe_row

_MAX_ROWS = 200_000
_MAX_COLUMNS = 200
_EMPTY_ROWS = 1000
"""After so many rows without anything a sheet is over, whatever it says of its size."""


def read_workbook(body: bytes, max_chars: int) -> OfficeContent:
    """Runs where `confined` runs it. Hidden sheets and rows without anything are left out."""
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(body), read_only=True, data_only=True)
    blocks: list[OfficeBlock] = []
    warnings: list[str] = []
    characters = 0
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible" or not hasattr(sheet, "iter_rows"):
            continue
        sheet.reset_dimensions()
        table: list[tuple[int, list[str]]] = []
        empty = 0
        for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
            cells = [_shown(value) for value in row[:_MAX_COLUMNS]]
            empty = 0 if any(cells) else empty + 1
            if any(cells):
                table.append((number, cells))
                characters += sum(map(len, cells))
            if number >= _MAX_ROWS or characters > max_chars or empty > _EMPTY_ROWS:
                if empty <= _EMPTY_ROWS:
                    warnings.append(f"The sheet “{sheet.title}” was read up to row {number:,} only.")
                break
        if table:
            blocks.append(OfficeBlock(BlockKind.HEADING, sheet.title, table[0][0], level=2))
            blocks.extend(_table(table))
    properties = book.properties
    created = properties.created
    return OfficeContent(
        blocks=blocks,
        title=properties.title or "",
        author=properties.creator if properties.creator not in ("openpyxl", None) else "",
        published=created.date().isoformat() if created and properties.creator != "openpyxl" else "",
        meta={"sheets": len(book.sheetnames)},
        warnings=warnings,
    )


def _table(rows: list[tuple[int, list[str]]]) -> list[OfficeBlock]:
    """A table from its header on; a line above it with one cell is a paragraph."""
    used = sorted({column for _, cells in rows for column, cell in enumerate(cells) if cell})
    blocks: list[OfficeBlock] = []
    while len(rows) > 1 and len(used) > 1 and sum(bool(cell) for cell in rows[0][1]) == 1:
        number, cells = rows.pop(0)
        blocks.append(OfficeBlock(BlockKind.PARAGRAPH, "".join(cells), number))
        used = sorted({column for _, cells in rows for column, cell in enumerate(cells) if cell})
    grid = [(number, [cells[column] if column < len(cells) else "" for column in used]) for number, cells in rows]
    if len(used) == 1:
        return [*blocks, *(OfficeBlock(BlockKind.PARAGRAPH, cells[0], number) for number, cells in grid)]
    if has_header([cells for _, cells in grid[:50]]):
        (first, header), *rest = grid
    else:
        first, header, rest = grid[0][0], [f"column {place}" for place in range(1, len(used) + 1)], grid
    lines = [(first, pipe_row(header)), (0, "|" + "---|" * len(used))]
    lines += [(number, pipe_row(cells)) for number, cells in rest]
    return [*blocks, OfficeBlock(BlockKind.TABLE, "", first, rows=lines)]


def _shown(value: Any) -> str:
    """A value as the sheet shows it, nearly: dates as ISO, whole numbers without a point."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ", "minutes")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.12g}"
    return str(value).strip()
