"""Dagster's instance as a process of ours opens it, and the doors to runs. Dagster is imported when first used."""

from __future__ import annotations

import select
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pegas_assets.defs.dagster_home import dagster_environment, prepare_dagster_home, prepare_storage, storage_url
from pegas_assets.defs.launch import RunResult, ingest_config, launch_over_graphql, run_ingest_inprocess, run_status
from pegas_assets.errors import EngineUnavailable
from pegas_assets.settings import Settings, without_secrets

if TYPE_CHECKING:
    from dagster import DagsterInstance

__all__ = [
    "RunResult",
    "close_instance",
    "dagster_environment",
    "ingest_config",
    "launch_over_graphql",
    "open_inprocess_instance",
    "prepare_dagster_home",
    "run_ingest_inprocess",
    "run_status",
]

POOL_SIZE = 4
POOL_OVERFLOW = 12


def open_inprocess_instance(settings: Settings) -> DagsterInstance:
    """The instance for runs inside this process: the same storage, kept connections, and no capture of output.

    The capture would take the whole process's stdout, and with it the protocol of a stdio server. Some 2 s when first
    called in a process, most of it the import. May be called in a thread; the instance may be shared by threads.

    Raises:
        EngineUnavailable: the storage does not answer.
    """
    home = prepare_dagster_home(settings)
    prepare_storage(settings)
    url = storage_url(settings)
    overrides: dict[str, Any] = {
        "storage": {"postgres": {"postgres_url": url}},
        "compute_logs": {"module": "dagster.core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"},
        "run_coordinator": {"module": "dagster.core.run_coordinator", "class": "DefaultRunCoordinator"},
        "concurrency": {},
    }
    from dagster import DagsterInstance
    from dagster._core.instance import InstanceRef

    try:
        instance = DagsterInstance.from_ref(InstanceRef.from_dir(str(home), overrides=overrides))
        keep_connections(instance, url)
        leave_logging_alone(instance)
        remember_partitions(instance)
    except Exception as error:
        raise EngineUnavailable(
            f"Dagster's storage does not answer: {without_secrets(str(error).strip().splitlines()[0])}.",
            hint="Start it with `pegas up`; documents that were accepted are not lost.",
            component="dagster",
        ) from error
    return instance


def keep_connections(instance: DagsterInstance, url: str) -> None:
    """Give the three storages one pool: dagster-postgres opens a connection for every statement, 62 in a run of three
    assets, which is two thirds of what such a run takes.

    Raises:
        RuntimeError: this version of dagster-postgres keeps its engine elsewhere.
    """
    from sqlalchemy import create_engine, event
    from sqlalchemy.pool import QueuePool

    engine = create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        poolclass=QueuePool,
        pool_size=POOL_SIZE,
        max_overflow=POOL_OVERFLOW,
        pool_recycle=600,
    )
    event.listen(engine, "checkout", _require_open)
    for storage in storages(instance):
        if not hasattr(storage, "_engine"):
            raise RuntimeError(f"{type(storage).__name__} of this dagster-postgres has no engine to replace")
        storage._engine.dispose()
        storage._engine = engine


def _require_open(connection: Any, record: object, proxy: object) -> None:
    """Have the pool replace a connection that the server has closed.

    An idle connection has nothing to read, unless the server said goodbye. A ping would tell too, and make every
    statement two: a run has more than a hundred.
    """
    from sqlalchemy.exc import DisconnectionError

    if not connection.closed:
        watch = select.poll()
        watch.register(connection.fileno(), select.POLLIN)
        if not watch.poll(0):
            return
    raise DisconnectionError("the server closed this connection")


def remember_partitions(instance: DagsterInstance) -> None:
    """Ask the storage once whether a partition is there: a run of three assets asks 25 times, and none is ever removed."""
    known: set[tuple[str, str]] = set()
    ask = instance.has_dynamic_partition

    def has_dynamic_partition(partitions_def_name: str, partition_key: str) -> bool:
        wanted = (partitions_def_name, partition_key)
        if wanted not in known and ask(partitions_def_name, partition_key):
            known.add(wanted)
        return wanted in known

    setattr(instance, "has_dynamic_partition", has_dynamic_partition)  # noqa: B010 - mypy refuses a method's place


def leave_logging_alone(instance: DagsterInstance) -> None:
    """Have runs take no handlers from `dagster.yaml`, which has none.

    To look for them every run configures the process's logging anew. That closes the handlers of everybody else, under
    the lock of all logging, and waits there for the handler of another run, which waits for that lock: two runs at once
    stop the process for ever.

    Raises:
        RuntimeError: this version of Dagster looks for handlers elsewhere.
    """
    name = "get_yaml_python_handlers"
    if not hasattr(instance, name):
        raise RuntimeError(f"this version of Dagster has no {name} to replace")
    setattr(instance, name, lambda: ())


def storages(instance: DagsterInstance) -> Sequence[Any]:
    """Run, event log and schedule storage of an instance."""
    storage: Any = instance.schedule_storage
    return (instance.run_storage, instance.event_log_storage, storage)


def close_instance(instance: DagsterInstance) -> None:
    """Give an instance's connections back."""
    for storage in storages(instance):
        if hasattr(storage, "_engine"):
            storage._engine.dispose()
    instance.dispose()
