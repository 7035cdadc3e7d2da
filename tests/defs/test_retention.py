"""What has served its time goes; what something's latest state stands in stays."""

from __future__ import annotations

import time
from pathlib import Path

import dagster as dg

from pegas_assets.definitions import defs
from pegas_assets.defs.launch import run_ingest_inprocess
from pegas_assets.defs.resources import lend
from pegas_assets.defs.retention import prune_runs
from pegas_assets.runtime import Runtime
from tests.defs.conftest import Source

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def test_old_runs_go_but_those_of_the_latest_materialisations_and_checks(
    opened: Runtime, instance: dg.DagsterInstance, source: Source
) -> None:
    """Were they deleted too, every partition would look as if it had never been made."""
    runs = [run_ingest_inprocess(instance, opened, source.key).run_id for _ in range(3)]
    with lend(opened):
        checks = [
            defs.resolve_job_def("soundness_job").execute_in_process(instance=instance, run_config=QUIET)
            for _ in range(2)
        ]
    keys = [check.asset_check_key for check in checks[-1].get_asset_check_evaluations()]
    time.sleep(0.05)
    pruned = prune_runs(instance, 0.0, keys)
    assert (pruned.removed, pruned.kept) == (3, 2)
    assert {run.run_id for run in instance.get_runs()} == {runs[-1], checks[-1].run_id}
    for asset in ("documents", "chunks", "atoms"):
        assert set(instance.get_materialized_partitions(dg.AssetKey(asset))) == {source.key}
    assert prune_runs(instance, 0.0, keys).removed == 0, "twice is once"


def test_a_run_that_is_in_flight_or_young_stays(opened: Runtime, instance: dg.DagsterInstance, source: Source) -> None:
    first = run_ingest_inprocess(instance, opened, source.key).run_id
    run_ingest_inprocess(instance, opened, source.key)
    assert prune_runs(instance, 1.0).removed == 0
    assert instance.get_run_by_id(first) is not None


def test_the_job_prunes_outbox_rows_and_traces_by_their_age(opened: Runtime, instance: dg.DagsterInstance) -> None:
    with opened.database.connection() as connection:
        connection.execute(
            """
            INSERT INTO pm_outbox (entity_type, entity_id, entity_key, bucket, op, vector_state, graph_state, created_at)
            VALUES ('doc', 1, 'doc:1', 0, 'upsert', 'done', 'done', now() - interval '1 year'),
                   ('doc', 2, 'doc:2', 0, 'upsert', 'done', 'done', now()),
                   ('doc', 3, 'doc:3', 0, 'upsert', 'done', 'dead', now() - interval '1 year')
            """
        )
        connection.execute(
            """
            INSERT INTO pm_episodic_trace (session_id, step, kind, content, created_at)
            VALUES ('old', 1, 'plan', 'x', now() - interval '1 year'), ('new', 1, 'plan', 'x', now())
            """
        )
    with lend(opened):
        result = defs.resolve_job_def("retention_job").execute_in_process(instance=instance, run_config=QUIET)
    assert result.success
    with opened.database.connection() as connection:
        left = [row[0] for row in connection.execute("SELECT entity_key FROM pm_outbox ORDER BY 1").fetchall()]
        traces = [row[0] for row in connection.execute("SELECT session_id FROM pm_episodic_trace").fetchall()]
    assert left == ["doc:2", "doc:3"], "a row that some projection has not shown is never pruned"
    assert traces == ["new"]


def test_what_an_old_run_printed_goes_with_it(tmp_path: Path) -> None:
    @dg.job
    def speaks() -> None:
        dg.op(name="say")(lambda: print("said"))()

    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        run = speaks.execute_in_process(instance=instance)
        assert [path for path in tmp_path.rglob("*.out") if run.run_id in str(path)]
        prune_runs(instance, 0.0)
        assert instance.get_run_by_id(run.run_id) is None
        assert not [path for path in tmp_path.rglob("*.out") if run.run_id in str(path)]
