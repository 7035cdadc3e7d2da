"""Tables: one atom for the whole, and one statement for each row of data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pegas_assets.distill.passages import is_russian
from pegas_assets.distill.sentence import plain, shortened
from pegas_assets.model import AtomType, Block, ChunkToDistil, DistilledAtom

MAX_ROWS = 300
"""Rows past this stay in the table's own atom."""
MAX_CELL_CHARS = 200
MAX_SUBJECT_CHARS = 80
MAX_QUOTATION_CHARS = 4000

GENERIC_KEYS = frozenset(
    [
        "property",
        "parameter",
        "name",
        "attribute",
        "characteristic",
        "feature",
        "specification",
        "item",
        "field",
        "key",
        "spec",
        "параметр",
        "показатель",
        "характеристика",
        "свойство",
        "наименование",
        "название",
        "поле",
        "признак",
        "пункт",
    ]
)
"""Headings of a first column that say nothing of what stands in it."""
GENERIC_VALUES = frozenset(
    ["value", "values", "details", "description", "значение", "значения", "описание", "величина", "данные"]
)
EMPTY_CELLS = frozenset(("", "-", "–", "—", "n/a", "na", "н/д", "нет данных", "…", "..."))

_SEPARATOR = re.compile(r"[ \t]*\|?[ \t]*:?-{1,}:?[ \t]*(?:\|[ \t]*:?-{1,}:?[ \t]*)*\|?[ \t]*$")
_CELL = re.compile(r"(?<!\\)\|")
_UNIT = re.compile(r"^(.{1,60}?)(?:,\s*|\s*\(|\s*\[)([^\s,()\[\]][^,()\[\]]{0,14})[)\]]?$")
_NUMBER = re.compile(r"^[<>≤≥~≈±+−-]?\s*\d[\d\s.,/–−-]*$")


@dataclass(frozen=True)
class Row:
    cells: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Table:
    """A table with a header. Cells are plain text; spans are offsets into the chunk."""

    header: tuple[str, ...]
    rows: tuple[Row, ...]


def read_table(content: str, block: Block) -> Table | None:
    """The table of a block, None where it has no header, no rows, or one column.

    A table that was cut carries its header row in the block's `info` from its second piece on.
    """
    lines: list[Row] = []
    header_at = None
    at = block.start
    for line in content[block.start : block.end].splitlines(keepends=True):
        kept = line.strip()
        if kept:
            if _SEPARATOR.match(kept) and "-" in kept and ("|" in kept) and lines and header_at is None:
                header_at = len(lines) - 1
            elif "|" in kept:
                left = at + len(line) - len(line.lstrip())
                lines.append(Row(_cells(kept), left, left + len(kept)))
        at += len(line)
    if header_at is not None:
        header, body = lines[header_at].cells, lines[header_at + 1 :]
    elif "|" in block.info:
        header, body = _cells(block.info.strip().split("\n")[0].strip()), lines
    else:
        return None
    rows = tuple(row for row in body if any(cell for cell in row.cells))
    if len(header) < 2 or not rows or not any(header):
        return None
    return Table(header, rows)


def _cells(line: str) -> tuple[str, ...]:
    inner = line.removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return tuple(plain(cell.replace("\\|", "|")) for cell in _CELL.split(inner))


