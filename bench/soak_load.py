"""The processes of a soak: clients that search and write, and one that drains. Each notes every answer that it gets."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.given import given_engines
from bench.synthetic import queries, vocabulary
from pegas_assets.embedding.base import Vector
from pegas_assets.embedding.cache import text_key
from pegas_assets.embedding.passages import passage_of
from pegas_assets.errors import PegasError
from pegas_assets.identity import atom_hash
from pegas_assets.model import AtomType
from pegas_assets.pipeline.store import store_atom
from pegas_assets.projection.drain import drain
from pegas_assets.runtime import Runtime
from pegas_assets.search.hybrid import search
from pegas_assets.search.request import SearchRequest
from pegas_assets.settings import Settings
from pegas_assets.stores.postgres import Connection

QUERIES = 200
PAUSE_S = 0.1
"""What a client thinks between two searches."""
STORE_EVERY_S = 3.0
RAW_EVERY_S = 0.5
DRAIN_EVERY_S = 1.0
FAILED_PAUSE_S = 0.2

SEARCH, STORE, RAW, DRAIN = "search", "store_atom", "raw write", "drain"


@dataclass(frozen=True)
class Answer:
    """One answer that a client got: when (monotonic seconds), after how long, and what was wrong with it."""

    client: int
    work: str
    at: float
    ms: float
    trouble: str = ""
    """Empty, or the error's code and component, or `degraded: <leg>`."""

    @property
    def failed(self) -> bool:
        return bool(self.trouble) and not self.trouble.startswith("degraded")


@dataclass(frozen=True)
class Written:
    """A write that was acknowledged."""

    work: str
    text: str
    atom_id: int
    document_id: int


def client(home: Path, number: int, until: Path) -> None:
    """Search until the file `until` exists; every second client also writes, by turns through `store_atom` and by SQL."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    runtime = Runtime(Settings(_env_file=None, home=home), application=f"soak-{number}")  # type: ignore[call-arg]
    chooser = random.Random(number)
    asked = queries(QUERIES, runtime.embedder.fingerprint.dimension, seed=100 + number)
    engines = given_engines(runtime, asked)
    writes: Callable[[], Written] | None = None
    if number % 4 == 0:
        writes, every = _stored(runtime, number), STORE_EVERY_S
    elif number % 4 == 2:
        writes, every = _written(runtime, number, chooser), RAW_EVERY_S
    kind = STORE if number % 4 == 0 else RAW
    due = time.monotonic()
    with Notes(home, number) as notes:
        while not until.exists():
            if writes is not None and time.monotonic() >= due:
                made = notes.attempt(kind, writes)
                if made is not None:
                    notes.keep(made)
                    due = time.monotonic() + every
            query, _ = chooser.choice(asked)
            notes.attempt(SEARCH, lambda query=query: search(engines, SearchRequest.checked(query)))  # type: ignore[misc]
            time.sleep(PAUSE_S)


def drainer(home: Path, number: int, until: Path) -> None:
    """Drain both projections every second, as the sensor does, until the file `until` exists."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    runtime = Runtime(Settings(_env_file=None, home=home), application="soak-drain")  # type: ignore[call-arg]
    with Notes(home, number) as notes:
        while not until.exists():
            notes.attempt(DRAIN, lambda: drain(runtime.database, runtime.targets))
            time.sleep(DRAIN_EVERY_S)


class Notes:
    """What one process was answered and what it wrote: lines in a file, whole even when the process is killed."""

    def __init__(self, home: Path, number: int) -> None:
        self._number = number
        self._file = (notes_folder(home) / f"{number}.jsonl").open("w", buffering=1)

    def __enter__(self) -> Notes:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def attempt(self, work: str, call: Callable[[], Any]) -> Any:
        """What the call returns, or None where it failed; a failed one is followed by a short pause."""
        started = time.monotonic()
        trouble, result = "", None
        try:
            result = call()
        except PegasError as error:
            trouble = f"{error.code}: {error.component or 'none'}"
        except Exception as error:  # noqa: BLE001 - what a caller would have seen is the finding
            trouble = f"{type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}"
        else:
            legs = [item.component for item in getattr(result, "degraded", ())]
            legs += [item.target for item in result if item.unavailable] if work == DRAIN else []
            trouble = f"degraded: {', '.join(legs)}" if legs else ""
        now = time.monotonic()
        self._line(asdict(Answer(self._number, work, now, (now - started) * 1000, trouble)))
        if result is None:
            time.sleep(FAILED_PAUSE_S)
        return result

    def keep(self, written: Written) -> None:
        self._line(asdict(written))

    def _line(self, fields: dict[str, Any]) -> None:
        self._file.write(json.dumps(fields) + "\n")


