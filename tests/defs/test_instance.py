"""The instance: its storage, its pool, and what a run in this process may not touch."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dagster as dg
import psycopg
import pytest

from pegas_assets.defs import dagster_home
from pegas_assets.defs.dagster_home import dagster_environment, prepare_dagster_home, storage_url
from pegas_assets.defs.instance import close_instance, keep_connections, open_inprocess_instance, storages
from pegas_assets.defs.launch import launch_over_graphql, run_ingest_inprocess, run_status
from pegas_assets.errors import EngineUnavailable, InvalidInput
from pegas_assets.pipeline.accept import accept_text
from pegas_assets.runtime import Runtime
from pegas_assets.settings import Settings
from tests.defs.conftest import Source
from tests.defs.texts import document


def test_the_file_at_the_root_makes_an_instance_that_stores_an_event(
    opened: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = prepare_dagster_home(opened.settings)
    assert (home / "dagster.yaml").read_bytes() == dagster_home.CONFIG_FILE.read_bytes()
    for name, value in dagster_environment(opened.settings).items():
        monkeypatch.setenv(name, value)
    with dg.DagsterInstance.get() as made:
        made.report_runless_asset_event(dg.AssetMaterialization("stored", metadata={"words": "в порядке"}))
        event = made.get_latest_materialization_event(dg.AssetKey("stored"))
        assert event is not None
        assert event.asset_materialization is not None
        assert event.asset_materialization.metadata["words"].value == "в порядке"
        assert not made.telemetry_enabled
        assert made.run_monitoring_enabled
        made.wipe_assets([dg.AssetKey("stored")])


def test_a_run_in_this_process_is_seen_through_another_instance(
    opened: Runtime, instance: dg.DagsterInstance, source: Source
) -> None:
    ids = source.accept([40])
    result = run_ingest_inprocess(instance, opened, source.key, ids, tags={"pegas/source": "mcp"})
    other = open_inprocess_instance(opened.settings)
    try:
        run = other.get_run_by_id(result.run_id)
        assert run is not None
        assert run.is_success
        assert run.tags["pegas/source"] == "mcp"
        assert run.tags["pegas/documents"] == "1"
        assert run.tags["dagster/partition"] == source.key
        assert {"pegas/pid", "pegas/host", "pegas/started"} <= run.tags.keys()
    finally:
        close_instance(other)


def test_dagsters_tables_are_in_a_database_of_their_own(opened: Runtime, instance: dg.DagsterInstance) -> None:
    tables = "SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    with opened.database.connection() as connection:
        ours = {row[0] for row in connection.execute(tables).fetchall()}
    with psycopg.connect(storage_url(opened.settings).replace("+psycopg2", "")) as connection:
        theirs = {row[0] for row in connection.execute(tables).fetchall()}
    assert "pm_document" in ours
    assert {"runs", "event_logs", "instigators"} <= theirs
    assert not ours & theirs


def test_a_service_gets_a_schema_of_its_own() -> None:
    settings = Settings(
        _env_file=None,  # type: ignore[call-arg]
        database_url="postgresql://me:se%40cret@db.example:5433/knowledge?sslmode=require",  # type: ignore[arg-type]
        base="work",
    )
    url = storage_url(settings)
    assert url.startswith("postgresql+psycopg2://me:se%40cret@db.example:5433/knowledge?")
    assert "sslmode=require" in url
    assert "options=-csearch_path%3Dpegas_dagster_work" in url


def test_the_three_storages_share_one_pool(opened: Runtime) -> None:
    """A move of the engine in dagster-postgres must be seen here, not as a run that takes three times as long."""
    from sqlalchemy.pool import QueuePool

    made = open_inprocess_instance(opened.settings)
    try:
        engines = {id(storage._engine) for storage in storages(made)}
        assert len(engines) == 1
        assert isinstance(storages(made)[0]._engine.pool, QueuePool)
    finally:
        close_instance(made)


def test_connections_that_the_server_closed_are_replaced(
    opened: Runtime, instance: dg.DagsterInstance, source: Source
) -> None:
    """An embedded server that was killed is up again before anybody is told: the pool must notice by itself."""
    source.accept([44])
    assert instance.get_runs_count() >= 0
    address = storage_url(opened.settings).replace("+psycopg2", "")
    with psycopg.connect(address, autocommit=True) as connection:
        ended = connection.execute(
            "SELECT count(pg_terminate_backend(pid, 2000)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchone()
    assert ended is not None
    assert ended[0] > 0
    assert run_ingest_inprocess(instance, opened, source.key).succeeded


def test_a_storage_without_an_engine_is_refused_by_name(opened: Runtime) -> None:
    with dg.DagsterInstance.ephemeral() as other, pytest.raises(RuntimeError, match="no engine to replace"):
        keep_connections(other, storage_url(opened.settings))


def test_a_run_leaves_the_handlers_of_others_open(
    opened: Runtime, instance: dg.DagsterInstance, source: Source
) -> None:
    """Dagster's own way configures logging anew in every run, which closes all and can stop two runs at once for ever."""
    closed = []

    class Watched(logging.StreamHandler):
        def close(self) -> None:
            closed.append(self)
            super().close()

    watched = Watched()
    try:
        assert run_ingest_inprocess(instance, opened, source.key).succeeded
        assert not closed
    finally:
        watched.close()


