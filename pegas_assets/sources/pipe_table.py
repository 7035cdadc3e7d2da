"""Writes rows of cells as a Markdown pipe table."""

from __future__ import annotations

from collections.abc import Sequence


def pipe_table(rows: Sequence[Sequence[str | None]]) -> str:
    """The table, its first row as the header; columns and rows without anything in them go. Empty where all is."""
    lines = [[pipe_cell(cell) for cell in row] for row in rows]
    lines = [line for line in lines if any(line)]
    if not lines:
        return ""
    width = max(map(len, lines))
    for line in lines:
        line.extend([""] * (width - len(line)))
    kept = [column for column in range(width) if any(line[column] for line in lines)]
    written = [_row([line[column] for column in kept]) for line in lines]
    written.insert(1, "|" + "---|" * len(kept))
    return "\n".join(written)


def pipe_row(cells: Sequence[str | None]) -> str:
    """One row of a table."""
    return _row([pipe_cell(cell) for cell in cells])


def pipe_cell(text: str | None) -> str:
    """A cell on one line, its own lines parted by semicolons."""
    parts = (" ".join(line.split()) for line in (text or "").split("\n"))
    return "; ".join(part for part in parts if part).replace("|", "\\|")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