def extract_tables(chunk: ChunkToDistil, block: Block, caption: str = "") -> Iterator[DistilledAtom]:
    """The atoms of a table block. `caption` is the sentence that announces it, empty where none does."""
    table = read_table(chunk.content, block)
    if table is None:
        return
    raw = chunk.content[block.start : block.end]
    content = raw.strip()
    start = block.start + len(raw) - len(raw.lstrip())
    quotation = (
        content if len(content) <= MAX_QUOTATION_CHARS else content[: content.rfind("\n", 0, MAX_QUOTATION_CHARS)]
    )
    yield DistilledAtom(
        type=AtomType.TABLE,
        claim=_table_claim(chunk, table, caption),
        content=content,
        quotation=quotation,
        start=start,
        end=start + len(quotation),
        confidence=0.9,
        metadata={"header": list(table.header), "rows": len(table.rows), "columns": len(table.header)},
    )
    for row in table.rows[:MAX_ROWS]:
        claim = row_claim(table.header, row.cells, chunk.document_title or (chunk.section[0] if chunk.section else ""))
        if claim:
            yield DistilledAtom(
                type=AtomType.FACT,
                claim=shortened(claim),
                content=claim,
                quotation=chunk.content[row.start : row.end],
                start=row.start,
                end=row.end,
                confidence=0.8 if any(character.isdigit() for character in claim) else 0.65,
                metadata={"header": list(table.header), "cells": list(row.cells), "from": "table"},
            )


def _table_claim(chunk: ChunkToDistil, table: Table, caption: str) -> str:
    russian = is_russian(" ".join(table.header), chunk.language)
    about = caption.rstrip(":. ") or (chunk.section[-1] if chunk.section else chunk.document_title)
    columns = ", ".join(cell for cell in table.header if cell)
    head, tail = ("Таблица", f"столбцы: {columns}") if russian else ("Table", f"columns: {columns}")
    return shortened(f"{head}: {plain(about)}; {tail}" if about else f"{head}; {tail}")


def row_claim(header: tuple[str, ...], cells: tuple[str, ...], subject: str = "") -> str:
    """A row as a statement: `Pump A — flow: 12 l/min, power: 40 W`. Empty where the row says nothing.

    `subject` is what a table of properties is about: `Lamp 3 — weight: 310 g`. A row that opens with a number or a
    common noun says nothing without it: `Kettle client: code 409 — meaning: the job exists`.
    """
    cells = cells[: len(header)]
    if not cells or any(len(cell) > MAX_CELL_CHARS for cell in cells):
        return ""
    first, key = cells[0], header[0]
    if first.casefold() in EMPTY_CELLS:
        return ""
    named = [
        (name, value) for name, value in zip(header[1:], cells[1:], strict=False) if value.casefold() not in EMPTY_CELLS
    ]
    if not named:
        return ""
    if (
        len(header) == 2
        and (_is_generic(key, GENERIC_KEYS) or not key)
        and (_is_generic(named[0][0], GENERIC_VALUES) or not named[0][0])
    ):
        statement = f"{_lowered(first) if subject else first}: {named[0][1]}"
        return f"{plain(subject)} — {statement}" if subject else statement
    is_count = bool(_NUMBER.match(first))
    if is_count and key:
        name, unit = _name_and_unit(key)
        first = f"{first} {unit}" if unit else f"{name} {first}"
    statement = f"{first} — " + ", ".join(_named_value(name, value) for name, value in named)
    if subject and len(subject) <= MAX_SUBJECT_CHARS and (is_count or first[0].islower()):
        return f"{plain(subject)}: {_lowered(statement)}"
    return statement


def _is_generic(name: str, words: frozenset[str]) -> bool:
    return name.casefold().replace("ё", "е").strip(" :.") in words


def _named_value(name: str, value: str) -> str:
    if not name:
        return value
    label, unit = _name_and_unit(name)
    if unit and _NUMBER.match(value):
        return f"{_lowered(label)}: {value} {unit}"
    return f"{_lowered(name if unit else label)}: {value}"


def _name_and_unit(name: str) -> tuple[str, str]:
    """`Flow, l/min` and `Flow (l/min)` as name and unit."""
    found = _UNIT.match(name)
    return (found.group(1).strip(), found.group(2).strip()) if found else (name, "")


def _lowered(name: str) -> str:
    """The name with a small initial, unless it is an abbreviation or a name such as pH."""
    return name[0].lower() + name[1:] if len(name) > 1 and name[0].isupper() and name[1].islower() else name
