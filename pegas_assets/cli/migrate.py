"""`pegas migrate`: bring the database to the version that this code needs."""

from __future__ import annotations

from typing import Annotated

import typer

from pegas_assets.cli.opened import opened
from pegas_assets.cli.output import print_json, say


def migrate(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Apply the migrations of sql/ that the database lacks, in order, each once."""
    from pegas_assets.stores.migrations import migrate as apply

    with opened(schema=False) as runtime:
        applied = apply(runtime.database)
        database = runtime.database.version()
    if json:
        names = [f"{migration.number:04d}_{migration.name}" for migration in applied]
        print_json({"applied": names, "database": database})
        return
    for migration in applied:
        say(f"applied {migration.number:04d}_{migration.name}")
    say(f"{database}: the schema is up to date.")
