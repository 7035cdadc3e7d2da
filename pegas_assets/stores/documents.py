"""Documents: accepted, fetched, read, done or refused; their addresses and their bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

from pegas_assets.model import DocumentKind, DocumentStatus, ParsedDocument
from pegas_assets.stores.stated import STATED, add_stated_atom, stated_atoms
from pegas_assets.text.cleaning import clean_json, clean_text

OPEN = (DocumentStatus.ACCEPTED, DocumentStatus.FETCHING, DocumentStatus.PARSED)
"""The statuses after which work follows."""


@dataclass(frozen=True)
class Body:
    """The bytes of a document as they came."""

    bytes: bytes
    media_type: str = ""
    name: str = ""
    charset: str = ""
    locked: bool = False
    """Whether a password is needed that was not given."""


@dataclass(frozen=True)
class NewDocument:
    """A document to accept. Without a body it is fetched from `uri` later."""

    kind: DocumentKind
    source: str
    uri: str = ""
    title: str = ""
    body: Body | None = None
    authority: float | None = None
    meta: dict[str, Any] | None = None
    status: DocumentStatus = DocumentStatus.ACCEPTED
    error: str = ""
    error_code: str = ""


@dataclass(frozen=True)
class Known:
    """A document that is there already. `sha256` is of its bytes, empty where it has none.

    `checked_at` is when its address was last asked, whatever came of it; `uri` is the first of its addresses.
    """

    document_id: int
    status: DocumentStatus
    sha256: bytes
    fetched_at: datetime | None
    checked_at: datetime | None
    uri: str


@dataclass(frozen=True)
class PendingDocument:
    """A document with work to do, as a stage reads it."""

    id: int
    kind: DocumentKind
    source: str
    uri: str
    title: str
    status: DocumentStatus
    attempts: int
    etag: str
    last_modified: str
    has_body: bool
    to_fetch: bool
    """Whether it is a page whose bytes are still, or again, to be had."""


def insert_document(connection: Connection, new: NewDocument) -> int:
    """Write a document with its address and bytes; returns its id."""
    return insert_documents(connection, [new])[0]


def insert_documents(connection: Connection, new: Sequence[NewDocument]) -> list[int]:
    """Write documents with their addresses and bytes, in one go; returns their ids, in order."""
    ids = [
        row[0]
        for row in connection.execute(
            "SELECT nextval('pm_document_id_seq') FROM generate_series(1, %s)", [len(new)]
        ).fetchall()
    ]
    with connection.cursor() as cursor:
        with cursor.copy(
            "COPY pm_document (id, kind, source, uri, title, status, error, error_code, meta, authority) FROM STDIN"
        ) as copy:
            for document_id, item in zip(ids, new, strict=True):
                copy.write_row(
                    (
                        document_id,
                        item.kind,
                        item.source,
                        clean_text(item.uri) or None,
                        clean_text(item.title) or None,
                        item.status,
                        clean_text(item.error) or None,
                        item.error_code or None,
                        json.dumps(clean_json(item.meta or {})),
                        0.5 if item.authority is None else item.authority,
                    )
                )
        with cursor.copy("COPY pm_document_body (doc_id, media_type, name, charset, bytes) FROM STDIN") as copy:
            for document_id, item in zip(ids, new, strict=True):
                if item.body is not None:
                    body = item.body
                    named = (clean_text(body.media_type), clean_text(body.name), clean_text(body.charset))
                    copy.write_row((document_id, *named, body.bytes))
    connection.execute(
        "INSERT INTO pm_document_uri (doc_id, uri) SELECT * FROM unnest(%s::bigint[], %s::text[]) "
        "ON CONFLICT (uri_hash) DO NOTHING",
        [
            [document_id for document_id, item in zip(ids, new, strict=True) if item.uri],
            [clean_text(item.uri) for item in new if item.uri],
        ],
    )
    return ids


def add_uri(connection: Connection, document_id: int, uri: str) -> None:
    """Remember an address of a document. One that another document has stays there."""
    connection.execute(
        "INSERT INTO pm_document_uri (doc_id, uri) VALUES (%s, %s) ON CONFLICT (uri_hash) DO NOTHING",
        [document_id, clean_text(uri)],
    )


def part_address(connection: Connection, document_id: int, uri: str) -> bool:
    """Take an address from a document that was met under others of the same kind; false where it is the only one."""
    parted = connection.execute(
        """
        DELETE FROM pm_document_uri AS address WHERE doc_id = %(id)s AND uri = %(uri)s AND EXISTS (
            SELECT FROM pm_document_uri AS other WHERE other.doc_id = address.doc_id AND other.uri <> address.uri
              AND split_part(other.uri, ':', 1) = split_part(address.uri, ':', 1))
        """,
        {"id": document_id, "uri": clean_text(uri)},
    ).rowcount
    if parted:
        connection.execute(
            """
            UPDATE pm_document SET updated_at = now(),
                   uri = (SELECT uri FROM pm_document_uri WHERE doc_id = %(id)s ORDER BY id LIMIT 1)
            WHERE id = %(id)s AND uri = %(uri)s
            """,
            {"id": document_id, "uri": clean_text(uri)},
        )
    return bool(parted)


def put_body(connection: Connection, document_id: int, body: Body) -> None:
    """Keep or replace the bytes of a document."""
    connection.execute(
        """
        INSERT INTO pm_document_body (doc_id, media_type, name, charset, bytes) VALUES (%s, %s, %s, %s, %s)
        ON CONFLICT (doc_id) DO UPDATE SET media_type = excluded.media_type, name = excluded.name,
            charset = excluded.charset, bytes = excluded.bytes, created_at = now()
        """,
        [document_id, clean_text(body.media_type), clean_text(body.name), clean_text(body.charset), body.bytes],
    )


def find_by_uri(connection: Connection, uri: str) -> Known | None:
    """The document that has this address."""
    return known_addresses(connection, [uri]).get(uri)


def known_addresses(connection: Connection, uris: Sequence[str]) -> dict[str, Known]:
    """The documents that have these addresses, by address as it was asked for."""
    rows = connection.execute(
        """
        SELECT asked.uri, document.id, document.status, coalesce(body.sha256, ''), document.fetched_at,
               coalesce(document.checked_at, document.fetched_at), coalesce(document.uri, '')
        FROM unnest(%s::text[], %s::text[]) AS asked (uri, cleaned)
        JOIN pm_document_uri AS address ON address.uri_hash = pm_sha256(asked.cleaned)
        JOIN pm_document AS document ON document.id = address.doc_id
        LEFT JOIN pm_document_body AS body ON body.doc_id = document.id
        """,
        [[clean_text(uri) for uri in uris], [clean_text(uri) for uri in uris]],
    ).fetchall()
    return {row[0]: Known(row[1], DocumentStatus(row[2]), bytes(row[3]), *row[4:]) for row in rows}


def known_bytes(connection: Connection, hashes: Sequence[bytes]) -> dict[bytes, Known]:
    """The oldest document with each of these SHA-256 of bytes, of those that are or will be done."""
    rows = connection.execute(
        """
        SELECT DISTINCT ON (body.sha256) document.id, document.status, body.sha256, document.fetched_at,
               coalesce(document.checked_at, document.fetched_at), coalesce(document.uri, '')
        FROM pm_document_body AS body JOIN pm_document AS document ON document.id = body.doc_id
        WHERE body.sha256 = ANY(%s) AND document.status IN ('accepted', 'fetching', 'parsed', 'done')
        ORDER BY body.sha256, document.id
        """,
        [list(hashes)],
    ).fetchall()
    return {bytes(row[2]): Known(row[0], DocumentStatus(row[1]), bytes(row[2]), *row[3:]) for row in rows}


def hold(connection: Connection, ids: Sequence[int]) -> set[int]:
    """Those of these documents that are there; nobody forgets or changes them before the transaction ends."""
    rows = connection.execute(
        "SELECT id FROM pm_document WHERE id = ANY(%s) AND status <> 'forgotten' ORDER BY id FOR SHARE",
        [sorted(set(ids))],
    ).fetchall()
    return {row[0] for row in rows}


def find_by_content(connection: Connection, content_hash: str, except_id: int) -> int | None:
    """The oldest other document with this canonical text."""
    row = connection.execute(
        """
        SELECT id FROM pm_document
        WHERE content_hash = %s AND id <> %s AND status IN ('parsed', 'done') ORDER BY id LIMIT 1
        """,
        [content_hash, except_id],
    ).fetchone()
    return int(row[0]) if row else None


def reopen(connection: Connection, document_id: int, body: Body | None = None) -> None:
    """Put a document back to the start: it has new bytes, or is to be tried again."""
    if body is not None:
        put_body(connection, document_id, body)
        note_back(connection, [document_id])
    connection.execute(
        """
        UPDATE pm_document SET status = 'accepted', error = NULL, error_code = NULL, attempts = 0,
               next_attempt_at = now(), updated_at = now()
        WHERE id = %s
        """,
        [document_id],
    )


def note_back(connection: Connection, document_ids: Sequence[int]) -> None:
    """Say of documents that were gone that they are there again."""
    connection.execute(
        """
        UPDATE pm_document SET gone_at = NULL, error = NULL, error_code = NULL, updated_at = now()
        WHERE id = ANY(%s) AND gone_at IS NOT NULL
        """,
        [list(document_ids)],
    )


def merge_into(connection: Connection, document_id: int, survivor_id: int) -> None:
    """Make a document that turned out to have another's text one with it: its addresses and requests move over, and
    what was stated with it."""
    # Who is just adding a request or an address to it holds it: what they add must be seen below, or it goes with it.
    connection.execute("SELECT FROM pm_document WHERE id = %s FOR UPDATE", [document_id])
    for stated in stated_atoms(connection, document_id):
        add_stated_atom(connection, survivor_id, stated)
    connection.execute("UPDATE pm_document_uri SET doc_id = %s WHERE doc_id = %s", [survivor_id, document_id])
    connection.execute(
        """
        UPDATE pm_operation_item SET doc_id = %s, outcome = 'duplicate',
               reason = 'The same text is already document ' || %s || '.'
        WHERE doc_id = %s
        """,
        [survivor_id, survivor_id, document_id],
    )
    connection.execute("DELETE FROM pm_document WHERE id = %s", [document_id])


def pending_ids(
    connection: Connection, source: str, statuses: Sequence[str], only: Sequence[int] | None = None
) -> list[int]:
    """The documents of a source that stand at one of `statuses` and may be tried now, oldest first."""
    rows = connection.execute(
        """
        SELECT id FROM pm_document
        WHERE source = %s AND status = ANY(%s) AND next_attempt_at <= now() AND (%s::bigint[] IS NULL OR id = ANY(%s))
        ORDER BY id
        """,
        [source, list(statuses), list(only) if only else None, list(only) if only else None],
    ).fetchall()
    return [row[0] for row in rows]


def read_pending(connection: Connection, document_id: int) -> PendingDocument | None:
    row = connection.execute(
        """
        SELECT document.id, kind, source, coalesce(uri, ''), coalesce(title, ''), status, attempts,
               coalesce(etag, ''), coalesce(last_modified, ''), body.doc_id IS NOT NULL,
               fetched_at IS NULL AND coalesce(uri, '') ~ '^https?://'
        FROM pm_document AS document LEFT JOIN pm_document_body AS body ON body.doc_id = document.id
        WHERE document.id = %s
        """,
        [document_id],
    ).fetchone()
    if row is None:
        return None
    return PendingDocument(row[0], DocumentKind(row[1]), row[2], row[3], row[4], DocumentStatus(row[5]), *row[6:])


def still_has(connection: Connection, document_id: int, body: bytes) -> bool:
    """Whether a document's bytes are these; nobody exchanges them before the transaction ends."""
    row = connection.execute(
        "SELECT sha256 = sha256(%s::bytea) FROM pm_document_body WHERE doc_id = %s FOR SHARE", [body, document_id]
    ).fetchone()
    return bool(row and row[0])


