"""Hybrid search: dense and BM25 in one collection, one hop of graph, what is not projected yet; fused, with its parts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from pegas_assets.model import AtomStatus, AtomType, Citation, Hit, HitKind, MatchedAtom, SearchResult
from pegas_assets.search.engines import SearchEngines
from pegas_assets.search.fusion import Fused, fuse
from pegas_assets.search.legs import Found, Hop, gather, lexical_coverage
from pegas_assets.search.quoting import best_sentence
from pegas_assets.search.request import SearchRequest
from pegas_assets.stores.hits import AtomHitRow, AtomRankRow, ChunkHitRow, atom_rank_rows, atom_rows, contesting_claims
from pegas_assets.stores.postgres import Connection
from pegas_assets.stores.vectors import SPARSE

CANDIDATES = 60
"""How many keys each leg gives at least: more than `k`, since several may be one passage."""
MOST_CANDIDATES = 4000
"""Beyond these, no page is worth its reading."""
UNREAD = f"Of more than {MOST_CANDIDATES:,} candidates the best were read: narrow the query to see others."
HOP_SEEDS = 5
HOP_LIMIT = 20
HOP_SHARE = 0.3
"""A neighbour inherits this share of its hit's score, times the edge's confidence: near what was found, below it."""
FUSION_WEIGHT = 0.55
"""The dense leg's share for a model without a profile."""


def search(engines: SearchEngines, request: SearchRequest) -> SearchResult:
    """Up to `k` hits, best first, each with citations and the parts of its score.

    A chunk is one hit: its typed atoms that matched are shown under it. A leg that is down is named in `degraded`.

    Raises:
        EngineUnavailable: PostgreSQL does not answer.
    """
    started = time.perf_counter()
    wanted = request.offset + request.k
    with engines.database.connection() as connection:
        groups, found = _groups(engines, connection, request, wanted + 1)
        shown = groups[request.offset : wanted]
        rows = _rows(connection, request, [_atom_id(hit) for group in shown for hit in group if _is_atom(hit)])
        contested = [row.id for row in rows.values() if row.status is AtomStatus.CONTESTED]
        against = contesting_claims(connection, contested) if contested else {}
    # An atom that was forgotten between the two readings is no hit.
    shown = [[hit for hit in group if not _is_atom(hit) or _atom_id(hit) in rows] for group in shown]
    hits = tuple(_hit(request, group, rows, found, against) for group in shown if group)
    more = len(groups) > wanted
    notes = request.notes if more or found.exhausted else (*request.notes, UNREAD)
    return SearchResult(
        query=request.query,
        hits=hits,
        degraded=tuple(found.degraded),
        notes=notes,
        took_ms=round((time.perf_counter() - started) * 1000, 2),
        more=more,
    )


def _groups(
    engines: SearchEngines, connection: Connection, request: SearchRequest, wanted: int
) -> tuple[list[list[Fused]], Found]:
    """At least so many groups of hits, as far as there are, best first, and what the legs found.

    Each deeper reading adds its groups behind those of the one before, whose order it would change: so pages have no
    gap and no repeat.
    """
    limit = max(CANDIDATES, 3 * request.k)
    groups: dict[str, list[Fused]] = {}
    chunks: dict[str, ChunkHitRow] = {}
    while True:
        found = gather(engines, connection, request, limit)
        # One that is distilled between two readings stays what the first has shown it as.
        found.chunks = chunks = chunks | found.chunks
        fused = _fused(engines, connection, request, found)
        hop = Hop(engines, [hit.key for hit in fused if _is_atom(hit)][:HOP_SEEDS], HOP_LIMIT)
        ranked = _ranked(connection, request, [hit.key for hit in fused if _is_atom(hit)])
        near = hop.near(found)
        ranked |= _ranked(connection, request, sorted(near.keys() - {hit.key for hit in fused}))
        lowest = min((group[0].score for group in groups.values()), default=1.0)
        for passage, group in _grouped(_with_neighbours(fused, near), ranked, found, request).items():
            groups.setdefault(passage, [_at_most(hit, lowest) for hit in group])
        if len(groups) >= wanted or found.exhausted or limit >= MOST_CANDIDATES:
            return list(groups.values()), found
        limit = min(4 * limit, MOST_CANDIDATES)


