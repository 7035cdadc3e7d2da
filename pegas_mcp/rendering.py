"""Results as a model reads them: short, numbered, with citations; what documents say is quoted line by line.

Every line that came from a document begins with `> `: it cannot pass for the server's own words. Titles and addresses,
which are a document's words too, stand on one line each, after a mark of where they come from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pegas_mcp.results import (
    ContextAnswer,
    Down,
    Evidence,
    FoundHit,
    IngestAnswer,
    NumberedEvidence,
    OperationAnswer,
    OperationItem,
    SearchAnswer,
    StatsAnswer,
    StoreAnswer,
)

if TYPE_CHECKING:
    from pegas_assets.model import Citation, Degraded, Hit, SearchResult
    from pegas_assets.search.context import Context
    from pegas_assets.stats import Stats

HIT_CHARS = 1200
"""Of one hit's text in the structure; the whole is a resource."""
SHOWN_CHARS = 600
"""Of one hit's text in the text block."""
QUOTE_CHARS = 300
QUOTE_SOUGHT = 80
"""Of a quote, where a text is searched for it: the rest may be cut."""
LEAD_CHARS = 100
"""Before a quote, for what it stands in."""
LINE_CHARS = 200
RESULT_CHARS = 32_000
"""Of a result's hits together, 8,000 tokens: further hits wait behind `next_offset`."""
CITATIONS = 3
CHARS_PER_TOKEN = 4


def searched(result: SearchResult, *, offset: int, notes: Sequence[str] = ()) -> tuple[SearchAnswer, str]:
    """The hits of a search that fit together, and their rendering."""
    from pegas_assets.search.request import MAX_OFFSET

    hits: list[FoundHit] = []
    used = 0
    for hit in result.hits:
        shown = _found(hit)
        used += sum(len(part) for part in (shown.text, shown.claim, shown.quote)) + 300
        used += sum(len(cited.quote) + len(cited.title) + len(cited.uri) for cited in shown.citations)
        if hits and used > RESULT_CHARS:
            break
        hits.append(shown)
    left = len(result.hits) - len(hits)
    said = [*notes, *result.notes]
    if left:
        said.append(f"{left} more hits did not fit into {RESULT_CHARS:,} characters.")
    following = offset + len(hits) if hits and (result.more or left) else None
    if following is not None and following > MAX_OFFSET:
        said.append(f"There is more than the first {MAX_OFFSET:,} hits: narrow the query to see it.")
        following = None
    structure = SearchAnswer(
        hits=hits,
        degraded=_down(result.degraded),
        notes=said,
        next_offset=following,
        took_ms=result.took_ms,
    )
    lines = [_count(len(hits), "hit") + (f", from {offset + 1}" if offset else "") + f", {result.took_ms:.0f} ms."]
    if not hits:
        lines = ["Nothing was found."]
    for number, found in enumerate(hits, offset + 1):
        lines += ["", *_hit_lines(number, found)]
    lines += _ending(structure.degraded, said)
    if structure.next_offset is not None:
        lines.append(f"There is more: ask again with offset={structure.next_offset}.")
    return structure, "\n".join(lines)


def gathered(context: Context, budget_tokens: int, noted: Sequence[str] = ()) -> tuple[ContextAnswer, str]:
    """A context: its text once, in the text block, and its numbers. `budget_tokens` bounds the whole text block.

    The block holds more than the context: where it comes out too long, the caller asks for a shorter one.
    """
    citations = [
        NumberedEvidence(number=item.number, key=item.key, **_evidence(item.citation).__dict__)
        for item in context.citations
    ]
    notes = list(noted)
    if context.hits_left_out:
        notes.append(f"{_count(context.hits_left_out, 'passage')} left out: over the budget, or said already.")
    degraded = _down(context.degraded)
    if not context.hits_used:
        lines = ["Nothing was found that fits." if context.hits_left_out else "Nothing was found."]
    else:
        lines = [*_quoted(context.text), "", "Sources:", *_sources(citations)]
    text = "\n".join([*lines, *_ending(degraded, notes)])
    structure = ContextAnswer(
        tokens=math.ceil(len(text) / CHARS_PER_TOKEN),
        budget_tokens=budget_tokens,
        used=context.hits_used,
        left_out=context.hits_left_out,
        citations=citations,
        degraded=degraded,
        notes=notes,
        untrusted=True,
    )
    return structure, text


def _sources(citations: Sequence[NumberedEvidence]) -> list[str]:
    """One line for each document, with the numbers of its passages and where they stand."""
    lines = []
    for document in dict.fromkeys(item.document for item in citations):
        own = [item for item in citations if item.document == document]
        named = ", ".join(part for part in (f'"{own[0].title}"' if own[0].title else "", own[0].uri) if part)
        places = "; ".join(f"[{item.number}] {item.where}".rstrip() for item in own)
        lines.append(f"{document} ({source_kind(own[0].source)}): {named or own[0].source}: {places}")
    return lines


