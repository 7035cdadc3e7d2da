"""What the command line shows: tables for people, JSON for programs, progress on stderr alone."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pegas_assets.errors import PegasError

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console

LINE_EVERY_S = 5.0

# Text of documents is shown on a terminal: it may not move the cursor, colour the screen or turn the line round.
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def shown(text: str, limit: int | None = None) -> str:
    """Text of a document on one line, without what a terminal would obey, cut at a word where it is longer."""
    line = " ".join(_UNSHOWN.sub(" ", text).split())
    if limit is None or len(line) <= limit:
        return line
    head = line[: limit - 1]
    cut = head.rpartition(" ")[0] if " " in head[limit // 2 :] else head
    return f"{cut}…"


def console() -> Console:
    """Where results go."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def error_console() -> Console:
    """Where progress and errors go."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False, markup=False, emoji=False)


def say(line: str = "", style: str = "") -> None:
    """Print a line of a result."""
    console().print(line, style=style or None, soft_wrap=True)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[str] = ()) -> None:
    """Print rows under column heads; the columns in `right` hold numbers. Wide cells wrap on a terminal only."""
    from rich import box
    from rich.table import Table

    out = console()
    if not out.is_terminal:
        out.width = 200
    made = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*(number(cell) if isinstance(cell, int) else str(cell) for cell in row))
    out.print(made)


def number(value: int) -> str:
    """A whole number with its thousands apart."""
    return f"{value:,}"


def print_json(value: object) -> None:
    """Print one JSON document to stdout."""
    sys.stdout.write(json.dumps(plain(value), ensure_ascii=False, indent=2) + "\n")


def plain(value: Any) -> Any:
    """A value as JSON has it: dataclasses and models as objects, sets and tuples as lists, moments as ISO text."""
    if value is None or (isinstance(value, str | bool | int | float) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, dict):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if is_dataclass(value):
        shown_fields = [field.name for field in fields(value) if not field.name.startswith("_")]
        return {name: plain(getattr(value, name)) for name in shown_fields}
    model: BaseModel = value
    return plain(model.model_dump(mode="python"))


def print_error(error: PegasError, *, as_json: bool) -> None:
    """One sentence and the way out, on stderr; with `as_json` an object on stdout."""
    if as_json:
        told = {
            "code": error.code,
            "message": error.message,
            "hint": error.hint,
            "item": error.item,
            "component": error.component,
            "retryable": error.retryable,
        }
        print_json({"error": told})
        return
    out = error_console()
    out.print(shown(error.message, 2000), style="red", soft_wrap=True)
    if error.hint:
        out.print(shown(error.hint, 2000), soft_wrap=True)


Advance = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done, and how much there is (None: unknown)."""


@contextmanager
def progress(quiet: bool = False) -> Iterator[Advance]:
    """A progress bar on stderr for each thing that is done; plain lines where stderr is no terminal; none when quiet."""
    if quiet:
        yield lambda *_: None
        return
    out = error_console()
    if not out.is_terminal:
        yield _lines(out)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as bars:
        known: dict[str, Any] = {}

        def advance(what: str, done: int, total: int | None) -> None:
            if what not in known:
                known[what] = bars.add_task(shown(what, 60), total=total)
            bars.update(known[what], completed=done, total=total)

        yield advance


def _lines(out: Console) -> Advance:
    """A line when a thing begins, now and then while it goes on, and when it ends: a log keeps no bar."""
    told: dict[str, tuple[float, int]] = {}
    ended: set[str] = set()

    def advance(what: str, done: int, total: int | None) -> None:
        name = shown(what, 100)
        if total == 0:
            return  # It has not been counted yet.
        if total is not None and done >= total:
            if what not in ended:
                ended.add(what)
                out.print(f"{name}: {done} of {total}" if total > 1 else f"{name}: done")
            return
        at, before = told.get(what, (0.0, -1))
        if done != before and (before < 0 or time.monotonic() - at >= LINE_EVERY_S):
            out.print(f"{name}: {done} of {total}" if done and total else f"{name} …")
            told[what] = time.monotonic(), done

    return advance
