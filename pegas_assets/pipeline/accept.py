"""Accepts documents: validates, and commits row, bytes or address, so that nothing is lost whatever comes next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from pegas_assets.errors import InvalidInput, PegasError
from pegas_assets.model import DocumentKind, DocumentStatus
from pegas_assets.settings import Settings
from pegas_assets.sources import addresses, files, partition
from pegas_assets.sources.pdf import is_locked_pdf, unlocked_pdf
from pegas_assets.stores import documents, pages
from pegas_assets.stores.documents import Body, Known, NewDocument
from pegas_assets.stores.operations import Item, add_items, open_operation, set_taking
from pegas_assets.stores.postgres import Connection, Database
from pegas_assets.stores.stated import StatedAtom, add_stated_atom
from pegas_assets.text.cleaning import clean_text
from pegas_assets.text.folding import has_words

BATCH_FILES = 100
BATCH_BYTES = 20_000_000
"""Files of one transaction: enough to be quick, little enough to show progress and to lose nothing much."""


BATCH_URLS = 500

Begun = Callable[[str], None]
"""Told a request's id before its first thing is taken."""
Taken = Callable[[int, int], None]
"""Told how many things are taken, and how many there are."""


@dataclass(frozen=True)
class Address:
    """The address of a page; `changed_at` is when its site says that it changed last."""

    url: str
    changed_at: datetime | None = None


@dataclass(frozen=True)
class Acceptance:
    """What was asked for and taken. `sources` are the partitions that it belongs to; `notes` are sentences for whoever
    asked about what was not asked for one by one."""

    operation_id: str
    items: tuple[Item, ...]
    sources: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def document_ids(self) -> tuple[int, ...]:
        """The documents with work to do."""
        return tuple(
            dict.fromkeys(
                item.document_id
                for item in self.items
                if item.document_id is not None and (item.outcome is None or item.open)
            )
        )


def accept_text(
    database: Database,
    settings: Settings,
    text: str,
    *,
    title: str = "",
    client: str = "",
    kind: DocumentKind = DocumentKind.TEXT,
    authority: float | None = None,
    stated: StatedAtom | None = None,
) -> Acceptance:
    """Accept a text given as such, with the atom that it states where somebody said so.

    Raises:
        InvalidInput: it is empty, or longer than a document may be; an authority out of range.
    """
    if authority is not None and not 0 <= authority <= 1:
        raise InvalidInput(f"authority is {authority}; it must be 0 to 1.", hint="0.5 is usual.", item="authority")
    cleaned = clean_text(text)
    if not cleaned.strip():
        raise InvalidInput("The text is empty.", hint="Give a text with at least one word.", item=title)
    if not has_words(cleaned):
        raise InvalidInput(
            "The text has no word in it, only marks.", hint="Give one with at least one letter or digit.", item=title
        )
    body = cleaned.encode("utf-8", "replace")
    _require_size(len(body), settings, title or "the text")
    source = (
        partition.source_for_manual(client or settings.agent)
        if kind is DocumentKind.MANUAL
        else partition.source_for_text(client or settings.agent)
    )
    new = NewDocument(
        kind=kind,
        source=source,
        title=title,
        body=Body(body, media_type="text/markdown", name="", charset="utf-8"),
        authority=authority,
    )

    def work(connection: Connection) -> Acceptance:
        operation = open_operation(connection, "ingest", client)
        (item,) = accept_batch(connection, operation, [new])
        if stated is not None and item.document_id is not None:
            add_stated_atom(connection, item.document_id, stated)
        return Acceptance(operation, (item,), (source,))

    return database.transaction(work)


def accept_files(
    database: Database,
    settings: Settings,
    path: str,
    *,
    client: str = "",
    allowed_roots: Sequence[Path] | None = None,
    password: str = "",
    begun: Begun | None = None,
    progress: Taken | None = None,
) -> Acceptance:
    """Accept a file, a folder's files, or those that a glob names. `allowed_roots` of None means any place.

    `password` opens the locked PDFs among them, which are kept without their lock; it is not kept itself. `begun` is told
    the operation's id before the first file is read.

    Raises:
        InvalidInput: the path does not exist, is outside the allowed roots, cannot be read, or names no file.
    """
    listing = files.list_files(path, allowed_roots=allowed_roots, max_bytes=settings.max_document_bytes)
    source = partition.source_for_file_root(listing.root)
    with database.connection() as connection:
        operation = open_operation(connection, "ingest", client, taking=True)
    if begun is not None:
        begun(operation)
    taken: list[Item] = [
        Item(item=str(skipped.path), document_id=None, outcome="refused", reason=skipped.reason)
        for skipped in listing.skipped
    ]
    batch: list[NewDocument | Item] = []
    size = 0

    def flush() -> None:
        nonlocal size
        current = tuple(batch)

        def work(connection: Connection) -> list[Item]:
            set_taking(connection, operation, taking=True)
            return accept_batch(connection, operation, current)

        taken.extend(database.transaction(work))
        batch.clear()
        size = 0
        if progress is not None:
            progress(len(taken) - len(listing.skipped), len(listing.files))

    if listing.skipped:
        with database.connection() as connection:
            add_items(connection, operation, taken)
    for file in listing.files:
        try:
            content = files.read_file(file, max_bytes=settings.max_document_bytes)
            body = file_body(content, file.name, password)
        except PegasError as error:
            batch.append(Item(item=str(file), document_id=None, outcome="refused", reason=str(error)))
            continue
        size += len(content)
        batch.append(
            NewDocument(
                kind=DocumentKind.TEXT,
                source=source,
                uri=file.as_uri(),
                body=body,
            )
        )
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            flush()
    if batch:
        flush()
    with database.connection() as connection:
        set_taking(connection, operation, taking=False)
    return Acceptance(operation, tuple(taken), (source,))


