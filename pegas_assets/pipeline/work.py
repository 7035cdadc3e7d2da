"""Takes the documents of a source one by one, each for one worker at a time, and keeps what went wrong with each."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pegas_assets.errors import EngineUnavailable, FetchFailed, PegasError, Refused
from pegas_assets.model import DocumentStatus
from pegas_assets.pipeline.report import Progress, StageReport
from pegas_assets.stores import attempts, documents
from pegas_assets.stores.attempts import MAX_ATTEMPTS
from pegas_assets.stores.documents import PendingDocument
from pegas_assets.stores.locks import release_document, try_document
from pegas_assets.stores.postgres import Database, first_line


class Later(Exception):
    """The work on a document has to wait, for no fault of it; whoever orders the work sees to it that it comes again."""


RETRY_S = (2.0, 10.0, 60.0, 300.0, 900.0)


def each_document(
    database: Database,
    ids: Iterable[int],
    report: StageReport,
    work: Callable[[PendingDocument], None],
    wanted: Callable[[PendingDocument], bool],
    progress: Progress | None = None,
    *,
    total: int | None = None,
) -> None:
    """Call `work` for each document that is still `wanted` once its lock is held; a document that another worker holds
    is left to it.

    The attempt is counted in a transaction of its own before the work begins, so that a document that kills its worker
    is failed after some tries. A refusal ends the document; anything else is tried again later. Only an engine that does
    not answer ends the loop: then no document is to blame. What raises `Later` is not counted as tried, nor as done in
    the progress out of `total`; no connection is held while the next of `ids` is waited for.

    Raises:
        EngineUnavailable: from the work.
    """
    if total is None:
        ids = list(ids)
        total = len(ids)
    done = 0
    for document_id in ids:
        with database.session() as session:
            if try_document(session, document_id):
                try:
                    ended = _take(database, document_id, report, work, wanted)
                finally:
                    if not session.closed:
                        release_document(session, document_id)
            else:
                ended = True
                report.skipped["another worker has it"] += 1
        done += ended
        if progress is not None and ended:
            progress(report.stage, done, total)


def _take(
    database: Database,
    document_id: int,
    report: StageReport,
    work: Callable[[PendingDocument], None],
    wanted: Callable[[PendingDocument], bool],
) -> bool:
    """Whether the document was dealt with, well or not; false where it has to wait."""
    with database.connection() as connection:
        document = documents.read_pending(connection, document_id)
        if document is None or not wanted(document):
            return True
        count = attempts.begin_attempt(connection, document_id)
    if count > MAX_ATTEMPTS:
        reason = f"The worker ended {MAX_ATTEMPTS} times over this document."
        _record(database, document, report, PegasError(reason, code="worker_lost"), None)
        return True
    try:
        _attempt(database, document, count, report, work)
    except Later:
        with database.connection() as connection:
            attempts.forgive_attempt(connection, document_id)
        return False
    return True


def _attempt(
    database: Database,
    document: PendingDocument,
    count: int,
    report: StageReport,
    work: Callable[[PendingDocument], None],
) -> None:
    retry = RETRY_S[min(count, len(RETRY_S)) - 1]
    try:
        work(document)
        report.documents += 1
    except Later:
        raise
    except Refused as error:
        status = DocumentStatus.NEEDS_OCR if error.needs_ocr else DocumentStatus.REFUSED
        with database.connection() as connection:
            attempts.refuse(connection, document.id, status, str(error), error.code)
        report.note_failure(error.code, str(error))
    except EngineUnavailable as error:
        _record(database, document, report, error, 1.0, forgiven=True)
        raise
    except FetchFailed as error:
        if error.gone:
            with database.connection() as connection:
                gone = attempts.note_gone(connection, document.id, error.message, error.code)
            if gone:
                report.skipped["gone"] += 1
                return
        _record(database, document, report, error, max(retry, error.wait_s) if error.retryable else None)
    except PegasError as error:
        _record(database, document, report, error, retry if error.retryable else None)
    except Exception as error:  # noqa: BLE001 - one document's trouble is its own: it is written down and the rest goes on
        wrapped = PegasError(f"{type(error).__name__}: {first_line(error)}.", code="internal_error")
        _record(database, document, report, wrapped, retry)


def _record(
    database: Database,
    document: PendingDocument,
    report: StageReport,
    error: PegasError,
    retry_in_s: float | None,
    *,
    forgiven: bool = False,
) -> None:
    with database.connection() as connection:
        attempts.fail(connection, document.id, str(error), error.code, retry_in_s=retry_in_s, forgiven=forgiven)
    report.note_failure(error.code, str(error))
