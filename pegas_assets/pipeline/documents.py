"""The `documents` stage: fetches the pages of a source that are pending, and keeps their bytes."""

from __future__ import annotations

from collections.abc import Sequence

from pegas_assets.errors import InvalidInput, Refused
from pegas_assets.model import DocumentStatus
from pegas_assets.pipeline.report import Progress, StageReport
from pegas_assets.pipeline.work import each_document
from pegas_assets.settings import Settings
from pegas_assets.sources.fetch import FetchOptions, fetch
from pegas_assets.stores import documents
from pegas_assets.stores.documents import Body, PendingDocument
from pegas_assets.stores.postgres import Database


def fetch_pending(
    database: Database,
    settings: Settings,
    source: str,
    *,
    only: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> StageReport:
    """Fetch every page of a source that was accepted and has no bytes yet. Documents that came with bytes are counted."""
    report = StageReport("documents", source)
    with database.connection() as connection:
        ids = documents.pending_ids(connection, source, ["accepted", "fetching"], only)

    options = FetchOptions.from_settings(settings)

    def wanted(document: PendingDocument) -> bool:
        if document.status not in (DocumentStatus.ACCEPTED, DocumentStatus.FETCHING):
            return False
        if not document.to_fetch:
            report.skipped["bytes are here"] += 1
            return False
        return True

    def work(document: PendingDocument) -> None:
        with database.connection() as connection:
            documents.set_status(connection, document.id, DocumentStatus.FETCHING)
        try:
            page = fetch(
                document.uri,
                options=options,
                etag=document.etag if document.has_body else "",
                last_modified=document.last_modified if document.has_body else "",
            )
        except InvalidInput as error:
            # An address that may not be fetched, found out by its name or after a redirect.
            raise Refused(error.message, hint=error.hint, item=document.uri, code=error.code) from None
        with database.connection() as connection:
            body = (
                None
                if page.not_modified
                else Body(page.body, media_type=page.content_type, name=page.url, charset=page.charset)
            )
            documents.record_fetch(connection, document.id, etag=page.etag, last_modified=page.last_modified, body=body)
            if page.url != document.uri:
                documents.add_uri(connection, document.id, page.url)
        report.produced += 1
        report.counts["bytes"] += len(page.body)
        if page.not_modified:
            report.skipped["not modified"] += 1

    each_document(database, ids, report, work, wanted, progress)
    return report.ended()