def accept_urls(
    database: Database,
    settings: Settings,
    urls: Iterable[str | Address],
    *,
    client: str = "",
    refresh: bool = False,
    operation: str = "",
    begun: Begun | None = None,
    progress: Taken | None = None,
    notes: tuple[str, ...] = (),
) -> Acceptance:
    """Accept addresses of pages; they are fetched by the `documents` stage.

    An address that is known and done is unchanged, unless `refresh` asks for it again or its site says that it changed
    since. Many are taken in batches, each in a transaction of its own. They belong to `operation` where one is given.

    Raises:
        InvalidInput: the only address given cannot be fetched; of several, such ones are refused one by one.
    """
    wanted = [Address(url) if isinstance(url, str) else url for url in urls]
    if not wanted:
        raise InvalidInput("No address was given.", hint="Give a URL that starts with http:// or https://.")
    checked: list[tuple[Address, str]] = []
    for address in wanted:
        try:
            normal = addresses.normalise_url(address.url, allow_hosts=settings.fetch_allow_hosts)
            checked.append((Address(normal, address.changed_at), ""))
        except PegasError as error:
            if len(wanted) == 1:
                raise
            checked.append((address, str(error)))
    many = len(checked) > BATCH_URLS
    if not operation and (many or begun is not None):
        with database.connection() as connection:
            operation = open_operation(connection, "ingest", client, taking=True)
    if begun is not None:
        begun(operation)
    items: list[Item] = []
    sources: dict[str, None] = {}
    for start in range(0, len(checked), BATCH_URLS):

        def work(connection: Connection, start: int = start, operation: str = operation) -> tuple[str, list[Item]]:
            if operation:
                set_taking(connection, operation, taking=start + BATCH_URLS < len(checked))
            name = operation or open_operation(connection, "ingest", client)
            taken, of = accept_addresses(connection, settings, checked[start : start + BATCH_URLS], refresh=refresh)
            add_items(connection, name, taken)
            sources.update(of)
            return name, taken

        operation, taken = database.transaction(work)
        items += taken
        if progress is not None:
            progress(len(items), len(checked))
    return Acceptance(operation, tuple(items), tuple(sources), notes)


def accept_addresses(
    connection: Connection, settings: Settings, batch: Sequence[tuple[Address, str]], *, refresh: bool
) -> tuple[list[Item], dict[str, None]]:
    """What becomes of some addresses, each with the reason where it cannot be taken; and the sources with work."""
    existing = set(documents.all_sources(connection))
    items: list[Item] = []
    sources: dict[str, None] = {}
    for address, reason in batch:
        if reason:
            items.append(Item(item=address.url, document_id=None, outcome="refused", reason=reason))
            continue
        source = partition.bounded_source(partition.source_for_url(address.url), existing, settings.max_sources)
        existing.add(source)
        item = _accept_url(connection, address, source, refresh=refresh)
        items.append(item)
        if item.outcome is None and item.document_id is not None:
            sources[documents.source_of(connection, item.document_id)] = None
    return items, sources


