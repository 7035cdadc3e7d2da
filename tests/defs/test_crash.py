"""A run that is killed half-way: its retry neither loses nor doubles anything."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import psycopg
import pytest

from pegas_assets.defs import sensors
from pegas_assets.defs.dagster_home import dagster_environment
from pegas_assets.defs.instance import close_instance, open_inprocess_instance, run_ingest_inprocess
from pegas_assets.pipeline.ingest import ingest_source
from pegas_assets.projection.drain import drain
from pegas_assets.runtime import Runtime
from tests.conftest import fresh_base
from tests.defs.conftest import Source
from tests.defs.projections import drift_of

DOCUMENTS = range(200, 208)
WAIT_S = 90.0

INGEST = """
import sys
from pegas_assets.defs.instance import open_inprocess_instance, run_ingest_inprocess
from pegas_assets.runtime import Runtime
from pegas_assets.settings import load_settings
settings = load_settings()
with Runtime(settings) as runtime:
    runtime.ensure_schema()
    run_ingest_inprocess(open_inprocess_instance(settings), runtime, sys.argv[1], tags={"pegas/source": "cli"})
"""


@pytest.fixture
def control(home: Path, opened: Runtime) -> Iterator[Runtime]:
    """A base in which the same documents are ingested undisturbed."""
    with fresh_base(home) as made:
        yield made


def test_a_killed_run_is_retried_and_nothing_is_lost_or_doubled(
    opened: Runtime, instance: dg.DagsterInstance, source: Source, control: Runtime
) -> None:
    source.accept(DOCUMENTS)
    killed = _run_until(source, done=2)
    halfway = source.statuses()
    assert 0 < halfway["done"] < len(DOCUMENTS)

    (run,) = instance.get_runs(dg.RunsFilter(job_name="ingest_job"))
    assert run.status is dg.DagsterRunStatus.STARTED, "nobody has noticed yet"
    assert run.tags["pegas/pid"] == str(killed)
    assert sensors.sweep(instance) == [run.run_id]
    assert instance.get_run_by_id(run.run_id).is_failure  # type: ignore[union-attr]

    assert run_ingest_inprocess(instance, opened, source.key).succeeded
    drain(opened.database, opened.targets)
    assert source.statuses() == {"done": len(DOCUMENTS)}
    assert drift_of(opened) == {"vectors": 0, "graph": 0}

    _ingest_undisturbed(control, opened, source.client)
    assert _knowledge(opened) == _knowledge(control)


def test_what_was_accepted_before_a_kill_is_done_after_the_next_run(
    opened: Runtime, source: Source, home: Path
) -> None:
    """Killed before its first document: the acceptance alone must carry the work."""
    ids = source.accept([300])
    instance = open_inprocess_instance(opened.settings)
    process = _start(source)
    process.send_signal(signal.SIGKILL)
    process.wait()
    try:
        assert source.statuses() == {"accepted": 1}
        assert run_ingest_inprocess(instance, opened, source.key, ids).succeeded
    finally:
        close_instance(instance)
    assert source.statuses() == {"done": 1}


def _start(source: Source) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", INGEST, source.key],
        env={**os.environ, **dagster_environment(source.runtime.settings)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _run_until(source: Source, done: int) -> int:
    """Run the ingest job in a process of its own and kill that when so many documents are done; returns its pid."""
    process = _start(source)
    try:
        deadline = time.monotonic() + WAIT_S
        while source.statuses().get("done", 0) < done:
            assert process.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    return process.pid


def _ingest_undisturbed(control: Runtime, opened: Runtime, client: str) -> None:
    """The same documents in one go. Embeddings, which cost most, are copied over."""
    with opened.database.connection() as read, control.database.connection() as write:
        rows = read.execute("SELECT fingerprint, text_hash, vector FROM pm_embedding").fetchall()
        with write.cursor() as cursor:
            cursor.executemany("INSERT INTO pm_embedding (fingerprint, text_hash, vector) VALUES (%s, %s, %s)", rows)
    twin = Source(control, client)
    twin.accept(DOCUMENTS)
    ingest_source(control.ingest_parts, twin.key)
    assert twin.statuses() == {"done": len(DOCUMENTS)}


def _knowledge(runtime: Runtime) -> dict[str, list[psycopg.rows.TupleRow]]:
    """Everything that was made, without the numbers that the database gave it."""
    questions = {
        "chunks": "SELECT title, seq, content, distil_state FROM pm_chunk JOIN pm_document d ON d.id = doc_id ORDER BY 1, 2",
        "atoms": "SELECT type, claim, content, status FROM pm_atom ORDER BY 1, 3",
        "citations": """
            SELECT atom.content_hash, document.title, citation.quoted_text FROM pm_citation AS citation
            JOIN pm_atom AS atom ON atom.id = citation.atom_id JOIN pm_document AS document ON document.id = citation.doc_id
            WHERE citation.gone_at IS NULL ORDER BY 1, 2, 3
        """,
    }
    with runtime.database.connection() as connection:
        return {name: connection.execute(question).fetchall() for name, question in questions.items()}
