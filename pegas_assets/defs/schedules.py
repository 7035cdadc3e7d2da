"""What happens by the clock, in UTC."""

import dagster as dg

from pegas_assets.defs import tags
from pegas_assets.defs.jobs import drift_job, optimize_job, rebuild_job, refresh_job, retention_job, soundness_job
from pegas_assets.defs.partitions import buckets
from pegas_assets.settings import load_settings

RUNNING = dg.DefaultScheduleStatus.RUNNING


def all_buckets_tags() -> dict[str, str]:
    """Tags of one run over every bucket: sixteen runs would be sixteen process starts."""
    keys = buckets.get_partition_keys()
    return {tags.RANGE_START: keys[0], tags.RANGE_END: keys[-1]}


soundness_schedule = dg.ScheduleDefinition(
    name="soundness_schedule",
    job=soundness_job,
    cron_schedule="7 * * * *",
    default_status=RUNNING,
    description="Every hour PostgreSQL is asked for what should not be there.",
)
drift_schedule = dg.ScheduleDefinition(
    name="drift_schedule",
    job=drift_job,
    cron_schedule="15 3 * * *",
    default_status=RUNNING,
    description="Every night both projections are compared with PostgreSQL; nothing is changed.",
)
optimize_schedule = dg.ScheduleDefinition(
    name="optimize_schedule",
    job=optimize_job,
    cron_schedule="15 2 * * *",
    default_status=RUNNING,
    description="Every night the vector index is built over what the day brought.",
)
retention_schedule = dg.ScheduleDefinition(
    name="retention_schedule",
    job=retention_job,
    cron_schedule="45 3 * * *",
    default_status=RUNNING,
    description="Every night old outbox rows, traces and runs are removed.",
)


@dg.schedule(
    job=rebuild_job,
    cron_schedule="30 4 * * 0",
    default_status=RUNNING,
    description="Every Sunday both projections are made to match PostgreSQL as a whole.",
)
def rebuild_schedule() -> dg.RunRequest:
    return dg.RunRequest(tags=all_buckets_tags())


@dg.schedule(
    job=refresh_job,
    cron_schedule="25 * * * *",
    default_status=RUNNING,
    description="Every hour the pages whose age passes PEGAS_REFRESH_AFTER are asked for again; off by default.",
)
def refresh_schedule() -> dg.RunRequest | dg.SkipReason:
    if load_settings().refresh_after_s is None:
        return dg.SkipReason("PEGAS_REFRESH_AFTER is off.")
    return dg.RunRequest()


schedules = [
    soundness_schedule,
    drift_schedule,
    optimize_schedule,
    retention_schedule,
    rebuild_schedule,
    refresh_schedule,
]