def accept_batch(connection: Connection, operation: str, batch: Sequence[NewDocument | Item]) -> list[Item]:
    """Take documents that came with bytes: those of a known address replace what was there, known bytes only gain an
    address, and the rest is written in one go."""
    new = [item for item in batch if isinstance(item, NewDocument)]
    hashes = {id(item): sha256(item.body.bytes).digest() for item in new if item.body is not None}
    addresses_known = documents.known_addresses(connection, [item.uri for item in new if item.uri])
    bytes_known = documents.known_bytes(connection, list(hashes.values()))
    # What is forgotten, or made one with another, at this very moment is not known any more.
    held = documents.hold(
        connection, [known.document_id for known in (*addresses_known.values(), *bytes_known.values())]
    )
    addresses_known = {uri: known for uri, known in addresses_known.items() if known.document_id in held}
    bytes_known = {digest: known for digest, known in bytes_known.items() if known.document_id in held}
    items: list[Item] = []
    fresh: dict[int, NewDocument] = {}
    first_of: dict[bytes, int] = {}
    for place, item in enumerate(batch):
        if isinstance(item, Item):
            items.append(item)
            continue
        digest = hashes[id(item)]
        name = item.uri or item.title
        known = addresses_known.get(item.uri) if item.uri else None
        changed = known is not None and bool(known.sha256) and known.sha256 != digest
        if known is not None and changed and documents.part_address(connection, known.document_id, item.uri):
            # The other addresses still have the text that was there: this one is a document of its own from now on.
            known = None
        if known is not None:
            items.append(_accept_again(connection, item, known, digest, name))
        elif digest in bytes_known:
            twin = bytes_known[digest]
            # Whoever asks again may be the one who was cut off: what is still open is worked now.
            items.append(_duplicate(name, twin.document_id, open=twin.status in documents.OPEN))
            if item.uri:
                documents.add_uri(connection, twin.document_id, item.uri)
        else:
            # Twice in one batch: the second waits for the first one's number.
            items.append(Item(name, None, "duplicate" if digest in first_of else None))
            first_of.setdefault(digest, place)
            if first_of[digest] == place:
                fresh[place] = item
    ids = dict(zip(fresh, documents.insert_documents(connection, list(fresh.values())), strict=True))
    for place, item in enumerate(batch):
        if place in ids:
            items[place] = Item(items[place].item, ids[place])
        elif isinstance(item, NewDocument) and items[place].document_id is None:
            items[place] = _duplicate(items[place].item, ids[first_of[hashes[id(item)]]])
            if item.uri:
                documents.add_uri(connection, ids[first_of[hashes[id(item)]]], item.uri)
    add_items(connection, operation, items)
    return items


def file_body(content: bytes, name: str, password: str = "") -> Body:
    """The bytes of a file to keep: a locked PDF without its lock where the password is given.

    Raises:
        Refused: the password is wrong.
    """
    if password:
        return Body(unlocked_pdf(content, password, name), name=name)
    return Body(content, name=name, locked=is_locked_pdf(content))


def _accept_again(connection: Connection, new: NewDocument, known: Known, digest: bytes, item: str) -> Item:
    if known.sha256 == digest and known.status is DocumentStatus.DONE:
        documents.note_back(connection, [known.document_id])
        return Item(item, known.document_id, "unchanged", "It is known and has not changed.")
    if new.body is not None and new.body.locked and known.status is DocumentStatus.DONE:
        reason = "It is locked now; what was read of it is kept. Its password reads it anew."
        return Item(item, known.document_id, "unchanged", reason)
    if known.sha256 != digest or known.status not in documents.OPEN:
        documents.reopen(connection, known.document_id, new.body)
    return Item(item, known.document_id)


def _duplicate(item: str, document_id: int, *, open: bool = False) -> Item:
    return Item(item, document_id, "duplicate", f"The same bytes are already document {document_id}.", open)


def _accept_url(connection: Connection, address: Address, source: str, *, refresh: bool) -> Item:
    url, changed_at = address.url, address.changed_at
    new = NewDocument(kind=DocumentKind.WEB, source=source, uri=url)
    known = documents.find_by_uri(connection, url)
    if known is None:
        return Item(url, documents.insert_document(connection, new))
    if known.status in documents.OPEN:
        return Item(url, known.document_id)
    newer = changed_at is not None and known.checked_at is not None and changed_at > known.checked_at
    if known.status is DocumentStatus.DONE and known.fetched_at is not None and not refresh and not newer:
        told = "It is known; ask with refresh to fetch it again."
        if changed_at is not None:
            told = "It is known, and its site names no change since it was fetched."
        return Item(url, known.document_id, "unchanged", told)
    if known.status is DocumentStatus.REFUSED and changed_at is not None and not newer and not refresh:
        return Item(url, known.document_id, "unchanged", "It was refused before, and its site names no change since.")
    apart = known.status is DocumentStatus.DONE and known.uri != url
    if apart and documents.part_address(connection, known.document_id, url):
        # It was met with the text of another address; whether it still has that is seen when it is fetched.
        return Item(url, documents.insert_document(connection, new))
    documents.reopen(connection, known.document_id)
    pages.ask_to_fetch(connection, known.document_id)
    return Item(url, known.document_id)


def _require_size(size: int, settings: Settings, item: str) -> None:
    if size > settings.max_document_bytes:
        raise InvalidInput(
            f"{item} has {size:,} bytes; a document may have {settings.max_document_bytes:,}.",
            hint="Split it, or raise PEGAS_MAX_DOCUMENT_BYTES.",
            item=item,
        )
