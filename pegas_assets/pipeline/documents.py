"""The `documents` stage: fetches the pages of a source that are pending, and keeps their bytes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

from pegas_assets.errors import FetchFailed, InvalidInput, Refused
from pegas_assets.model import DocumentStatus
from pegas_assets.pipeline.hosts import HostGate, host_of
from pegas_assets.pipeline.report import Progress, StageReport
from pegas_assets.pipeline.turns import HostTurns
from pegas_assets.pipeline.work import Later, each_document
from pegas_assets.settings import Settings
from pegas_assets.sources.addresses import normalise_url
from pegas_assets.sources.fetch import Fetched, FetchOptions, Hop, NotYet, fetch
from pegas_assets.sources.page_shell import leads_on_to
from pegas_assets.stores import attempts, documents, pages
from pegas_assets.stores.documents import Body, PendingDocument
from pegas_assets.stores.postgres import Database

LONGEST_PAUSE_S = 10.0
"""A host in trouble is asked again within the run where it wants no longer a pause than this."""


def fetch_pending(
    database: Database,
    settings: Settings,
    source: str,
    *,
    only: Sequence[int] | None = None,
    progress: Progress | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> StageReport:
    """Fetch every page of a source that was accepted and has no bytes yet. Documents that came with bytes are counted.

    Pages come in the order in which their hosts may be asked; those of a host that wants to be left alone for long
    stay open, to be tried when it is free again.
    """
    report = StageReport("documents", source)
    with database.connection() as connection:
        pending = pages.pending_pages(connection, source, only)
    here = sum(not page.to_fetch for page in pending)
    if here:
        report.skipped["bytes are here"] += here
    if progress is not None:
        for done in range(here):
            progress(report.stage, done + 1, len(pending))
    wanting = [page for page in pending if page.to_fetch]
    gate = HostGate(database, settings)
    turns = HostTurns([(page.id, host_of(page.uri)) for page in wanting], gate.busy, sleep=sleep)
    fetcher = _Fetcher(settings, gate, turns)

    def wanted(document: PendingDocument) -> bool:
        return document.to_fetch and document.status in (DocumentStatus.ACCEPTED, DocumentStatus.FETCHING)

    def work(document: PendingDocument) -> None:
        with database.connection() as connection:
            documents.set_status(connection, document.id, DocumentStatus.FETCHING)
        page = fetcher(document)
        with database.connection() as connection:
            body = (
                None
                if page.not_modified
                else Body(page.body, media_type=page.content_type, name=page.url, charset=page.charset)
            )
            pages.record_fetch(connection, document.id, etag=page.etag, last_modified=page.last_modified, body=body)
            if page.moved_to:
                documents.add_uri(connection, document.id, page.moved_to)
            unchanged = attempts.settle_unchanged(connection, document.id)
        report.produced += 1
        report.counts["bytes"] += len(page.body)
        if unchanged or page.not_modified:
            report.skipped["not changed"] += 1

    def tell(stage: str, done: int, total: int) -> None:
        if progress is not None:
            progress(stage, here + done, len(pending))

    each_document(database, turns, report, work, wanted, tell, total=len(wanting))
    if turns.put_off:
        with database.connection() as connection:
            attempts.put_off(
                connection,
                [late.document_id for late in turns.put_off],
                [late.seconds for late in turns.put_off],
                [late.reason for late in turns.put_off],
            )
        report.skipped["its host wants to be left alone"] += len(turns.put_off)
    return report.ended()


class _Fetcher:
    """Fetches a page, in as many steps as its hosts want; between two of them the page is given back to the turns."""

    def __init__(self, settings: Settings, gate: HostGate, turns: HostTurns) -> None:
        self._options = replace(FetchOptions.from_settings(settings), attempts=1)
        self._attempts = settings.fetch_attempts
        self._gate = gate
        self._turns = turns
        self._tries: Counter[int] = Counter()
        self._on_the_way: dict[int, NotYet] = {}

    def __call__(self, document: PendingDocument) -> Fetched:
        """The page of a document.

        Raises:
            Later: its host is not free, or in trouble; the turns have the document again.
            Refused, FetchFailed: what `fetch` and the gate say.
        """
        asked = [document.uri]

        def gate(url: str) -> None:
            self._gate(url)
            asked.append(url)

        waited = self._on_the_way.pop(document.id, None)
        came = waited.came if waited is not None else ()
        try:
            page = fetch(
                waited.url if waited is not None and waited.url else document.uri,
                options=self._options,
                etag=document.etag if document.has_body else "",
                last_modified=document.last_modified if document.has_body else "",
                gate=gate,
                came=came,
            )
            onward = self._onward(page)
        except NotYet as wait:
            self._later(document, wait)
        except InvalidInput as error:
            # An address that may not be fetched, found out by its name or after a redirect.
            raise Refused(error.message, hint=error.hint, item=document.uri, code=error.code) from None
        except FetchFailed as error:
            if error.wait_s and error.status:
                self._gate.pause(asked[-1], error.wait_s)
            self._tries[document.id] += 1
            tries = self._tries[document.id]
            pause = error.wait_s or 0.4 * 2 ** (tries - 1)
            final = tries >= self._attempts or pause > LONGEST_PAUSE_S
            if not error.retryable or error.code in ("fetch_timeout", "robots_unavailable") or final:
                raise
            self._turns.again(document.id, host_of(asked[-1]), pause, str(error))
            raise Later from None
        if onward is None:
            return page
        self._later(document, onward)

    def _later(self, document: PendingDocument, wait: NotYet) -> NoReturn:
        self._on_the_way[document.id] = wait
        self._turns.again(document.id, host_of(wait.url), wait.seconds, wait.reason)
        raise Later from None

    def _onward(self, page: Fetched) -> NotYet | None:
        """The way on from a page that is only a signpost to another."""
        target = (
            leads_on_to(page.body, page.url) if page.content_type in ("", "text/html", "application/xhtml+xml") else ""
        )
        seen = [*page.hops, Hop(page.url, page.status)]
        if not target or len(seen) > self._options.max_redirects:
            return None
        onward = NotYet(0.0)
        onward.url = normalise_url(target, allow_hosts=self._options.allow_hosts)
        onward.came = tuple(seen)
        return None if onward.url in (hop.url for hop in seen) else onward
