"""Asks again for what is known: pages whose address may have something newer, files that changed on disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pegas_assets.errors import InvalidInput, PegasError
from pegas_assets.model import DocumentKind
from pegas_assets.pipeline.accept import (
    BATCH_BYTES,
    BATCH_FILES,
    BATCH_URLS,
    Acceptance,
    Address,
    Taken,
    accept_addresses,
    accept_batch,
    file_body,
)
from pegas_assets.settings import Settings
from pegas_assets.sources import addresses, files
from pegas_assets.stores import documents, pages
from pegas_assets.stores.documents import NewDocument
from pegas_assets.stores.operations import Item, add_items, open_operation, set_taking
from pegas_assets.stores.postgres import Connection, Database

PAGES_AT_ONCE = 1000
"""Pages that one tick of the schedule asks for again."""

_URL = re.compile(r"https?://", re.IGNORECASE)


def refresh_named(
    database: Database,
    settings: Settings,
    what: Sequence[str],
    *,
    client: str = "",
    progress: Taken | None = None,
) -> Acceptance:
    """Ask again for known pages and files, by address, or by a path that is theirs or above theirs.

    What is not known is refused, item by item. A page is asked for with the marks of the copy that is here, so that one
    that has not changed costs neither bytes nor work.

    Raises:
        InvalidInput: nothing was named.
    """
    if not what:
        raise InvalidInput("Nothing was named.", hint="Give addresses or paths of what is known.")
    request = _Request(database, settings, client)
    known: list[str] = []
    for item in (item for item in what if _URL.match(item)):
        try:
            known.append(addresses.normalise_url(item, allow_hosts=settings.fetch_allow_hosts))
        except PegasError as error:
            request.add([Item(item, None, "refused", str(error))])
    with database.connection() as connection:
        found = documents.known_addresses(connection, known)
    unknown = [
        Item(url, None, "refused", f"{url} is not known; take it in with ingest.") for url in known if url not in found
    ]
    if unknown:
        request.add(unknown)
    request.pages([url for url in known if url in found], progress)
    for item in (item for item in what if not _URL.match(item)):
        path = Path(item).expanduser().resolve()
        if not request.files(lambda file, path=path: file == path or path in file.parents, progress):  # type: ignore[misc]
            request.add([Item(item, None, "refused", f"No file at or below {item} is known; take it in with ingest.")])
    return request.ended()


def refresh_old(
    database: Database,
    settings: Settings,
    *,
    older_than_s: float | None,
    with_files: bool = True,
    limit: int | None = None,
    client: str = "",
    progress: Taken | None = None,
) -> Acceptance:
    """Ask again for every page that was last asked for longer ago than this, and for every known file that changed.

    With `older_than_s` of None no page is asked for. The longest unasked come first, at most `limit` of them.
    """
    request = _Request(database, settings, client)
    if older_than_s is not None:
        with database.connection() as connection:
            due = pages.due_pages(connection, older_than_s, limit if limit is not None else 1_000_000)
        request.pages([uri for _, uri in due], progress)
    if with_files:
        request.files(lambda _: True, progress)
    return request.ended()


class _Request:
    """One request to refresh, taken in batches."""

    def __init__(self, database: Database, settings: Settings, client: str) -> None:
        self._database = database
        self._settings = settings
        self._items: list[Item] = []
        self._sources: dict[str, None] = {}
        with database.connection() as connection:
            self._operation = open_operation(connection, "refresh", client, taking=True)

    def ended(self) -> Acceptance:
        with self._database.connection() as connection:
            set_taking(connection, self._operation, taking=False)
        return Acceptance(self._operation, tuple(self._items), tuple(self._sources))

    def add(self, items: Sequence[Item]) -> None:
        with self._database.connection() as connection:
            add_items(connection, self._operation, items)
        self._items += items

    def pages(self, urls: Sequence[str], progress: Taken | None) -> None:
        """Have known addresses asked again."""
        for start in range(0, len(urls), BATCH_URLS):
            batch = [(Address(url), "") for url in urls[start : start + BATCH_URLS]]

            def work(connection: Connection, batch: Sequence[tuple[Address, str]] = batch) -> list[Item]:
                set_taking(connection, self._operation, taking=True)
                items, sources = accept_addresses(connection, self._settings, batch, refresh=True)
                add_items(connection, self._operation, items)
                self._sources.update(sources)
                return items

            self._items += self._database.transaction(work)
            if progress is not None:
                progress(min(start + BATCH_URLS, len(urls)), len(urls))

    def files(self, chosen: Callable[[Path], bool], progress: Taken | None) -> int:
        """Read the known files again that are chosen; returns how many those are."""
        last, count = 0, 0
        while True:
            with self._database.connection() as connection:
                found = pages.known_files(connection, last, BATCH_FILES)
            if not found:
                return count
            last = found[-1][0]
            named = [(document, uri, source) for _, document, uri, source in found if chosen(_path(uri))]
            count += len(named)
            self._read(named)
            if progress is not None and count:
                progress(count, count + (len(found) == BATCH_FILES))

    def _read(self, named: Sequence[tuple[int, str, str]]) -> None:
        """Take the files of one batch, and say which are gone."""
        batch: list[NewDocument | Item] = []
        gone: list[tuple[int, str]] = []
        size = 0
        for document, uri, source in named:
            path = _path(uri)
            if _is_gone(path):
                gone.append((document, uri))
                continue
            try:
                content = files.read_file(path, max_bytes=self._settings.max_document_bytes)
                body = file_body(content, path.name)
            except PegasError as error:
                batch.append(Item(uri, document, "refused", str(error)))
                continue
            size += len(content)
            batch.append(NewDocument(DocumentKind.TEXT, source, uri=uri, body=body))
            if size >= BATCH_BYTES:
                self._take(batch)
                batch, size = [], 0
        if batch:
            self._take(batch)
        if gone:
            self._part_with(gone)

    def _take(self, batch: Sequence[NewDocument | Item]) -> None:
        def work(connection: Connection) -> list[Item]:
            set_taking(connection, self._operation, taking=True)
            items = accept_batch(connection, self._operation, batch)
            for item in items:
                if item.document_id is not None and item.outcome is None:
                    self._sources[documents.source_of(connection, item.document_id)] = None
            return items

        self._items += self._database.transaction(work)

    def _part_with(self, gone: Sequence[tuple[int, str]]) -> None:
        with self._database.connection() as connection:
            every = pages.addresses_of(connection, [document for document, _ in gone])
            lost = [
                document
                for document, uris in every.items()
                if not any(_URL.match(uri) or not _is_gone(_path(uri)) for uri in uris)
            ]
            since = pages.note_files_gone(connection, lost)
            items = [
                Item(
                    uri,
                    document,
                    "unchanged",
                    f"Gone since {since[document]}; what was read is kept."
                    if document in since
                    else "The file is gone; its text is known from elsewhere too, and kept.",
                )
                for document, uri in gone
            ]
            add_items(connection, self._operation, items)
        self._items += items


def _is_gone(path: Path) -> bool:
    """Whether nothing is there; what may not be looked at is not gone."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _path(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))
