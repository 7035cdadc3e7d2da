"""The graph materialised on real engines: a source, a bucket, everything again after a loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

import dagster as dg
import pytest

from pegas_assets.definitions import defs
from pegas_assets.defs import tags
from pegas_assets.defs.dagster_home import dagster_environment
from pegas_assets.defs.launch import run_ingest_inprocess
from pegas_assets.defs.partitions import bucket_key, buckets
from pegas_assets.defs.resources import RuntimeResource, lend
from pegas_assets.defs.schedules import rebuild_schedule
from pegas_assets.errors import EngineUnavailable
from pegas_assets.identity import bucket_of
from pegas_assets.projection.targets import VECTORS
from pegas_assets.runtime import Runtime
from pegas_assets.stats import stats
from tests.defs import several_processes
from tests.defs.conftest import Source
from tests.defs.projections import drift_of, lose_both, shown_by

NUMBERS = count(100, 3)
"""Of documents: one that is there already would be a duplicate, and no work."""
PROJECTIONS = ("qdrant_collection", "memgraph_graph")


def run(
    runtime: Runtime,
    instance: dg.DagsterInstance,
    job: str,
    *,
    config: Mapping[str, object] | None = None,
    tags: Mapping[str, str] | None = None,
) -> dg.ExecuteInProcessResult:
    """Run a job on the test's own runtime; a failure is in the result."""
    given = {**(config or {}), "loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    with lend(runtime):
        return defs.resolve_job_def(job).execute_in_process(
            instance=instance, run_config=given, tags=tags, raise_on_error=False
        )


def rebuild(runtime: Runtime, instance: dg.DagsterInstance, first: str, last: str) -> dg.ExecuteInProcessResult:
    """One run over a range of buckets, as the schedule and a single-run backfill launch it."""
    wanted = {tags.RANGE_START: first, tags.RANGE_END: last}
    return run(runtime, instance, "rebuild_job", tags=wanted)


def materialised(result: dg.ExecuteInProcessResult, asset: str) -> list[str]:
    events = result.asset_materializations_for_node(asset)
    return sorted(str(event.partition) for event in events)


@pytest.fixture(autouse=True)
def no_wait_before_drift_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody drains beside these tests: what differs stays so."""
    monkeypatch.setattr("pegas_assets.defs.checks.SETTLE_S", 0.0)


@pytest.fixture
def atoms(opened: Runtime, instance: dg.DagsterInstance, source: Source) -> Sequence[str]:
    """Keys of some atoms, ingested and not projected yet."""
    first = next(NUMBERS)
    source.accept([first, first + 1, first + 2])
    assert run_ingest_inprocess(instance, opened, source.key).succeeded
    with opened.database.connection() as connection:
        return [f"atom:{row[0]}" for row in connection.execute("SELECT id FROM pm_atom ORDER BY id").fetchall()]


def test_a_source_is_materialised_from_document_to_both_projections(
    opened: Runtime, instance: dg.DagsterInstance, source: Source
) -> None:
    source.accept([0, 1])
    result = run_ingest_inprocess(instance, opened, source.key, tags={"pegas/source": "cli"})
    assert result.succeeded, result.error
    assert source.statuses() == {"done": 2}
    for asset in ("documents", "chunks", "atoms"):
        event = instance.get_latest_materialization_event(dg.AssetKey(asset))
        assert event is not None
        assert event.asset_materialization is not None
        assert event.asset_materialization.partition == source.key
        metadata = event.asset_materialization.metadata
        assert {"dagster/row_count", "failed", "skipped", "per second", "source"} <= metadata.keys()
    assert metadata["embedding"].value == str(opened.embedder.fingerprint)
    assert metadata["distiller"].value == opened.distiller.name
    drained = run(opened, instance, "drain_job")
    assert drained.success
    assert drift_of(opened) == {"vectors": 0, "graph": 0}


def test_a_drain_reports_every_bucket_that_it_touched_and_no_other(
    opened: Runtime, instance: dg.DagsterInstance, atoms: Sequence[str]
) -> None:
    run(opened, instance, "drain_job")
    with opened.database.connection() as connection:
        connection.execute("UPDATE pm_atom SET confidence = 0.9 WHERE id = %s", [int(atoms[0].removeprefix("atom:"))])
    touched = [bucket_key(bucket_of(atoms[0]))]
    result = run(opened, instance, "drain_job")
    events = [event.event_specific_data.materialization for event in result.all_events if event.is_step_materialization]  # type: ignore[union-attr]
    assert {(event.asset_key.to_user_string(), event.partition) for event in events} == {
        (asset, key) for asset in PROJECTIONS for key in touched
    }


def test_one_bucket_is_reconciled_and_the_others_are_left(
    opened: Runtime, instance: dg.DagsterInstance, atoms: Sequence[str]
) -> None:
    run(opened, instance, "drain_job")
    lose_both(opened)
    key = bucket_key(bucket_of(atoms[0]))
    result = rebuild(opened, instance, key, key)
    assert materialised(result, "qdrant_collection") == [key]
    assert materialised(result, "memgraph_graph") == [key]
    opened.vector_target.prepare()
    assert opened.vector_target.compare(int(key)).total == 0
    assert len(opened.vectors.hashes(opened.vector_target.collection(), int(key))) == sum(
        bucket_of(atom) == int(key) for atom in _all_atoms(opened)
    )
    assert sum(drift_of(opened).values()) > 0, "the other buckets are still lost"
    assert rebuild(opened, instance, "00", "15").success


def test_both_projections_are_lost_and_rebuilt_in_one_run_to_no_drift(
    opened: Runtime, instance: dg.DagsterInstance, atoms: Sequence[str]
) -> None:
    run(opened, instance, "drain_job")
    before = shown_by(opened)
    lose_both(opened)
    assert shown_by(opened)["vectors"] == 0
    request = rebuild_schedule(dg.build_schedule_context(instance=instance))
    assert isinstance(request, dg.RunRequest)
    result = run(opened, instance, "rebuild_job", tags=dict(request.tags))
    assert result.success
    for asset in PROJECTIONS:
        assert materialised(result, asset) == list(buckets.get_partition_keys())
    checks = {check.asset_key.to_user_string(): check.passed for check in result.get_asset_check_evaluations()}
    assert checks == dict.fromkeys(PROJECTIONS, True)
    assert drift_of(opened) == {"vectors": 0, "graph": 0}
    assert shown_by(opened) == before
    again = rebuild(opened, instance, "00", "15")
    written = [event.metadata["written"].value for event in again.asset_materializations_for_node("qdrant_collection")]
    assert sum(int(str(count)) for count in written) == 0, "twice is once"


def test_scattered_buckets_are_reprojected_in_one_run(
    opened: Runtime, instance: dg.DagsterInstance, atoms: Sequence[str]
) -> None:
    run(opened, instance, "drain_job")
    lose_both(opened)
    wanted = sorted({bucket_of(atom) for atom in atoms})[:3]
    config = {"ops": {"reproject_buckets": {"config": {"targets": [VECTORS], "buckets": wanted}}}}
    result = run(opened, instance, "reproject_job", config=config)
    assert materialised(result, "reproject_buckets") == [bucket_key(bucket) for bucket in wanted]
    assert all(opened.vector_target.compare(bucket).total == 0 for bucket in wanted)
    assert rebuild(opened, instance, "00", "15").success


@pytest.mark.parametrize("wrong", [{"targets": ["qdrant"]}, {"buckets": [99]}])
def test_a_slice_that_is_none_is_refused_by_name(
    opened: Runtime, instance: dg.DagsterInstance, wrong: dict[str, list[object]]
) -> None:
    result = run(opened, instance, "reproject_job", config={"ops": {"reproject_buckets": {"config": wrong}}})
    (failure,) = result.filter_events(lambda event: event.is_step_failure)
    assert str(next(iter(wrong.values()))[0]) in failure.step_failure_data.user_failure_data.description
    assert materialised(result, "reproject_buckets") == []


def test_the_index_is_built_and_shows_the_same_points(
    opened: Runtime, instance: dg.DagsterInstance, atoms: Sequence[str]
) -> None:
    run(opened, instance, "drain_job")
    before = shown_by(opened)
    assert run(opened, instance, "optimize_job").success
    assert shown_by(opened) == before
    assert drift_of(opened) == {"vectors": 0, "graph": 0}


def test_a_run_makes_one_document_again_and_changes_no_other(
    opened: Runtime, instance: dg.DagsterInstance, source: Source
) -> None:
    first, second = source.accept([20, 21])
    assert run_ingest_inprocess(instance, opened, source.key).succeeded
    before = stats(opened.database)
    with opened.database.connection() as connection:
        stamp = "SELECT updated_at FROM pm_document WHERE id = %s"
        untouched = connection.execute(stamp, [second]).fetchone()
    assert run_ingest_inprocess(instance, opened, source.key, [first], force=True).succeeded
    after = stats(opened.database)
    assert (after.atoms, after.chunks, after.citations) == (before.atoms, before.chunks, before.citations)
    with opened.database.connection() as connection:
        assert connection.execute(stamp, [second]).fetchone() == untouched


def test_the_checks_pass_on_a_sound_base_and_name_what_is_wrong_on_another(
    opened: Runtime, instance: dg.DagsterInstance, atoms: Sequence[str]
) -> None:
    run(opened, instance, "drain_job")
    result = run(opened, instance, "soundness_job")
    assert {check.check_name for check in result.get_asset_check_evaluations() if not check.passed} == set()
    with opened.database.connection() as connection:
        connection.execute(
            "UPDATE pm_outbox SET vector_state = 'dead', vector_error = 'the point has no vector' "
            "WHERE id = (SELECT max(id) FROM pm_outbox)"
        )
        connection.execute(
            "UPDATE pm_citation SET quoted_text = 'words that nobody wrote' WHERE id = (SELECT max(id) FROM pm_citation)"
        )
        connection.execute(
            "UPDATE pm_outbox SET graph_state = 'pending', created_at = now() - interval '1 day' "
            "WHERE id = (SELECT min(id) FROM pm_outbox)"
        )
    wrong = {
        (check.asset_key.to_user_string(), check.check_name): check
        for check in run(opened, instance, "soundness_job").get_asset_check_evaluations()
        if not check.passed
    }
    assert wrong.keys() == {
        ("qdrant_collection", "no_dead_rows"),
        ("memgraph_graph", "keeps_up"),
        ("atoms", "quotations_stand"),
    }
    assert "the point has no vector" in str(wrong["qdrant_collection", "no_dead_rows"].metadata["examples"].value)
    with opened.database.connection() as connection:
        connection.execute("DELETE FROM pm_citation WHERE quoted_text = 'words that nobody wrote'")
        connection.execute("DELETE FROM pm_outbox WHERE vector_state = 'dead'")
    run(opened, instance, "drain_job")


def test_drift_is_told_from_what_is_only_late(
    opened: Runtime, instance: dg.DagsterInstance, atoms: Sequence[str]
) -> None:
    run(opened, instance, "drain_job")
    number = int(atoms[0].removeprefix("atom:"))
    with opened.database.connection() as connection:
        connection.execute("UPDATE pm_atom SET confidence = 0.7 WHERE id = %s", [number])
    late = {check.asset_key.to_user_string(): check for check in _drift_checks(opened, instance)}
    assert late["qdrant_collection"].passed
    assert late["qdrant_collection"].metadata["under way"].value == 1
    run(opened, instance, "drain_job")
    opened.vectors.delete(opened.vector_target.collection(), [atoms[0]])
    lost = {check.asset_key.to_user_string(): check for check in _drift_checks(opened, instance)}
    assert not lost["qdrant_collection"].passed
    assert lost["qdrant_collection"].metadata["missing"].value == 1
    assert lost["memgraph_graph"].passed
    assert rebuild(opened, instance, "00", "15").success


def test_a_store_that_is_down_is_a_sentence_in_the_run_and_the_other_target_is_served(
    opened: Runtime, instance: dg.DagsterInstance, atoms: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def down() -> None:
        raise EngineUnavailable("The vector engine does not answer.", component="vectors")

    with monkeypatch.context() as patch:
        patch.setattr(opened.vector_target, "prepare", down)
        result = run(opened, instance, "drain_job")
        assert not result.success
        failure = result.failure_data_for_node("drain_outbox")
        assert failure is not None
        assert failure.user_failure_data is not None
        assert "The vector engine does not answer." in str(failure.user_failure_data.description)
    lag = stats(opened.database).outbox
    assert lag["graph"].pending == 0
    assert lag["vectors"].pending > 0
    assert run(opened, instance, "drain_job").success
    assert drift_of(opened) == {"vectors": 0, "graph": 0}


def test_no_asset_leaves_a_pickled_file(opened: Runtime, instance: dg.DagsterInstance, atoms: Sequence[str]) -> None:
    storage = opened.settings.dagster_home / "storage"
    left = [path for path in storage.rglob("*") if path.name in ("documents", "chunks", "atoms", *PROJECTIONS)]
    assert left == []


def test_a_run_of_its_own_opens_its_own_runtime_and_says_which_process_works(
    opened: Runtime, instance: dg.DagsterInstance, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.accept([30])
    monkeypatch.setattr("pegas_assets.defs.resources.load_settings", lambda: opened.settings)
    instance.add_dynamic_partitions("source", [source.key])
    result = defs.resolve_job_def("ingest_job").execute_in_process(instance=instance, partition_key=source.key)
    assert result.success
    stored = instance.get_run_by_id(result.run_id)
    assert stored is not None
    assert {"pegas/pid", "pegas/host", "pegas/started"} <= stored.tags.keys()
    with pytest.raises(AssertionError):
        _ = RuntimeResource().opened


def test_each_step_in_a_process_of_its_own_opens_engines_of_its_own(
    opened: Runtime, instance: dg.DagsterInstance, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in dagster_environment(opened.settings).items():
        monkeypatch.setenv(name, value)
    source.accept([40])
    instance.add_dynamic_partitions("source", [source.key])
    with dg.execute_job(
        dg.reconstructable(several_processes.ingest), instance, tags={tags.PARTITION: source.key}
    ) as ingested:
        assert ingested.success
    assert source.statuses() == {"done": 1}
    lose_both(opened)
    with dg.execute_job(
        dg.reconstructable(several_processes.rebuild),
        instance,
        tags={tags.RANGE_START: "00", tags.RANGE_END: "15"},
    ) as rebuilt:
        assert rebuilt.success
    assert drift_of(opened) == {"vectors": 0, "graph": 0}


def _drift_checks(runtime: Runtime, instance: dg.DagsterInstance) -> Sequence[dg.AssetCheckEvaluation]:
    return run(runtime, instance, "drift_job").get_asset_check_evaluations()


def _all_atoms(runtime: Runtime) -> list[str]:
    with runtime.database.connection() as connection:
        return [f"atom:{row[0]}" for row in connection.execute("SELECT id FROM pm_atom").fetchall()]
