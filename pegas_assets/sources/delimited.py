"""Reads CSV and TSV: each record a row of a table, found again by its number."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import StringIO

from pegas_assets.errors import Refused
from pegas_assets.model import BlockKind, ParsedDocument
from pegas_assets.sources.composing import Composer, composed
from pegas_assets.sources.pipe_table import pipe_row
from pegas_assets.sources.reading import Reading
from pegas_assets.text.cleaning import clean_text

READER = "table/1"

_DELIMITERS = ("\t", ";", "|", ",")
"""Of those that cut equally well the first: a comma is part of numbers and names more often than the others."""
_LOOKED_AT = 50
_FIELD_CHARS = 1_000_000
_MAX_COLUMNS = 1000
_VALUE = re.compile(
    r"[-+−]?[$€£₽]?\s*\d[\d\s.,'’]*\s*[%$€£₽]?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T][\d:.]+Z?)?|true|false|null|n/?a|-|",
    re.IGNORECASE,
)


def read_delimited(body: bytes, reading: Reading) -> ParsedDocument:
    """A document with one table from the bytes of a CSV or TSV file. The header is row 1.

    The delimiter is the one that cuts the records most evenly; a file that none cuts is a list of lines. Values stay
    letter for letter; a line end inside one becomes a semicolon.

    Raises:
        Refused: nothing in it, longer than `max_chars`, or no table at all.
    """
    decoded = reading.decoded(body)
    text = clean_text(decoded.text).strip("\n")
    if len(text) > reading.max_chars:
        raise Refused(
            f"The table has {len(text):,} characters; at most {reading.max_chars:,} are read.",
            hint="Split the file.",
            item=reading.name,
        )
    # Excel writes its delimiter on a line of its own.
    told = re.match(r"sep=(.)\n", text, re.IGNORECASE)
    if told:
        text = text[told.end() :]
    delimiter = told.group(1) if told else _delimiter(text, "\t" if "tab" in reading.media_type else ",")
    warnings = list(decoded.warnings)
    records = list(_records(text, delimiter, warnings))
    composer = Composer("row")
    add_table(composer, records, warnings)
    return composed(
        composer,
        # Written out it is longer than in its file.
        replace(reading, max_chars=2 * reading.max_chars),
        reader=READER,
        decoded=decoded,
        meta={"rows": len(records)},
        warnings=warnings,
    )


def add_table(
    composer: Composer, records: Sequence[tuple[int, list[str]]], warnings: list[str], *, caption: str = ""
) -> None:
    """A table from records with their numbers. One column is a list of lines; without a header the columns are counted."""
    records = [(number, cells) for number, cells in records if any(cell.strip() for cell in cells)]
    if not records:
        return
    if caption:
        composer.add(BlockKind.HEADING, caption, at=records[0][0], level=2)
    width = Counter(len(cells) for _, cells in records).most_common(1)[0][0]
    ragged = sum(len(cells) > width for _, cells in records)
    most = max(len(cells) for _, cells in records)
    if ragged:
        warnings.append(
            f"{ragged:,} of {len(records):,} rows have more cells than the others ({most} instead of {width})."
        )
    width = min(most, _MAX_COLUMNS)
    if width == 1:
        for number, cells in records:
            composer.add(BlockKind.PARAGRAPH, " ".join(cells[0].split()), at=number)
        return
    if has_header([cells for _, cells in records[:_LOOKED_AT]]):
        (first, header), *rest = records
    else:
        first, header, rest = records[0][0], [f"column {number}" for number in range(1, width + 1)], list(records)
    padded = [*header, *(f"column {number}" for number in range(len(header) + 1, width + 1))]
    lines: list[tuple[float | None, str]] = [(first, pipe_row(padded[:width])), (None, "|" + "---|" * width)]
    for number, cells in rest:
        lines.append((number, pipe_row([*cells, *[""] * (width - len(cells))][:width])))
    composer.add_lines(BlockKind.TABLE, lines)


def has_header(records: Sequence[Sequence[str]]) -> bool:
    """Whether the first record names the columns: it holds no values, and no name twice."""
    first = [cell.strip() for cell in records[0]]
    names = [cell for cell in first if cell]
    if len(records) < 2 or not names or len(set(names)) < len(names):
        return False
    return not any(_VALUE.fullmatch(cell) for cell in names) and len(names) >= len(first) / 2


def _delimiter(text: str, usual: str) -> str:
    best, most = usual, 0.0
    for delimiter in _DELIMITERS:
        widths = [len(cells) for _, cells in _records(text[:200_000], delimiter, [], most=_LOOKED_AT) if any(cells)]
        if not widths:
            continue
        width, times = Counter(widths).most_common(1)[0]
        if width < 2:
            continue
        worth = times / len(widths) + (0.1 if delimiter == usual != "," else 0.0)
        if worth > most:
            best, most = delimiter, worth
    return best


def _records(
    text: str, delimiter: str, warnings: list[str], most: int | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The records with their numbers, from 1. What a stray quote swallows to the end is read line by line."""
    csv.field_size_limit(_FIELD_CHARS)
    reader = csv.reader(StringIO(text), delimiter=delimiter, skipinitialspace=delimiter != "\t")
    number = line = 0
    lines = None
    while most is None or number < most:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            warnings.append(f"Row {number + 1} is damaged: it has a field of over {_FIELD_CHARS:,} characters.")
            return
        number += 1
        taken = reader.line_num - line
        if taken > 200:
            # A quote that nobody closes takes the rest of the file into one cell.
            lines = text.split("\n")[line:]
            break
        line = reader.line_num
        yield number, cells
    if lines is not None:
        warnings.append(f"A quote in row {number} is never closed: from there on quotes are read as letters.")
        plain = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        try:
            for cells in plain:
                if most is not None and number > most:
                    return
                yield number, cells
                number += 1
        except csv.Error:
            warnings.append(f"Row {number} is damaged.")
