"""Atoms and their citations: looked up by hash, written in batches, moved between states."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pegas_assets.errors import NotFound
from pegas_assets.model import AtomStatus, AtomType, Locator

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

GONE_REASON = "The quotation is no longer in document"
UNFOUND_REASON = " does not find it in the text."


@dataclass(frozen=True)
class NewAtom:
    """An atom to write; its hash is its identity. `signature` is what all statements that say the same have in common."""

    type: AtomType
    claim: str
    content: str
    content_hash: str
    confidence: float
    document_id: int
    locator: Locator
    language: str
    context: str
    metadata: dict[str, Any]
    distilled_by: str
    signature: str = ""


@dataclass(frozen=True)
class NewCitation:
    """Evidence for an atom. The same quotation of one document supports an atom once."""

    atom_id: int
    document_id: int
    chunk_id: int
    locator: Locator
    quoted_text: str


@dataclass(frozen=True)
class AtomStatement:
    """What dedup compares: an atom's claim, content and language."""

    id: int
    type: AtomType
    claim: str
    content: str
    language: str
    context: str


def ids_by_hash(connection: Connection, hashes: Iterable[str]) -> dict[str, int]:
    """Content hash → atom id, for those that exist."""
    rows = connection.execute(
        "SELECT content_hash, id FROM pm_atom WHERE content_hash = ANY(%s)", [list(hashes)]
    ).fetchall()
    return {row[0]: row[1] for row in rows}


def insert_atoms(connection: Connection, atoms: Sequence[NewAtom]) -> dict[str, int]:
    """Write atoms; returns hash → id, also of those that were there already."""
    if not atoms:
        return {}
    rows = connection.execute(
        """
        INSERT INTO pm_atom (type, claim, content, content_hash, confidence, doc_id, locator, language, context,
                             metadata, distilled_by, signature)
        SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::real[], %s::bigint[], %s::jsonb[],
                             %s::text[], %s::text[], %s::jsonb[], %s::text[], %s::text[])
        ON CONFLICT (content_hash) DO NOTHING RETURNING content_hash, id
        """,
        [
            [atom.type for atom in atoms],
            [atom.claim for atom in atoms],
            [atom.content for atom in atoms],
            [atom.content_hash for atom in atoms],
            [atom.confidence for atom in atoms],
            [atom.document_id for atom in atoms],
            [locator_json(atom.locator) for atom in atoms],
            [atom.language for atom in atoms],
            [atom.context for atom in atoms],
            [json.dumps(atom.metadata, ensure_ascii=False) for atom in atoms],
            [atom.distilled_by for atom in atoms],
            [atom.signature or None for atom in atoms],
        ],
    ).fetchall()
    made = {row[0]: int(row[1]) for row in rows}
    if len(made) < len(atoms):
        made |= ids_by_hash(connection, [atom.content_hash for atom in atoms if atom.content_hash not in made])
    return made


def add_citations(connection: Connection, citations: Sequence[NewCitation]) -> int:
    """Write citations that are not there yet; returns how many are new.

    One that was gone lives again; an atom that went stale for want of one is again what it was before.
    """
    if not citations:
        return 0
    unique = {(item.atom_id, item.document_id, item.quoted_text): item for item in citations}
    rows = connection.execute(
        """
        INSERT INTO pm_citation (atom_id, doc_id, chunk_id, locator, quoted_text)
        SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::jsonb[], %s::text[])
        ON CONFLICT (atom_id, doc_id, pm_sha256(quoted_text)) DO UPDATE
            SET chunk_id = excluded.chunk_id, locator = excluded.locator, gone_at = NULL
            WHERE pm_citation.chunk_id IS DISTINCT FROM excluded.chunk_id OR pm_citation.gone_at IS NOT NULL
        RETURNING atom_id, xmax = 0
        """,
        [
            [item.atom_id for item in unique.values()],
            [item.document_id for item in unique.values()],
            [item.chunk_id for item in unique.values()],
            [locator_json(item.locator) for item in unique.values()],
            [item.quoted_text for item in unique.values()],
        ],
    ).fetchall()
    revive(connection, sorted({item.atom_id for item in citations}))
    return sum(1 for row in rows if row[1])


