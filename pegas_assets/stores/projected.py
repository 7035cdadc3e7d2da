"""What the projections should hold, read from PostgreSQL: current rows by id or by bucket, each with its hash `h`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, LiteralString

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

# Ids and hashes are made by the same expression for a write and for the drift check, so they cannot differ by accident.
_VECTOR_HASH: LiteralString = (
    "left(encode(sha256(convert_to(payload::text || E'\\x01' || content_hash || E'\\x01' || claim || E'\\x01' "
    "|| context || E'\\x01' || %(fingerprint)s, 'UTF8')), 'hex'), 32)"
)
_ATOM_NODE_HASH: LiteralString = (
    "left(encode(sha256(convert_to(type || E'\\x01' || status || E'\\x01' || claim || E'\\x01' || language || E'\\x01' "
    "|| round(confidence::numeric, 4), 'UTF8')), 'hex'), 32)"
)
_DOCUMENT_NODE_HASH: LiteralString = (
    "left(encode(sha256(convert_to(kind || E'\\x01' || coalesce(title, '') || E'\\x01' || source || E'\\x01' "
    "|| coalesce(uri, '') || E'\\x01' || language || E'\\x01' || round(authority::numeric, 4), 'UTF8')), 'hex'), 32)"
)
_LINK_HASH: LiteralString = (
    "left(encode(sha256(convert_to(src || '>' || dst || E'\\x01' || kind || E'\\x01' || round(confidence::numeric, 4) "
    "|| E'\\x01' || source || E'\\x01' || inferred, 'UTF8')), 'hex'), 32)"
)
_SHOWN_DOCUMENT: LiteralString = "parsed_at IS NOT NULL AND status <> 'forgotten'"


@dataclass(frozen=True)
class VectorRow:
    """An atom as the vector store shows it. `payload` lacks only `h`."""

    id: int
    key: str
    type: str
    claim: str
    content: str
    context: str
    payload: dict[str, Any]
    h: str


@dataclass(frozen=True)
class AtomNodeRow:
    """An atom as the graph shows it, with the documents that it cites."""

    id: int
    key: str
    bucket: int
    type: str
    status: str
    claim: str
    language: str
    confidence: float
    documents: tuple[str, ...]
    h: str


@dataclass(frozen=True)
class DocumentNodeRow:
    """A document as the graph shows it."""

    id: int
    key: str
    bucket: int
    kind: str
    title: str
    source: str
    uri: str
    language: str
    authority: float
    h: str


@dataclass(frozen=True)
class LinkRow:
    """A link between atoms as the graph shows it."""

    id: int
    src: int
    dst: int
    kind: str
    confidence: float
    source: str
    inferred: bool
    h: str


def vector_rows(
    connection: Connection, fingerprint: str, *, ids: Sequence[int] | None = None, bucket: int | None = None
) -> list[VectorRow]:
    """Atoms by id or of a bucket, in order of id."""
    return [
        VectorRow(*row)
        for row in connection.execute(
            "SELECT id, key, type, claim, content, context, payload, "
            + _VECTOR_HASH
            + " FROM pm_projected_atom WHERE (%(ids)s::bigint[] IS NULL OR id = ANY(%(ids)s))"
            " AND (%(bucket)s::int IS NULL OR bucket = %(bucket)s) ORDER BY id",
            {"ids": list(ids) if ids is not None else None, "bucket": bucket, "fingerprint": fingerprint},
        ).fetchall()
    ]


def vector_hashes(connection: Connection, fingerprint: str, bucket: int) -> dict[str, str]:
    """Key → `h` of every atom of a bucket."""
    rows = connection.execute(
        "SELECT key, " + _VECTOR_HASH + " FROM pm_projected_atom WHERE bucket = %(bucket)s",
        {"fingerprint": fingerprint, "bucket": bucket},
    ).fetchall()
    return dict(rows)


def atom_node_rows(
    connection: Connection, *, ids: Sequence[int] | None = None, bucket: int | None = None
) -> list[AtomNodeRow]:
    rows = connection.execute(
        "SELECT id, key, bucket, type, status, claim, language, confidence, coalesce(documents, '{}'), "
        + _ATOM_NODE_HASH
        + " FROM pm_projected_atom WHERE (%(ids)s::bigint[] IS NULL OR id = ANY(%(ids)s))"
        " AND (%(bucket)s::int IS NULL OR bucket = %(bucket)s) ORDER BY id",
        {"ids": list(ids) if ids is not None else None, "bucket": bucket},
    ).fetchall()
    return [
        AtomNodeRow(id_, key, slice_, kind, status, claim, language, confidence, tuple(documents), h)
        for id_, key, slice_, kind, status, claim, language, confidence, documents, h in rows
    ]


def atom_node_hashes(connection: Connection, bucket: int) -> dict[str, str]:
    """Key → `h` of every atom of a bucket, as the graph shows it."""
    rows = connection.execute(
        "SELECT key, " + _ATOM_NODE_HASH + " FROM pm_projected_atom WHERE bucket = %s", [bucket]
    ).fetchall()
    return dict(rows)


def cited_documents(connection: Connection, bucket: int) -> list[tuple[int, int]]:
    """The pairs of atom and document of which one cites the other, for the atoms of a bucket."""
    rows = connection.execute(
        """
        SELECT atom.id, citation.doc_id
        FROM pm_atom AS atom JOIN pm_citation AS citation ON citation.atom_id = atom.id
        WHERE atom.bucket = %s AND citation.gone_at IS NULL GROUP BY atom.id, citation.doc_id
        """,
        [bucket],
    ).fetchall()
    return [(atom, document) for atom, document in rows]


def document_node_rows(
    connection: Connection, *, ids: Sequence[int] | None = None, bucket: int | None = None
) -> list[DocumentNodeRow]:
    rows = connection.execute(
        "SELECT id, 'doc:' || id, pm_bucket('doc:' || id), kind, coalesce(title, ''), source, coalesce(uri, ''), language, "
        "authority, " + _DOCUMENT_NODE_HASH + " FROM pm_document WHERE " + _SHOWN_DOCUMENT +
        " AND (%(ids)s::bigint[] IS NULL OR id = ANY(%(ids)s))"
        " AND (%(bucket)s::int IS NULL OR pm_bucket('doc:' || id) = %(bucket)s) ORDER BY id",
        {"ids": list(ids) if ids is not None else None, "bucket": bucket},
    ).fetchall()  # fmt: skip
    return [DocumentNodeRow(*row) for row in rows]


def link_rows(connection: Connection, *, ids: Sequence[int] | None = None, bucket: int | None = None) -> list[LinkRow]:
    """Links by id, or those whose source atom is in a bucket."""
    rows = connection.execute(
        "SELECT link.id, src, dst, kind, link.confidence, source, inferred, " + _LINK_HASH.replace("confidence", "link.confidence") +
        " FROM pm_atom_link AS link WHERE (%(ids)s::bigint[] IS NULL OR link.id = ANY(%(ids)s))"
        " AND (%(bucket)s::int IS NULL OR src IN (SELECT id FROM pm_atom WHERE bucket = %(bucket)s)) ORDER BY link.id",
        {"ids": list(ids) if ids is not None else None, "bucket": bucket},
    ).fetchall()  # fmt: skip
    return [LinkRow(*row) for row in rows]
