"""`pegas forget`: take a document back, with all that was derived from it alone."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from pegas_assets.cli.opened import opened
from pegas_assets.cli.output import number, print_json, say
from pegas_assets.errors import InvalidInput


def forget(
    document: Annotated[str, typer.Argument(metavar="ID|URI", help="The document's number, or an address of it.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Forget a document: what came from it alone goes from every table and projection; what others support stays."""
    from pegas_assets.forget import forget as take_back

    if not yes:
        if json or not sys.stdin.isatty():
            raise InvalidInput("Forgetting cannot be undone.", hint="Say --yes to go on.", item=document)
        typer.confirm(f"Forget document {document}? This cannot be undone.", abort=True, err=True)
    by_number = document.isdecimal() and document.isascii() and len(document) < 19
    with opened() as runtime:
        gone = take_back(
            runtime.database,
            runtime.targets,
            document_id=int(document) if by_number else None,
            uri=None if by_number else document,
        )
    if json:
        print_json(gone)
        return
    say(
        f"Document {gone.document_id} is forgotten: {number(gone.atoms_removed)} atoms, "
        f"{number(gone.citations_removed)} citations and {number(gone.embeddings_removed)} embeddings are gone; "
        f"{number(gone.atoms_kept)} atoms stay, since other documents support them."
    )
    for drained in gone.drained:
        if drained.unavailable:
            say(f"{drained.target} will follow when it is back: {drained.unavailable}", style="yellow")