def counted(stats: Stats, *, ingest: str) -> tuple[StatsAnswer, str]:
    """The counts of a base."""
    behind = {name: lag.pending for name, lag in stats.outbox.items() if lag.pending}
    dead = sum(lag.dead for lag in stats.outbox.values())
    oldest = max((lag.oldest_pending_s for lag in stats.outbox.values()), default=0.0)
    notes = [f"{name}: {_line(lag.example_error)}" for name, lag in stats.outbox.items() if lag.example_error]
    structure = StatsAnswer(
        documents=stats.documents,
        sources=stats.sources,
        chunks=stats.chunks,
        chunks_undistilled=stats.chunks_undistilled,
        chunks_failed=stats.chunks_failed,
        atoms=stats.atoms,
        atoms_by_type=stats.atoms_by_type,
        atoms_by_status=stats.atoms_by_status,
        citations=stats.citations,
        links=stats.links,
        gaps_open=stats.gaps_open,
        contradiction_candidates=stats.contradiction_candidates,
        behind=behind,
        oldest_pending_s=oldest,
        dead=dead,
        collections=stats.collections,
        ingest=ingest,
        notes=notes,
    )
    lines = [
        f"Documents: {sum(stats.documents.values())} in {_count(stats.sources, 'source')}{_by(stats.documents)}",
        f"Chunks: {stats.chunks}, not distilled {stats.chunks_undistilled}, failed {stats.chunks_failed}",
        f"Atoms: {stats.atoms}{_by(stats.atoms_by_type)}",
        f"Status: {_pairs(stats.atoms_by_status) or 'none'}",
        f"Citations: {stats.citations}; links: {stats.links}; open gaps: {stats.gaps_open}; "
        f"contradictions to look at: {stats.contradiction_candidates}",
        "Projections: "
        + (f"behind by {_pairs(behind)}, the oldest for {oldest:.0f} s" if behind else "up to date")
        + (f"; {dead} set aside after failures" if dead else ""),
        f"Ingest: {ingest}",
        *(f"Note: {note}" for note in notes),
    ]
    return structure, "\n".join(lines)


def standing(operation: OperationAnswer) -> str:
    """How a request stands."""
    lines = [
        f"Operation {operation.operation_id}, asked at {operation.asked_at}: "
        + ("finished" if operation.finished else "more is being taken in" if operation.taking else "still working")
        + f". {_pairs(operation.counts)}",
        *_item_lines(operation.operation_id, operation.items, operation.items_total),
    ]
    if not operation.finished:
        lines.append("Ask again in a while.")
    return "\n".join(lines)


def stored(answer: StoreAnswer) -> str:
    """What became of an atom."""
    head = f"{answer.status}: {answer.key}"
    if answer.duplicate_of:
        head = f"duplicate of {answer.duplicate_of}: what you gave is kept as further evidence for it"
    lines = [f"{head} ({answer.document})" if answer.document else head]
    if answer.may_contradict:
        lines.append("It may contradict what is known. Compare:")
        lines += [f"> {_line(claim)}" for claim in answer.may_contradict]
    if not answer.projected:
        lines.append("The vector index follows shortly; searching by its words finds it already.")
    return "\n".join(lines + _ending(answer.degraded, ()))


def ingested(answer: IngestAnswer) -> str:
    """What was taken, and how far it is."""
    head = {
        "done": f"Finished: {_pairs(answer.counts)}; {_count(answer.atoms, 'atom')} from it.",
        "working": f"Accepted, and being worked on: {_pairs(answer.counts)}.",
        "accepted": f"Accepted and kept: {_pairs(answer.counts)}. It is worked on later.",
        "nothing_to_do": f"Nothing to do: {_pairs(answer.counts)}.",
    }[answer.state]
    lines = [head, *_item_lines(answer.operation_id, answer.items, answer.items_total)]
    if answer.state in ("working", "accepted"):
        lines.append(f'Ask how it stands: memory_stats with {{"operation_id": "{answer.operation_id}"}}.')
    return "\n".join(lines + _ending(answer.degraded, ()))


def source_kind(source: str) -> str:
    """Where a source's words come from, for whoever reads them: `web, untrusted`."""
    return f"{source.partition(':')[0]}, untrusted"


def down_targets(targets: Iterable[tuple[str, str]]) -> list[Down]:
    """Projections that could not follow, as (name, why)."""
    return [Down(component=name, reason=_line(reason, 400)) for name, reason in targets]


