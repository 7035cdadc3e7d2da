"""Pages: documents whose bytes are had from an address, once or again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

from pegas_assets.stores.documents import Body, put_body
from pegas_assets.text.cleaning import clean_text


@dataclass(frozen=True)
class PendingPage:
    """A document that was accepted, and whether it is a page whose bytes are to be had."""

    id: int
    uri: str
    to_fetch: bool


def pending_pages(connection: Connection, source: str, only: Sequence[int] | None = None) -> list[PendingPage]:
    """The documents of a source that were accepted and may be tried now, oldest first."""
    rows = connection.execute(
        """
        SELECT id, coalesce(uri, ''), fetched_at IS NULL AND coalesce(uri, '') ~ '^https?://' FROM pm_document
        WHERE source = %(source)s AND status IN ('accepted', 'fetching') AND next_attempt_at <= now()
          AND (%(only)s::bigint[] IS NULL OR id = ANY(%(only)s))
        ORDER BY id
        """,
        {"source": source, "only": list(only) if only else None},
    ).fetchall()
    return [PendingPage(*row) for row in rows]


def ask_to_fetch(connection: Connection, document_id: int) -> None:
    """Have a page fetched again though its bytes are here; `etag` and `last_modified` tell the server what we have."""
    connection.execute("UPDATE pm_document SET fetched_at = NULL WHERE id = %s", [document_id])


def record_fetch(connection: Connection, document_id: int, *, etag: str, last_modified: str, body: Body | None) -> None:
    """Keep what was fetched; None for a page that has not changed, whose marks stay unless the answer has newer ones.

    The attempts that it took do not count against the reading.
    """
    if body is not None:
        put_body(connection, document_id, body)
    connection.execute(
        """
        UPDATE pm_document SET fetched_at = now(), checked_at = now(), gone_at = NULL, attempts = 0, updated_at = now(),
               etag = coalesce(nullif(%(etag)s, ''), CASE WHEN %(same)s THEN etag END),
               last_modified = coalesce(nullif(%(modified)s, ''), CASE WHEN %(same)s THEN last_modified END)
        WHERE id = %(id)s
        """,
        {
            "etag": clean_text(etag),
            "modified": clean_text(last_modified),
            "same": body is None,
            "id": document_id,
        },
    )


def due_pages(connection: Connection, age_s: float, limit: int) -> list[tuple[int, str]]:
    """Pages that were read and whose address was last asked longer ago than this, the longest first: id and address."""
    return connection.execute(
        """
        SELECT id, uri FROM pm_document
        WHERE status = 'done' AND uri IS NOT NULL AND uri ~ '^https?://'
          AND coalesce(checked_at, fetched_at, created_at) <= now() - make_interval(secs => %s)
        ORDER BY coalesce(checked_at, fetched_at, created_at), id LIMIT %s
        """,
        [age_s, limit],
    ).fetchall()


def known_files(connection: Connection, after_id: int, limit: int) -> list[tuple[int, int, str, str]]:
    """The addresses of files, in order: the address's number, the document's, its address and source."""
    return connection.execute(
        """
        SELECT address.id, document.id, address.uri, document.source
        FROM pm_document_uri AS address JOIN pm_document AS document ON document.id = address.doc_id
        WHERE address.id > %s AND address.uri LIKE 'file://%%' AND document.status <> 'forgotten'
        ORDER BY address.id LIMIT %s
        """,
        [after_id, limit],
    ).fetchall()


def addresses_of(connection: Connection, document_ids: Sequence[int]) -> dict[int, list[str]]:
    """Every address of some documents."""
    found: dict[int, list[str]] = {}
    for document_id, uri in connection.execute(
        "SELECT doc_id, uri FROM pm_document_uri WHERE doc_id = ANY(%s) ORDER BY id", [list(document_ids)]
    ).fetchall():
        found.setdefault(document_id, []).append(uri)
    return found


def note_files_gone(connection: Connection, document_ids: Sequence[int]) -> dict[int, str]:
    """Say of documents that their files are not there any more; returns since which day. What was read stays."""
    return dict(
        connection.execute(
            """
            UPDATE pm_document SET gone_at = coalesce(gone_at, now()), checked_at = now(), updated_at = now(),
                   error = 'Gone since ' || to_char(coalesce(gone_at, now()), 'YYYY-MM-DD')
                           || '; what was read is kept. The file is not there any more.', error_code = 'gone'
            WHERE id = ANY(%s) AND status = 'done' RETURNING id, to_char(gone_at, 'YYYY-MM-DD')
            """,
            [list(document_ids)],
        ).fetchall()
    )