def read_body(connection: Connection, document_id: int) -> Body | None:
    row = connection.execute(
        "SELECT bytes, media_type, name, charset FROM pm_document_body WHERE doc_id = %s", [document_id]
    ).fetchone()
    return Body(bytes(row[0]), row[1], row[2], row[3]) if row else None


def record_parse(connection: Connection, document_id: int, parsed: ParsedDocument, content_hash: str) -> None:
    """Write what a reader found out about a document, and that its chunks are there.

    The title of a text that came without an address is the one that it was given under; any other has its own.
    """
    meta = {
        # What was stated by hand stands under this name; a document's front matter may not pass for it.
        **{name: value for name, value in parsed.meta.items() if name != STATED},
        **{
            name: value
            for name, value in (
                ("author", parsed.author),
                ("published", parsed.published),
                ("site", parsed.site),
                ("encoding", parsed.encoding),
            )
            if value
        },
    }
    connection.execute(
        """
        UPDATE pm_document SET status = 'parsed', kind = %(kind)s, language = %(language)s,
               title = CASE WHEN uri IS NULL THEN coalesce(title, nullif(%(title)s, ''))
                            ELSE coalesce(nullif(%(title)s, ''), title) END,
               content_hash = %(hash)s, reader = %(reader)s, warnings = %(warnings)s, meta = meta || %(meta)s,
               error = NULL, error_code = NULL, attempts = 0, parsed_at = coalesce(parsed_at, now()),
               updated_at = now(), parsed_sha256 = (SELECT sha256 FROM pm_document_body WHERE doc_id = %(id)s)
        WHERE id = %(id)s
        """,
        {
            "kind": parsed.kind,
            "language": parsed.language,
            "title": clean_text(parsed.title),
            "hash": content_hash,
            "reader": parsed.reader,
            "warnings": json.dumps(list(parsed.warnings)),
            "meta": json.dumps(clean_json(meta)),
            "id": document_id,
        },
    )


