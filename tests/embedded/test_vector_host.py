"""The host of the vector engine under `kill -9`, under load, and while an index is built."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from pegas_assets.embedded.process import HostState, find, process_start, socket_path, stop
from pegas_assets.embedded.vector_host import vector_host
from pegas_assets.embedded.vector_wire import pack_frame, receive_frame
from pegas_assets.errors import EngineUnavailable
from pegas_assets.identity import BUCKETS, bucket_of
from pegas_assets.settings import Settings
from pegas_assets.stores.vectors import Point, SparseVector, VectorFilter
from pegas_assets.stores.vectors_embedded import EmbeddedVectorStore
from tests.homes import make_home

DIMENSION = 1024
ENOUGH = 2000
"""So many points are worth an index."""


@pytest.fixture
def alone() -> Iterator[Settings]:
    with make_home() as made:
        yield made


@pytest.fixture
def store(alone: Settings) -> Iterator[EmbeddedVectorStore]:
    made = EmbeddedVectorStore(alone)
    made.ensure_collection("c", DIMENSION, "f")
    yield made
    made.close()


def points(first: int, count: int, h: str = "1") -> list[Point]:
    rows = np.random.default_rng(first).standard_normal((count, DIMENSION)).astype(np.float32)
    return [
        Point(
            f"atom:{first + n}",
            rows[n],
            SparseVector((n, n + 1000), (1.0, 2.0)),
            {"h": h, "bucket": bucket_of(f"atom:{first + n}"), "kind": "atom"},
        )
        for n in range(count)
    ]


def stored(store: EmbeddedVectorStore) -> dict[str, str]:
    return {key: h for bucket in range(BUCKETS) for key, h in store.hashes("c", bucket).items()}


def state_of(settings: Settings) -> HostState:
    state = find(vector_host(settings.home))
    assert state is not None
    return state


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def kill(settings: Settings) -> None:
    state = state_of(settings)
    with contextlib.suppress(ProcessLookupError):
        os.kill(state.pid, signal.SIGKILL)
    wait_until(lambda: process_start(state.pid) != state.started)


def generations(settings: Settings) -> list[str]:
    return sorted(path.name for path in (settings.home / "vectors" / "c").iterdir() if path.is_dir())


def test_two_hosts_started_at_once_end_as_one(alone: Settings) -> None:
    spec = vector_host(alone.home)
    (alone.home / "run").mkdir(mode=0o700, exist_ok=True)
    hosts = [subprocess.Popen([sys.executable, "-m", *spec.module_argv]) for _ in range(3)]
    wait_until(lambda: sum(host.poll() is None for host in hosts) == 1 and find(spec) is not None)
    assert sorted(host.poll() is None for host in hosts) == [False, False, True]
    assert all(host.returncode in (0, None) for host in hosts)
    assert EmbeddedVectorStore(alone).version()
    assert stop(spec)
    assert all(host.wait(20) == 0 for host in hosts)


def test_what_was_acknowledged_survives_kill_9_under_load(alone: Settings, store: EmbeddedVectorStore) -> None:
    acknowledged: dict[int, set[str]] = {}
    done = threading.Event()

    def write(thread: int) -> None:
        mine = acknowledged[thread] = set()
        step = 0
        while not done.is_set():
            batch = points(thread * 1_000_000 + step * 50, 50)
            store.upsert("c", batch)
            mine.update(point.key for point in batch)
            if step % 5 == 4:
                gone = batch[0].key
                store.delete("c", [gone])
                mine.discard(gone)
            step += 1

    threads = [threading.Thread(target=write, args=(thread,)) for thread in range(3)]
    for thread in threads:
        thread.start()
    for count in (1000, 2000, 3000):
        wait_until(lambda count=count: sum(map(len, acknowledged.values())) > count)  # type: ignore[misc]
        kill(alone)
    wait_until(lambda: sum(map(len, acknowledged.values())) > 3500)
    done.set()
    for each in threads:
        each.join()
    kill(alone)
    # Writers met three dead hosts and never noticed; every key is there, and no deleted one.
    assert set(stored(store)) == set().union(*acknowledged.values())


def test_a_host_survives_the_one_that_started_it(alone: Settings) -> None:
    code = (
        "import sys; from pathlib import Path; from pegas_assets.settings import Settings;"
        "from pegas_assets.stores.vectors_embedded import EmbeddedVectorStore as Store;"
        "store = Store(Settings(home=Path(sys.argv[1]))); store.ensure_collection('c', 4, 'f');"
        "print('up', flush=True); sys.stdin.read()"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", code, str(alone.home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert starter.stdout is not None
    assert starter.stdout.readline() == b"up\n"
    state = state_of(alone)
    starter.kill()
    starter.wait()
    assert EmbeddedVectorStore(alone).collections() == ["c"]
    assert state_of(alone) == state


def test_a_stale_socket_and_state_heal(alone: Settings, store: EmbeddedVectorStore) -> None:
    store.upsert("c", points(0, 10))
    kill(alone)
    assert socket_path(alone.home, "vectors").exists()
    assert vector_host(alone.home).state_path.exists()
    assert len(stored(store)) == 10


def test_a_socket_that_was_removed_comes_back(alone: Settings, store: EmbeddedVectorStore) -> None:
    store.upsert("c", points(0, 10))
    state = state_of(alone)
    socket_path(alone.home, "vectors").unlink()
    assert len(stored(EmbeddedVectorStore(alone))) == 10
    assert state_of(alone) == state


def test_a_home_with_a_long_path_works(tmp_path: Path) -> None:
    with make_home() as made:
        deep = Settings(_env_file=None, home=made.home / ("глубоко" * 12))  # type: ignore[call-arg]
        store = EmbeddedVectorStore(deep)
        try:
            store.ensure_collection("c", DIMENSION, "f")
            assert store.collections() == ["c"]
        finally:
            stop(vector_host(deep.home))


def test_stopping_loses_nothing_and_is_quick_to_undo(alone: Settings, store: EmbeddedVectorStore) -> None:
    store.upsert("c", points(0, 500))
    assert stop(vector_host(alone.home))
    assert find(vector_host(alone.home)) is None
    assert not socket_path(alone.home, "vectors").exists()
    assert len(stored(store)) == 500


def test_garbage_on_the_socket_harms_nobody(alone: Settings, store: EmbeddedVectorStore) -> None:
    path = str(state_of(alone).address["socket"])
    good_head = pack_frame({"op": "ping"})
    for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\x00" * 64, good_head[:7], good_head[:16] + b"{" * 13, os.urandom(99)):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            connection.sendall(garbage)
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(10)
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(100) == b""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(pack_frame({"op": "no such"}) + pack_frame({}) + pack_frame({"op": "upsert", "name": "c"}))
        for expected in ("invalid_input", "invalid_input", "unavailable"):
            answer, _ = receive_frame(connection, time.monotonic() + 10)
            assert answer["error"] == expected
    store.upsert("c", points(0, 10))
    assert len(stored(store)) == 10


def test_an_index_is_built_while_others_write_delete_and_search(alone: Settings, store: EmbeddedVectorStore) -> None:
    store.upsert("c", points(0, ENOUGH))
    expected = {f"atom:{n}": "1" for n in range(ENOUGH)}
    done = threading.Event()
    failures: list[Exception] = []
    searches = 0

    def write() -> None:
        step = 0
        while not done.is_set():
            fresh = points(100_000 + step * 40, 40, "2")
            changed = points((step * 40) % 1000, 20, f"changed-{step}")
            gone = [f"atom:{1500 + (step * 3 + n) % 500}" for n in range(3)]
            store.upsert("c", fresh + changed)
            store.delete("c", gone)
            expected.update({point.key: str(point.payload["h"]) for point in fresh + changed})
            for key in gone:
                expected.pop(key, None)
            step += 1

    def search() -> None:
        nonlocal searches
        query = points(1200, 1)[0]
        while not done.is_set():
            hits = store.search("c", dense=query.dense, sparse=query.sparse, filter=VectorFilter(), limit=10)
            assert len(hits.dense) == 10
            searches += 1

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - the main thread fails with it
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in (write, search, search)]
    for thread in threads:
        thread.start()
    lines: list[str] = []
    assert store.optimize("c", lines.append)
    searched_meanwhile = searches
    done.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert searched_meanwhile > 0
    assert any("brought over" in line and "over 0 points" not in line for line in lines)
    assert stored(store) == expected
    assert generations(alone) == ["g000002"]
    kill(alone)
    assert stored(store) == expected
    info = store.info("c")
    assert info is not None
    assert info.indexed >= 1000


@pytest.mark.parametrize("moment", ["copied", "built"])
def test_kill_9_while_an_index_is_built_leaves_the_old_state(
    alone: Settings, store: EmbeddedVectorStore, moment: str
) -> None:
    store.upsert("c", points(0, ENOUGH))
    killed: list[HostState] = []

    def harm(line: str) -> None:
        if line.startswith(moment) and not killed:
            # Acknowledged after the copy was taken, so only the old state has them.
            EmbeddedVectorStore(alone).upsert("c", points(50_000, 100))
            killed.append(state_of(alone))
            kill(alone)

    # The client starts the next host and asks again, so the index is there in the end.
    store.optimize("c", harm)
    assert killed
    assert len(stored(store)) == ENOUGH + 100
    assert len(generations(alone)) == 1
    info = store.info("c")
    assert info is not None
    assert info.indexed >= ENOUGH


@pytest.mark.faults
def test_kill_9_at_any_moment_of_a_build_loses_nothing(alone: Settings, store: EmbeddedVectorStore) -> None:
    expected = {point.key for point in points(0, ENOUGH)}
    store.upsert("c", points(0, ENOUGH))
    for round_ in range(4):
        done = threading.Event()

        def write(first: int = 100_000 * (round_ + 1), done: threading.Event = done) -> None:
            step = 0
            while not done.is_set():
                batch = points(first + step * 20, 20)
                store.upsert("c", batch)
                expected.update(point.key for point in batch)
                step += 1

        def build() -> None:
            store.optimize("c")

        threads = [threading.Thread(target=work) for work in (write, build)]
        for thread in threads:
            thread.start()
        done.wait(0.1 + 0.6 * round_)
        kill(alone)
        done.set()
        for thread in threads:
            thread.join()
        assert set(stored(store)) == expected
        kill(alone)
        assert set(stored(store)) == expected
        assert len(generations(alone)) == 1


def test_a_child_that_is_killed_is_an_error_and_serving_goes_on(alone: Settings, store: EmbeddedVectorStore) -> None:
    store.upsert("c", points(0, ENOUGH))

    def kill_child(line: str) -> None:
        if line.startswith("copied"):
            host = psutil.Process(state_of(alone).pid)
            wait_until(lambda: bool(host.children()))
            for child in host.children():
                child.kill()

    with pytest.raises(EngineUnavailable, match="signal 9"):
        store.optimize("c", kill_child)
    assert len(stored(store)) == ENOUGH
    assert generations(alone) == ["g000001"]
    assert store.optimize("c")
    assert len(stored(store)) == ENOUGH


def test_a_child_dies_with_its_host(alone: Settings, store: EmbeddedVectorStore) -> None:
    store.upsert("c", points(0, ENOUGH))
    children: list[psutil.Process] = []

    def harm(line: str) -> None:
        if line.startswith("copied"):
            host = psutil.Process(state_of(alone).pid)
            wait_until(lambda: bool(host.children()))
            children.extend(host.children())
            # Until the child has asked the kernel to die with its parent, it looks for itself.
            wait_until(lambda: any("vector_rebuild" in part for part in children[0].cmdline()))
            kill(alone)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.optimize("c", harm)
    wait_until(lambda: not children[0].is_running() or children[0].status() == psutil.STATUS_ZOMBIE)
    assert len(stored(store)) == ENOUGH
    assert generations(alone) == ["g000001"]


def test_dropping_a_collection_ends_its_build(alone: Settings, store: EmbeddedVectorStore) -> None:
    store.upsert("c", points(0, ENOUGH))
    other = EmbeddedVectorStore(alone)

    def drop(line: str) -> None:
        if line.startswith("copied"):
            other.drop_collection("c")

    with pytest.raises(EngineUnavailable, match="closed"):
        store.optimize("c", drop)
    assert other.collections() == []
    assert list((alone.home / "vectors").iterdir()) == []
    other.ensure_collection("c", DIMENSION, "g")
    assert stored(other) == {}


def test_two_who_ask_for_an_index_get_one(alone: Settings, store: EmbeddedVectorStore) -> None:
    store.upsert("c", points(0, ENOUGH))
    answers: list[bool] = []
    threads = [threading.Thread(target=lambda: answers.append(store.optimize("c"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False, True]
    assert generations(alone) == ["g000002"]


def test_leftovers_of_a_killed_host_are_swept(alone: Settings, store: EmbeddedVectorStore) -> None:
    store.upsert("c", points(0, 10))
    kill(alone)
    root = alone.home / "vectors"
    for left in (root / ".new-1", root / ".trash-2", root / "c" / "g000007"):
        (left / "deep").mkdir(parents=True)
        (left / "deep" / "file").write_text("left")
    (root / "c" / ".current.123.456").write_text("g000007")
    assert len(stored(store)) == 10
    assert [path.name for path in root.iterdir()] == ["c"]
    assert sorted(path.name for path in (root / "c").iterdir()) == ["current", "g000001", "meta.json"]


def test_an_old_collection_gains_the_indexes_it_lacks(alone: Settings) -> None:
    from pegas_assets.embedded.shard_files import CollectionMeta
    from pegas_assets.embedded.vector_collection import Collection

    root = alone.home / "vectors"
    root.mkdir()
    Collection.create(root, CollectionMeta("c", DIMENSION, "f")).close()
    store = EmbeddedVectorStore(alone)
    store.upsert("c", points(0, 10))
    before = store.info("c")
    assert before is not None
    assert before.payload_indexes == ()
    store.ensure_collection("c", DIMENSION, "f")
    after = store.info("c")
    assert after is not None
    assert "bucket" in after.payload_indexes
    assert len(stored(store)) == 10
