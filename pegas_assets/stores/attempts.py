"""Attempts at a document: counted before the work, and what came of each.

`documents.reopen` puts the count back to 0. What a worker then still finds out about the older bytes no longer counts:
every ending here leaves such a document as it is, to be read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

from pegas_assets.model import DocumentStatus
from pegas_assets.stores.documents import has_chunks
from pegas_assets.text.cleaning import clean_text

MAX_ATTEMPTS = 5
"""A document that failed or killed its worker so often is failed for good, with the last reason."""


def begin_attempt(connection: Connection, document_id: int) -> int:
    """Count an attempt before the work, so that a document that kills its worker is not tried for ever."""
    row = connection.execute(
        "UPDATE pm_document SET attempts = attempts + 1, updated_at = now() WHERE id = %s RETURNING attempts",
        [document_id],
    ).fetchone()
    return int(row[0]) if row else 0


def forgive_attempt(connection: Connection, document_id: int) -> None:
    """Take back an attempt that came to nothing because its time had not come."""
    connection.execute("UPDATE pm_document SET attempts = attempts - 1 WHERE id = %s AND attempts > 0", [document_id])


def put_off(
    connection: Connection, document_ids: Sequence[int], seconds: Sequence[float], reasons: Sequence[str]
) -> None:
    """Have open documents wait so long, with the reason; that is no attempt."""
    connection.execute(
        """
        UPDATE pm_document SET next_attempt_at = now() + make_interval(secs => wait.seconds),
               error = nullif(wait.reason, ''), error_code = CASE WHEN wait.reason <> '' THEN 'host_waits' END,
               updated_at = now()
        FROM unnest(%s::bigint[], %s::float8[], %s::text[]) AS wait (id, seconds, reason)
        WHERE pm_document.id = wait.id AND status IN ('accepted', 'fetching')
        """,
        [list(document_ids), list(seconds), [clean_text(reason) for reason in reasons]],
    )


def note_gone(connection: Connection, document_id: int, reason: str, code: str) -> bool:
    """Say of a document that was read before that its address has nothing any more; what was read stays.

    False where it was never read: then there is nothing to keep.
    """
    if not _attempts(connection, document_id) or not _all_distilled(connection, document_id):
        return False
    connection.execute("UPDATE pm_document SET gone_at = coalesce(gone_at, now()) WHERE id = %s", [document_id])
    row = connection.execute(
        "SELECT to_char(gone_at, 'YYYY-MM-DD') FROM pm_document WHERE id = %s", [document_id]
    ).fetchone()
    assert row is not None
    _end(connection, document_id, DocumentStatus.DONE, f"Gone since {row[0]}; what was read is kept. {reason}", code)
    return True


def settle_unchanged(connection: Connection, document_id: int) -> bool:
    """Whether a document's bytes are those that its chunks were made from and all is distilled: then it is done."""
    return bool(
        connection.execute(
            """
            UPDATE pm_document SET status = 'done', error = NULL, error_code = NULL, attempts = 0, updated_at = now()
            WHERE id = %s AND status IN ('accepted', 'fetching')
              AND parsed_sha256 = (SELECT sha256 FROM pm_document_body WHERE doc_id = pm_document.id)
              AND EXISTS (SELECT FROM pm_chunk WHERE doc_id = pm_document.id)
              AND NOT EXISTS (SELECT FROM pm_chunk WHERE doc_id = pm_document.id AND distilled_by IS NULL)
            """,
            [document_id],
        ).rowcount
    )


def finish(connection: Connection, document_id: int) -> None:
    """A document is done: all its chunks are distilled."""
    connection.execute(
        "UPDATE pm_document SET status = 'done', error = NULL, error_code = NULL, attempts = 0, updated_at = now() "
        "WHERE id = %s AND attempts > 0",
        [document_id],
    )


def refuse(connection: Connection, document_id: int, status: DocumentStatus, reason: str, code: str) -> None:
    """Refuse a document: the row, status and reason stay; no bytes, chunk or atom.

    One that was read before keeps what is known from that reading, with the reason why the newer one was not taken.
    """
    if not _attempts(connection, document_id):
        return
    if has_chunks(connection, document_id):
        _end(connection, document_id, DocumentStatus.DONE, reason, code)
        return
    connection.execute("DELETE FROM pm_document_body WHERE doc_id = %s", [document_id])
    _end(connection, document_id, status, reason, code)


def fail(
    connection: Connection,
    document_id: int,
    reason: str,
    code: str,
    *,
    retry_in_s: float | None,
    forgiven: bool = False,
) -> None:
    """Note a failure: tried again after `retry_in_s`; failed for good where that is None or tries are used up.

    A document that was read before goes back to done in that case, with the reason. A `forgiven` attempt, which failed
    for no fault of the document, is not counted.
    """
    attempts = _attempts(connection, document_id)
    if not attempts:
        return
    if retry_in_s is not None and (forgiven or attempts < MAX_ATTEMPTS):
        connection.execute(
            "UPDATE pm_document SET error = %s, error_code = %s, attempts = %s, updated_at = now(), "
            "next_attempt_at = now() + make_interval(secs => %s) WHERE id = %s",
            [clean_text(reason), code, attempts - forgiven, retry_in_s, document_id],
        )
    elif _all_distilled(connection, document_id):
        _end(connection, document_id, DocumentStatus.DONE, reason, code)
    else:
        _end(connection, document_id, DocumentStatus.FAILED, reason, code)


def _attempts(connection: Connection, document_id: int) -> int:
    """How many attempts are counted; the row is held until the transaction ends."""
    row = connection.execute("SELECT attempts FROM pm_document WHERE id = %s FOR UPDATE", [document_id]).fetchone()
    return int(row[0]) if row else 0


def _end(connection: Connection, document_id: int, status: DocumentStatus, reason: str, code: str) -> None:
    # The bytes of a page that was read before are as old as they are: it is not asked for again because of this.
    connection.execute(
        """
        UPDATE pm_document SET status = %(status)s, error = %(reason)s, error_code = %(code)s, updated_at = now(),
               checked_at = now(),
               fetched_at = CASE WHEN %(status)s = 'done' AND uri ~ '^https?://' THEN coalesce(
                   fetched_at, (SELECT created_at FROM pm_document_body WHERE doc_id = pm_document.id))
                   ELSE fetched_at END
        WHERE id = %(id)s
        """,
        {"status": status, "reason": clean_text(reason), "code": code, "id": document_id},
    )


def _all_distilled(connection: Connection, document_id: int) -> bool:
    row = connection.execute(
        "SELECT count(*) > 0 AND count(*) = count(distilled_by) FROM pm_chunk WHERE doc_id = %s", [document_id]
    ).fetchone()
    return bool(row and row[0])