def test_ten_runs_at_once_hold_fewer_than_thirty_connections(
    opened: Runtime, instance: dg.DagsterInstance, source: Source
) -> None:
    ids = source.accept(range(50, 60))
    peak, over = 0, threading.Event()
    name = opened.settings.base

    def watch() -> None:
        nonlocal peak
        with psycopg.connect(storage_url(opened.settings).replace("+psycopg2", ""), autocommit=True) as connection:
            while not over.wait(0.02):
                row = connection.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname LIKE '%%' || %s AND pid <> pg_backend_pid()",
                    [name],
                ).fetchone()
                peak = max(peak, row[0] if row else 0)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        with ThreadPoolExecutor(10) as threads:
            results = list(threads.map(lambda one: run_ingest_inprocess(instance, opened, source.key, [one]), ids))
    finally:
        over.set()
        watcher.join()
    assert [result.error for result in results] == [""] * 10
    assert source.statuses() == {"done": 10}
    assert 0 < peak < 30


SPEAK_WHILE_A_RUN_WORKS = """
import json, sys, threading
from pegas_assets.defs.instance import open_inprocess_instance, run_ingest_inprocess
from pegas_assets.runtime import Runtime
from pegas_assets.settings import load_settings
settings = load_settings()
over = threading.Event()
def speak():
    line = 0
    while not over.is_set():
        print(json.dumps({"jsonrpc": "2.0", "id": line}), flush=True)
        line += 1
        over.wait(0.002)
with Runtime(settings) as runtime:
    runtime.ensure_schema()
    instance = open_inprocess_instance(settings)
    speaker = threading.Thread(target=speak)
    speaker.start()
    result = run_ingest_inprocess(instance, runtime, sys.argv[1])
    over.set()
    speaker.join()
    print(json.dumps({"jsonrpc": "2.0", "result": result.status}), flush=True)
"""


def test_nothing_but_the_protocol_is_on_stdout_while_a_run_works(opened: Runtime, source: Source) -> None:
    source.accept([70, 71])
    done = subprocess.run(
        [sys.executable, "-c", SPEAK_WHILE_A_RUN_WORKS, source.key],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **dagster_environment(opened.settings)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["id"] for line in lines[:-1]] == list(range(len(lines) - 1)), "no line is lost or out of order"
    assert lines[-1]["result"] == "SUCCESS"
    captured = [path for path in opened.settings.dagster_home.rglob("*") if path.suffix in (".out", ".err")]
    assert not any(b"jsonrpc" in path.read_bytes() for path in captured)


def test_a_step_that_fails_leaves_a_sentence_and_the_document_accepted(
    opened: Runtime, instance: dg.DagsterInstance, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.accept([80])

    def down(*_: object, **__: object) -> None:
        raise EngineUnavailable("The embedding model does not answer.", hint="Wait.", component="embedder")

    with monkeypatch.context() as patch:
        patch.setattr("pegas_assets.defs.assets.atoms.distil_pending", down)
        result = run_ingest_inprocess(instance, opened, source.key)
    assert not result.succeeded
    assert result.finished
    assert result.error == "The embedding model does not answer. Wait."
    assert source.statuses() == {"parsed": 1}
    assert run_ingest_inprocess(instance, opened, source.key).succeeded
    assert source.statuses() == {"done": 1}


def test_a_home_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = Settings(_env_file=None, home=tmp_path / "file" / "home")  # type: ignore[call-arg]
    with pytest.raises(EngineUnavailable, match="The home of Dagster"):
        prepare_dagster_home(settings)


def test_without_a_webserver_a_launch_says_so_and_what_to_do(opened: Runtime, unused_port: int) -> None:
    settings = opened.settings.model_copy(update={"http_port": unused_port})
    for ask in (lambda: launch_over_graphql(settings, "drain_job"), lambda: run_status(settings, "x")):
        with pytest.raises(EngineUnavailable, match="pegas up"):
            ask()


def test_too_many_named_documents_are_refused(opened: Runtime, instance: dg.DagsterInstance) -> None:
    with pytest.raises(InvalidInput, match="too many"):
        run_ingest_inprocess(instance, opened, "text:x", range(20_000))


def test_the_environment_of_a_child_holds_the_settings_and_no_none(opened: Runtime) -> None:
    settings = opened.settings.model_copy(update={"ingest_roots": (Path("/a"), Path("/b"))})
    environment = dagster_environment(settings)
    assert environment["PEGAS_HOME"] == str(settings.home)
    assert environment["PEGAS_BASE"] == settings.base
    assert environment["PEGAS_INGEST_ROOTS"] == "/a,/b"
    assert "PEGAS_BOLT_URL" not in environment
    assert Path(environment["DAGSTER_HOME"]).is_absolute()


def test_a_text_accepted_while_a_run_works_is_left_for_the_next(
    opened: Runtime, instance: dg.DagsterInstance, source: Source
) -> None:
    first = source.accept([90])
    late = accept_text(opened.database, opened.settings, document(91), client=source.client).document_ids
    assert run_ingest_inprocess(instance, opened, source.key, first).succeeded
    assert source.statuses() == {"done": 1, "accepted": 1}
    assert run_ingest_inprocess(instance, opened, source.key, late).succeeded
    assert source.statuses() == {"done": 2}
