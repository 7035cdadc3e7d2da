"""`pegas demo`: the whole line on a few files, in a home of its own."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pegas_assets.cli.output import number, progress, say
from pegas_assets.errors import NotFound

if TYPE_CHECKING:
    from pegas_assets.runtime import Runtime
    from pegas_assets.settings import Settings

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

QUESTIONS = (
    ("In English", "when is the second pump started by hand"),
    ("In Russian", "когда пчёлы собирают прополис"),
    ("Across languages: an English question, a Russian text", "how far has the glacier retreated since 1957"),
    ("In a PDF, by its page", "how many paddles does the wheel of the tide mill carry"),
    ("In a book, by its page", "сколько мешков в день даёт мельница на Тихой"),
)


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the engines running.")] = False,
) -> None:
    """Take in examples/ through Dagster, ask five questions, check both projections. Your own memory is not touched.

    It has a home of its own, beside yours, and a database of its own in it.
    """
    from pegas_assets.cli.projections import print_drift
    from pegas_assets.cli.stack import start_engines
    from pegas_assets.defs.stack import down, status
    from pegas_assets.projection.reconcile import drift
    from pegas_assets.runtime import Runtime

    if not EXAMPLES.is_dir():
        raise NotFound(f"There is no folder {EXAMPLES}.", hint="Run the demo from a checkout of the project.")
    settings = demo_settings()
    was_running = any(part.state != "stopped" for part in status(settings).parts)
    say(f"The demo's memory is in {settings.home}.")
    try:
        with Runtime(settings, application="pegas-demo") as runtime:
            with progress() as advance:
                start_engines(runtime, advance)
            _title(f"What is taken in: {EXAMPLES.name}/, through Dagster")
            _ingest(runtime)
            for what, question in QUESTIONS:
                _title(f"{what}: {question}")
                _ask(runtime, question)
            _title("Drift of both projections against PostgreSQL")
            found = [state for target in runtime.targets for state in drift(runtime.database, target)]
            print_drift(found)
    finally:
        if not (keep or was_running):
            down(settings)
    _title("Look around")
    home = f"PEGAS_HOME={shlex.quote(str(settings.home))} "
    program = shlex.quote(_program())
    say("Open the Dagster UI on this memory (`down` stops it):")
    say(f"  {home}{program} up")
    say(f"and then http://127.0.0.1:{settings.http_port}/. Ask it something:")
    say(f"  {home}{program} search 'rye bread in winter'")
    if any(state.total for state in found):
        raise typer.Exit(1)


def demo_settings() -> Settings:
    """The settings of this process, in the demo's own home and with its own database: yours may be named by either."""
    from pegas_assets.cli.opened import settings_of_process
    from pegas_assets.settings import load_settings

    yours = settings_of_process().home
    return load_settings(home=yours.with_name(f"{yours.name}-demo"), database_url=None)


def _ingest(runtime: Runtime) -> None:
    from pegas_assets.cli.ingest import accept, make_atoms, print_ingested
    from pegas_assets.stats import stats

    with progress() as advance:
        accepted = accept(runtime, [str(EXAMPLES)], title="", client="demo", advance=advance)
        result = make_atoms(runtime, accepted, force=False, advance=advance)
    print_ingested(result)
    found = stats(runtime.database)
    by_type = ", ".join(f"{number(count)} {name}" for name, count in found.atoms_by_type.items())
    say(
        f"In memory: {number(found.chunks)} chunks, {number(found.atoms)} atoms ({by_type}), {number(found.citations)} citations."
    )
    if not result.well:
        raise typer.Exit(1)


def _ask(runtime: Runtime, question: str) -> None:
    from pegas_assets.cli.search import print_hits
    from pegas_assets.search.hybrid import search
    from pegas_assets.search.request import SearchRequest

    print_hits(search(runtime.search_engines, SearchRequest.checked(question, k=2)))


def _title(text: str) -> None:
    say()
    say(text, style="bold underline")


def _program() -> str:
    program = Path(sys.executable).absolute().parent / "pegas"
    return str(program.relative_to(Path.cwd())) if program.is_relative_to(Path.cwd()) else str(program)
