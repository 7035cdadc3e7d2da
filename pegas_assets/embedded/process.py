"""Host processes of the embedded engines: started once by whoever needs one first, found again by everybody else.

A host holds a file lock (`<name>.owner`) for as long as it lives, so two that start at once end as one, and writes
`<name>.json` when it answers. Starters take turns by another lock (`<name>.lock`). The kernel drops both locks with
the process that held them, so nothing has to be cleaned after `kill -9`; a state file is believed only while the
process that it names lives and began when it says.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pegas_assets.errors import EngineUnavailable

_POLL_S = 0.01
_WATCH_S = 0.5
_SOCKET_PATH_BYTES = 107
_LOG_BYTES = 5_000_000

Address = Mapping[str, str | int]


@dataclass(frozen=True)
class HostSpec:
    """A host: its name, the module to run with its arguments, and the home that it serves."""

    name: str
    module_argv: tuple[str, ...]
    home: Path
    component: str = ""
    """What errors call it; the name when empty."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables that the host gets on top of its starter's."""

    @property
    def state_path(self) -> Path:
        return self.home / "run" / f"{self.name}.json"

    @property
    def lock_path(self) -> Path:
        return self.home / "run" / f"{self.name}.lock"

    @property
    def owner_path(self) -> Path:
        return self.home / "run" / f"{self.name}.owner"

    @property
    def log_path(self) -> Path:
        return self.home / "log" / f"{self.name}.log"


@dataclass(frozen=True)
class HostState:
    """A host that answers. `started` is its start in clock ticks since boot, which tells it from a recycled pid."""

    pid: int
    started: int
    address: Address = field(default_factory=dict)
    version: str = ""


