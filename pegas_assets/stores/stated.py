"""Atoms that somebody stated by hand: kept with their document until, and whenever, it is distilled."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

from pegas_assets.errors import PegasError
from pegas_assets.model import AtomType
from pegas_assets.text.cleaning import clean_json

STATED = "stated"
"""The name under which a document's `meta` holds what was stated with it."""


@dataclass(frozen=True)
class StatedAtom:
    """An atom as it was stated."""

    type: AtomType
    claim: str
    content: str
    confidence: float
    metadata: dict[str, Any]


def add_stated_atom(connection: Connection, document_id: int, stated: StatedAtom) -> None:
    """Keep a stated atom with its document, once, and have the document distilled with it.

    A worker that is at the document has not seen it: the count of attempts goes to 0, so that it does not finish it.
    """
    row = clean_json(
        {
            "type": stated.type.value,
            "claim": stated.claim,
            "content": stated.content,
            "confidence": stated.confidence,
            "metadata": stated.metadata,
        }
    )
    added = connection.execute(
        """
        UPDATE pm_document SET meta = jsonb_set(meta, '{stated}', coalesce(meta->'stated', '[]') || %(row)s::jsonb),
               status = CASE status WHEN 'done' THEN 'parsed' ELSE status END, attempts = 0, updated_at = now()
        WHERE id = %(id)s AND NOT coalesce(meta->'stated', '[]') @> %(row)s::jsonb
        """,
        {"id": document_id, "row": json.dumps([row])},
    ).rowcount
    if added:
        connection.execute("UPDATE pm_chunk SET distilled_by = NULL WHERE doc_id = %s AND seq = 0", [document_id])


def stated_atoms(connection: Connection, document_id: int, *, hold: bool = False) -> tuple[StatedAtom, ...]:
    """What was stated; with `hold`, nobody adds to it before the transaction ends."""
    row = connection.execute(
        "SELECT coalesce(meta->'stated', '[]') FROM pm_document WHERE id = %s" + (" FOR NO KEY UPDATE" if hold else ""),
        [document_id],
    ).fetchone()
    return tuple(StatedAtom(**{**found, "type": AtomType(found["type"])}) for found in (row[0] if row else []))


def survivor(connection: Connection, operation_id: str) -> int | None:
    """The document that a request of one thing ended at: another one where the same text was there."""
    row = connection.execute(
        "SELECT doc_id FROM pm_operation_item WHERE operation_id = %s AND seq = 1", [operation_id]
    ).fetchone()
    return row[0] if row else None


def workable(connection: Connection, document_id: int) -> bool:
    """Whether a document has work to do that may be tried now."""
    row = connection.execute(
        "SELECT status IN ('accepted', 'fetching', 'parsed') AND next_attempt_at <= now() FROM pm_document WHERE id = %s",
        [document_id],
    ).fetchone()
    return bool(row and row[0])


def atom_stated_by(
    connection: Connection, document_id: int, content_hash: str, atom_type: AtomType, content: str
) -> int:
    """The atom that shows what a document states: the very one, or the one that it was found to repeat.

    Raises:
        PegasError: the document is not done; the message says why, `retryable` whether it still will be.
    """
    row = connection.execute(
        """
        SELECT (SELECT atom.id FROM pm_citation AS citation JOIN pm_atom AS atom ON atom.id = citation.atom_id
                WHERE citation.doc_id = document.id AND citation.gone_at IS NULL
                ORDER BY atom.content_hash = %s DESC, atom.type = %s DESC, citation.quoted_text = %s DESC,
                         citation.id DESC LIMIT 1),
               document.status, coalesce(document.error, ''), coalesce(document.error_code, '')
        FROM pm_document AS document WHERE document.id = %s
        """,
        [content_hash, atom_type, content, document_id],
    ).fetchone()
    atom, status, error, code = row if row is not None else (None, "forgotten", "", "")
    if atom is not None and status == "done":
        return int(atom)
    if status in ("accepted", "fetching", "parsed", "done"):
        raise PegasError(
            f"Document {document_id} is accepted and not distilled yet: {error or 'another worker has it.'}",
            hint="It will be; ask memory_stats how it stands.",
            code="pending",
            retryable=True,
        )
    raise PegasError(f"Document {document_id} is {status}: {error or 'it is gone.'}", code=code or status)
