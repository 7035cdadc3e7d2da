"""Attempts at a document: counted before the work, and what came of each.

`documents.reopen` puts the count back to 0. What a worker then still finds out about the older bytes no longer counts:
every ending here leaves such a document as it is, to be read again.
"""

from __future__ import annotations

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
    connection.execute(
        "UPDATE pm_document SET status = %s, error = %s, error_code = %s, updated_at = now() WHERE id = %s",
        [status, clean_text(reason), code, document_id],
    )


def _all_distilled(connection: Connection, document_id: int) -> bool:
    row = connection.execute(
        "SELECT count(*) > 0 AND count(*) = count(distilled_by) FROM pm_chunk WHERE doc_id = %s", [document_id]
    ).fetchone()
    return bool(row and row[0])
