"""Old runs of Dagster, whose event log never expires by itself: some 36 kB for every small run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import dagster as dg
from dagster._core.events import DagsterEventType
from dagster._core.storage.dagster_run import FINISHED_STATUSES

PAGE = 200
PARTITIONS_AT_ONCE = 500


@dataclass(frozen=True)
class Pruned:
    """Runs removed, and old runs kept because something's latest state stands in them."""

    removed: int
    kept: int


def prune_runs(
    instance: dg.DagsterInstance,
    older_than_days: float,
    checks: Sequence[dg.AssetCheckKey] = (),
    log: Callable[[str], None] | None = None,
) -> Pruned:
    """Remove finished runs with their events and output, but those that hold the latest materialisation of an asset's partition or
    the latest answer of one of `checks`."""
    before = datetime.now(UTC) - timedelta(days=older_than_days)
    latest = _runs_of_latest(instance, checks)
    removed, kept, cursor = 0, 0, None
    while records := instance.get_run_records(
        dg.RunsFilter(statuses=FINISHED_STATUSES, created_before=before), limit=PAGE, cursor=cursor
    ):
        for record in records:
            run_id = record.dagster_run.run_id
            if run_id in latest:
                kept += 1
                cursor = run_id  # A cursor is a run that still exists.
            else:
                instance.delete_run(run_id)
                instance.compute_log_manager.delete_logs(prefix=[run_id])
                removed += 1
        if log is not None:
            log(f"{removed} runs removed, {kept} kept")
    return Pruned(removed, kept)


def _runs_of_latest(instance: dg.DagsterInstance, checks: Sequence[dg.AssetCheckKey]) -> set[str]:
    runs: set[str] = set()
    for key in instance.all_asset_keys():
        newest = instance.get_latest_storage_id_by_partition(key, DagsterEventType.ASSET_MATERIALIZATION)
        for ids in _slices(newest.values()):
            found = instance.fetch_materializations(
                dg.AssetRecordsFilter(asset_key=key, storage_ids=ids), limit=len(ids)
            )
            runs |= {record.run_id for record in found.records}
        if (event := instance.get_latest_materialization_event(key)) is not None:
            runs.add(event.run_id)
    answers = instance.event_log_storage.get_latest_asset_check_execution_by_key(list(checks))
    runs |= {record.run_id for record in answers.values()}
    return runs


def _slices(values: Iterable[int]) -> Iterable[list[int]]:
    ordered = sorted(values)
    return (ordered[start : start + PARTITIONS_AT_ONCE] for start in range(0, len(ordered), PARTITIONS_AT_ONCE))
