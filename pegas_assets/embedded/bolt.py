"""The embedded Bolt server seen from outside: started where it is missing, found, stopped; a database for each base."""

from __future__ import annotations

import base64
import contextlib
import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from pegas_assets.embedded.process import HostSpec, HostState, ensure_running, find, stop
from pegas_assets.errors import EngineUnavailable
from pegas_assets.settings import Settings

USER = "root"
COMPONENT = "graph"


@dataclass(frozen=True)
class BoltAddress:
    """Where a base's graph is served, and as whom to speak to it."""

    url: str
    user: str
    password: str = field(repr=False)
    database: str | None = None


def host_spec(home: Path) -> HostSpec:
    return HostSpec(COMPONENT, ("pegas_assets.embedded.bolt_host", "--home", str(home)), home, component=COMPONENT)


def graph_folder(home: Path) -> Path:
    """The server's own folder: its password, configuration and databases."""
    return home / "graph"


def password_file(home: Path) -> Path:
    return graph_folder(home) / "password"


def ensure_bolt(settings: Settings, timeout_s: float = 15.0) -> BoltAddress:
    """The address of this base's graph; the server is started and the database made where they are missing.

    Raises:
        EngineUnavailable: the server does not come up; its log is `<home>/log/graph.log`.
    """
    state = ensure_running(host_spec(settings.home), timeout_s)
    address = _address(settings, state)
    if not _has_database(settings):
        _make_database(settings, state, address)
    return address


def find_bolt(settings: Settings) -> HostState | None:
    """The server of this home that answers now, or None. Reads two small files."""
    return find(host_spec(settings.home))


def stop_bolt(settings: Settings, timeout_s: float = 20.0) -> bool:
    """Stop the server after it has written everything down. False: there was none."""
    return stop(host_spec(settings.home), timeout_s)


def _address(settings: Settings, state: HostState) -> BoltAddress:
    try:
        password = password_file(settings.home).read_text().strip()
    except OSError as error:
        raise EngineUnavailable(
            f"The password of the embedded graph cannot be read: {error}.",
            hint="`pegas down` followed by another try makes a new one.",
            component=COMPONENT,
        ) from error
    return BoltAddress(f"bolt://127.0.0.1:{state.address['bolt_port']}", USER, password, settings.graph_name)


def _has_database(settings: Settings) -> bool:
    return (graph_folder(settings.home) / "databases" / settings.graph_name / "schema.json").exists()


def _make_database(settings: Settings, state: HostState, address: BoltAddress) -> None:
    """Ask the server over its own HTTP interface, since Bolt cannot make a database."""
    token = base64.b64encode(f"{address.user}:{address.password}".encode()).decode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{state.address['http_port']}/api/v1/server",
        data=json.dumps({"command": f"create database {settings.graph_name}"}).encode(),
        headers={"Authorization": f"Basic {token}", "Content-Type": "application/json"},
    )
    # A proxy of the environment is never for our own services.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    told = ""
    try:
        with direct.open(request, timeout=10) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        # Another process may have made it at the same moment: then all is well.
        with contextlib.suppress(OSError):
            told = error.read(300).decode(errors="replace")
    except OSError as error:
        told = str(error)
    if not _has_database(settings):
        raise EngineUnavailable(
            f"The graph {settings.graph_name} cannot be made: {told or 'the server did not write it'}.",
            hint=f"See {settings.home / 'log' / 'graph'}.",
            component=COMPONENT,
        )
