"""Keeps Dagster's three processes: `python -m pegas_assets.defs.stack_host`, in the environment that `stack` makes.

One code server, which webserver and daemon share; one webserver; exactly one daemon, since only one process at a time
owns the home. One that dies is started again; when this process dies the kernel ends all three, and the next
`pegas up` starts afresh. It also starts an embedded PostgreSQL again that was killed: without storage no daemon could.
"""

from __future__ import annotations

import contextlib
import ctypes
import http.client
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pegas_assets.defs.dagster_home import LOCATION
from pegas_assets.embedded.postgres import ensure_postgres
from pegas_assets.embedded.process import (
    HostSpec,
    HostState,
    Ownership,
    find,
    process_start,
    socket_path,
    write_private,
)
from pegas_assets.errors import PegasError
from pegas_assets.settings import Settings, load_settings

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
START_S = 150.0
STOP_S = 12.0
RESTART_S = (0.0, 1.0, 2.0, 5.0, 15.0, 30.0)
STEADY_S = 120.0
"""A part that ran so long is started again without a wait."""
STORAGE_S = 2.0
MEMORY_S = 60.0
DAEMON_BYTES = 1_500_000_000
"""The daemon's memory creeps in the field; past this it is started again."""
_PR_SET_PDEATHSIG = 1
_LOG_BYTES = 10_000_000


def stack_spec(settings: Settings, environment: tuple[tuple[str, str], ...] = ()) -> HostSpec:
    """The host of Dagster for a base: its own port, socket and workspace, in the home that bases share."""
    name = f"dagster{settings.base_suffix}"
    return HostSpec(
        name, ("pegas_assets.defs.stack_host",), settings.home, component="dagster", environment=environment
    )


def webserver_port(settings: Settings) -> int:
    """The port on which the webserver answers, or would."""
    state = find(stack_spec(settings))
    return int(state.address["port"]) if state is not None and "port" in state.address else settings.http_port


def answers(port: int, timeout_s: float = 2.0) -> bool:
    """Whether a Dagster webserver answers on a port of this machine."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=timeout_s)
    try:
        connection.request("GET", "/server_info")
        response = connection.getresponse()
        return response.status == 200 and b"dagster_webserver_version" in response.read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


class Part:
    """One process of Dagster: started, watched, started again with growing waits."""

    def __init__(self, name: str, arguments: Sequence[str], settings: Settings) -> None:
        self.name = name
        self._arguments = [sys.executable, "-P", "-m", *arguments]
        self._directory = settings.dagster_home
        self._log = settings.home / "log" / f"{stack_spec(settings).name}-{name}.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._failures = 0
        self._next_at = 0.0

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    @property
    def failures(self) -> int:
        return self._failures

    def start(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            if self._log.stat().st_size > _LOG_BYTES:
                self._log.replace(self._log.with_suffix(".log.1"))
        descriptor = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            # A group of its own, so that runs, which are children of the code server, end with it.
            self._process = subprocess.Popen(
                self._arguments,
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                cwd=self._directory,
                process_group=0,
                preexec_fn=_die_with_parent,
            )
        finally:
            os.close(descriptor)
        self._started_at = time.monotonic()
        log.info("%s started, process %d", self.name, self.pid)

    def watch(self) -> bool:
        """Start the part again if it ended and its wait is over. True: it was started."""
        if self._process is None or self._process.poll() is None:
            return False
        now = time.monotonic()
        if self._next_at == 0.0:
            self._failures = 0 if now - self._started_at > STEADY_S else self._failures + 1
            self._next_at = now + RESTART_S[min(self._failures, len(RESTART_S) - 1)]
            log.warning("%s ended with %s; see %s", self.name, self._process.returncode, self._log)
        if now < self._next_at:
            return False
        self._next_at = 0.0
        self.start()
        return True

    def ask_to_stop(self) -> None:
        self._signal(signal.SIGTERM)

    def finish(self, deadline: float) -> None:
        """Wait for the whole group to end, then end it by force."""
        process = self._process
        if process is None:
            return
        while _group_lives(process) and time.monotonic() < deadline:
            time.sleep(0.05)
        self._signal(signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5.0)

    def memory(self) -> int:
        """Resident bytes; 0 where it does not run."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        except (OSError, IndexError, ValueError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")

    def restart_when_larger(self, limit: int) -> None:
        if self.memory() > limit:
            log.warning("%s holds %d bytes and is started again", self.name, self.memory())
            self.ask_to_stop()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


