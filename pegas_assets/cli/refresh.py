"""`pegas refresh`: ask again for known pages, and read known files again that changed."""

from __future__ import annotations

from typing import Annotated

import typer

from pegas_assets.cli.ingest import CLIENT, Accepted, finish, make_atoms, report
from pegas_assets.cli.opened import opened
from pegas_assets.cli.output import progress
from pegas_assets.errors import InvalidInput


def refresh(
    what: Annotated[
        list[str] | None, typer.Argument(metavar="URL|PATH...", help="Known pages, files, or folders above such.")
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than", metavar="AGE", help="All pages last asked for so long ago: 7d, 12h; and all files."
        ),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All pages and all files that are known.")] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the atoms, or leave it to the sensor.")
    ] = True,
    client: Annotated[str, typer.Option("--client", help="In whose name.")] = CLIENT,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask again for what is known; what did not change costs nothing, what is gone keeps its knowledge.

    With nothing named: the pages whose age passes PEGAS_REFRESH_AFTER, and all known files.
    Exit code 1 where something was refused or failed.
    """
    from pegas_assets.pipeline.refresh import refresh_named, refresh_old
    from pegas_assets.settings import seconds_of

    if sum((bool(what), older_than is not None, all_)) > 1:
        raise InvalidInput("What is named, --older-than and --all exclude each other.", hint="Give one of them.")
    try:
        age = 0.0 if all_ else seconds_of(older_than) if older_than is not None else None
    except ValueError as error:
        raise InvalidInput(
            f"--older-than: {error}.", hint="For example --older-than 7d.", item="--older-than"
        ) from None
    with opened() as runtime, progress(quiet=json) as advance:
        database, settings = runtime.database, runtime.settings

        def taken(done: int, total: int) -> None:
            advance("asking again", done, total)

        if what:
            acceptance = refresh_named(database, settings, what, client=client, progress=taken)
        else:
            older = age if age is not None else settings.refresh_after_s
            acceptance = refresh_old(database, settings, older_than_s=older, client=client, progress=taken)
        accepted = Accepted([acceptance])
        result = make_atoms(runtime, accepted, force=False, advance=advance) if wait else report(runtime, accepted)
        if not what and age is None and settings.refresh_after_s is None:
            result.notes.append(
                "No page was asked for: PEGAS_REFRESH_AFTER is off. --older-than 7d or --all asks for them."
            )
    finish(result, wait=wait, json=json)
