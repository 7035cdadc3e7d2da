"""Rows made by plain SQL, as somebody at a prompt would: no write path of ours is in between."""

from __future__ import annotations

from pegas_assets.identity import atom_hash
from pegas_assets.stores.postgres import Database


def make_document(database: Database, source: str = "text:test", *, title: str = "A document") -> int:
    with database.connection() as connection:
        row = connection.execute(
            "INSERT INTO pm_document (kind, source, title, status, parsed_at) VALUES ('text', %s, %s, 'done', now()) RETURNING id",
            [source, title],
        ).fetchone()
    assert row is not None
    return int(row[0])


def make_atoms(database: Database, document: int, texts: list[str], *, kind: str = "fact") -> list[int]:
    """Atoms with a citation each, in one transaction."""
    with database.connection() as connection:
        rows = connection.execute(
            "INSERT INTO pm_atom (type, claim, content, content_hash, doc_id, language) "
            "SELECT %s, text, text, hash, %s, 'en' FROM unnest(%s::text[], %s::text[]) AS made (text, hash) RETURNING id",
            [kind, document, texts, [atom_hash(kind, text) for text in texts]],
        ).fetchall()
        ids = [row[0] for row in rows]
        connection.execute(
            "INSERT INTO pm_citation (atom_id, doc_id, quoted_text) SELECT id, %s, content FROM pm_atom WHERE id = ANY(%s)",
            [document, ids],
        )
    return ids


def make_link(database: Database, src: int, dst: int, kind: str = "cause") -> int:
    with database.connection() as connection:
        row = connection.execute(
            "INSERT INTO pm_atom_link (src, dst, kind, confidence) VALUES (%s, %s, %s, 0.8) RETURNING id",
            [src, dst, kind],
        ).fetchone()
    assert row is not None
    return int(row[0])
