"""`pegas search` and `pegas context`: ask the memory, with the evidence for each answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from pegas_assets.cli.opened import opened
from pegas_assets.cli.output import print_json, say, shown

if TYPE_CHECKING:
    from pegas_assets.model import Citation, Hit, SearchResult

Query = Annotated[str, typer.Argument(metavar="QUERY|-", help="What is asked, in any language; - reads it from stdin.")]
K = Annotated[int, typer.Option("--k", "-k", help="How many hits at most, 1 to 100.")]
Types = Annotated[list[str] | None, typer.Option("--type", help="Only atoms of this type; may be repeated.")]
Statuses = Annotated[list[str] | None, typer.Option("--status", help="Only atoms of this status; may be repeated.")]
Sources = Annotated[list[str] | None, typer.Option("--source", help="Only from this source; may be repeated.")]
Documents = Annotated[list[int] | None, typer.Option("--document", help="Only from this document; may be repeated.")]
Languages = Annotated[list[str] | None, typer.Option("--language", help="Only in this language, such as ru.")]
MinConfidence = Annotated[float | None, typer.Option("--min-confidence", help="At least so confident, 0 to 1.")]
Since = Annotated[str | None, typer.Option("--since", help="Known since then: 2026-01-31.")]
Until = Annotated[str | None, typer.Option("--until", help="Known by then.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="As the memory stood then.")]
Stale = Annotated[bool, typer.Option("--include-stale", help="Superseded atoms too.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def search(
    query: Query,
    k: K = 10,
    offset: Annotated[int, typer.Option("--offset", help="Leave out the first hits, 0 to 1000.")] = 0,
    type: Types = None,
    status: Statuses = None,
    source: Sources = None,
    document: Documents = None,
    language: Languages = None,
    min_confidence: MinConfidence = None,
    since: Since = None,
    until: Until = None,
    as_of: AsOf = None,
    include_stale: Stale = False,
    json: Json = False,
) -> None:
    """Search by meaning and by word at once. Each hit shows its score and parts, document, place and sentence."""
    from pegas_assets.search.hybrid import search as find
    from pegas_assets.search.request import SearchRequest

    request = SearchRequest.checked(
        _asked(query),
        k=k,
        offset=offset,
        types=type or (),
        statuses=status or (),
        sources=source or (),
        documents=document or (),
        languages=language or (),
        min_confidence=min_confidence,
        since=since,
        until=until,
        as_of=as_of,
        include_stale=include_stale,
    )
    with opened() as runtime:
        result = find(runtime.search_engines, request)
    if json:
        print_json(result)
    else:
        print_hits(result)


def context(
    query: Query,
    budget: Annotated[int, typer.Option("--budget", help="At most so many tokens (characters ÷ 4).")] = 2000,
    k: K = 20,
    type: Types = None,
    status: Statuses = None,
    source: Sources = None,
    document: Documents = None,
    language: Languages = None,
    min_confidence: MinConfidence = None,
    include_stale: Stale = False,
    json: Json = False,
) -> None:
    """The passages about a query that fit a budget, grouped by document, each numbered and cited."""
    from pegas_assets.search.context import get_context
    from pegas_assets.search.request import SearchRequest

    request = SearchRequest.checked(
        _asked(query),
        k=k,
        types=type or (),
        statuses=status or (),
        sources=source or (),
        documents=document or (),
        languages=language or (),
        min_confidence=min_confidence,
        include_stale=include_stale,
    )
    with opened() as runtime:
        made = get_context(runtime.search_engines, request, budget)
    if json:
        print_json(made)
        return
    for line in made.text.splitlines():
        say(shown(line))
    say()
    for numbered in made.citations:
        say(f"[{numbered.number}] {_place(numbered.citation)}")
    say(f"{made.tokens} of {made.budget_tokens} tokens; {made.hits_used} passages, {made.hits_left_out} left out.")
    for leg in made.degraded:
        say(f"Without {leg.component}: {leg.reason}", style="yellow")


def print_hits(result: SearchResult) -> None:
    """Hits, best first: score and its parts, then the sentence, then where it stands."""
    if not result.hits:
        say("Nothing was found.")
    for place, hit in enumerate(result.hits, start=1):
        _print_hit(place, hit)
    for note in result.notes:
        say(shown(note), style="yellow")
    for leg in result.degraded:
        say(f"Without {leg.component}: {shown(leg.reason)}", style="yellow")
    say(f"{len(result.hits)} {'hit' if len(result.hits) == 1 else 'hits'} in {result.took_ms:.0f} ms.")


def _print_hit(place: int, hit: Hit) -> None:
    parts = " + ".join(f"{leg} {part:.2f}" for leg, part in hit.parts.items() if part)
    kind = hit.type.value if hit.type is not None else hit.kind.value
    state = "not distilled yet" if hit.undistilled else (hit.status.value if hit.status is not None else "")
    say(f"{place}. {hit.score:.2f} = {parts or '0.00'}   {kind}, {state}, {hit.language}   {hit.key}", style="bold")
    say(f"   “{shown(hit.quote, 400)}”")
    for citation in hit.citations[:2]:
        say(f"   {_place(citation)}")
    hidden = hit.citation_count - min(2, len(hit.citations))
    if hidden > 0:
        say(f"   and {hidden} more citations")
    for atom in hit.matched[:3]:
        say(f"   · {atom.type.value}: {shown(atom.claim, 200)}")
    if hit.status_reason:
        say(f"   {hit.status}: {shown(hit.status_reason, 200)}")
    for claim in hit.contested_by[:2]:
        say(f"   contested by: {shown(claim, 200)}", style="yellow")
    say()


def _place(citation: Citation) -> str:
    """Title, locator and address of a citation."""
    title = shown(citation.document_title, 80) or f"document {citation.document_id}"
    parts = [f"{title} (document {citation.document_id})", shown(str(citation.locator), 120), shown(citation.uri, 160)]
    return " — ".join(part for part in parts if part)


def _asked(query: str) -> str:
    if query != "-":
        return query
    return sys.stdin.buffer.read().decode("utf-8", "replace")
