"""The embedded Bolt server: one for a home, on this machine only, a database for each base, healed after `kill -9`."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pegas_assets.embedded import bolt_host
from pegas_assets.embedded.bolt import BoltAddress, ensure_bolt, find_bolt, graph_folder, password_file, stop_bolt
from pegas_assets.settings import Settings
from tests.homes import make_home

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def settings() -> Iterator[Settings]:
    with make_home() as made:
        yield made


@pytest.fixture
def own() -> Iterator[Settings]:
    with make_home() as made:
        yield made


def run(address: BoltAddress, statement: str, **parameters: Any) -> list[list[Any]]:
    from neo4j import GraphDatabase

    with (
        GraphDatabase.driver(address.url, auth=(address.user, address.password)) as driver,
        driver.session(database=address.database) as session,
    ):
        return session.run(statement, **parameters).values()  # type: ignore[arg-type]


def eventually(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def in_a_process(settings: Settings, body: str) -> subprocess.Popen[str]:
    program = f"""
    from pathlib import Path
    from pegas_assets.settings import Settings
    from pegas_assets.embedded.bolt import ensure_bolt, find_bolt
    settings = Settings(_env_file=None, home=Path({str(settings.home)!r}))
    {body}
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def listening(pid: int) -> set[tuple[str, int]]:
    """Address and port of every TCP socket on which a process listens."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(link)  # noqa: PTH115
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                address, port = fields[1].split(":")
                raw = b"".join(bytes.fromhex(address[at : at + 8])[::-1] for at in range(0, len(address), 8))
                family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
                found.add((socket.inet_ntop(family, raw).removeprefix("::ffff:"), int(port, 16)))
    return found


def test_a_graph_answers_over_bolt(settings: Settings) -> None:
    address = ensure_bolt(settings)
    assert address.database == "pegas"
    assert run(address, "RETURN $x", x="ёж") == [["ёж"]]


def test_a_second_call_finds_the_same_server(settings: Settings) -> None:
    assert ensure_bolt(settings) == ensure_bolt(settings)
    state = find_bolt(settings)
    assert state is not None
    assert state.version.startswith("ArcadeDB ")


def test_the_password_shows_nowhere(settings: Settings) -> None:
    address = ensure_bolt(settings)
    state = find_bolt(settings)
    assert state is not None
    assert address.password not in repr(address)
    assert address.password not in Path(f"/proc/{state.pid}/cmdline").read_text()
    assert address.password.encode() not in Path(f"/proc/{state.pid}/environ").read_bytes()
    assert stat.S_IMODE(password_file(settings.home).stat().st_mode) == 0o600
    for path in settings.home.rglob("*"):
        if path.is_file() and path != password_file(settings.home) and path.suffix != ".wal":
            assert address.password.encode() not in path.read_bytes(), path


def test_it_listens_on_this_machine_only_and_on_no_other_port(settings: Settings) -> None:
    ensure_bolt(settings)
    state = find_bolt(settings)
    assert state is not None
    ports = {int(state.address["bolt_port"]), int(state.address["http_port"])}
    assert listening(state.pid) == {("127.0.0.1", port) for port in ports}


def test_its_other_endpoints_want_the_password(settings: Settings) -> None:
    ensure_bolt(settings)
    state = find_bolt(settings)
    assert state is not None
    for path in ("server", "mcp"):
        request = urllib.request.Request(
            f"http://127.0.0.1:{state.address['http_port']}/api/v1/{path}", data=b'{"command": "list databases"}'
        )
        with pytest.raises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(request, timeout=5)
        assert refusal.value.code in (401, 403)
    assert '"enabled": false' in (graph_folder(settings.home) / "config" / "mcp-config.json").read_text()


def test_each_base_has_a_database(settings: Settings) -> None:
    music = Settings(_env_file=None, home=settings.home, base="music")  # type: ignore[call-arg]
    address = ensure_bolt(music)
    assert address.database == "pegas_music"
    run(address, "CREATE (:Atom {key: 'of music'})")
    assert run(address, "MATCH (n:Atom) RETURN n.key") == [["of music"]]
    assert run(ensure_bolt(settings), "MATCH (n:Atom) RETURN n.key") == []


def test_nothing_is_written_outside_the_home(own: Settings, tmp_path: Path) -> None:
    here = Path.cwd()
    before = set(here.iterdir())
    os.chdir(tmp_path)
    try:
        ensure_bolt(own)
    finally:
        os.chdir(here)
    assert list(tmp_path.iterdir()) == []
    assert set(here.iterdir()) == before
    assert {path.name for path in own.home.iterdir()} == {"graph", "log", "run"}


def test_two_processes_that_start_at_once_end_as_one(own: Settings) -> None:
    starters = [in_a_process(own, "print(ensure_bolt(settings).url)") for _ in range(2)]
    answers = [starter.communicate(timeout=60) for starter in starters]
    assert [out.strip() for out, _ in answers] == [ensure_bolt(own).url] * 2, answers


def test_the_server_outlives_its_starter_and_says_nothing_to_its_output(own: Settings) -> None:
    starter = in_a_process(own, "ensure_bolt(settings)")
    out, err = starter.communicate(timeout=60)
    assert (out, err, starter.returncode) == ("", "", 0)
    assert find_bolt(own) is not None
    assert run(ensure_bolt(own), "RETURN 1") == [[1]]


def test_what_was_committed_survives_kill_9(own: Settings) -> None:
    run(ensure_bolt(own), "UNWIND range(1, 50) AS x CREATE (:Atom {key: 'atom:' + x})")
    before = find_bolt(own)
    assert before is not None
    os.kill(before.pid, signal.SIGKILL)
    eventually(lambda: find_bolt(own) is None, "still there")
    assert run(ensure_bolt(own), "MATCH (n:Atom) RETURN count(n)") == [[50]]
    after = find_bolt(own)
    assert after is not None
    assert after.pid != before.pid


def test_stop_ends_it_cleanly_and_a_start_finds_the_data(own: Settings) -> None:
    run(ensure_bolt(own), "CREATE (:Atom {key: 'atom:1'})")
    assert stop_bolt(own) is True
    assert find_bolt(own) is None
    assert stop_bolt(own) is False
    assert run(ensure_bolt(own), "MATCH (n:Atom) RETURN n.key") == [["atom:1"]]


def test_a_lost_password_file_is_replaced_at_the_next_start(own: Settings) -> None:
    first = ensure_bolt(own)
    run(first, "CREATE (:Atom {key: 'atom:1'})")
    stop_bolt(own)
    password_file(own.home).unlink()
    second = ensure_bolt(own)
    assert second.password != first.password
    assert run(second, "MATCH (n:Atom) RETURN n.key") == [["atom:1"]]


def test_a_port_that_another_program_took_meanwhile_is_left_to_it(own: Settings) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        program = f"""
        import sys
        from pegas_assets.embedded import bolt_host
        free = bolt_host._free_ports
        looks = iter([{port}])
        bolt_host._free_ports = lambda count: [next(looks, free(1)[0]), *free(count - 1)]
        sys.exit(bolt_host.main(["--home", {str(own.home)!r}]))
        """
        host = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT)
        try:
            eventually(lambda: find_bolt(own) is not None or host.poll() is not None, "does not start")
            address = ensure_bolt(own)
            assert address.url != f"bolt://127.0.0.1:{port}"
            assert run(address, "RETURN 1") == [[1]]
        finally:
            host.terminate()
            assert host.wait(20) == 0


def test_free_ports_are_apart() -> None:
    ports = bolt_host._free_ports(8)
    assert len(set(ports)) == 8