def revive(connection: Connection, ids: Sequence[int]) -> None:
    """Give atoms that have a quotation again the status that they had before they lost it."""
    connection.execute(
        """
        UPDATE pm_atom SET status_reason = 'The quotation is back.', updated_at = now(), status = coalesce(
            (SELECT status FROM pm_atom_history WHERE atom_id = pm_atom.id AND status <> 'stale'
             ORDER BY at DESC, id DESC LIMIT 1), 'candidate')
        WHERE id = ANY(%s) AND status = 'stale'
          AND (starts_with(status_reason, %s) OR right(status_reason, %s) = %s)
        """,
        [list(ids), GONE_REASON, len(UNFOUND_REASON), UNFOUND_REASON],
    )


def retire_unsupported(connection: Connection, ids: Sequence[int]) -> None:
    """Of these atoms, make those stale that no living citation supports, with the document that last did."""
    connection.execute(
        """
        UPDATE pm_atom SET status = 'stale', updated_at = now(), status_reason = %(reason)s || ' ' || (
            SELECT doc_id FROM pm_citation WHERE atom_id = pm_atom.id ORDER BY gone_at DESC, id DESC LIMIT 1) || '.'
        WHERE id = ANY(%(ids)s) AND status NOT IN ('rejected', 'stale')
          AND EXISTS (SELECT FROM pm_citation WHERE atom_id = pm_atom.id)
          AND NOT EXISTS (SELECT FROM pm_citation WHERE atom_id = pm_atom.id AND gone_at IS NULL)
        """,
        {"ids": list(ids), "reason": GONE_REASON},
    )


def retire_unfound(connection: Connection, chunks: Sequence[int], found: Sequence[int], distiller: str) -> None:
    """Make stale what an earlier distiller took from these chunks alone and this one does not find again."""
    connection.execute(
        """
        UPDATE pm_atom SET status = 'stale', updated_at = now(), status_reason = %(distiller)s || %(reason)s
        WHERE id IN (SELECT atom_id FROM pm_citation WHERE chunk_id = ANY(%(chunks)s))
          AND NOT id = ANY(%(found)s) AND status = 'candidate' AND distilled_by NOT IN ('', %(distiller)s)
          AND NOT EXISTS (SELECT FROM pm_citation WHERE atom_id = pm_atom.id AND gone_at IS NULL
                          AND (chunk_id IS NULL OR NOT chunk_id = ANY(%(chunks)s)))
        """,
        {"distiller": distiller, "reason": UNFOUND_REASON, "chunks": list(chunks), "found": list(found)},
    )


def add_contradictions(connection: Connection, pairs: Sequence[tuple[int, int, str, float]]) -> None:
    """Note pairs of atoms that may contradict each other: (atom, atom, reason, cosine)."""
    ordered = [(min(a, b), max(a, b), reason, cosine) for a, b, reason, cosine in pairs if a != b]
    if ordered:
        connection.execute(
            "INSERT INTO pm_contradiction_candidate (atom_a, atom_b, reason, cosine) "
            "SELECT DISTINCT ON (1, 2) * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::real[]) "
            "ON CONFLICT DO NOTHING",
            [list(column) for column in zip(*ordered, strict=True)],
        )


def by_signature(
    connection: Connection, signatures: Sequence[str], per_signature: int = 8
) -> dict[str, list[AtomStatement]]:
    """Atoms that share a signature with one of these, the oldest few of each."""
    rows = connection.execute(
        """
        SELECT asked.signature, same.* FROM unnest(%s::text[]) AS asked (signature)
        CROSS JOIN LATERAL (
            SELECT id, type, coalesce(claim, ''), content, language, context
            FROM pm_atom WHERE signature = asked.signature ORDER BY id LIMIT %s
        ) AS same
        """,
        [sorted({signature for signature in signatures if signature}), per_signature],
    ).fetchall()
    found: dict[str, list[AtomStatement]] = {}
    for signature, id_, kind, *rest in rows:
        found.setdefault(signature, []).append(AtomStatement(id_, AtomType(kind), *rest))
    return found


