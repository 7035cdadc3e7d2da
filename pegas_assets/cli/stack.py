"""`pegas up|down|status`: start, stop and look at all that runs for a base."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from pegas_assets.cli.opened import settings_of_process
from pegas_assets.cli.output import Advance, number, print_json, progress, say, shown, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pegas_assets.cli.roles import Role
    from pegas_assets.runtime import Runtime
    from pegas_assets.settings import Settings

HEARTBEAT_WAIT_S = 20.0

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def up(
    engines_only: Annotated[bool, typer.Option("--engines-only", help="Leave Dagster out.")] = False,
    json: Json = False,
) -> None:
    """Start engines and Dagster (code server, webserver, daemon), and leave them running. Repeatable."""
    from pegas_assets.cli.mcp import json_snippet, print_snippets
    from pegas_assets.defs.stack import status as look
    from pegas_assets.defs.stack import up as start

    settings = settings_of_process()
    with progress(quiet=json) as advance:
        if engines_only:
            start_engines_of(settings, advance)
        else:
            with _steps(advance) as tell:
                start(settings, progress=lambda part: tell(f"starting {part}"))
                tell("waiting for the daemon's first heartbeat")
                _await_running(settings)
    state = look(settings)
    if json:
        url = None if engines_only else state.url
        print_json({"ui": url, "parts": state.parts, "mcp": json_snippet(settings)})
        return
    table(
        "",
        ("part", "state", "", "pid"),
        [(part.name, part.state, part.detail, str(part.pid or "")) for part in state.parts],
    )
    if not engines_only:
        say(f"Dagster UI: {state.url}", style="bold")
    say(f"Base {settings.base} in {settings.home}; `pegas down` stops everything.")
    say()
    print_snippets(settings)


def down(json: Json = False) -> None:
    """Stop Dagster and the embedded engines of this home. Services are left alone, and nothing is lost."""
    from pegas_assets.defs.stack import down as stop

    settings = settings_of_process()
    with progress(quiet=json) as advance, _steps(advance) as tell:
        stopped = stop(settings, progress=lambda part: tell(f"stopping {part}"))
    if json:
        print_json({"stopped": stopped})
    else:
        say(f"Stopped: {', '.join(stopped)}." if stopped else "Nothing was running.")


def status(json: Json = False) -> None:
    """How each role stands: embedded or service, address, version, processes, lag. Starts nothing.

    Exit code 1 where a role should answer and does not.
    """
    from pegas_assets.cli.roles import look
    from pegas_assets.runtime import Runtime

    settings = settings_of_process()
    with Runtime(settings, application="pegas-cli", connections=2) as runtime:
        roles, counted = look(runtime)
    if json:
        print_json({"base": settings.base, "home": settings.home, "roles": roles, "counts": counted})
    else:
        _print_status(roles)
        if counted is not None:
            documents = ", ".join(f"{number(count)} {name}" for name, count in counted.documents.items()) or "none"
            say(f"Documents: {documents}. Chunks: {number(counted.chunks)}. Atoms: {number(counted.atoms)}.")
        say(f"Base {settings.base} in {settings.home}.")
    if any(role.problem for role in roles):
        raise typer.Exit(1)


def start_engines(runtime: Runtime, advance: Advance) -> None:
    """Start PostgreSQL, the vector engine and the graph, and bring the schema up to date."""
    with _steps(advance) as tell:
        runtime.start(lambda part: tell(f"starting {part}"))


def start_engines_of(settings: Settings, advance: Advance) -> None:
    """The same for settings of which nothing is open yet."""
    from pegas_assets.runtime import Runtime

    with Runtime(settings, application="pegas-up", connections=2) as runtime:
        start_engines(runtime, advance)


def _await_running(settings: Settings) -> None:
    """Wait for the daemon to tick, for a while: it is up before it says so."""
    from pegas_assets.defs.stack import status as look

    deadline = time.monotonic() + HEARTBEAT_WAIT_S
    while not look(settings).running and time.monotonic() < deadline:
        time.sleep(0.5)


@contextmanager
def _steps(advance: Advance) -> Iterator[Callable[[str], None]]:
    """Show one step after another: that a step begins says that the one before is done."""
    current: list[str] = []

    def tell(step: str) -> None:
        if current:
            advance(current[-1], 1, 1)
        current.append(step)
        advance(step, 0, 1)

    yield tell
    if current:
        advance(current[-1], 1, 1)


def _print_status(roles: list[Role]) -> None:
    rows = []
    for role in roles:
        state = "PROBLEM" if role.problem else ("answers" if role.reachable else "stopped")
        lag = ""
        if role.pending is not None:
            lag = f"{number(role.pending)} pending"
            if role.pending:
                lag += f", oldest {role.oldest_pending_s:.0f} s"
            if role.dead:
                lag += f", {number(role.dead)} set aside"
        rows.append((role.name, role.kind, state, role.version, role.address, " ".join(map(str, role.pids)), lag))
    table("", ("role", "kind", "state", "version", "address", "pid", "lag"), rows)
    for role in roles:
        if role.problem:
            say(f"{role.name}: {shown(role.problem)}", style="yellow")
