"""`pegas export|load`: the base as files that can be read without it, and back."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pegas_assets.cli.opened import opened
from pegas_assets.cli.output import number, print_json, progress, say, table


class Form(StrEnum):
    """What an export is written as."""

    ALL = "all"
    LINES = "jsonl"
    MARKDOWN = "markdown"


def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")],
    form: Annotated[
        Form, typer.Option("--format", help="JSON Lines, which can be loaded, Markdown, or both.")
    ] = Form.ALL,
    embeddings: Annotated[
        bool, typer.Option("--embeddings", help="The vectors too: a load then calls no model.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write documents, atoms, citations and links as JSON Lines and Markdown, with the documents' bytes as they came."""
    from pegas_assets.exchange.export import export as write

    with opened() as runtime, progress(quiet=json) as advance:
        made = write(
            runtime.database,
            folder,
            base=runtime.settings.base,
            lines=form is not Form.MARKDOWN,
            markdown=form is not Form.LINES,
            embeddings=embeddings,
            progress=lambda name, done: advance(f"exporting {name}", done, None),
        )
    if json:
        print_json(made)
        return
    say(f"{made.folder}: " + ", ".join(f"{number(count)} {name}" for name, count in made.counts.items()) + ".")


def load(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What `pegas export` made.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Take an export back, whole or not at all; what is known already stays as it is. Then show it in both projections."""
    from pegas_assets.exchange.load import load as take
    from pegas_assets.projection.drain import drain

    with opened() as runtime, progress(quiet=json) as advance:
        loaded = take(runtime.database, folder, progress=lambda name, done: advance(f"reading {name}", done, None))
        drained = drain(
            runtime.database,
            runtime.targets,
            max_attempts=runtime.settings.outbox_max_attempts,
            progress=lambda state: advance(f"showing it in {state.target}", state.done, None),
        )
    behind = [
        f"{state.target} will follow when it is back: {state.unavailable}" for state in drained if state.unavailable
    ]
    if json:
        print_json({"added": loaded.added, "known": loaded.known, "behind": behind})
        return
    rows = [(name, count, loaded.known.get(name, "")) for name, count in loaded.added.items()]
    table("", ("what", "new", "known"), rows, right=("new", "known"))
    for line in behind:
        say(line, style="yellow")
