"""`pegas ingest`: take in files, folders, pages and texts, through Dagster, and say what became of each."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from pegas_assets.cli.opened import opened
from pegas_assets.cli.output import Advance, number, print_json, progress, say, shown, table
from pegas_assets.errors import InvalidInput, PegasError

if TYPE_CHECKING:
    from pegas_assets.pipeline.accept import Acceptance
    from pegas_assets.runtime import Runtime
    from pegas_assets.stores.operations import ItemState, OperationState

WELL = ("done", "duplicate", "unchanged")
SHOWN_ITEMS = 40
CLIENT = "cli"

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass
class Ingested:
    """What a command asked for and what became of it. `items` are the first of each operation, troubled ones first."""

    operations: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    items: list[ItemState] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def well(self) -> bool:
        """Nothing was refused, nothing failed, all is made."""
        return self.well_so_far and not self.waiting

    @property
    def well_so_far(self) -> bool:
        """The same where nobody waits for what is still to be made."""
        told_off = sum(count for status, count in self.counts.items() if status not in WELL) - self.waiting
        return not self.problems and not told_off

    @property
    def waiting(self) -> int:
        """Documents kept and still to be made."""
        from pegas_assets.stores.documents import OPEN

        return sum(self.counts.get(status, 0) for status in OPEN)


def ingest(
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH|URL|-...", help="Files, folders, globs, pages, sitemaps, - for stdin."),
    ] = None,
    urls: Annotated[
        str | None,
        typer.Option("--urls", metavar="FILE", help="Pages by a file with one address a line, or - for stdin."),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the atoms, or leave it to the sensor.")
    ] = True,
    refresh: Annotated[bool, typer.Option("--refresh", help="Fetch pages again that are known.")] = False,
    sitemap: Annotated[
        bool, typer.Option("--sitemap", help="The addresses are of sitemaps or feeds, whatever their names.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Most pages taken from one sitemap, newest first.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Read and distil again what is done already.")] = False,
    title: Annotated[str, typer.Option("--title", help="The title of a text from stdin.")] = "",
    client: Annotated[str, typer.Option("--client", help="In whose name.")] = CLIENT,
    password: Annotated[
        str, typer.Option("--password", envvar="PEGAS_PASSWORD", help="Of locked PDFs; it is not kept.")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Take documents in: accept and keep their bytes, then make chunks and atoms through Dagster, with progress.

    Exit code 1 where something was refused or failed.
    """
    with opened() as runtime, progress(quiet=json) as advance:
        listed = addresses_of(urls, runtime.settings.max_document_bytes) if urls is not None else []
        if not what and not listed:
            raise InvalidInput(
                "Nothing was given.", hint="Give a path, an address or --urls FILE; see `pegas ingest --help`."
            )
        pages = Pages(listed=listed, refresh=refresh, sitemap=sitemap, limit=limit)
        accepted = accept(
            runtime, what or [], pages=pages, title=title, client=client, password=password, advance=advance
        )
        result = make_atoms(runtime, accepted, force=force, advance=advance) if wait else report(runtime, accepted)
    finish(result, wait=wait, json=json)


def finish(result: Ingested, *, wait: bool, json: bool) -> None:
    """Print what became of a request, and leave with exit code 1 where something was refused or failed."""
    if json:
        print_json(
            {
                "operations": result.operations,
                "runs": result.runs,
                "counts": dict(result.counts),
                "items": result.items,
                "notes": result.notes,
                "problems": result.problems,
            }
        )
    else:
        print_ingested(result)
    if not (result.well if wait else result.well_so_far):
        raise typer.Exit(1)


@dataclass(frozen=True)
class Pages:
    """How pages are asked for. `listed` are addresses beside those that were named."""

    listed: Sequence[str] = ()
    refresh: bool = False
    sitemap: bool = False
    limit: int | None = None


@dataclass
class Accepted:
    """The acceptances of one command, and what could not be accepted at all."""

    acceptances: list[Acceptance] = field(default_factory=list)
    problems: list[tuple[str, PegasError]] = field(default_factory=list)


def accept(
    runtime: Runtime,
    what: Sequence[str],
    *,
    title: str,
    client: str,
    advance: Advance,
    password: str = "",
    pages: Pages | None = None,
) -> Accepted:
    """Accept each thing named. One that cannot be had does not hold up the rest; a single one is an error.

    Raises:
        PegasError: the only thing named cannot be accepted.
    """
    from pegas_assets.pipeline.accept import accept_files, accept_text, accept_urls
    from pegas_assets.pipeline.sitemaps import accept_sitemap
    from pegas_assets.sources.sitemap import named_like_sitemap

    database, settings = runtime.database, runtime.settings
    result = Accepted()
    pages = pages or Pages()

    def attempt(item: str, work: Callable[[], Acceptance]) -> None:
        try:
            result.acceptances.append(work())
        except PegasError as error:
            if error.retryable or len(what) + len(pages.listed) == 1:
                raise
            result.problems.append((item, error))

    urls = [*(item for item in what if _URL.match(item)), *pages.listed]
    for path in [item for item in what if not _URL.match(item)]:
        if path == "-":
            text = _stdin(settings.max_document_bytes)
            attempt("-", lambda text=text: accept_text(database, settings, text, title=title, client=client))  # type: ignore[misc]
        else:
            attempt(
                path,
                lambda path=path: accept_files(  # type: ignore[misc]
                    database,
                    settings,
                    path,
                    client=client,
                    password=password,
                    progress=lambda done, total: advance(f"accepting {path}", done, total),
                ),
            )
    for url in [url for url in urls if pages.sitemap or named_like_sitemap(url)]:
        urls.remove(url)
        attempt(
            url,
            lambda url=url: accept_sitemap(  # type: ignore[misc]
                database,
                settings,
                url,
                client=client,
                limit=pages.limit,
                refresh=pages.refresh,
                or_page=not pages.sitemap,
                progress=lambda done, total: advance(f"accepting pages of {url}", done, total),
            ),
        )
    if urls:
        attempt(
            urls[0],
            lambda: accept_urls(
                database,
                settings,
                urls,
                client=client,
                refresh=pages.refresh,
                progress=lambda done, total: advance("accepting pages", done, total),
            ),
        )
    return result