def process_start(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None where there is none, or only its zombie is left."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text()
    except (OSError, ValueError):
        return None
    fields = line[line.rindex(")") + 2 :].split()
    return None if fields[0] in ("Z", "X", "x") else int(fields[19])


def prepare_home(home: Path) -> None:
    """Make the home with its `run` and `log` folders, which only we may read.

    A home made by root may be traversed by others, since PostgreSQL then runs as another user.
    """
    if not home.is_dir():
        home.mkdir(mode=0o755 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    for name in ("run", "log"):
        private_directory(home / name)


def private_directory(path: Path) -> Path:
    """Make a folder that only we may read, or tighten it."""
    path.mkdir(mode=0o700, exist_ok=True)
    if stat.S_IMODE(path.stat().st_mode) != 0o700:
        path.chmod(0o700)
    return path


def write_private(path: Path, content: bytes) -> None:
    """Put a file in place in one step, readable by us alone: whoever reads it sees the old or the new one, whole."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def socket_path(home: Path, name: str) -> Path:
    """Where a host's Unix socket goes: in the home, or under the temporary folder where that path would be too long.

    Raises:
        PermissionError: the folder under the temporary folder is somebody else's.
    """
    path = home / "run" / f"{name}.sock"
    if len(os.fsencode(path)) <= _SOCKET_PATH_BYTES:
        return path
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"pegas-{os.geteuid()}-{digest}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(f"{folder} is not a private folder of ours")
    return folder / f"{name}.sock"


def find(spec: HostSpec) -> HostState | None:
    """The host that answers for this home now, or None. Reads two small files."""
    state = _read_state(spec.state_path)
    return state if state is not None and process_start(state.pid) == state.started else None


def ensure_running(spec: HostSpec, timeout_s: float = 15.0) -> HostState:
    """The running host, started where there is none.

    Raises:
        EngineUnavailable: it does not come up in time, or stops at once; the message ends with the last line of its
            log and says where the log is. One that is merely slow goes on starting and is found by the next call.
    """
    if (state := find(spec)) is not None:
        return state
    deadline = time.monotonic() + timeout_s
    try:
        prepare_home(spec.home)
        with _turn(spec, deadline):
            return find(spec) or _start(spec, deadline)
    except OSError as error:
        raise _unavailable(spec, f"cannot be started: {error}") from error


def stop(spec: HostSpec, timeout_s: float = 20.0) -> bool:
    """Ask the host to end, and end it by force after `timeout_s`. False: there was none.

    Only a process that began when its file says is touched.
    """
    if not spec.owner_path.exists() and not spec.state_path.exists():
        return False
    deadline = time.monotonic() + timeout_s
    # A host that somebody is starting right now should be stopped too, not missed.
    with contextlib.suppress(OSError, EngineUnavailable), _turn(spec, min(deadline, time.monotonic() + 5.0)):
        pass
    state = find(spec)
    if state is None:
        state = _owner(spec)
    if state is None:
        return False
    try:
        process = os.pidfd_open(state.pid)
    except ProcessLookupError:
        return False
    try:
        if process_start(state.pid) != state.started:
            return False
        signal.pidfd_send_signal(process, signal.SIGTERM)
        if not _wait(lambda: process_start(state.pid) != state.started, deadline):
            signal.pidfd_send_signal(process, signal.SIGKILL)
            _wait(lambda: process_start(state.pid) != state.started, time.monotonic() + 5.0)
    except ProcessLookupError:
        pass
    finally:
        os.close(process)
    if (left := _read_state(spec.state_path)) is not None and left.pid == state.pid:
        spec.state_path.unlink(missing_ok=True)
    return True


class Ownership:
    """The host's side: the right to serve a home, held until the process ends."""

    def __init__(self, spec: HostSpec, descriptor: int) -> None:
        self.spec = spec
        self.stopping = threading.Event()
        self._descriptor = descriptor
        self._state: HostState | None = None
        started = process_start(os.getpid())
        if started is None:
            raise _unavailable(spec, "cannot read its own entry in /proc")
        self._self = HostState(os.getpid(), started)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, _to_json(self._self), 0)

    @classmethod
    def take(cls, spec: HostSpec) -> Ownership | None:
        """Become the host of this home; None where another process is, and then this one should exit with 0."""
        os.umask(0o077)
        prepare_home(spec.home)
        descriptor = _try_lock(spec.owner_path)
        return None if descriptor is None else cls(spec, descriptor)

    def announce(self, address: Address, version: str) -> None:
        """Say that the host answers, and where. From here starters return."""
        self._state = HostState(self._self.pid, self._self.started, dict(address), version)
        write_private(self.spec.state_path, _to_json(self._state))

    def wait_for_stop(self, each_tick: Callable[[], None] | None = None) -> None:
        """Sleep until SIGTERM, SIGINT, `stopping`, or until the home is taken away.

        A state file that somebody removed is written again; `each_tick` runs about twice a second. Main thread only.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.stopping.set())
        while not self.stopping.wait(_WATCH_S):
            if not self._still_owner():
                return
            if self._state is not None and _read_state(self.spec.state_path) != self._state:
                with contextlib.suppress(OSError):
                    write_private(self.spec.state_path, _to_json(self._state))
            if each_tick is not None:
                each_tick()

    def withdraw(self) -> None:
        """Take the state file away, so that nobody new comes. The lock stays until the process ends."""
        if self._state is not None and _read_state(self.spec.state_path) == self._state:
            self.spec.state_path.unlink(missing_ok=True)
        self._state = None

    def _still_owner(self) -> bool:
        # Whoever removed the lock file has made room for a second host: then this one must go.
        try:
            return os.path.samestat(os.fstat(self._descriptor), self.spec.owner_path.stat())
        except OSError:
            return False


def _start(spec: HostSpec, deadline: float) -> HostState:
    while True:
        process = _spawn(spec)
        while (state := find(spec)) is None:
            code = process.poll()
            if code:
                raise _unavailable(spec, f"stopped while it started (exit {code})")
            if time.monotonic() > deadline:
                raise _unavailable(spec, "does not answer in time")
            time.sleep(_POLL_S)
            if code == 0 and _owner(spec) is None:
                time.sleep(10 * _POLL_S)
                break  # It gave way to a host that was just ending.
        else:
            return state


def _spawn(spec: HostSpec) -> subprocess.Popen[bytes]:
    with contextlib.suppress(FileNotFoundError):
        if spec.log_path.stat().st_size > _LOG_BYTES:
            spec.log_path.replace(spec.log_path.with_suffix(".log.1"))
    log = os.open(spec.log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        # -P: the home, which is the working directory, is no place to import from.
        process = subprocess.Popen(
            [sys.executable, "-u", "-P", "-m", *spec.module_argv],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=spec.home,
            env={**os.environ, **dict(spec.environment)},
            start_new_session=True,
            close_fds=True,
        )
    finally:
        os.close(log)
    # Waits for the process, so that one that ends before its starter leaves no zombie.
    threading.Thread(target=process.wait, name=f"{spec.name}-host-reaper", daemon=True).start()
    return process


@contextlib.contextmanager
def _turn(spec: HostSpec, deadline: float) -> Iterator[None]:
    descriptor = _try_lock(spec.lock_path)
    while descriptor is None:
        if time.monotonic() > deadline:
            raise _unavailable(spec, "is being started by another process that does not finish")
        time.sleep(_POLL_S)
        descriptor = _try_lock(spec.lock_path)
    try:
        yield
    finally:
        os.close(descriptor)


def _try_lock(path: Path) -> int | None:
    """A descriptor that holds the lock of a file, or None where another one does."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        # A lock on a file that was replaced meanwhile excludes nobody.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        os.close(descriptor)


def _owner(spec: HostSpec) -> HostState | None:
    """The process that holds the owner lock, ready or not; it wrote itself into the file that it locked."""
    owner = _read_state(spec.owner_path)
    return owner if owner is not None and process_start(owner.pid) == owner.started else None


def _wait(condition: Callable[[], bool], deadline: float) -> bool:
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _to_json(state: HostState) -> bytes:
    fields = {"pid": state.pid, "started": state.started, "address": dict(state.address), "version": state.version}
    return json.dumps(fields).encode()


def _read_state(path: Path) -> HostState | None:
    try:
        fields = json.loads(path.read_bytes())
        return HostState(int(fields["pid"]), int(fields["started"]), dict(fields["address"]), str(fields["version"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _last_line(path: Path) -> str:
    from pegas_assets.settings import without_secrets  # Brings in pydantic, which no host needs to start.

    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4096))
            lines = file.read().decode(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return without_secrets(lines[-1].strip())[:300] if lines else ""


def _unavailable(spec: HostSpec, what: str) -> EngineUnavailable:
    last = _last_line(spec.log_path)
    told = f"; its log ends with: {last}" if last else ""
    return EngineUnavailable(
        f"The host process of {spec.name} {what}{told}.",
        hint=f"See {spec.log_path}; `pegas down` followed by another try starts it afresh.",
        component=spec.component or spec.name,
    )
