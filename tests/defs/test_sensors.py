"""The sensors on real tables and a real instance."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import dagster as dg
import pytest
from dagster._core.definitions.sensor_definition import SensorExecutionData
from dagster._core.test_utils import create_run_for_test

from pegas_assets.definitions import defs
from pegas_assets.defs import sensors, tags
from pegas_assets.defs.launch import run_ingest_inprocess
from pegas_assets.defs.resources import RuntimeResource, lend, owner_tags
from pegas_assets.embedded.process import process_start
from pegas_assets.projection.drain import drain
from pegas_assets.runtime import Runtime
from pegas_assets.stores.waiting import waiting_rows, waiting_sources
from tests.defs.conftest import Source

REPOSITORY = defs.get_repository_def()


@pytest.fixture(autouse=True)
def no_quiet_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensors, "QUIET_S", 0.0)


@pytest.fixture(autouse=True)
def empty_tables(opened: Runtime, instance: dg.DagsterInstance) -> Iterator[None]:
    """Each test starts with nothing waiting and no run in flight."""
    yield
    with opened.database.connection() as connection:
        connection.execute("DELETE FROM pm_document")
        connection.execute("DELETE FROM pm_outbox")
    for run in instance.get_runs():
        instance.delete_run(run.run_id)


def tick(name: str, instance: dg.DagsterInstance, runtime: Runtime) -> SensorExecutionData:
    with (
        lend(runtime),
        dg.build_sensor_context(
            instance=instance,
            instance_ref=instance.get_ref(),
            repository_def=REPOSITORY,
            sensor_name=name,
            resources={"runtime": RuntimeResource()},
        ) as context,
    ):
        return REPOSITORY.get_sensor_def(name).evaluate_tick(context)


def answer(instance: dg.DagsterInstance, job: str, request: dg.RunRequest, status: dg.DagsterRunStatus) -> None:
    """What the daemon does with a request: a run with its tags, in some state."""
    all_tags = {**request.tags, "dagster/run_key": request.run_key or ""}
    if request.partition_key is not None:
        all_tags[tags.PARTITION] = request.partition_key
    create_run_for_test(instance, job_name=job, tags=all_tags, status=status)


def test_an_accepted_document_is_asked_for_with_its_partition_added(
    opened: Runtime, instance: dg.DagsterInstance, source: Source
) -> None:
    source.accept([1, 2])
    result = tick("pending_documents_sensor", instance, opened)
    (request,) = result.run_requests or ()
    assert request.partition_key == source.key
    (added,) = result.dynamic_partitions_requests or ()
    assert list(added.partition_keys) == [source.key]


def test_a_duplicate_tick_asks_under_the_same_key_and_a_failed_run_is_asked_for_anew(
    opened: Runtime, instance: dg.DagsterInstance, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.accept([1])
    (first,) = tick("pending_documents_sensor", instance, opened).run_requests or ()
    (same,) = tick("pending_documents_sensor", instance, opened).run_requests or ()
    assert same.run_key == first.run_key
    answer(instance, "ingest_job", first, dg.DagsterRunStatus.STARTED)
    assert not tick("pending_documents_sensor", instance, opened).run_requests
    run = instance.get_runs()[0]
    instance.report_run_failed(run)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 60.0)
    (again,) = tick("pending_documents_sensor", instance, opened).run_requests or ()
    assert again.run_key != first.run_key
    assert again.partition_key == source.key


def test_a_document_that_failed_is_not_asked_for_before_its_time(
    opened: Runtime, instance: dg.DagsterInstance, source: Source
) -> None:
    (document,) = source.accept([1])
    with opened.database.connection() as connection:
        connection.execute(
            "UPDATE pm_document SET next_attempt_at = now() + interval '1 hour' WHERE id = %s", [document]
        )
    assert not tick("pending_documents_sensor", instance, opened).run_requests


def test_what_was_accepted_a_moment_ago_is_left_to_whoever_accepted_it(opened: Runtime, source: Source) -> None:
    source.accept([1])
    with opened.database.connection() as connection:
        assert not waiting_sources(connection, quiet_s=60.0)
        assert not waiting_rows(connection, quiet_s=60.0)
        assert waiting_sources(connection)


def test_the_outbox_asks_for_one_drain_and_no_second_beside_it(
    opened: Runtime, instance: dg.DagsterInstance, source: Source
) -> None:
    source.accept([1])
    (request,) = tick("outbox_sensor", instance, opened).run_requests or ()
    answer(instance, "drain_job", request, dg.DagsterRunStatus.NOT_STARTED)
    source.accept([2])
    assert not tick("outbox_sensor", instance, opened).run_requests


def test_a_row_that_commits_after_a_younger_one_is_not_lost(
    opened: Runtime, instance: dg.DagsterInstance, source: Source
) -> None:
    """Ids are given out before commits: a sensor that asks for `id > last seen` never sees the older row."""
    enqueue = "SELECT pm_enqueue('doc', ARRAY[%s]::bigint[], ARRAY[%s], ARRAY[NULL]::text[], 'upsert')"
    with opened.database.connection() as slow:
        slow.execute(enqueue, [901, "doc:901"])
        with opened.database.connection() as quick:
            quick.execute(enqueue, [902, "doc:902"])
        (first,) = tick("outbox_sensor", instance, opened).run_requests or ()
        answer(instance, "drain_job", first, dg.DagsterRunStatus.SUCCESS)
        drain(opened.database, opened.targets)
    with opened.database.connection() as connection:
        older, younger = connection.execute("SELECT id FROM pm_outbox ORDER BY entity_key").fetchall()
        assert older < younger, "the row that came late has the smaller id"
    (second,) = tick("outbox_sensor", instance, opened).run_requests or ()
    assert second.run_key != first.run_key
    drain(opened.database, opened.targets)
    assert not tick("outbox_sensor", instance, opened).run_requests


def test_a_tick_over_a_long_history_reads_only_what_is_pending(opened: Runtime) -> None:
    """By the plan, not by the clock: both questions go through the partial index of pending rows."""
    with opened.database.connection() as connection:
        connection.execute(
            """
            INSERT INTO pm_outbox (entity_type, entity_id, entity_key, bucket, op, vector_state, graph_state)
            SELECT 'atom', n, 'atom:' || n, n %% 16, 'upsert', 'done', 'done' FROM generate_series(1, 50000) AS n
            """.replace("%%", "%")
        )
    with opened.database.session() as session:
        session.execute("ANALYZE pm_outbox")
        for state in ("vector", "graph"):
            plan = session.execute(
                f"EXPLAIN SELECT id FROM pm_outbox WHERE {state}_state = 'pending' AND {state}_next_at <= now() LIMIT 5000"
            ).fetchall()
            assert any(f"pm_outbox_{state}_idx" in line[0] for line in plan), plan


def test_a_failed_read_is_an_error_and_not_an_empty_answer(
    opened: Runtime, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("the connection broke")

    monkeypatch.setattr(sensors, "waiting_rows", broken)
    with pytest.raises(Exception, match="the connection broke"):
        tick("outbox_sensor", instance, opened)


def tags_of_a_dead_process() -> dict[str, str]:
    gone = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = process_start(gone.pid)
    gone.kill()
    gone.wait()
    return {**owner_tags(), tags.PID: str(gone.pid), tags.STARTED: str(started)}


def test_the_sweep_leaves_a_retry_that_has_only_inherited_its_owner(instance: dg.DagsterInstance) -> None:
    """Dagster copies a lost run's tags to its retry, which takes seconds to name its own process."""
    inherited = tags_of_a_dead_process()
    lost = create_run_for_test(instance, job_name="rebuild_job", tags=inherited, status=dg.DagsterRunStatus.FAILURE)
    retry = create_run_for_test(
        instance,
        job_name="rebuild_job",
        tags={**inherited, "dagster/parent_run_id": lost.run_id, "dagster/root_run_id": lost.run_id},
        parent_run_id=lost.run_id,
        root_run_id=lost.run_id,
        status=dg.DagsterRunStatus.STARTED,
    )
    assert sensors.sweep(instance) == []
    instance.add_run_tags(retry.run_id, tags_of_a_dead_process())
    assert sensors.sweep(instance) == [retry.run_id]


