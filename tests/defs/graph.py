"""The whole graph of definitions as readable lines, so that a changed graph shows as a diff."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg


def graph_lines(repository: dg.RepositoryDefinition) -> Iterator[str]:
    graph = repository.asset_graph
    yield "assets"
    for key in sorted(graph.get_all_asset_keys(), key=lambda key: key.to_user_string()):
        node = graph.get(key)
        yield f"  {key.to_user_string()}"
        yield f"    group {node.group_name}, kinds {', '.join(sorted(node.kinds))}, owners {', '.join(node.owners)}"
        yield f"    partitioned by {_partitions(node.partitions_def)}"
        assert node.backfill_policy is not None
        yield f"    backfill {node.backfill_policy.policy_type.name.lower()}"
        for parent in sorted(node.parent_keys, key=lambda key: key.to_user_string()):
            yield f"    from {parent.to_user_string()} by {_mapping(node.partition_mappings.get(parent))}"
        yield f"    checks {', '.join(sorted(check.name for check in node.check_keys)) or '-'}"
    yield "jobs"
    for job in sorted(repository.get_all_jobs(), key=lambda job: job.name):
        if job.name.startswith("__"):
            continue
        yield f"  {job.name}"
        yield f"    over {', '.join(sorted(node.name for node in job.graph.nodes))}"
        yield f"    partitioned by {_partitions(job.partitions_def)}"
        yield f"    tags {', '.join(f'{name}={value}' for name, value in sorted(job.run_tags.items()))}"
    yield "sensors"
    for sensor in sorted(repository.sensor_defs, key=lambda sensor: sensor.name):
        targets = ", ".join(target.job_name for target in sensor.targets) or "-"
        yield f"  {sensor.name} every {sensor.minimum_interval_seconds} s, {sensor.default_status.name}, starts {targets}"
    yield "schedules"
    for schedule in sorted(repository.schedule_defs, key=lambda schedule: schedule.name):
        yield (
            f"  {schedule.name} at {schedule.cron_schedule} UTC, {schedule.default_status.name}, "
            f"starts {schedule.job_name}"
        )
    yield "resources"
    for name in sorted(repository.get_top_level_resources()):
        yield f"  {name}"


def _mapping(mapping: dg.PartitionMapping | None) -> str:
    return "equal key" if mapping is None else type(mapping).__name__


def _partitions(definition: dg.PartitionsDefinition[str] | None) -> str:
    if definition is None:
        return "-"
    if isinstance(definition, dg.DynamicPartitionsDefinition):
        return f"{definition.name} (dynamic)"
    keys = definition.get_partition_keys()
    return f"{keys[0]} to {keys[-1]} ({len(keys)} static)"