def newest_atom_id(connection: Connection) -> int:
    """The highest atom id that is visible. Writers hold the dedup lock, so later ones are higher."""
    row = connection.execute("SELECT coalesce(max(id), 0) FROM pm_atom").fetchone()
    assert row is not None
    return int(row[0])


def statements(connection: Connection, ids: Sequence[int]) -> dict[int, AtomStatement]:
    """What dedup compares, by atom id."""
    rows = connection.execute(
        "SELECT id, type, coalesce(claim, ''), content, language, context FROM pm_atom WHERE id = ANY(%s)", [list(ids)]
    ).fetchall()
    return {row[0]: AtomStatement(row[0], AtomType(row[1]), *row[2:]) for row in rows}


def newer_statements(connection: Connection, types: Sequence[str], after_id: int) -> list[AtomStatement]:
    """Atoms of some types that were written after `after_id`."""
    rows = connection.execute(
        "SELECT id, type, coalesce(claim, ''), content, language, context FROM pm_atom "
        "WHERE id > %s AND type = ANY(%s) ORDER BY id",
        [after_id, list(types)],
    ).fetchall()
    return [AtomStatement(row[0], AtomType(row[1]), *row[2:]) for row in rows]


def unprojected_statements(connection: Connection, types: Sequence[str], limit: int) -> list[AtomStatement]:
    """Atoms of some types that the vector store does not show yet, newest first."""
    rows = connection.execute(
        """
        SELECT atom.id, atom.type, coalesce(atom.claim, ''), atom.content, atom.language, atom.context
        FROM pm_atom AS atom
        WHERE atom.type = ANY(%s) AND atom.id IN (
            SELECT entity_id FROM pm_outbox WHERE vector_state <> 'done' AND entity_type = 'atom' AND op = 'upsert')
        ORDER BY atom.id DESC LIMIT %s
        """,
        [list(types), limit],
    ).fetchall()
    return [AtomStatement(row[0], AtomType(row[1]), *row[2:]) for row in rows]


def similar_by_trigram(
    connection: Connection, kind: AtomType, claims: Sequence[str], per_claim: int
) -> list[list[AtomStatement]]:
    """For each claim, atoms of a type whose claims share the most trigrams: what dedup reads when vectors are down."""
    found: list[list[AtomStatement]] = [[] for _ in claims]
    rows = connection.execute(
        """
        SELECT asked.place, near.id, near.type, near.claim, near.content, near.language, near.context
        FROM unnest(%s::text[]) WITH ORDINALITY AS asked (claim, place)
        CROSS JOIN LATERAL (
            SELECT id, type, coalesce(claim, '') AS claim, content, language, context
            FROM pm_atom WHERE pm_atom.claim %% asked.claim AND type = %s
            ORDER BY similarity(pm_atom.claim, asked.claim) DESC LIMIT %s
        ) AS near
        """,
        [list(claims), kind, per_claim],
    ).fetchall()
    for place, *row in rows:
        found[place - 1].append(AtomStatement(row[0], AtomType(row[1]), *row[2:]))
    return found


def set_status(connection: Connection, atom_id: int, status: AtomStatus, reason: str) -> None:
    """Move an atom to a status, with the reason; the history keeps what it was.

    Raises:
        NotFound: there is no such atom.
    """
    row = connection.execute(
        "UPDATE pm_atom SET status = %s, status_reason = %s, updated_at = now() WHERE id = %s RETURNING id",
        [status, reason, atom_id],
    ).fetchone()
    if row is None:
        raise NotFound(f"There is no atom {atom_id}.", hint="Search for it first.")


def locator_json(locator: Locator) -> str:
    return json.dumps(locator.model_dump(exclude_defaults=True), ensure_ascii=False)