def test_the_sweep_ends_runs_whose_process_is_gone_and_no_other(instance: dg.DagsterInstance) -> None:
    lost_tags = tags_of_a_dead_process()
    lost = create_run_for_test(instance, job_name="ingest_job", tags=lost_tags, status=dg.DagsterRunStatus.STARTED)
    alive = create_run_for_test(instance, job_name="ingest_job", tags=owner_tags(), status=dg.DagsterRunStatus.STARTED)
    other = create_run_for_test(
        instance, job_name="ingest_job", tags={**lost_tags, tags.HOST: "elsewhere"}, status=dg.DagsterRunStatus.STARTED
    )
    assert sensors.sweep(instance) == [lost.run_id]
    statuses = {run.run_id: run.status for run in instance.get_runs()}
    assert statuses[lost.run_id] is dg.DagsterRunStatus.FAILURE
    assert statuses[alive.run_id] is statuses[other.run_id] is dg.DagsterRunStatus.STARTED
    assert sensors.sweep(instance) == []


def test_a_document_that_is_done_is_asked_for_no_more(
    opened: Runtime, instance: dg.DagsterInstance, source: Source
) -> None:
    source.accept([3])
    assert run_ingest_inprocess(instance, opened, source.key).succeeded
    assert not tick("pending_documents_sensor", instance, opened).run_requests