def notes_folder(home: Path) -> Path:
    return home / "soak"


def read_notes(home: Path) -> tuple[list[Answer], list[Written]]:
    """Everything that was noted, in order of time."""
    answers: list[Answer] = []
    written: list[Written] = []
    for path in notes_folder(home).glob("*.jsonl"):
        for line in path.read_text().splitlines():
            fields = json.loads(line)
            if "at" in fields:
                answers.append(Answer(**fields))
            else:
                written.append(Written(**fields))
    return sorted(answers, key=lambda answer: answer.at), written


def _stored(runtime: Runtime, number: int) -> Callable[[], Written]:
    """Statements through `store_atom`, embedded by the model. One that was not acknowledged is stated again."""
    state = {"said": 0}

    def write() -> Written:
        said = state["said"]
        text = (
            f"The pressure gauge of pump {1000 * number + said} in hall {said % 17} read {300 + 7 * said} kilopascals "
            f"when watch {os.getpid()} began."
        )
        made = store_atom(
            runtime.ingest_parts, runtime.targets, type=AtomType.FACT, content=text, client=f"soak-{number}"
        )
        state["said"] += 1
        return Written(STORE, text, made.atom_id, made.document_id)

    return write


def _written(runtime: Runtime, number: int, chooser: random.Random) -> Callable[[], Written]:
    """Atoms by SQL alone, with given vectors, each linked to the one before. What was not acknowledged is written again."""
    words = vocabulary()
    source = np.random.default_rng(1000 + number)
    fingerprint = runtime.embedder.fingerprint
    state: dict[str, Any] = {"text": "", "before": None, "count": 0}

    def write() -> Written:
        if not state["text"]:
            state["text"] = f"client {number} line {state['count']} " + " ".join(chooser.choices(words, k=30)) + "."
            vector = source.normal(size=fingerprint.dimension).astype(np.float32)
            state["vector"] = vector / np.linalg.norm(vector)
        text = state["text"]
        atom, document = runtime.database.transaction(
            lambda connection: _insert(connection, str(fingerprint), text, state["vector"], state["before"])
        )
        state.update(text="", before=atom, count=state["count"] + 1)
        return Written(RAW, text, atom, document)

    return write


def _insert(connection: Connection, fingerprint: str, text: str, vector: Vector, before: int | None) -> tuple[int, int]:
    """One atom with document, chunk, citation, vector and link: (atom, document). What is there already is left."""
    hashed = atom_hash("text", text)
    row = connection.execute("SELECT id, doc_id FROM pm_atom WHERE content_hash = %s", [hashed]).fetchone()
    if row is not None:
        return int(row[0]), int(row[1])
    connection.execute(
        "INSERT INTO pm_embedding (fingerprint, text_hash, vector) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
        [fingerprint, text_key(passage_of("text", "", text, "")), vector.tobytes()],
    )
    row = connection.execute(
        """
        WITH document AS (
            INSERT INTO pm_document (kind, source, title, status, parsed_at, language)
            VALUES ('text', 'text:soak', left(%(text)s, 40), 'done', now(), 'en') RETURNING id
        ), atom AS (
            INSERT INTO pm_atom (type, claim, content, content_hash, doc_id, language, distilled_by)
            SELECT 'text', left(%(text)s, 60), %(text)s, %(hash)s, id, 'en', 'extractive/1' FROM document RETURNING id
        )
        SELECT atom.id, document.id FROM atom, document
        """,
        {"text": text, "hash": hashed},
    ).fetchone()
    assert row is not None
    atom, document = int(row[0]), int(row[1])
    row = connection.execute(
        """
        INSERT INTO pm_chunk (doc_id, seq, content, language, distilled_by, distil_state, text_atom_id)
        VALUES (%s, 0, %s, 'en', 'extractive/1', 'no_facts', %s) RETURNING id
        """,
        [document, text, atom],
    ).fetchone()
    assert row is not None
    connection.execute(
        "INSERT INTO pm_citation (atom_id, doc_id, chunk_id, locator, quoted_text) VALUES (%s, %s, %s, '{}', %s)",
        [atom, document, row[0], text],
    )
    if before is not None:
        connection.execute(
            "INSERT INTO pm_atom_link (src, dst, kind, confidence, source) VALUES (%s, %s, 'reference', 0.7, 'extraction')",
            [atom, before],
        )
    return atom, document
