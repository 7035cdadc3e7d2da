"""The framework of host processes: started once, found again, healed after `kill -9`."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pegas_assets.embedded.process import (
    HostSpec,
    HostState,
    ensure_running,
    find,
    process_start,
    socket_path,
    stop,
    write_private,
)
from pegas_assets.errors import EngineUnavailable


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., HostSpec]]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    made: list[HostSpec] = []

    def make(*arguments: str) -> HostSpec:
        home = tmp_path / "home"
        spec = HostSpec("toy", ("toy_host", "toy", str(home), *arguments), home)
        made.append(spec)
        return spec

    yield make
    for spec in made:
        stop(spec, timeout_s=5)


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def kill(state: HostState) -> None:
    os.kill(state.pid, signal.SIGKILL)
    wait_until(lambda: process_start(state.pid) != state.started)


def test_a_host_is_started_once_and_found_again(toy: Callable[..., HostSpec]) -> None:
    spec = toy()
    assert find(spec) is None
    first = ensure_running(spec)
    assert ensure_running(spec) == first == find(spec)
    assert first.address == {"answer": 42}
    assert first.version == "toy 1"


def test_starters_at_once_end_with_one_host(toy: Callable[..., HostSpec]) -> None:
    spec = toy("0.2")
    seen: list[int] = []
    threads = [threading.Thread(target=lambda: seen.append(ensure_running(spec).pid)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 6
    assert len(set(seen)) == 1


def test_a_second_host_process_gives_way_quietly(toy: Callable[..., HostSpec]) -> None:
    spec = toy()
    state = ensure_running(spec)
    second = subprocess.run([sys.executable, "-m", *spec.module_argv], timeout=20, check=False, capture_output=True)
    assert (second.returncode, second.stdout, second.stderr) == (0, b"", b"")
    assert find(spec) == state


def test_a_host_survives_its_starter_killed(toy: Callable[..., HostSpec], tmp_path: Path) -> None:
    spec = toy()
    code = (
        "import sys; from pathlib import Path; from pegas_assets.embedded.process import *;"
        f"h = Path({str(spec.home)!r}); ensure_running(HostSpec('toy', ('toy_host', 'toy', str(h)), h));"
        "print('up', flush=True); sys.stdin.read()"
    )
    starter = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert starter.stdout is not None
    # Nothing of the host's own output reaches the starter's stdout, which may be a protocol.
    assert starter.stdout.readline() == b"up\n"
    state = find(spec)
    assert state is not None
    starter.kill()
    assert starter.wait() == -signal.SIGKILL
    assert ensure_running(spec) == state


def test_a_killed_host_is_started_afresh(toy: Callable[..., HostSpec]) -> None:
    spec = toy()
    first = ensure_running(spec)
    kill(first)
    assert find(spec) is None
    assert ensure_running(spec).pid != first.pid


def test_a_starter_killed_half_way_locks_nobody_out(toy: Callable[..., HostSpec]) -> None:
    spec = toy("0.5")
    code = (
        "from pathlib import Path; from pegas_assets.embedded.process import *;"
        f"h = Path({str(spec.home)!r}); ensure_running(HostSpec('toy', {spec.module_argv!r}, h))"
    )
    starter = subprocess.Popen([sys.executable, "-c", code])
    wait_until(spec.owner_path.exists)
    starter.kill()
    starter.wait()
    state = ensure_running(spec)
    assert find(spec) == state


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": 1}', b"\xff\xfe", b'{"pid": "x", "started": 1}'])
def test_a_damaged_state_file_heals(toy: Callable[..., HostSpec], content: bytes) -> None:
    spec = toy()
    spec.state_path.parent.mkdir(parents=True)
    for path in (spec.state_path, spec.lock_path, spec.owner_path):
        path.write_bytes(content)
    assert find(spec) is None
    assert ensure_running(spec).address == {"answer": 42}


def test_a_recycled_pid_is_neither_believed_nor_killed(toy: Callable[..., HostSpec]) -> None:
    spec = toy()
    spec.state_path.parent.mkdir(parents=True)
    bystander = subprocess.Popen(["sleep", "60"])
    started = process_start(bystander.pid)
    assert started is not None
    stale = {"pid": bystander.pid, "started": started - 1, "address": {}, "version": ""}
    spec.state_path.write_text(json.dumps(stale))
    spec.owner_path.write_text(json.dumps(stale))
    try:
        assert find(spec) is None
        assert not stop(spec)
        assert ensure_running(spec).pid != bystander.pid
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_state_file_that_was_removed_comes_back(toy: Callable[..., HostSpec]) -> None:
    spec = toy()
    state = ensure_running(spec)
    spec.state_path.unlink()
    assert ensure_running(spec) == state


def test_a_host_whose_home_is_removed_ends(toy: Callable[..., HostSpec], tmp_path: Path) -> None:
    spec = toy()
    state = ensure_running(spec)
    spec.home.rename(tmp_path / "gone")
    wait_until(lambda: process_start(state.pid) != state.started)


def test_stop_ends_the_host_and_then_there_is_none(toy: Callable[..., HostSpec]) -> None:
    spec = toy()
    assert not stop(spec)
    state = ensure_running(spec)
    assert stop(spec)
    assert process_start(state.pid) != state.started
    assert find(spec) is None
    assert not spec.state_path.exists()
    assert not stop(spec)


def test_stop_ends_a_host_that_hangs(toy: Callable[..., HostSpec]) -> None:
    spec = toy()
    state = ensure_running(spec)
    os.kill(state.pid, signal.SIGSTOP)
    assert stop(spec, timeout_s=0.3)
    assert process_start(state.pid) != state.started


def test_a_host_that_cannot_start_says_why_and_keeps_the_secret(toy: Callable[..., HostSpec]) -> None:
    spec = toy("0", "3")
    with pytest.raises(EngineUnavailable) as caught:
        ensure_running(spec)
    assert "the toy cannot start" in caught.value.message
    assert "exit 1" in caught.value.message
    assert "secret" not in caught.value.message
    assert str(spec.log_path) in caught.value.hint
    assert caught.value.component == "toy"


def test_a_host_that_is_slow_is_an_error_in_time_and_found_later(toy: Callable[..., HostSpec]) -> None:
    spec = toy("1.0")
    with pytest.raises(EngineUnavailable, match="in time"):
        ensure_running(spec, timeout_s=0.3)
    wait_until(lambda: find(spec) is not None)


def test_a_home_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    spec = HostSpec("toy", ("toy_host",), tmp_path / "file" / "home", component="vectors")
    with pytest.raises(EngineUnavailable) as caught:
        ensure_running(spec)
    assert caught.value.component == "vectors"


def test_files_are_ours_alone(toy: Callable[..., HostSpec]) -> None:
    spec = toy()
    ensure_running(spec)
    for folder in (spec.home / "run", spec.home / "log"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for path in folder.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_socket_path_always_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert socket_path(tmp_path, "x") == tmp_path / "run" / "x.sock"
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    long = tmp_path / ("дом" * 40)
    path = socket_path(long, "vectors")
    assert path == socket_path(long, "vectors")
    assert path.parent.parent == tmp_path
    assert path != socket_path(long / "other", "vectors")
    path.parent.chmod(0o755)
    with pytest.raises(PermissionError):
        socket_path(long, "vectors")


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    write_private(tmp_path / "a", b"one")
    write_private(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"two"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