def _at_most(hit: Fused, score: float) -> Fused:
    if hit.score <= score:
        return hit
    return Fused(hit.key, score, {leg: part * score / hit.score for leg, part in hit.parts.items()})


def _is_atom(hit: Fused) -> bool:
    return hit.key.startswith("atom:")


def _atom_id(hit: Fused) -> int:
    return int(hit.key.removeprefix("atom:"))


def _ranked(connection: Connection, request: SearchRequest, keys: Sequence[str]) -> dict[int, AtomRankRow]:
    """The atoms among these keys that are what was asked for."""
    if not keys:
        return {}
    ids = [int(key.removeprefix("atom:")) for key in keys]
    rows = atom_rank_rows(connection, ids, request.as_of, sources=request.sources, documents=request.documents)
    return {id_: row for id_, row in rows.items() if _passes(row, request)}


def _rows(connection: Connection, request: SearchRequest, ids: Sequence[int]) -> dict[int, AtomHitRow]:
    if not ids:
        return {}
    return atom_rows(connection, ids, request.as_of, sources=request.sources, documents=request.documents)


def _fused(engines: SearchEngines, connection: Connection, request: SearchRequest, found: Found) -> list[Fused]:
    profile = found.attempt("embedder", engines.profile)
    fused = fuse(
        found.dense,
        found.sparse,
        weight=profile.fusion_weight if profile is not None else FUSION_WEIGHT,
        coverage=lexical_coverage(connection, found, request.query),
        floor=profile.unrelated if profile is not None else None,
    )
    undistilled = [Fused(key, share, {SPARSE: share}) for key, share in found.shares.items()]
    return sorted([*fused, *undistilled], key=_order)


def _with_neighbours(fused: Sequence[Fused], near: dict[str, tuple[str, float]]) -> list[Fused]:
    """Add what hangs on the best hits, and lift hits that hang on better ones."""
    scores = {hit.key: hit for hit in fused}
    for key, (seed, confidence) in near.items():
        share = HOP_SHARE * confidence * scores[seed].score
        known = scores.get(key)
        if known is None:
            scores[key] = Fused(key, share, {"graph": share})
        elif known.score < 1.0:
            gain = min(share * (1.0 - known.score), 1.0 - known.score)
            scores[key] = Fused(key, known.score + gain, {**known.parts, "graph": gain})
    return sorted(scores.values(), key=_order)


def _order(hit: Fused) -> tuple[float, bool, str]:
    # The best cosine counts 1 however low it is: a text that holds every word of the query comes before it.
    return -hit.score, _is_atom(hit), hit.key


def _passes(row: AtomRankRow, request: SearchRequest) -> bool:
    """Whether a row, as PostgreSQL has it now, is what was asked for: a projection may lag.

    What no document supports any more is shown only where it says so itself.
    """
    return (
        row.status in request.statuses
        and (row.supported or row.status in (AtomStatus.STALE, AtomStatus.REJECTED))
        and (not request.types or row.type in request.types)
        and (not request.languages or row.language in request.languages)
        and (request.min_confidence is None or row.confidence >= request.min_confidence)
        and (request.since is None or row.created_at >= request.since)
        and (request.until is None or row.created_at <= request.until)
        and row.within
    )


def _grouped(
    fused: Sequence[Fused], rows: dict[int, AtomRankRow], found: Found, request: SearchRequest
) -> dict[str, list[Fused]]:
    """Hits by passage, in order of their best: the atoms of one chunk are one group, as is a chunk without atoms."""
    groups: dict[str, list[Fused]] = {}
    rank = {hit.key: number for number, hit in enumerate(fused)}
    for hit in fused:
        if hit.key in found.chunks:
            groups[hit.key] = [hit]
            continue
        row = rows.get(_atom_id(hit)) if _is_atom(hit) else None
        if row is None:
            continue
        if request.types:
            groups[hit.key] = [hit]
            continue
        # An atom that several passages state is shown under the best of them; the others stay hits of their own.
        passages = (row.id,) if row.type is AtomType.TEXT else row.text_atom_ids or (row.id,)
        passage = min(passages, key=lambda id_: (id_ not in rows, rank.get(f"atom:{id_}", len(rank)), id_))
        groups.setdefault(f"atom:{passage}", []).append(hit)
    return groups


