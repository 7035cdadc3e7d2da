"""The command line `pegas`: a thin face over the functions that Dagster and the MCP server call too."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from pegas_assets.cli import demo, exchange, forget, ingest, mcp, migrate, projections, refresh, search, stack
from pegas_assets.cli.output import print_error
from pegas_assets.errors import InvalidInput, PegasError

INTERRUPTED = 130

app = typer.Typer(
    name="pegas",
    help="Long-term memory for a research agent: cited atoms in PostgreSQL, searched through their projections.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

RUN = "Run it"
READ = "Read and write"
KEEP = "Keep it true"

for panel, commands in {
    RUN: (stack.up, stack.down, stack.status, migrate.migrate, demo.demo, mcp.mcp),
    READ: (ingest.ingest, refresh.refresh, search.search, search.context, forget.forget),
    KEEP: (
        projections.drift,
        projections.reconcile,
        projections.rebuild,
        projections.retry,
        projections.optimize,
        exchange.export,
        exchange.load,
    ),
}.items():
    for command in commands:
        app.command(command.__name__, rich_help_panel=panel)(command)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        sys.stdout.write(f"pegas-memory {version('pegas-memory')}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Nothing is done here: each command reads the settings itself."""


def run() -> None:
    """Entry point of the `pegas` program."""
    # A terminal that cannot show a letter gets a mark for it, not an error.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run one command; the exit code: 0 well, 1 an error told in a sentence, 2 wrong usage, 130 interrupted."""
    as_json = "--json" in arguments
    try:
        result = app(list(arguments), prog_name="pegas", standalone_mode=False)
    except PegasError as error:
        print_error(error, as_json=as_json)
        return 1
    except typer.Abort:
        return _interrupted(as_json)
    except typer.TyperException as error:
        return _usage(error, as_json)
    except Exception as error:  # noqa: BLE001 - whatever else happens is told in a sentence, with the trace on demand
        return _unexpected(error, as_json)
    code = result if isinstance(result, int) else 0
    return _interrupted(as_json) if code == INTERRUPTED else code


def _interrupted(as_json: bool) -> int:
    told = PegasError(
        "Stopped.", hint="What was accepted is kept; the same command goes on with it.", code="interrupted"
    )
    print_error(told, as_json=as_json)
    return INTERRUPTED


def _usage(error: Exception, as_json: bool) -> int:
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stdout.write(str(error))
        return 2
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    path = context.command_path if context is not None else "pegas"
    print_error(InvalidInput(message.rstrip(".") + ".", hint=f"See `{path} --help`."), as_json=as_json)
    return 2


def _unexpected(error: Exception, as_json: bool) -> int:
    import logging
    import traceback

    if logging.getLogger().isEnabledFor(logging.DEBUG):
        traceback.print_exc(file=sys.stderr)
    first = (str(error).strip().splitlines() or [""])[0]
    told = PegasError(
        f"{type(error).__name__}: {first}".rstrip(".: ") + ".",
        hint="This should not happen; PEGAS_LOG_LEVEL=DEBUG shows where it does.",
        code="internal_error",
    )
    print_error(told, as_json=as_json)
    return 1
