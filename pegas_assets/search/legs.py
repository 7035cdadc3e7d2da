"""The legs of a search: each gives keys and scores, or says why it gives none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

import numpy as np

from pegas_assets.aside import Aside
from pegas_assets.embedding.base import Vector
from pegas_assets.embedding.bm25 import encode_document, encode_query, terms
from pegas_assets.embedding.passages import lexical_text, passage_of, stored_fitted
from pegas_assets.errors import PegasError
from pegas_assets.model import Degraded, HitKind
from pegas_assets.search.engines import SearchEngines
from pegas_assets.search.fusion import coverage_of
from pegas_assets.search.request import SearchRequest
from pegas_assets.stores.atoms import statements
from pegas_assets.stores.hits import (
    ChunkHitRow,
    any_undistilled,
    any_word_query,
    atoms_by_words,
    pending_atom_ids,
    undistilled_chunks,
)
from pegas_assets.stores.postgres import Connection
from pegas_assets.text.folding import words

T = TypeVar("T")
Scored = list[tuple[str, float]]

PENDING_LIMIT = 500
"""How many atoms that are not projected yet a search reads itself. More than that is a queue that nobody drains."""
CHUNK_LIMIT = 50
WORDS_LIMIT = 64


@dataclass
class Found:
    """What the legs found. `dense` and `sparse` are best first, each on its engine's own scale."""

    dense: Scored = field(default_factory=list)
    sparse: Scored = field(default_factory=list)
    chunks: dict[str, ChunkHitRow] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)
    """For each chunk the share of the query's words that it holds, 0 to 1: it has no vector to be ranked by."""
    exhausted: bool = True
    """Whether no leg had more to give than it was asked for."""
    degraded: list[Degraded] = field(default_factory=list)

    def attempt(self, component: str, work: Callable[[], T]) -> T | None:
        """The result of a leg, or None with the reason noted."""
        try:
            return work()
        except PegasError as error:
            if not any(known.component == component for known in self.degraded):
                self.degraded.append(Degraded(component=component, reason=error.message))
            return None


def gather(engines: SearchEngines, connection: Connection, request: SearchRequest, limit: int) -> Found:
    """Ask every leg for up to `limit` keys.

    Raises:
        EngineUnavailable: PostgreSQL does not answer; without it there is nothing to show.
    """
    found = Found()
    if HitKind.ATOM not in request.kinds:
        return found
    # Before the engine is asked: what is projected in between is then found twice, not never.
    pending = pending_atom_ids(connection, PENDING_LIMIT)
    query_vector = found.attempt("embedder", lambda: engines.embedder().embed_query(request.query))
    asked = Aside(
        lambda: engines.vectors().search(
            engines.collection(),
            dense=query_vector,
            sparse=encode_query(request.query),
            filter=request.vector_filter(),
            limit=limit,
        )
    )
    chunks = _undistilled(connection, request)
    hits = found.attempt("vectors", asked.result)
    if hits is not None:
        found.dense, found.sparse = list(hits.dense), list(hits.sparse)
        found.exhausted = max(len(hits.dense), len(hits.sparse)) < limit
    elif any_word := _any_word(connection, request):
        # Scored here like what is not projected: PostgreSQL's own rank knows no meaning.
        statuses = () if request.as_of is not None else request.statuses
        by_words = atoms_by_words(connection, any_word, limit, types=request.types, statuses=statuses)
        found.exhausted = len(by_words) < limit
        pending = list(dict.fromkeys([*pending, *(id_ for id_, _ in by_words)]))
    if pending:
        _add_pending(engines, connection, found, request.query, query_vector, pending)
    asked_for = frozenset(terms(request.query))
    for chunk in chunks:
        if share := _share(asked_for, f"{chunk.context}\n{chunk.content}"):
            found.chunks[f"chunk:{chunk.id}"] = chunk
            found.shares[f"chunk:{chunk.id}"] = share
    return found