def all_sources(connection: Connection) -> list[str]:
    """Every partition key that has documents."""
    return [row[0] for row in connection.execute("SELECT DISTINCT source FROM pm_document ORDER BY 1").fetchall()]


def source_of(connection: Connection, document_id: int) -> str:
    row = connection.execute("SELECT source FROM pm_document WHERE id = %s", [document_id]).fetchone()
    assert row is not None
    return str(row[0])


def set_status(connection: Connection, document_id: int, status: DocumentStatus) -> None:
    connection.execute("UPDATE pm_document SET status = %s, updated_at = now() WHERE id = %s", [status, document_id])


def ids_with_body(connection: Connection, source: str, only: Sequence[int] | None = None) -> list[int]:
    """The documents of a source that have bytes, oldest first, or those of them that are named."""
    rows = connection.execute(
        """
        SELECT document.id FROM pm_document AS document JOIN pm_document_body AS body ON body.doc_id = document.id
        WHERE source = %s AND status <> 'forgotten' AND (%s::bigint[] IS NULL OR document.id = ANY(%s))
        ORDER BY document.id
        """,
        [source, list(only) if only else None, list(only) if only else None],
    ).fetchall()
    return [row[0] for row in rows]


def has_chunks(connection: Connection, document_id: int) -> bool:
    row = connection.execute("SELECT EXISTS (SELECT FROM pm_chunk WHERE doc_id = %s)", [document_id]).fetchone()
    return bool(row and row[0])


def keys_of(connection: Connection, document_id: int) -> list[str]:
    """The keys of a document, of every atom that cites it, and of what must be projected before these can be."""
    rows = connection.execute("SELECT DISTINCT atom_id FROM pm_citation WHERE doc_id = %s", [document_id]).fetchall()
    atoms = [row[0] for row in rows]
    return [f"doc:{document_id}", *(f"atom:{atom}" for atom in atoms), *documents_awaited(connection, atoms)]


def documents_awaited(connection: Connection, atoms: Sequence[int]) -> list[str]:
    """The keys of the documents that atoms cite and that the graph does not show yet."""
    rows = connection.execute(
        """
        SELECT DISTINCT 'doc:' || doc_id FROM pm_citation WHERE atom_id = ANY(%s) AND EXISTS (
            SELECT FROM pm_outbox WHERE entity_key = 'doc:' || doc_id AND graph_state <> 'done')
        """,
        [list(atoms)],
    ).fetchall()
    return [row[0] for row in rows]
