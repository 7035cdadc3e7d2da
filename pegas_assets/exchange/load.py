"""Takes an export back: into an empty base as it was, into another one by what its things are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pegas_assets.errors import InvalidInput
from pegas_assets.exchange.format import BODIES, EMBEDDINGS, FORMAT, MANIFEST, SELECTS, VERSION
from pegas_assets.exchange.merging import MERGES, PREPARE
from pegas_assets.stores.locks import lock_dedup
from pegas_assets.stores.postgres import Connection, Database, first_line
from pegas_assets.text.cleaning import clean_json

Progress = Callable[[str, int], None]


@dataclass(frozen=True)
class Loaded:
    """For each kind of thing, how many were new, and how many were known already or had no place."""

    added: dict[str, int] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)


def load(database: Database, folder: Path, *, progress: Progress | None = None) -> Loaded:
    """Take an export in, whole or not at all; twice is once. The projections follow through the outbox.

    A base without documents and atoms gets them under their own numbers. In another one a document is known by its
    bytes or its text, an atom by its content; what is known stays as the base has it, and gains the citations, links and
    addresses that the export has more.

    Raises:
        InvalidInput: the folder holds no export, another version's, or one that is damaged; nothing is changed.
        EngineUnavailable: PostgreSQL does not answer.
    """
    import psycopg

    root = folder.expanduser().absolute()
    _require_export(root, folder)
    tell = progress or (lambda name, done: None)

    def work(connection: Connection) -> Loaded:
        # What ingest decides at this moment must see what is loaded, and the other way round.
        lock_dedup(connection)
        connection.execute("SET LOCAL work_mem = '64MB'")
        for name in (*SELECTS, *EMBEDDINGS):
            tell(name, _stage(connection, root, name))
        for statement in PREPARE:
            connection.execute(statement)
        result = Loaded()
        for name, statements in MERGES.items():
            if name == BODIES:
                result.added[name] = _load_bodies(connection, root / BODIES, tell)
                continue
            *before, last = statements
            for statement in before:
                connection.execute(statement)
            result.added[name] = connection.execute(last).rowcount
            staged = connection.execute(f"SELECT count(*) FROM load_{name}").fetchone()
            result.known[name] = (staged[0] if staged else 0) - result.added[name]
        connection.execute("ANALYZE pm_document, pm_chunk, pm_atom, pm_citation, pm_atom_link")
        return result

    try:
        return database.transaction(work)
    except (psycopg.DataError, psycopg.IntegrityError) as error:
        raise _damaged(folder, first_line(error)) from None


def _require_export(root: Path, given: Path) -> None:
    try:
        manifest = json.loads((root / MANIFEST).read_text("utf-8"))
        version = manifest["version"] if manifest["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        version = None
    if version is None:
        raise InvalidInput(
            f"{given} holds no export: it has no {MANIFEST} of one.",
            hint="Name the folder that `pegas export` made.",
            item=str(given),
        )
    if version != VERSION:
        raise InvalidInput(
            f"{given} is an export of version {version}; this program reads version {VERSION}.",
            hint="Use the version of Pegas Memory that made it, or a newer one.",
            item=str(given),
        )
    missing = [name for name in SELECTS if not (root / f"{name}.jsonl").is_file()]
    if missing:
        raise InvalidInput(
            f"{given} lacks {missing[0]}.jsonl: it cannot be taken back.",
            hint="Export with the JSON Lines.",
            item=str(given),
        )


def _stage(connection: Connection, root: Path, name: str) -> int:
    """Put a file's lines into a temporary table; how many."""
    count = 0
    connection.execute(f"CREATE TEMPORARY TABLE load_{name} (row jsonb NOT NULL) ON COMMIT DROP")
    with connection.cursor() as cursor, cursor.copy(f"COPY load_{name} FROM STDIN") as copy:
        for row in _rows(root / f"{name}.jsonl"):
            copy.write_row([json.dumps(clean_json(row), ensure_ascii=False)])
            count += 1
    connection.execute(f"ANALYZE load_{name}")
    return count


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    number = 0
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                number += 1
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise ValueError("no object")
                yield row
    except (ValueError, RecursionError):
        raise _damaged(path, f"line {number} is no JSON object") from None
    except OSError as error:
        raise _damaged(path, error.strerror or "it cannot be read") from None


def _load_bodies(connection: Connection, folder: Path, tell: Progress) -> int:
    """The bytes of the documents that are new, checked against their hash."""
    wanted = connection.execute(
        """
        SELECT place.id, body->>'sha256', coalesce(body->>'media_type', ''), coalesce(body->>'name', ''),
               coalesce(body->>'charset', '')
        FROM load_document_place AS place
        JOIN load_documents AS loaded ON loaded.row->>'key' = place.key
        CROSS JOIN LATERAL (SELECT loaded.row->'body' AS body) AS has
        WHERE place.fresh AND jsonb_typeof(body) = 'object' ORDER BY place.id
        """
    ).fetchall()
    with (
        connection.cursor() as cursor,
        cursor.copy("COPY pm_document_body (doc_id, media_type, name, charset, bytes) FROM STDIN") as copy,
    ):
        for done, (id_, sha256, media_type, name, charset) in enumerate(wanted, 1):
            copy.write_row([id_, media_type, name, charset, _body(folder, str(sha256))])
            tell(BODIES, done)
    return len(wanted)


def _body(folder: Path, sha256: str) -> bytes:
    # The name comes from a file: only a hash may be one.
    path = folder / sha256
    if len(sha256) != 64 or not all(character in "0123456789abcdef" for character in sha256):
        raise _damaged(folder, f"{sha256[:80]!r} is no hash")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _damaged(path, error.strerror or "it cannot be read") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise _damaged(path, "its bytes are not those of its name")
    return content


def _damaged(path: Path, what: str) -> InvalidInput:
    return InvalidInput(
        f"The export is damaged at {path}: {what}. Nothing was taken.", hint="Export again.", item=str(path)
    )
