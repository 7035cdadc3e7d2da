"""Everything that runs for a base: engines and Dagster, brought up, told about, taken down."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from dataclasses import dataclass

from pegas_assets.defs.dagster_home import dagster_environment, prepare_dagster_home, prepare_storage, storage_url
from pegas_assets.defs.stack_host import LOOPBACK, answers, part_state, stack_spec
from pegas_assets.embedded.bolt import host_spec as graph_host
from pegas_assets.embedded.postgres import find_postgres, stop_postgres
from pegas_assets.embedded.process import HostSpec, ensure_running, find, stop
from pegas_assets.embedded.vector_host import vector_host
from pegas_assets.errors import PegasError
from pegas_assets.runtime import Runtime
from pegas_assets.settings import Settings, public_address

Progress = Callable[[str], None]
"""Called with a line that says what is being done."""

UP_S = 180.0
DOWN_S = 30.0
HEARTBEAT_S = 60.0
DAGSTER_PARTS = ("code-server", "webserver", "daemon")


@dataclass(frozen=True)
class PartStatus:
    """One part: `running`, `stopped`, or `unhealthy` where its process lives and does not do its work."""

    name: str
    state: str
    detail: str = ""
    pid: int | None = None


@dataclass(frozen=True)
class StackStatus:
    """All parts, engines first."""

    parts: tuple[PartStatus, ...]
    url: str
    """Where the Dagster UI is, or would be."""

    @property
    def running(self) -> bool:
        return all(part.state == "running" for part in self.parts)

    def part(self, name: str) -> PartStatus:
        return next(part for part in self.parts if part.name == name)


def up(settings: Settings, progress: Progress | None = None) -> StackStatus:
    """Start what does not run yet, engines before Dagster; returns when the UI answers. Repeatable.

    Raises:
        PegasError: `port_taken`, where another program listens on the port of the UI.
        EngineUnavailable: a part does not come up; the message says which and where its log is.
    """
    tell = progress or (lambda line: None)
    with Runtime(settings, application="pegas-up") as runtime:
        runtime.start(tell)
    if find(stack_spec(settings)) is None:
        require_free_port(settings)
        tell("Dagster: code server, webserver, daemon")
        prepare_dagster_home(settings)
        prepare_storage(settings)
        ensure_running(stack_spec(settings, tuple(dagster_environment(settings).items())), timeout_s=UP_S)
    return status(settings)


def down(settings: Settings, progress: Progress | None = None) -> list[str]:
    """Stop Dagster, of every base of the home, and then the embedded engines; returns what was stopped.

    Engines last: a run that is still working would start them again.
    """
    tell = progress or (lambda line: None)
    stopped = []
    hosts = [
        *(HostSpec(owner.stem, (), settings.home) for owner in sorted((settings.home / "run").glob("dagster*.owner"))),
        graph_host(settings.home),
        vector_host(settings.home),
    ]
    for host in hosts:
        tell(host.name)
        if stop(host, timeout_s=DOWN_S):
            stopped.append(host.name)
    tell("postgres")
    if stop_postgres(settings):
        stopped.append("postgres")
    return stopped


def status(settings: Settings) -> StackStatus:
    """How each part stands now. Starts nothing."""
    state = find(stack_spec(settings))
    port = int(state.address.get("port", settings.http_port)) if state is not None else settings.http_port
    parts = [_postgres(settings), _vectors(settings), _graph(settings)]
    for name in DAGSTER_PARTS:
        pid = part_state(state, name) if state is not None else None
        parts.append(_dagster_part(settings, name, pid, port))
    return StackStatus(tuple(parts), f"http://{LOOPBACK}:{port}")


def require_free_port(settings: Settings) -> None:
    """Raises:
    PegasError: `port_taken`.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a port that only waits for its last connections to fade is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, settings.http_port))
        except OSError as error:
            raise PegasError(
                f"Port {settings.http_port} on {LOOPBACK} is taken by another program ({error.strerror}).",
                hint="Stop that program, or set PEGAS_HTTP_PORT to a free port.",
                code="port_taken",
                component="dagster",
            ) from None


def _postgres(settings: Settings) -> PartStatus:
    if settings.database_url is not None:
        return PartStatus("postgres", "running", f"service {public_address(settings.database_url.get_secret_value())}")
    found = find_postgres(settings)
    if found is None:
        return PartStatus("postgres", "stopped")
    return PartStatus("postgres", "running", f"PostgreSQL {found.version} (embedded)", found.pid)


def _vectors(settings: Settings) -> PartStatus:
    if settings.qdrant_url is not None:
        return PartStatus("vectors", "running", f"service {public_address(settings.qdrant_url)}")
    return _host("vectors", vector_host(settings.home))


def _graph(settings: Settings) -> PartStatus:
    if settings.bolt_url is not None:
        return PartStatus("graph", "running", f"service {public_address(settings.bolt_url)}")
    return _host("graph", graph_host(settings.home))


def _host(name: str, spec: HostSpec) -> PartStatus:
    state = find(spec)
    return PartStatus(name, "stopped") if state is None else PartStatus(name, "running", state.version, state.pid)


def _dagster_part(settings: Settings, name: str, pid: int | None, port: int) -> PartStatus:
    if pid is None:
        return PartStatus(name, "stopped")
    if name == "webserver":
        return PartStatus(name, "running" if answers(port) else "unhealthy", f"http://{LOOPBACK}:{port}", pid)
    if name == "daemon":
        return _daemon(settings, pid)
    return PartStatus(name, "running", "", pid)


def _daemon(settings: Settings, pid: int) -> PartStatus:
    """By its heartbeats: a process that lives and ticks nothing is of no use."""
    from pegas_assets.embedded.process import process_start

    age = heartbeat_age(settings)
    if age is None or age > HEARTBEAT_S:
        young = (process_start(pid) is not None) and age is None
        detail = "no heartbeat yet" if young else f"last heartbeat {age:.0f} s ago"
        return PartStatus("daemon", "unhealthy", detail, pid)
    return PartStatus("daemon", "running", f"heartbeat {age:.0f} s ago", pid)


def heartbeat_age(settings: Settings) -> float | None:
    """Seconds since the sensor daemon last said that it lives; None where it never did, or nobody can tell."""
    import psycopg

    if settings.database_url is None and find_postgres(settings) is None:
        return None
    address = storage_url(settings).replace("postgresql+psycopg2://", "postgresql://", 1)
    with contextlib.suppress(psycopg.Error), psycopg.connect(address, connect_timeout=2) as connection:
        # The table's times are UTC, without saying so.
        row = connection.execute(
            "SELECT extract(epoch FROM (now() AT TIME ZONE 'UTC') - max(timestamp)) FROM daemon_heartbeats "
            "WHERE daemon_type = 'SENSOR'"
        ).fetchone()
        return float(row[0]) if row and row[0] is not None else None
    return None