def _found(hit: Hit) -> FoundHit:
    text, cut = _around(hit.text, hit.quote, HIT_CHARS)
    return FoundHit(
        key=hit.key,
        kind=hit.kind,
        score=round(hit.score, 4),
        parts={name: round(value, 4) for name, value in hit.parts.items()},
        type=hit.type or "",
        status=hit.status or "",
        status_reason=hit.status_reason,
        confidence=round(hit.confidence, 3) if hit.confidence is not None else None,
        # The claim of a passage is its own first sentence.
        claim="" if hit.type == "text" or hit.claim in hit.text else _cut(hit.claim, QUOTE_CHARS)[0],
        text=text,
        text_cut=cut,
        quote="" if hit.quote == hit.text else _cut(hit.quote, QUOTE_CHARS)[0],
        citations=[_evidence(citation) for citation in hit.citations[:CITATIONS]],
        also=[_line(f"{atom.key} {atom.type}: {atom.claim}") for atom in hit.matched[:5]],
        contested_by=[_line(claim) for claim in hit.contested_by[:5]],
        undistilled=hit.undistilled,
        projected=hit.projected,
        created_at=hit.created_at.isoformat(timespec="seconds") if hit.created_at else "",
        untrusted=True,
    )


def _evidence(citation: Citation) -> Evidence:
    return Evidence(
        document=f"doc:{citation.document_id}",
        title=_line(citation.document_title),
        uri=_line(citation.uri, 500),
        source=citation.source,
        where=_line(str(citation.locator)),
        quote=_cut(citation.quoted_text, QUOTE_CHARS)[0],
    )


def _hit_lines(number: int, hit: FoundHit) -> list[str]:
    marks: list[str] = [str(hit.type or hit.kind)]
    if hit.status:
        marks.append(f"{hit.status}" + (f" ({_line(hit.status_reason)})" if hit.status_reason else ""))
    if hit.undistilled:
        marks.append("undistilled")
    marks.append(f"score {hit.score:.2f}")
    lines = [f"[{number}] {hit.key} · {' · '.join(marks)}"]
    if hit.claim:
        lines += _quoted(hit.claim)
    excerpt, cut = _excerpt(hit.text, hit.quote)
    lines += _quoted(excerpt)
    if cut or hit.text_cut:
        where = hit.key.partition(":")
        whole = f"pegas://atom/{where[2]}" if where[0] == "atom" else _whole_document(hit.citations)
        lines.append(f"(cut; the whole text is {whole})")
    if hit.also:
        lines.append("Also from there:")
        lines += [f"> {other}" for other in hit.also]
    if hit.contested_by:
        lines.append("Contested by:")
        lines += [f"> {other}" for other in hit.contested_by]
    lines += [f"Source: {_provenance(citation)}" for citation in hit.citations]
    return lines


def _whole_document(citations: Sequence[Evidence]) -> str:
    return f"pegas://document/{citations[0].document.removeprefix('doc:')}" if citations else "in its document"


def _provenance(citation: Evidence) -> str:
    parts = [f'"{citation.title}"' if citation.title else "", citation.uri, citation.where]
    named = ", ".join(part for part in parts if part)
    return f"{citation.document} ({source_kind(citation.source)}): {named or citation.source}"


def _excerpt(text: str, quote: str) -> tuple[str, bool]:
    """A stretch of the text that holds the sentence which answers best."""
    return _around(text, quote, SHOWN_CHARS)


def _around(text: str, quote: str, limit: int) -> tuple[str, bool]:
    """At most `limit` characters of the text that hold the quote, or as much as they can, and whether others are left
    out. Ellipses stand for these."""
    if len(text) <= limit:
        return text, False
    place = max(0, text.find(quote[:QUOTE_SOUGHT].rstrip("…"))) if quote else 0
    room = limit - 2
    lead = max(0, min(LEAD_CHARS, room - len(quote)))
    start = max(0, min(place - lead, len(text) - room))
    end = min(len(text), start + room)
    return ("…" if start else "") + text[start:end].strip() + ("…" if end < len(text) else ""), True


def _item_lines(operation_id: str, items: Sequence[OperationItem], total: int) -> list[str]:
    lines = []
    for item in items:
        said = f"{item.status}" + (f": {item.reason}" if item.reason else "")
        lines.append(f"- {_line(item.item)} → {item.document or 'no document'}, {_line(said, 400)}")
    if total > len(items):
        lines.append(f"… and {total - len(items)} more: read pegas://operation/{operation_id}?offset={len(items)}")
    return lines


def _ending(degraded: Sequence[Down], notes: Iterable[str]) -> list[str]:
    lines = [f"Note: {note}" for note in notes]
    lines += [f"Degraded: {down.component} gave no answer: {down.reason}" for down in degraded]
    return lines


def _down(degraded: Iterable[Degraded]) -> list[Down]:
    return [Down(component=item.component, reason=_line(item.reason, 400)) for item in degraded]


def _quoted(text: str) -> list[str]:
    return [f"> {line}" for line in text.splitlines()]


def _cut(text: str, limit: int) -> tuple[str, bool]:
    return (text, False) if len(text) <= limit else (text[: limit - 1].rstrip() + "…", True)


def _line(text: str, limit: int = LINE_CHARS) -> str:
    return _cut(" ".join(text.split()), limit)[0]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _pairs(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _by(counts: dict[str, int]) -> str:
    return f" ({_pairs(counts)})" if counts else ""