class Stack:
    """The three parts of a home, in the order in which they need each other."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.socket = socket_path(settings.home, stack_spec(settings).name)
        workspace = str(_write_workspace(settings, self.socket))
        self.code_server = Part(
            "code-server",
            [
                *("dagster", "api", "grpc", "--socket", str(self.socket)),
                *("--module-name", "pegas_assets.definitions", "--location-name", LOCATION),
                # A definition that does not load is then shown in the UI, instead of ending the server.
                *("--lazy-load-user-code", "--empty-working-directory", "--use-python-environment-entry-point"),
                *("--log-level", "warning"),
            ],
            settings,
        )
        self.webserver = Part(
            "webserver",
            [
                *("dagster_webserver", "--host", LOOPBACK, "--port", str(settings.http_port)),
                *("--workspace", workspace, "--log-level", "warning", "--dagster-log-level", "warning"),
            ],
            settings,
        )
        self.daemon = Part(
            "daemon", ["dagster._daemon", "run", "--workspace", workspace, "--log-level", "warning"], settings
        )
        self.parts = (self.code_server, self.webserver, self.daemon)
        self._stopping: Callable[[], bool] = lambda: False
        self._storage_at = 0.0
        self._memory_at = time.monotonic()

    def start(self, stopping: Callable[[], bool]) -> None:
        """Start all three; returns when the webserver answers, or when it is to stop.

        Raises:
            PegasError: it does not in time, or ends again and again.
        """
        deadline = time.monotonic() + START_S
        self.socket.unlink(missing_ok=True)
        self.code_server.start()
        _until(lambda: _accepts(self.socket) or stopping(), deadline, self._tend)
        self.webserver.start()
        # Storage that is new gets its tables from the webserver alone, not from two at the same moment.
        _until(lambda: answers(self.settings.http_port) or stopping(), deadline, self._tend)
        if not stopping():
            self.daemon.start()

    def watch(self) -> bool:
        """Start again what ended; True when a part has another pid now."""
        now = time.monotonic()
        if now >= self._storage_at:
            self._storage_at = now + STORAGE_S
            self._keep_storage()
        if now >= self._memory_at + MEMORY_S:
            self._memory_at = now
            self.daemon.restart_when_larger(DAEMON_BYTES)
        restarted = [part.watch() for part in self.parts]
        return any(restarted)

    def stop(self) -> None:
        deadline = time.monotonic() + STOP_S
        for part in (self.daemon, self.webserver, self.code_server):
            part.ask_to_stop()
        for part in (self.daemon, self.webserver, self.code_server):
            part.finish(deadline)
        self.socket.unlink(missing_ok=True)

    def address(self) -> dict[str, str | int]:
        """What the state file says: the port, and each part's process."""
        return {"port": self.settings.http_port, **{part.name: part.pid for part in self.parts}}

    def _tend(self) -> None:
        self.watch()
        for part in self.parts:
            if part.failures >= 3:
                raise PegasError(f"Dagster's {part.name} ends again and again.", component="dagster")

    def _keep_storage(self) -> None:
        if self.settings.database_url is None:
            try:
                ensure_postgres(self.settings)
            except PegasError as error:
                log.error("%s", error)


def _write_workspace(settings: Settings, path: Path) -> Path:
    import json

    workspace = {"load_from": [{"grpc_server": {"socket": str(path), "location_name": LOCATION}}]}
    target = settings.dagster_home / f"workspace{settings.base_suffix}.yaml"
    write_private(target, json.dumps(workspace).encode())  # JSON is YAML, whatever the path holds.
    return target


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _accepts(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1.0)
        try:
            client.connect(str(path))
        except OSError:
            return False
        return True


def _group_lives(process: subprocess.Popen[bytes]) -> bool:
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _until(condition: Callable[[], bool], deadline: float, each: Callable[[], None]) -> None:
    while not condition():
        if time.monotonic() > deadline:
            raise PegasError(f"Dagster did not come up within {START_S:.0f} s.", component="dagster")
        each()
        time.sleep(0.1)


def main() -> int:
    """Serve until told to stop. Returns at once, quietly, where another process serves this base."""
    settings = load_settings()
    ownership = Ownership.take(stack_spec(settings))
    if ownership is None:
        return 0
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    signal.signal(signal.SIGTERM, lambda *_: ownership.stopping.set())
    stack = Stack(settings)
    version = f"Dagster {_dagster_version()}"
    try:
        stack.start(ownership.stopping.is_set)
        if not ownership.stopping.is_set():
            ownership.announce(stack.address(), version)
            ownership.wait_for_stop(lambda: ownership.announce(stack.address(), version) if stack.watch() else None)
    except PegasError as error:
        log.error("%s", error)
        return 1
    finally:
        ownership.withdraw()
        stack.stop()
    return 0


def _dagster_version() -> str:
    from importlib.metadata import version

    return version("dagster")


def part_state(state: HostState, name: str) -> int | None:
    """The pid of a part that lives, from the state file."""
    pid = state.address.get(name, 0)
    return pid if isinstance(pid, int) and pid and process_start(pid) is not None else None


if __name__ == "__main__":
    sys.exit(main())
