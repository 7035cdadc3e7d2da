"""Packs the best hits under a token budget: grouped by document, without near-repeats, citations numbered."""

from __future__ import annotations

import math

from pegas_assets.dedup.lexicon import NEGATIONS
from pegas_assets.errors import InvalidInput
from pegas_assets.model import Citation, Degraded, Frozen, Hit
from pegas_assets.search.engines import SearchEngines
from pegas_assets.search.hybrid import search
from pegas_assets.search.request import SearchRequest
from pegas_assets.text.stemming import stems

CHARS_PER_TOKEN = 4
MIN_BUDGET = 50
MAX_BUDGET = 50_000
REPEAT = 0.8
"""Two passages that share this much of the shorter one's stems say the same: the later is left out."""


class NumberedCitation(Frozen):
    """What a `[number]` in a context's text stands for."""

    number: int
    key: str
    citation: Citation


class ContextPassage(Frozen):
    """One passage of a context. `text` came from a document and is data."""

    number: int
    key: str
    score: float
    text: str
    cut: bool = False


class ContextGroup(Frozen):
    """The passages of one document, best first."""

    document_id: int | None
    title: str
    uri: str
    source: str
    passages: tuple[ContextPassage, ...]


class Context(Frozen):
    """What is known about a query, in at most `budget_tokens` tokens (characters ÷ 4, rounded up)."""

    query: str
    text: str
    tokens: int
    budget_tokens: int
    citations: tuple[NumberedCitation, ...]
    groups: tuple[ContextGroup, ...]
    hits_used: int
    hits_left_out: int
    degraded: tuple[Degraded, ...] = ()
    untrusted: bool = True


def tokens_of(text: str) -> int:
    """An estimate that holds for every model alike: characters ÷ 4, rounded up."""
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def get_context(engines: SearchEngines, request: SearchRequest, budget_tokens: int = 2000) -> Context:
    """The best passages about a query, each numbered and cited, never more than the budget.

    Raises:
        InvalidInput: a budget out of range.
        EngineUnavailable: PostgreSQL does not answer.
    """
    if not MIN_BUDGET <= budget_tokens <= MAX_BUDGET:
        raise InvalidInput(
            f"budget_tokens is {budget_tokens}; it must be {MIN_BUDGET} to {MAX_BUDGET:,}.",
            hint="2000 is a good start.",
            item="budget_tokens",
        )
    result = search(engines, request)
    chosen, left_out = _chosen(result.hits, budget_tokens)
    groups: dict[int | str, list[tuple[Hit, str, bool]]] = {}
    for hit, text, cut in chosen:
        groups.setdefault(hit.citations[0].document_id if hit.citations else hit.key, []).append((hit, text, cut))
    rendered: list[str] = []
    shown: list[ContextGroup] = []
    citations: list[NumberedCitation] = []
    number = 0
    for members in groups.values():
        passages = []
        first = members[0][0].citations[0] if members[0][0].citations else None
        rendered.append(_heading(first))
        for hit, text, cut in members:
            number += 1
            passages.append(ContextPassage(number=number, key=hit.key, score=hit.score, text=text, cut=cut))
            if hit.citations:
                citations.append(NumberedCitation(number=number, key=hit.key, citation=hit.citations[0]))
            rendered.append(f"[{number}] {text}")
        shown.append(
            ContextGroup(
                document_id=first.document_id if first else None,
                title=first.document_title if first else "",
                uri=first.uri if first else "",
                source=first.source if first else "",
                passages=tuple(passages),
            )
        )
    text = "\n".join(rendered)
    return Context(
        query=request.query,
        text=text,
        tokens=tokens_of(text),
        budget_tokens=budget_tokens,
        citations=tuple(citations),
        groups=tuple(shown),
        hits_used=len(chosen),
        hits_left_out=left_out,
        degraded=result.degraded,
    )


def _heading(citation: Citation | None) -> str:
    return f"## {(citation.document_title or citation.uri or citation.source) if citation else 'Untitled'}"


def _chosen(hits: tuple[Hit, ...], budget_tokens: int) -> tuple[list[tuple[Hit, str, bool]], int]:
    """The hits that fit, best first, with the text of each; one that is too long gives its best sentence."""
    budget = budget_tokens * CHARS_PER_TOKEN
    used = 0
    chosen: list[tuple[Hit, str, bool]] = []
    seen: list[set[str]] = []
    titled: set[int | str] = set()
    left_out = 0
    for hit in hits:
        held = set(stems(hit.text))
        if any(_repeats(held, other) for other in seen):
            left_out += 1
            continue
        citation = hit.citations[0] if hit.citations else None
        document = citation.document_id if citation else hit.key
        heading = 0 if document in titled else len(_heading(citation)) + 1
        mark = len(f"[{len(hits)}] ") + 1
        room = budget - used - heading - mark
        text, cut = hit.text.strip(), False
        if len(text) > room:
            text, cut = hit.quote, True
        if not text or len(text) > room:
            left_out += 1
            continue
        chosen.append((hit, text, cut))
        seen.append(held)
        titled.add(document)
        used += heading + mark + len(text)
    return chosen, left_out


def _repeats(held: set[str], other: set[str]) -> bool:
    if any(stem in NEGATIONS or any(map(str.isdigit, stem)) for stem in held ^ other):
        # Another number or a negation is another statement, however alike the rest is.
        return False
    shorter = min(len(held), len(other))
    return shorter > 0 and len(held & other) / shorter >= REPEAT and shorter / max(len(held), len(other)) >= 0.5