def _hit(
    request: SearchRequest,
    group: Sequence[Fused],
    rows: dict[int, AtomHitRow],
    found: Found,
    against: dict[int, list[str]],
) -> Hit:
    chunk = found.chunks.get(group[0].key)
    if chunk is not None:
        return _chunk_hit(request.query, group[0], chunk)
    atoms = [(fused, rows[_atom_id(fused)]) for fused in group]
    # The passage stands for its group; without it, the atom that matched best does.
    main = next((pair for pair in atoms if pair[1].type is AtomType.TEXT), atoms[0])
    row = main[1]
    quote = _quote(request.query, row, [other for _, other in atoms if other.id != row.id])
    best = atoms[0][0]
    return Hit(
        key=f"atom:{row.id}",
        kind=HitKind.ATOM,
        score=round(best.score, 4),
        parts={leg: round(part, 4) for leg, part in best.parts.items()},
        type=row.type,
        claim=row.claim,
        text=row.content,
        quote=quote,
        language=row.language,
        status=row.status,
        status_reason=row.status_reason,
        confidence=row.confidence,
        citations=_shown_citations(request.query, row, quote),
        citation_count=row.citation_count,
        matched=tuple(
            MatchedAtom(
                key=fused.key,
                type=other.type,
                claim=other.claim,
                status=other.status,
                score=round(fused.score, 4),
                quote=other.citations[0].quoted_text if other.citations else "",
            )
            for fused, other in atoms
            if other.id != row.id
        ),
        contested_by=tuple(against.get(row.id, ())),
        projected=row.projected,
        created_at=row.created_at.astimezone(UTC),
    )


def _quote(query: str, row: AtomHitRow, others: Sequence[AtomHitRow]) -> str:
    """The sentence to show. Where no word of the query is in the passage, as across languages, what its best atom quotes."""
    if row.type is not AtomType.TEXT:
        return row.citations[0].quoted_text if row.citations else row.content
    quote, shares_words = best_sentence(query, row.content, row.language)
    if not shares_words:
        # An atom that several documents state may quote another one first.
        quotations = (citation.quoted_text for other in others for citation in other.citations)
        quote = next((quotation for quotation in quotations if quotation in row.content), quote)
    return quote


def _shown_citations(query: str, row: AtomHitRow, quote: str) -> tuple[Citation, ...]:
    """A passage is cited by a sentence; the row cites the whole of it, which the hit has as its text."""
    if row.type is not AtomType.TEXT:
        return row.citations
    return tuple(_quoting(query, citation, quote, citation.quoted_text, row.language) for citation in row.citations)


def _quoting(query: str, citation: Citation, quote: str, passage: str, language: str) -> Citation:
    """The citation of a passage, narrowed to `quote`; to its own best sentence where it says the same in other words."""
    if quote not in passage:
        quote, _ = best_sentence(query, passage, language)
    locator, at = citation.locator, passage.find(quote)
    if at >= 0 and locator.start is not None and locator.end == locator.start + len(passage):
        locator = locator.within(locator.start + at, locator.start + at + len(quote))
    return citation.model_copy(update={"quoted_text": quote, "locator": locator})


def _chunk_hit(query: str, fused: Fused, chunk: ChunkHitRow) -> Hit:
    quote, _ = best_sentence(query, chunk.content, chunk.language)
    return Hit(
        key=fused.key,
        kind=HitKind.CHUNK,
        score=round(fused.score, 4),
        parts={leg: round(part, 4) for leg, part in fused.parts.items()},
        type=None,
        claim=quote,
        text=chunk.content,
        quote=quote,
        language=chunk.language,
        status=None,
        confidence=None,
        citations=(_quoting(query, chunk.citation, quote, chunk.content, chunk.language),),
        citation_count=1,
        undistilled=True,
        projected=False,
        created_at=_utc(chunk.created_at),
    )


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)