def addresses_of(file: str, max_bytes: int) -> list[str]:
    """The addresses in a file or on stdin, one a line, each once; blank lines and those after # are left out.

    Raises:
        InvalidInput: it cannot be read, or holds none.
    """
    from pathlib import Path

    from pegas_assets.sources.files import read_file
    from pegas_assets.text.decoding import decode

    if file == "-":
        text = _stdin(max_bytes)
    else:
        text = decode(read_file(Path(file).expanduser().resolve(), max_bytes=max_bytes)).text
    lines = (line.strip() for line in text.lstrip("\ufeff").splitlines())
    found = list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))
    if not found:
        raise InvalidInput(f"There is no address in {file}.", hint="One address a line.", item=file)
    return found


def make_atoms(runtime: Runtime, accepted: Accepted, *, force: bool, advance: Advance) -> Ingested:
    """Run the ingest job for each source that has work, in this process, then show what changed in both projections."""
    from pegas_assets.cli.runs import ingest_through_dagster

    ran = ingest_through_dagster(runtime, _by_source(runtime, accepted, force), force=force, advance=advance)
    result = report(runtime, accepted)
    result.runs, result.problems = ran.runs, ran.problems
    return result


def report(runtime: Runtime, accepted: Accepted) -> Ingested:
    """How everything that was asked for stands now."""
    from pegas_assets.stores.operations import ItemState, operation_state

    result = Ingested()
    for item, error in accepted.problems:
        result.items.append(ItemState(item, None, "refused", str(error)))
        result.counts["refused"] += 1
    for acceptance in accepted.acceptances:
        result.operations.append(acceptance.operation_id)
        result.notes += acceptance.notes
        with runtime.database.connection() as connection:
            state: OperationState = operation_state(connection, acceptance.operation_id, limit=1000)
        result.counts.update(state.counts)
        result.items += state.items
    return result


def print_ingested(result: Ingested) -> None:
    """A row for each thing that was taken in, the reason of each that was not, and the counts."""
    if result.items:
        rows = [
            (shown(_short(item.item), 70), str(item.document_id or ""), item.status, shown(item.reason, 200))
            for item in result.items[:SHOWN_ITEMS]
        ]
        table("", ("what", "document", "outcome", "reason"), rows, right=("document",))
    total = sum(result.counts.values())
    if total > SHOWN_ITEMS:
        say(f"… and {number(total - SHOWN_ITEMS)} more.")
    say(", ".join(f"{number(count)} {status}" for status, count in sorted(result.counts.items())) + ".")
    for note in result.notes:
        say(shown(note))
    for problem in result.problems:
        say(shown(problem), style="yellow")
    if result.waiting:
        say(f"{number(result.waiting)} kept and still to be made: a run of Dagster takes them up (`pegas up`).")
    if result.runs:
        say(f"Runs in Dagster: {', '.join(result.runs)}")


def _by_source(runtime: Runtime, accepted: Accepted, force: bool) -> dict[str, Sequence[int]]:
    """Source → documents with work to do; with `force`, all that were named."""
    from pegas_assets.stores.document_work import waiting_by_source

    named = [
        item.document_id
        for acceptance in accepted.acceptances
        for item in acceptance.items
        if item.document_id is not None
    ]
    with runtime.database.connection() as connection:
        return {waiting.source: waiting.document_ids for waiting in waiting_by_source(connection, named, force=force)}


def _stdin(max_bytes: int) -> str:
    """What is on stdin, decoded by its marks.

    Raises:
        InvalidInput: nothing is piped in, or more than a document may have.
    """
    if sys.stdin.isatty():
        raise InvalidInput("Nothing is piped into stdin.", hint="Try: pegas ingest - < notes.txt", item="-")
    content = sys.stdin.buffer.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise InvalidInput(
            f"The text from stdin has more than {max_bytes:,} bytes.",
            hint="Split it, or raise PEGAS_MAX_DOCUMENT_BYTES.",
            item="-",
        )
    from pegas_assets.text.decoding import decode, looks_binary

    if looks_binary(content):
        raise InvalidInput("What came from stdin is no text.", hint="Give a binary file by its path.", item="-")
    return decode(content).text


def _short(item: str) -> str:
    """A file's address as a path, relative to here where it is below."""
    if not item.startswith("file://"):
        return item
    from pathlib import Path
    from urllib.parse import unquote, urlsplit

    path = Path(unquote(urlsplit(item).path))
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
