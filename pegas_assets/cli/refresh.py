"""`pegas refresh`: look again at pages and files that are known, and take in what changed."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from pegas_assets.cli.ingest import CLIENT, Accepted, make_atoms, print_ingested, report
from pegas_assets.cli.opened import opened
from pegas_assets.cli.output import number, print_json, progress, say, shown
from pegas_assets.errors import InvalidInput

_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([mhdw])")
_UNITS = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


def refresh(
    what: Annotated[
        list[str] | None, typer.Argument(metavar="URL|PATH|ID...", help="Pages and files that are known.")
    ] = None,
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="AGE", help="All that were not looked at for so long: 12h, 7d, 2w.")
    ] = "",
    everything: Annotated[bool, typer.Option("--all", help="All pages and files, however young.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most so many, the oldest first.")] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the atoms, or leave it to the sensor.")
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Fetch known pages again, and read known files again; what did not change costs nothing.

    Of what changed only the changed parts are distilled anew. What is gone from the web or the disk stays known.
    """
    from pegas_assets.pipeline.refresh import refresh as look_again

    ways = [bool(what), bool(older_than), everything]
    if sum(ways) != 1:
        raise InvalidInput(
            "Say what to look at again.", hint="Give addresses or paths, or --older-than 7d, or --all.", item="what"
        )
    with opened() as runtime, progress(quiet=json) as advance:
        looked = look_again(
            runtime.database,
            runtime.settings,
            named=what or [],
            older_than_s=seconds(older_than) if older_than else 0.0,
            limit=limit,
            client=CLIENT,
            progress=lambda done, total: advance("looking again", done, total),
        )
        accepted = Accepted([looked.acceptance])
        result = make_atoms(runtime, accepted, force=False, advance=advance) if wait else report(runtime, accepted)
    if json:
        print_json(
            {
                "operation": looked.acceptance.operation_id,
                "pages": looked.pages,
                "files_changed": looked.changed,
                "files_unchanged": looked.unchanged,
                "files_gone": looked.gone,
                "runs": result.runs,
                "counts": dict(result.counts),
                "items": result.items,
                "problems": [*looked.problems, *result.problems],
            }
        )
    else:
        if result.counts:
            print_ingested(result)
        say(f"Asked for {number(looked.pages)} pages; of the files {number(looked.changed)} changed.")
        if looked.gone:
            names = ", ".join(looked.gone[:5]) + (" …" if len(looked.gone) > 5 else "")
            say(shown(f"Not on the disk any more, and still known: {names}", 400), style="yellow")
        for problem in looked.problems:
            say(shown(problem), style="yellow")
    if looked.problems or not (result.well if wait else result.well_so_far):
        raise typer.Exit(1)


def seconds(age: str) -> float:
    """Raises:
    InvalidInput: it is no age.
    """
    match = _AGE.fullmatch(age.strip().lower())
    if match is None:
        raise InvalidInput(f"“{age}” is no age.", hint="Write 30m, 12h, 7d or 2w.", item="--older-than")
    return float(match.group(1)) * _UNITS[match.group(2)]