def _any_word(connection: Connection, request: SearchRequest) -> str:
    return any_word_query(connection, list(dict.fromkeys(words(request.query)))[:WORDS_LIMIT])


def _undistilled(connection: Connection, request: SearchRequest) -> list[ChunkHitRow]:
    if not request.takes_undistilled or not any_undistilled(connection):
        return []
    any_word = _any_word(connection, request)
    if not any_word:
        return []
    return undistilled_chunks(
        connection,
        any_word,
        CHUNK_LIMIT,
        sources=request.sources,
        documents=request.documents,
        languages=request.languages,
        since=request.since,
        until=request.latest,
    )


def _add_pending(
    engines: SearchEngines,
    connection: Connection,
    found: Found,
    query: str,
    query_vector: Vector | None,
    pending: Sequence[int],
) -> None:
    """Score what the vector store does not show as it is: the same cosine, and the words that match."""
    current = statements(connection, pending)
    stale = {f"atom:{id_}" for id_ in pending}
    found.dense = [(key, score) for key, score in found.dense if key not in stale]
    found.sparse = [(key, score) for key, score in found.sparse if key not in stale]
    texts = {f"atom:{row.id}": f"{row.context}\n{row.claim}\n{row.content}" for row in current.values()}
    _add_lexical(found, query, texts)
    if query_vector is None:
        return
    rows = list(current.values())
    passages = [passage_of(row.type, row.claim, row.content, row.context) for row in rows]
    vectors = stored_fitted(connection, engines.embedder(), passages)
    scored = [
        (f"atom:{row.id}", float(np.dot(vector, query_vector)))
        for row, vector in zip(rows, vectors, strict=True)
        if vector is not None
    ]
    found.dense = sorted([*found.dense, *scored], key=lambda pair: (-pair[1], pair[0]))


def _add_lexical(found: Found, query: str, texts: dict[str, str]) -> None:
    """Put texts that no engine has scored into the lexical leg, by the share of the query's words that they hold.

    The share is put on the scale of the engine's scores: a text that holds them all counts as its best hit.
    """
    asked = frozenset(terms(query))
    top = found.sparse[0][1] if found.sparse else 1.0
    scored = [(key, top * _share(asked, text)) for key, text in texts.items()]
    found.sparse = sorted(
        [*found.sparse, *((key, score) for key, score in scored if score > 0)], key=lambda pair: (-pair[1], pair[0])
    )


def _share(asked: frozenset[int], text: str) -> float:
    return len(asked & _term_set(text)) / len(asked) if asked else 0.0


@lru_cache(maxsize=4 * PENDING_LIMIT)
def _term_set(text: str) -> frozenset[int]:
    """Kept, since the same texts wait from one search to the next."""
    return frozenset(terms(text))


def lexical_coverage(connection: Connection, found: Found, query: str) -> float:
    """How much of the query its best lexical hit holds, 0 to 1: what the lexical leg is worth for this query."""
    if not found.sparse:
        return 0.0
    best = int(found.sparse[0][0].rpartition(":")[2])
    row = statements(connection, [best]).get(best)
    text = lexical_text(row.type, row.claim, row.content, row.context) if row is not None else ""
    return coverage_of(encode_query(query), encode_document(text))


class Hop:
    """One hop of graph from the best hits, asked for at once and read when it is needed."""

    def __init__(self, engines: SearchEngines, keys: Sequence[str], limit: int) -> None:
        self._asked = Aside(lambda: engines.graph().neighbours("Atom", list(keys), limit)) if keys else None

    def near(self, found: Found) -> dict[str, tuple[str, float]]:
        """Atoms one hop away: key → (the hit it hangs on, the edge's confidence)."""
        hops = found.attempt("graph", self._asked.result) if self._asked is not None else None
        near: dict[str, tuple[str, float]] = {}
        for hop in hops or []:
            if hop.key not in near or near[hop.key][1] < hop.confidence:
                near[hop.key] = (hop.source_key, hop.confidence)
        return near
