"""What a search shows, read from PostgreSQL: keys that an engine returned become text, status and citations, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pegas_assets.model import AtomStatus, AtomType, Citation, Locator

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

CITATIONS_SHOWN = 5
ROWS_AN_ATOM = 4
"""Outbox rows that one atom may have waiting: what changed in one transaction is one row."""


@dataclass(frozen=True)
class AtomHitRow:
    """An atom as it stands now, or as it stood at a moment."""

    id: int
    type: AtomType
    claim: str
    content: str
    context: str
    language: str
    status: AtomStatus
    status_reason: str
    confidence: float
    created_at: datetime
    citations: tuple[Citation, ...]
    citation_count: int
    """Of all its citations, shown or not."""
    projected: bool


@dataclass(frozen=True)
class AtomRankRow:
    """As much of an atom, now or at a moment, as decides whether it is a hit and of which passage."""

    id: int
    type: AtomType
    language: str
    status: AtomStatus
    confidence: float
    created_at: datetime
    supported: bool
    """Whether a document still says it."""
    within: bool
    """Whether one of the documents and one of the sources that were asked for says it; true where none was."""
    text_atom_ids: tuple[int, ...]
    """The text atoms of the chunks that it was taken from: how search tells that two hits are one passage."""


@dataclass(frozen=True)
class ChunkHitRow:
    """A chunk that no distiller has read yet."""

    id: int
    content: str
    context: str
    language: str
    citation: Citation
    created_at: datetime


def atom_rows(
    connection: Connection,
    ids: Sequence[int],
    as_of: datetime | None = None,
    *,
    sources: Sequence[str] = (),
    documents: Sequence[int] = (),
    citations: slice = slice(0, CITATIONS_SHOWN),
) -> dict[int, AtomHitRow]:
    """Atoms by id, each with some of its living citations, those from `sources` and `documents` before others.

    With `as_of`, status, confidence and citations as they were then.
    """
    rows = connection.execute(
        """
        SELECT atom.id, atom.type, coalesce(atom.claim, ''), atom.content, atom.context, atom.language,
               coalesce(past.status, atom.status), coalesce(past.reason, atom.status_reason),
               coalesce(past.confidence, atom.confidence), atom.created_at,
               coalesce(cited.citations, '[]'), coalesce(cited.total, 0),
               NOT EXISTS (SELECT FROM pm_outbox WHERE entity_key = 'atom:' || atom.id AND vector_state <> 'done')
        FROM pm_atom AS atom
        LEFT JOIN LATERAL (
            SELECT jsonb_agg(jsonb_build_array(shown.doc_id, shown.title, shown.uri, shown.source, shown.locator,
                                               shown.quoted_text, shown.chunk_id) ORDER BY shown.place)
                       FILTER (WHERE shown.place > %(skipped)s AND shown.place <= %(last)s) AS citations,
                   count(*) AS total
            FROM (
                SELECT citation.id, citation.doc_id, citation.locator, citation.quoted_text, citation.chunk_id,
                       coalesce(document.title, '') AS title, coalesce(document.uri, '') AS uri, document.source,
                       row_number() OVER (ORDER BY document.source = ANY(%(sources)s) DESC,
                                          document.id = ANY(%(documents)s) DESC, citation.id) AS place
                FROM pm_citation AS citation
                JOIN pm_document AS document ON document.id = citation.doc_id
                WHERE citation.atom_id = atom.id
                  AND (citation.gone_at IS NULL OR citation.gone_at > %(as_of)s::timestamptz)
                  AND (%(as_of)s::timestamptz IS NULL OR citation.created_at <= %(as_of)s::timestamptz)
            ) AS shown
        ) AS cited ON true
        LEFT JOIN LATERAL (
            SELECT status, reason, confidence FROM pm_atom_history
            WHERE atom_id = atom.id AND at <= %(as_of)s::timestamptz ORDER BY at DESC, id DESC LIMIT 1
        ) AS past ON %(as_of)s::timestamptz IS NOT NULL
        WHERE atom.id = ANY(%(ids)s) AND (%(as_of)s::timestamptz IS NULL OR atom.created_at <= %(as_of)s::timestamptz)
        """,
        {
            "ids": list(ids),
            "skipped": citations.start,
            "last": citations.stop,
            "as_of": as_of,
            "sources": list(sources),
            "documents": list(documents),
        },
    ).fetchall()
    return {
        row[0]: AtomHitRow(
            id=row[0],
            type=AtomType(row[1]),
            claim=row[2],
            content=row[3],
            context=row[4],
            language=row[5],
            status=AtomStatus(row[6]),
            status_reason=row[7],
            confidence=row[8],
            created_at=row[9],
            citations=tuple(
                Citation(
                    document_id=document_id,
                    document_title=title,
                    uri=uri,
                    source=source,
                    locator=Locator.model_validate(locator),
                    quoted_text=quotation,
                    chunk_id=chunk_id,
                )
                for document_id, title, uri, source, locator, quotation, chunk_id in row[10]
            ),
            citation_count=row[11],
            projected=row[12],
        )
        for row in rows
    }


def atom_rank_rows(
    connection: Connection,
    ids: Sequence[int],
    as_of: datetime | None = None,
    *,
    sources: Sequence[str] = (),
    documents: Sequence[int] = (),
) -> dict[int, AtomRankRow]:
    """Atoms by id without what only a shown hit needs: a search looks at ten times as many as it shows."""
    rows = connection.execute(
        """
        SELECT atom.id, atom.type, atom.language, coalesce(past.status, atom.status),
               coalesce(past.confidence, atom.confidence), atom.created_at, cited.total > 0,
               (%(documents)s::bigint[] = '{}' OR coalesce(cited.of_documents, false))
               AND (%(sources)s::text[] = '{}' OR coalesce(cited.of_sources, false)),
               cited.text_atoms
        FROM pm_atom AS atom
        CROSS JOIN LATERAL (
            SELECT count(*) AS total, array_agg(chunk.text_atom_id ORDER BY chunk.text_atom_id) AS text_atoms,
                   bool_or(citation.doc_id = ANY(%(documents)s)) AS of_documents,
                   bool_or(%(sources)s::text[] <> '{}' AND EXISTS (
                       SELECT FROM pm_document WHERE id = citation.doc_id AND source = ANY(%(sources)s))) AS of_sources
            FROM pm_citation AS citation
            LEFT JOIN pm_chunk AS chunk ON chunk.id = citation.chunk_id
            WHERE citation.atom_id = atom.id
              AND (citation.gone_at IS NULL OR citation.gone_at > %(as_of)s::timestamptz)
              AND (%(as_of)s::timestamptz IS NULL OR citation.created_at <= %(as_of)s::timestamptz)
        ) AS cited
        LEFT JOIN LATERAL (
            SELECT status, confidence FROM pm_atom_history
            WHERE atom_id = atom.id AND at <= %(as_of)s::timestamptz ORDER BY at DESC, id DESC LIMIT 1
        ) AS past ON %(as_of)s::timestamptz IS NOT NULL
        WHERE atom.id = ANY(%(ids)s) AND (%(as_of)s::timestamptz IS NULL OR atom.created_at <= %(as_of)s::timestamptz)
        """,
        {"ids": list(ids), "as_of": as_of, "sources": list(sources), "documents": list(documents)},
    ).fetchall()
    return {
        row[0]: AtomRankRow(
            id=row[0],
            type=AtomType(row[1]),
            language=row[2],
            status=AtomStatus(row[3]),
            confidence=row[4],
            created_at=row[5],
            supported=row[6],
            within=row[7],
            text_atom_ids=tuple(dict.fromkeys(id_ for id_ in row[8] or () if id_ is not None)),
        )
        for row in rows
    }


def contesting_claims(connection: Connection, ids: Sequence[int]) -> dict[int, list[str]]:
    """Contested atom → the claims that contest it."""
    rows = connection.execute(
        """
        SELECT pair.atom_id, coalesce(other.claim, left(other.content, 200))
        FROM (SELECT src AS atom_id, dst AS other_id FROM pm_atom_link WHERE kind = 'contradicts' AND src = ANY(%(ids)s)
              UNION SELECT dst, src FROM pm_atom_link WHERE kind = 'contradicts' AND dst = ANY(%(ids)s)) AS pair
        JOIN pm_atom AS other ON other.id = pair.other_id ORDER BY pair.atom_id, other.id
        """,
        {"ids": list(ids)},
    ).fetchall()
    found: dict[int, list[str]] = {}
    for atom_id, claim in rows:
        found.setdefault(atom_id, []).append(claim)
    return found


def pending_atom_ids(connection: Connection, limit: int) -> list[int]:
    """Atoms that the vector store does not show as they are, the newest changes first.

    Of a long queue only the newest rows are looked at: every search asks this.
    """
    rows = connection.execute(
        """
        SELECT entity_id
        FROM (SELECT id, entity_id FROM pm_outbox WHERE vector_state <> 'done' AND entity_type = 'atom'
              ORDER BY id DESC LIMIT %s) AS newest
        GROUP BY entity_id ORDER BY max(id) DESC LIMIT %s
        """,
        [ROWS_AN_ATOM * limit, limit],
    ).fetchall()
    return [row[0] for row in rows]


def any_undistilled(connection: Connection) -> bool:
    """Whether a chunk waits for a distiller. By the index, whatever the statistics say: mostly there is none."""
    row = connection.execute(
        "SELECT doc_id FROM pm_chunk WHERE distilled_by IS NULL ORDER BY doc_id LIMIT 1"
    ).fetchone()
    return row is not None


def undistilled_chunks(
    connection: Connection,
    any_word: str,
    limit: int,
    *,
    sources: Sequence[str] = (),
    documents: Sequence[int] = (),
    languages: Sequence[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[ChunkHitRow]:
    """Chunks without atoms that hold any of the words (a text search query), best rank first."""
    rows = connection.execute(
        """
        SELECT chunk.id, chunk.content, chunk.locator, chunk.language, chunk.created_at, document.id,
               coalesce(document.title, ''), coalesce(document.uri, ''), document.source
        FROM pm_chunk AS chunk JOIN pm_document AS document ON document.id = chunk.doc_id
        WHERE chunk.distilled_by IS NULL AND pm_tsvector(chunk.content) @@ %(query)s::tsquery
          AND document.status <> 'forgotten'
          AND (%(sources)s::text[] = '{}' OR document.source = ANY(%(sources)s))
          AND (%(documents)s::bigint[] = '{}' OR document.id = ANY(%(documents)s))
          AND (%(languages)s::text[] = '{}' OR chunk.language = ANY(%(languages)s))
          AND (%(since)s::timestamptz IS NULL OR chunk.created_at >= %(since)s::timestamptz)
          AND (%(until)s::timestamptz IS NULL OR chunk.created_at <= %(until)s::timestamptz)
        ORDER BY ts_rank(pm_tsvector(chunk.content), %(query)s::tsquery) DESC, chunk.id LIMIT %(limit)s
        """,
        {
            "query": any_word,
            "sources": list(sources),
            "documents": list(documents),
            "languages": list(languages),
            "since": since,
            "until": until,
            "limit": limit,
        },
    ).fetchall()
    return [
        ChunkHitRow(
            id=row[0],
            content=row[1],
            context=" › ".join(row[2].get("section", ())),
            language=row[3],
            created_at=row[4],
            citation=Citation(
                document_id=row[5],
                document_title=row[6],
                uri=row[7],
                source=row[8],
                locator=Locator.model_validate(row[2]),
                quoted_text="",
                chunk_id=row[0],
            ),
        )
        for row in rows
    ]


def atoms_by_words(
    connection: Connection, any_word: str, limit: int, *, types: Sequence[str] = (), statuses: Sequence[str] = ()
) -> list[tuple[int, float]]:
    """Atoms that hold any of the words, with PostgreSQL's rank; of all types and statuses, or of some."""
    rows = connection.execute(
        """
        SELECT id, ts_rank(pm_tsvector(coalesce(claim, '') || ' ' || content), %(query)s::tsquery) AS rank
        FROM pm_atom
        WHERE pm_tsvector(coalesce(claim, '') || ' ' || content) @@ %(query)s::tsquery
          AND (%(types)s::text[] = '{}' OR type = ANY(%(types)s))
          AND (%(statuses)s::text[] = '{}' OR status = ANY(%(statuses)s))
        ORDER BY rank DESC, id LIMIT %(limit)s
        """,
        {"query": any_word, "limit": limit, "types": list(types), "statuses": list(statuses)},
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


def any_word_query(connection: Connection, words: Sequence[str]) -> str:
    """A text search query that any of the words satisfies; empty where all are stop words."""
    row = connection.execute(
        """
        SELECT coalesce(string_agg(parsed.query::text, ' | '), '')
        FROM (SELECT plainto_tsquery('pg_catalog.russian', pm_search_copy(word)) AS query
              FROM unnest(%s::text[]) AS word) AS parsed
        WHERE numnode(parsed.query) > 0
        """,
        [list(words)],
    ).fetchone()
    return str(row[0]) if row else ""


def contradiction_candidates(connection: Connection, atom_id: int) -> list[tuple[int, str, str]]:
    """Atoms that dedup found to differ from this one in a number, negation, unit or name: (id, claim, reason)."""
    rows = connection.execute(
        """
        SELECT other.id, coalesce(other.claim, left(other.content, 200)), pair.reason
        FROM pm_contradiction_candidate AS pair
        JOIN pm_atom AS other ON other.id = CASE WHEN pair.atom_a = %(id)s THEN pair.atom_b ELSE pair.atom_a END
        WHERE pair.atom_a = %(id)s OR pair.atom_b = %(id)s ORDER BY pair.cosine DESC LIMIT 10
        """,
        {"id": atom_id},
    ).fetchall()
    return [(row[0], row[1], row[2]) for row in rows]
