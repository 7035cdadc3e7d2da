"""Counts of one source, for whoever looks at its partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection


def documents_by_status(connection: Connection, source: str) -> dict[str, int]:
    rows = connection.execute(
        "SELECT status, count(*) FROM pm_document WHERE source = %s GROUP BY status ORDER BY status", [source]
    ).fetchall()
    return {row[0]: row[1] for row in rows}


def atoms_by_type(connection: Connection, source: str) -> dict[str, int]:
    """Atoms that a document of the source supports by a living citation, by type."""
    rows = connection.execute(
        """
        SELECT atom.type, count(DISTINCT atom.id)
        FROM pm_document AS document
        JOIN pm_citation AS citation ON citation.doc_id = document.id AND citation.gone_at IS NULL
        JOIN pm_atom AS atom ON atom.id = citation.atom_id
        WHERE document.source = %s GROUP BY atom.type ORDER BY atom.type
        """,
        [source],
    ).fetchall()
    return {row[0]: row[1] for row in rows}


def example_uri(connection: Connection, source: str) -> str:
    """The address of the source's first document that has one, else empty."""
    row = connection.execute(
        "SELECT uri FROM pm_document WHERE source = %s AND uri IS NOT NULL ORDER BY id LIMIT 1", [source]
    ).fetchone()
    return str(row[0]) if row else ""
