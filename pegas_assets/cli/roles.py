"""How each role of a base stands now: by whom it is filled, where, and whether it answers. Starts nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pegas_assets.errors import PegasError

if TYPE_CHECKING:
    from pegas_assets.runtime import Runtime
    from pegas_assets.stats import Stats, TargetLag

SERVICE = "service"
EMBEDDED = "embedded"
IN_PROCESS = "in process"


@dataclass(frozen=True)
class Role:
    """One role. `problem` says why it does not answer; a stopped embedded engine is no problem, it starts when needed."""

    name: str
    kind: str
    address: str = ""
    version: str = ""
    reachable: bool = False
    pids: tuple[int, ...] = ()
    pending: int | None = None
    oldest_pending_s: float = 0.0
    dead: int = 0
    problem: str = ""


def look(runtime: Runtime) -> tuple[list[Role], Stats | None]:
    """Truth, vectors, graph, embeddings, distillation and the processes of Dagster, in this order, and the base's counts
    where PostgreSQL answers and has the schema.
    """
    from pegas_assets.stats import stats
    from pegas_assets.stores.migrations import require_schema

    truth = _checked(lambda: _truth(runtime), "truth")
    counts: Stats | None = None
    if truth.reachable:
        try:
            require_schema(runtime.database)
            counts = stats(runtime.database)
        except PegasError as error:
            truth = replace(truth, problem=f"{error.message} {error.hint}")
    lag = counts.outbox if counts is not None else {}
    roles = [
        truth,
        _with_lag(_checked(lambda: _vectors(runtime), "vectors"), lag),
        _with_lag(_checked(lambda: _graph(runtime), "graph"), lag),
        _checked(lambda: _embeddings(runtime), "embeddings"),
        _checked(
            lambda: Role("distillation", IN_PROCESS, version=runtime.distiller.name, reachable=True), "distillation"
        ),
        *_dagster(runtime),
    ]
    return roles, counts


def _dagster(runtime: Runtime) -> list[Role]:
    from pegas_assets.defs.stack import DAGSTER_PARTS, status

    return [
        Role(
            f"dagster {part.name}",
            "process",
            address=part.detail if part.detail.startswith("http") else "",
            version="" if part.detail.startswith("http") else part.detail,
            reachable=part.state == "running",
            pids=(part.pid,) if part.pid is not None else (),
            problem=part.detail or "It runs and does not answer." if part.state == "unhealthy" else "",
        )
        for part in status(runtime.settings).parts
        if part.name in DAGSTER_PARTS
    ]


def _truth(runtime: Runtime) -> Role:
    from pegas_assets.embedded.postgres import find_postgres
    from pegas_assets.settings import public_address

    service = runtime.settings.database_url
    if service is not None:
        address = public_address(service.get_secret_value())
        return _asked(Role("truth", SERVICE, address), runtime.database.version)
    found = find_postgres(runtime.settings)
    if found is None:
        return Role("truth", EMBEDDED)
    role = Role("truth", EMBEDDED, str(found.socket_dir), pids=(found.pid,))
    return _asked(role, runtime.database.version)


def _vectors(runtime: Runtime) -> Role:
    from pegas_assets.embedded.process import find
    from pegas_assets.embedded.vector_host import vector_host
    from pegas_assets.settings import public_address

    service = runtime.settings.qdrant_url
    if service is not None:
        return _asked(Role("vectors", SERVICE, public_address(service)), lambda: runtime.vectors.version())
    found = find(vector_host(runtime.settings.home))
    if found is None:
        return Role("vectors", EMBEDDED)
    address = ", ".join(str(part) for part in found.address.values() if isinstance(part, str) and "/" in part)
    return _asked(Role("vectors", EMBEDDED, address, pids=(found.pid,)), lambda: runtime.vectors.version())


def _graph(runtime: Runtime) -> Role:
    from pegas_assets.embedded.bolt import find_bolt
    from pegas_assets.settings import public_address

    service = runtime.settings.bolt_url
    if service is not None:
        return _asked(Role("graph", SERVICE, public_address(service)), lambda: runtime.graph.version())
    found = find_bolt(runtime.settings)
    if found is None:
        return Role("graph", EMBEDDED)
    address = f"bolt://127.0.0.1:{found.address['bolt_port']}"
    return _asked(Role("graph", EMBEDDED, address, pids=(found.pid,)), lambda: runtime.graph.version())


def _embeddings(runtime: Runtime) -> Role:
    return Role("embeddings", IN_PROCESS, version=str(runtime.embedder.fingerprint), reachable=True)


def _asked(role: Role, version: Callable[[], str]) -> Role:
    """The role with its version, or with the reason why it does not answer."""
    try:
        return replace(role, version=version(), reachable=True)
    except PegasError as error:
        return replace(role, problem=error.message)


def _checked(look: Callable[[], Role], name: str) -> Role:
    """A role that cannot even be named is shown with what is wrong with its settings."""
    try:
        return look()
    except PegasError as error:
        return Role(name, "", problem=error.message)


def _with_lag(role: Role, lag: Mapping[str, TargetLag]) -> Role:
    if role.name not in lag:
        return role
    state = lag[role.name]
    return replace(role, pending=state.pending, oldest_pending_s=state.oldest_pending_s, dead=state.dead)
