"""The sensors look and ask: one query, no work, no model, no network. What to ask for is decided in `decisions`."""

import socket
import time
from collections.abc import Sequence

import dagster as dg
from dagster._core.definitions.assets.job.asset_job import IMPLICIT_ASSET_JOB_NAME
from dagster._core.storage.dagster_run import IN_PROGRESS_RUN_STATUSES, NOT_FINISHED_STATUSES

from pegas_assets.defs import tags
from pegas_assets.defs.decisions import (
    EarlierRun,
    OwnedRun,
    decide_drain,
    decide_ingest,
    decide_lost,
    outbox_state,
    source_state,
)
from pegas_assets.defs.jobs import drain_job, ingest_job
from pegas_assets.defs.partitions import SOURCES_NAME, sources
from pegas_assets.defs.resources import RuntimeResource
from pegas_assets.embedded.process import process_start
from pegas_assets.stores.waiting import waiting_rows, waiting_sources

QUIET_S = 3.0
"""What is younger is most likely being worked on by whoever accepted it."""
TICK_S = 4
"""Under the five seconds of the daemon's loop: a tick that is due at the very turn of the loop waits for the next."""
SWEEP_S = 30


@dg.sensor(
    job=ingest_job,
    minimum_interval_seconds=TICK_S,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Documents that are accepted and not done: one ingest run for each source that has some.",
)
def pending_documents_sensor(
    context: dg.SensorEvaluationContext, runtime: RuntimeResource
) -> dg.SensorResult | dg.SkipReason:
    with runtime.opened.database.connection() as connection:
        waiting = waiting_sources(connection, QUIET_S)
    if not waiting:
        return dg.SkipReason("No document waits.")
    runs = earlier_runs(context.instance, "ingest_job", [source_state(source) for source in waiting])
    asks = decide_ingest(waiting, runs, time.time())
    known = set(context.instance.get_dynamic_partitions(SOURCES_NAME))
    new = [ask.partition for ask in asks if ask.partition not in known]
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(
                run_key=ask.run_key,
                partition_key=ask.partition,
                tags={tags.STATE: ask.state, tags.SOURCE_KEY: ask.partition},
            )
            for ask in asks
        ],
        dynamic_partitions_requests=[sources.build_add_request(new)] if new else [],
        skip_reason=None
        if asks
        else "A run is at it, or the last one changed nothing and it is too early for another.",
    )


@dg.sensor(
    job=drain_job,
    minimum_interval_seconds=TICK_S,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Changes that a projection has not shown: one drain run, never two at once.",
)
def outbox_sensor(context: dg.SensorEvaluationContext, runtime: RuntimeResource) -> dg.RunRequest | dg.SkipReason:
    with runtime.opened.database.connection() as connection:
        waiting = waiting_rows(connection, QUIET_S)
    if not waiting:
        return dg.SkipReason("Both projections show everything.")
    ask = decide_drain(waiting, earlier_runs(context.instance, "drain_job", [outbox_state(waiting)]), time.time())
    if ask is None:
        return dg.SkipReason("A run is at it, or the last one changed nothing and it is too early for another.")
    return dg.RunRequest(run_key=ask.run_key, tags={tags.STATE: ask.state})


@dg.sensor(
    minimum_interval_seconds=SWEEP_S,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Runs whose process on this host is gone are marked as failed, so that nothing stays STARTED.",
)
def lost_runs_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    lost = sweep(context.instance)
    return dg.SkipReason(f"Marked as failed: {', '.join(lost)}." if lost else "Every run in flight has its process.")


def sweep(instance: dg.DagsterInstance) -> list[str]:
    """Mark the runs in flight whose process is gone as failed; returns their ids."""
    runs = _runs(instance, dg.RunsFilter(statuses=IN_PROGRESS_RUN_STATUSES))
    parent_ids = [run.parent_run_id for run in runs.values() if run.parent_run_id]
    parents = _runs(instance, dg.RunsFilter(run_ids=parent_ids)) if parent_ids else {}
    # A retry starts with the tags of the run that was lost: until it has claimed itself it is nobody's.
    owned = [
        OwnedRun(run_id, *owner)
        for run_id, run in runs.items()
        if (owner := _owner(run)) and owner != _owner(parents.get(run.parent_run_id or ""))
    ]
    lost = decide_lost(owned, socket.gethostname(), process_start)
    for run_id in lost:
        run = runs[run_id]
        instance.report_run_failed(run, f"The process {run.tags[tags.PID]} that worked on this run is gone.")
    return lost


def _runs(instance: dg.DagsterInstance, wanted: dg.RunsFilter) -> dict[str, dg.DagsterRun]:
    return {record.dagster_run.run_id: record.dagster_run for record in instance.get_run_records(wanted)}


def _owner(run: dg.DagsterRun | None) -> tuple[str, int, int] | None:
    """Host, process and its start, as a run's tags name them."""
    if run is None or tags.HOST not in run.tags or not run.tags.get(tags.PID, "").isdigit():
        return None
    return run.tags[tags.HOST], int(run.tags[tags.PID]), int(run.tags.get(tags.STARTED, "0"))


def earlier_runs(instance: dg.DagsterInstance, job: str, states: Sequence[str]) -> list[EarlierRun]:
    """The runs of a job that are in flight over a whole partition, and the ended ones that answered one of `states`."""
    # What a person materialises from the lineage is a run of no job of ours.
    jobs = (job, IMPLICIT_ASSET_JOB_NAME) if job == ingest_job.name else (job,)
    records = [
        *(
            record
            for name in jobs
            for record in instance.get_run_records(dg.RunsFilter(job_name=name, statuses=NOT_FINISHED_STATUSES))
        ),
        *instance.get_run_records(dg.RunsFilter(job_name=job, tags={tags.STATE: list(states)})),
    ]
    return [
        EarlierRun(
            state=record.dagster_run.tags.get(tags.STATE, ""),
            partition=record.dagster_run.tags.get(tags.PARTITION, ""),
            ended_at=(record.end_time or record.update_timestamp.timestamp())
            if record.dagster_run.is_finished
            else None,
        )
        for record in {record.dagster_run.run_id: record for record in records}.values()
        if tags.DOCUMENTS not in record.dagster_run.tags
    ]


sensors = [pending_documents_sensor, outbox_sensor, lost_runs_sensor]
