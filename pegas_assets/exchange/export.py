"""Writes a base as a folder that can be read without us: JSON Lines, the documents' bytes, Markdown."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import LiteralString

from pegas_assets.errors import InvalidInput
from pegas_assets.exchange.format import BODIES, EMBEDDINGS, FORMAT, MANIFEST, MARKDOWN, SELECTS, VERSION
from pegas_assets.exchange.markdown import write_markdown
from pegas_assets.stores.postgres import Connection, Database

BATCH = 1000

Progress = Callable[[str, int], None]
"""Called with the name of a file and the lines written so far."""


@dataclass(frozen=True)
class Exported:
    """Where an export is, and how many things of each kind it has."""

    folder: Path
    counts: dict[str, int]


def export(
    database: Database,
    folder: Path,
    *,
    base: str = "",
    lines: bool = True,
    markdown: bool = True,
    embeddings: bool = False,
    progress: Progress | None = None,
) -> Exported:
    """Write one moment of the base into a new folder. It appears whole or not at all.

    Raises:
        InvalidInput: the folder exists and is not empty, or cannot be written.
        EngineUnavailable: PostgreSQL does not answer.
    """
    target = folder.expanduser().absolute()
    partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
    tell = progress or (lambda name, done: None)
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise InvalidInput(f"{folder} exists already.", hint="Name a new or an empty folder.", item=str(folder))
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir()
        try:
            with database.session() as session, session.transaction():
                session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                counts = _write(session, partial, lines=lines, markdown=markdown, embeddings=embeddings, tell=tell)
            manifest = {
                "format": FORMAT,
                "version": VERSION,
                "base": base,
                "at": datetime.now(UTC).isoformat(timespec="seconds"),
                "counts": counts,
            }
            (partial / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
            if target.is_dir():
                target.rmdir()
            partial.rename(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise InvalidInput(
            f"{folder} cannot be written: {error.strerror}.", hint="Name another folder.", item=str(folder)
        ) from None
    return Exported(target, counts)


def _write(
    session: Connection, folder: Path, *, lines: bool, markdown: bool, embeddings: bool, tell: Progress
) -> dict[str, int]:
    counts: dict[str, int] = {}
    if lines:
        selects: Mapping[str, LiteralString] = {**SELECTS, **(EMBEDDINGS if embeddings else {})}
        for name, select in selects.items():
            counts[name] = 0
            with (folder / f"{name}.jsonl").open("w", encoding="utf-8", newline="\n") as file:
                for line in stream(session, select):
                    file.write(json.dumps(line[0], ensure_ascii=False, separators=(",", ":")) + "\n")
                    counts[name] += 1
                    if counts[name] % BATCH == 0:
                        tell(name, counts[name])
            tell(name, counts[name])
        counts[BODIES] = _write_bodies(session, folder / BODIES, tell)
    if markdown:
        counts[MARKDOWN] = write_markdown(session, folder / MARKDOWN, lambda done: tell(MARKDOWN, done))
    return counts


def stream(session: Connection, select: LiteralString) -> Iterator[tuple[object, ...]]:
    """The rows of a query, a thousand at a time."""
    with session.cursor(name="export") as cursor:
        cursor.itersize = BATCH
        cursor.execute(select)
        yield from cursor


def _write_bodies(session: Connection, folder: Path, tell: Progress) -> int:
    """The documents' bytes, each once, named by their hash."""
    folder.mkdir()
    count = 0
    with session.cursor(name="bodies") as cursor:
        # A body may have 50 MB.
        cursor.itersize = 1
        cursor.execute("SELECT DISTINCT ON (sha256) encode(sha256, 'hex'), bytes FROM pm_document_body ORDER BY sha256")
        for name, content in cursor:
            (folder / name).write_bytes(content)
            count += 1
            tell(BODIES, count)
    return count
