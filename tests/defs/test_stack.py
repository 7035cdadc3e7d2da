"""The stack: brought up, killed in parts, taken down. One home and one webserver for the whole module."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator

import dagster as dg
import pytest
from dagster._core.storage.dagster_run import NOT_FINISHED_STATUSES

from pegas_assets.defs import tags
from pegas_assets.defs.instance import close_instance, open_inprocess_instance
from pegas_assets.defs.launch import ingest_config, launch_over_graphql, run_status
from pegas_assets.defs.stack import down, status, up
from pegas_assets.embedded.process import process_start
from pegas_assets.errors import InvalidInput, NotFound, PegasError
from pegas_assets.runtime import Runtime
from pegas_assets.settings import Settings
from tests.defs.conftest import Source
from tests.defs.projections import drift_of, lose_both, shown_by
from tests.homes import make_home

WAIT_S = 90.0


@pytest.fixture(scope="module")
def standing() -> Iterator[Settings]:
    """Settings of a stack that is up."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with make_home(http_port=port) as made:
        up(made)
        try:
            yield made
        finally:
            down(made)


@pytest.fixture(scope="module")
def runtime_of_stack(standing: Settings) -> Iterator[Runtime]:
    with Runtime(standing, application="tests-stack") as made:
        yield made


def until(condition: Callable[[], bool], what: str, within_s: float = WAIT_S) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def test_the_sensors_take_an_accepted_document_to_both_projections(
    standing: Settings, runtime_of_stack: Runtime
) -> None:
    source = Source(runtime_of_stack, "writer")
    source.accept([1])
    until(lambda: source.statuses() == {"done": 1}, "the ingest sensor")
    until(lambda: _outbox_is_empty(runtime_of_stack), "the outbox sensor")
    assert drift_of(runtime_of_stack) == {"vectors": 0, "graph": 0}
    until(lambda: status(standing).running, "all parts run, and the daemon has a heartbeat")


def test_a_run_is_launched_over_the_webserver(standing: Settings, runtime_of_stack: Runtime) -> None:
    source = Source(runtime_of_stack, "launcher")
    ids = source.accept([2])
    run_id = launch_over_graphql(
        standing, "ingest_job", partition=source.key, config=ingest_config(ids), tags={"pegas/source": "mcp"}
    )
    until(lambda: run_status(standing, run_id).finished, "the run")
    assert run_status(standing, run_id).succeeded
    assert source.statuses() == {"done": 1}
    with pytest.raises(InvalidInput, match="ingest_job"):
        launch_over_graphql(standing, "ingest_job", source.key, {"ops": {"atoms": {"config": {"colour": "red"}}}})
    with pytest.raises(PegasError, match="no_such_job"):
        launch_over_graphql(standing, "no_such_job")
    with pytest.raises(NotFound):
        run_status(standing, "00000000-0000-0000-0000-000000000000")


def test_up_again_changes_nothing(standing: Settings) -> None:
    before = [part.pid for part in status(standing).parts]
    assert [part.pid for part in up(standing).parts] == before


def test_a_port_that_is_taken_is_said_before_anything_of_dagster_starts(standing: Settings) -> None:
    with make_home(http_port=standing.http_port) as other, pytest.raises(PegasError, match="is taken") as caught:
        up(other)
    assert caught.value.code == "port_taken"


@pytest.mark.faults
@pytest.mark.parametrize("name", ["webserver", "daemon", "code-server", "postgres"])
def test_a_part_that_is_killed_comes_back_by_itself(standing: Settings, name: str) -> None:
    pid = status(standing).part(name).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)

    def back() -> bool:
        part = status(standing).part(name)
        return part.pid not in (None, pid) and part.state == "running"

    until(back, f"{name} is back")


@pytest.mark.faults
def test_work_goes_on_after_the_kills(standing: Settings, runtime_of_stack: Runtime) -> None:
    source = Source(runtime_of_stack, "late")
    source.accept([3])
    until(lambda: source.statuses() == {"done": 1}, "the ingest sensor, after every part was killed")


@pytest.mark.faults
def test_a_rebuild_in_whose_middle_everything_of_dagster_dies_converges(
    standing: Settings, runtime_of_stack: Runtime
) -> None:
    """One run at work and one in the queue: the first is found lost and tried again, the second waits its turn."""
    source = Source(runtime_of_stack, "rebuilt")
    source.accept([4, 5])
    until(lambda: source.statuses() == {"done": 2}, "the ingest sensor")
    until(lambda: _outbox_is_empty(runtime_of_stack), "the outbox sensor")
    before = shown_by(runtime_of_stack)
    lose_both(runtime_of_stack)
    runs = [
        launch_over_graphql(standing, "rebuild_job", tags={tags.RANGE_START: first, tags.RANGE_END: last})
        for first, last in (("00", "07"), ("08", "15"))
    ]
    instance = open_inprocess_instance(standing)
    try:
        until(lambda: any(_worker_of(instance, run_id) for run_id in runs), "a run is at work")
        worker = next(pid for run_id in runs if (pid := _worker_of(instance, run_id)))
        old = {name: status(standing).part(name).pid for name in ("daemon", "code-server")}
        for pid in (worker, *old.values()):
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
        until(
            lambda: all(status(standing).part(name).pid not in (None, pid) for name, pid in old.items()),
            "daemon and code server are back",
        )
        until(lambda: shown_by(runtime_of_stack) == before, "every bucket is made again", within_s=240)
        until(
            lambda: not instance.get_runs(dg.RunsFilter(statuses=NOT_FINISHED_STATUSES)), "nothing is left in the queue"
        )
    finally:
        close_instance(instance)
    assert drift_of(runtime_of_stack) == {"vectors": 0, "graph": 0}


@pytest.mark.faults
def test_when_the_keeper_is_killed_its_parts_end_and_up_starts_them_again(standing: Settings) -> None:
    """Two daemons on one instance would answer every tick twice."""
    from pegas_assets.defs.stack_host import stack_spec
    from pegas_assets.embedded.process import find

    keeper = find(stack_spec(standing))
    assert keeper is not None
    pids = [status(standing).part(name).pid for name in ("code-server", "webserver", "daemon")]
    os.kill(keeper.pid, signal.SIGKILL)
    until(lambda: all(process_start(pid) is None for pid in pids if pid), "the parts end with it")
    assert status(standing).part("daemon").state == "stopped"
    again = up(standing)
    assert again.part("webserver").state == "running"


def test_down_leaves_no_process(standing: Settings) -> None:
    pids = [part.pid for part in status(standing).parts]
    stopped = down(standing)
    assert stopped == ["dagster", "graph", "vectors", "postgres"]
    assert all(pid is None or process_start(pid) is None for pid in pids)
    assert {part.state for part in status(standing).parts} == {"stopped"}
    assert down(standing) == []


def _outbox_is_empty(runtime: Runtime) -> bool:
    with runtime.database.connection() as connection:
        row = connection.execute("SELECT count(*), count(*) FILTER (WHERE NOT processed) FROM pm_outbox").fetchone()
    return row is not None and row[0] > 0 and row[1] == 0


def _worker_of(instance: dg.DagsterInstance, run_id: str) -> int | None:
    """The process that works on a run now."""
    run = instance.get_run_by_id(run_id)
    if run is None or run.is_finished or tags.PID not in run.tags:
        return None
    return int(run.tags[tags.PID])
