"""The jobs: what a sensor, a schedule, a person or `pegas` may start."""

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from pydantic import Field

from pegas_assets.defs import tags
from pegas_assets.defs.checks import drift_checks, soundness_checks
from pegas_assets.defs.metadata import as_failure
from pegas_assets.defs.partitions import bucket_key
from pegas_assets.defs.reprojection import (
    ASSET_OF_TARGET,
    drained_materialisations,
    progress_of_drain,
    reconciled_metadata,
)
from pegas_assets.defs.resources import RuntimeResource
from pegas_assets.defs.retention import prune_runs
from pegas_assets.defs.stages import INGEST_STAGES
from pegas_assets.identity import BUCKETS
from pegas_assets.pipeline.refresh import PAGES_AT_ONCE, refresh_old
from pegas_assets.projection.drain import drain
from pegas_assets.projection.reconcile import checked_buckets, reconcile
from pegas_assets.stores.outbox import prune_processed
from pegas_assets.stores.traces import prune_traces


def limits(minutes: int, work: str, *, retries: int | None = None) -> dict[str, str]:
    """Tags of a job. A run whose worker was killed would stay STARTED for ever but for the longest time it may take."""
    made = {tags.MAX_RUNTIME: str(minutes * 60), tags.WORK: work}
    return made if retries is None else made | {tags.MAX_RETRIES: str(retries)}


ingest_job = dg.define_asset_job(
    "ingest_job",
    selection=dg.AssetSelection.assets(*INGEST_STAGES).without_checks(),
    tags=limits(240, "ingest", retries=0),
    description="Documents to atoms for one source: what is pending in it, or the documents that the config names.",
)

rebuild_job = dg.define_asset_job(
    "rebuild_job",
    selection=(
        dg.AssetSelection.assets(*ASSET_OF_TARGET.values()).without_checks() | dg.AssetSelection.checks(*drift_checks)
    ),
    tags=limits(240, "rebuild"),
    description=(
        "Both projections made to match PostgreSQL, and compared with it. Over all partitions it is the full rebuild, "
        "with the stores possibly empty. Killed half-way, it has done what it has done: run it again."
    ),
)

drift_job = dg.define_asset_job(
    "drift_job",
    selection=dg.AssetSelection.checks(*drift_checks),
    tags=limits(60, "check"),
    description="Compares both projections with PostgreSQL and changes nothing.",
)

soundness_job = dg.define_asset_job(
    "soundness_job",
    selection=dg.AssetSelection.checks(*soundness_checks),
    tags=limits(30, "check"),
    description="Asks PostgreSQL for what should not be there: dead or old outbox rows, duplicates, lost quotations.",
)


@dg.op(description="Make both projections show what changed; report each bucket that was touched.")
def drain_outbox(context: dg.OpExecutionContext, runtime: RuntimeResource) -> None:
    opened = runtime.opened
    with as_failure():
        results = drain(
            opened.database,
            opened.targets,
            max_attempts=opened.settings.outbox_max_attempts,
            wait_s=5.0,
            progress=progress_of_drain(context.log.info),
        )
    for drained in results:
        for event in drained_materialisations(drained):
            context.log_event(event)
    down = [f"{drained.target}: {drained.unavailable}" for drained in results if drained.unavailable]
    if down:
        raise dg.Failure(description=" ".join(down), allow_retries=False)


@dg.job(
    tags=limits(120, "drain", retries=0),
    description="Empties the outbox into both projections, with one materialisation for every bucket it touched.",
)
def drain_job() -> None:
    drain_outbox()


class ReprojectConfig(dg.Config):
    """Which slices of which projections."""

    targets: list[str] = Field(default=list(ASSET_OF_TARGET), description="`vectors`, `graph`, or both.")
    buckets: list[int] = Field(default=list(range(BUCKETS)), description="Any set of buckets, 0 to 15.")


@dg.op(description="Reconcile scattered buckets in one run; report each.")
def reproject_buckets(context: dg.OpExecutionContext, config: ReprojectConfig, runtime: RuntimeResource) -> None:
    opened = runtime.opened
    with as_failure():
        chosen = [opened.target(name) for name in config.targets]
        buckets = checked_buckets(config.buckets)
    for target in chosen:
        with as_failure():
            results = reconcile(opened.database, target, buckets)
        for result in results:
            context.log_event(
                dg.AssetMaterialization(
                    asset_key=ASSET_OF_TARGET[target.name],
                    partition=bucket_key(result.bucket),
                    metadata=reconciled_metadata(result) | {"by": "reproject"},
                )
            )


@dg.job(
    tags=limits(240, "rebuild"),
    description=(
        "The redo of any set of buckets, in one run: a partition range holds neighbours only. For runs that were made "
        "inside the MCP server, and so cannot be re-executed from here."
    ),
)
def reproject_job() -> None:
    reproject_buckets()


@dg.op(description="Remove what has served its time.")
def prune(context: dg.OpExecutionContext, runtime: RuntimeResource) -> None:
    opened = runtime.opened
    settings = opened.settings
    with opened.database.connection() as connection:
        rows = prune_processed(connection, settings.outbox_retention_days)
        traces = prune_traces(connection, settings.trace_retention_days)
    checks = [key for check in (*drift_checks, *soundness_checks) for key in check.check_keys]
    pruned = prune_runs(context.instance, settings.run_retention_days, checks, log=context.log.info)
    context.add_output_metadata(
        {"outbox rows": rows, "traces": traces, "runs removed": pruned.removed, "runs kept": pruned.kept}
    )


@dg.job(
    tags=limits(120, "retention"),
    description=(
        "Removes old outbox rows that both projections have shown, old traces, and old runs with their events. The run "
        "of the latest materialisation of each asset and partition stays, or the partition would look missing."
    ),
)
def retention_job() -> None:
    prune()


@dg.op(description="Build the vector index over what was written since the last time.")
def build_vector_index(context: dg.OpExecutionContext, runtime: RuntimeResource) -> None:
    with as_failure():
        _, info = runtime.opened.vector_target.build_index(context.log.info)
    if info is not None:
        context.add_output_metadata({"collection": info.name, "points": info.points, "indexed": info.indexed})


@dg.job(
    tags=limits(240, "rebuild"),
    description=(
        "Builds the vector index in a process beside the one that serves, which goes on serving and writing. A search finds "
        "all points without it; with it, it finds them sooner."
    ),
)
def optimize_job() -> None:
    build_vector_index()


@dg.op(description="Have the pages that are older than PEGAS_REFRESH_AFTER fetched again; the sensor does the rest.")
def ask_old_pages_again(context: dg.OpExecutionContext, runtime: RuntimeResource) -> None:
    opened = runtime.opened
    with as_failure():
        accepted = refresh_old(
            opened.database,
            opened.settings,
            older_than_s=opened.settings.refresh_after_s,
            with_files=False,
            limit=PAGES_AT_ONCE,
            client="schedule",
        )
    context.add_output_metadata({"pages": len(accepted.items), "operation": accepted.operation_id})


@dg.job(
    tags=limits(30, "refresh"),
    description=(
        "Has known pages that were last asked for longer ago than PEGAS_REFRESH_AFTER fetched again, the longest unasked "
        "first. A page that did not change costs one request and no work."
    ),
)
def refresh_job() -> None:
    ask_old_pages_again()


jobs: list[dg.JobDefinition | UnresolvedAssetJobDefinition] = [
    ingest_job,
    drain_job,
    rebuild_job,
    reproject_job,
    optimize_job,
    drift_job,
    soundness_job,
    retention_job,
    refresh_job,
]
