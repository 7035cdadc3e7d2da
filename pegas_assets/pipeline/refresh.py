"""Looks again at what is known: pages by their age, files by what is on the disk now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pegas_assets.errors import NotFound, PegasError
from pegas_assets.pipeline.accept import Acceptance
from pegas_assets.settings import Settings
from pegas_assets.sources import files
from pegas_assets.stores import documents, refreshing
from pegas_assets.stores.documents import Body
from pegas_assets.stores.operations import Item, add_items, open_operation
from pegas_assets.stores.postgres import Connection, Database
from pegas_assets.stores.refreshing import Refreshable

BATCH = 200


@dataclass
class Refreshed:
    """What was looked at again. `acceptance` holds what has work to do; `gone` are files that are not on the disk any
    more, whose knowledge stays."""

    acceptance: Acceptance
    pages: int = 0
    changed: int = 0
    unchanged: int = 0
    gone: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def refresh(
    database: Database,
    settings: Settings,
    *,
    named: Sequence[str] = (),
    older_than_s: float = 0.0,
    pages_only: bool = False,
    limit: int | None = None,
    client: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Refreshed:
    """Ask for pages again and read files again: those named by address, path or number, else all that are old enough.

    A page is fetched by the `documents` stage, with the marks of the copy that is kept. A file is compared here, and
    only one that changed has work to do. Nothing that is known is removed.

    Raises:
        NotFound: a document that is named is not known.
    """
    with database.connection() as connection:
        if named:
            found = [_named(connection, name) for name in named]
        else:
            found = refreshing.due(connection, older_than_s, limit, pages_only=pages_only)
        operation = open_operation(connection, "refresh", client)
    result = Refreshed(Acceptance(operation, (), ()))
    items: list[Item] = []
    sources: dict[str, None] = {}
    for start in range(0, len(found), BATCH):
        batch = found[start : start + BATCH]
        looked = {one.document_id: _read(one, settings, result) for one in batch if not one.is_page}

        def work(
            connection: Connection, batch: Sequence[Refreshable] = batch, looked: dict[int, bytes | None] = looked
        ) -> list[Item]:
            taken = [_take(connection, one, looked.get(one.document_id), result) for one in batch]
            add_items(connection, operation, taken)
            return taken

        taken = database.transaction(work)
        items.extend(taken)
        for one, item in zip(batch, taken, strict=True):
            if item.outcome is None:
                sources[one.source] = None
        if progress is not None:
            progress(start + len(batch), len(found))
    result.pages = sum(one.is_page for one in found)
    result.changed = sum(item.outcome is None for item in items) - result.pages
    result.unchanged = sum(item.outcome == "unchanged" for item in items)
    result.acceptance = Acceptance(operation, tuple(items), tuple(sources))
    return result


def _named(connection: Connection, name: str) -> Refreshable:
    uri = name if "://" in name else Path(name).expanduser().absolute().as_uri()
    found = refreshing.by_id(connection, int(name)) if name.isdecimal() else refreshing.by_uri(connection, uri)
    if found is None:
        raise NotFound(
            f"“{name}” is not known here, or is a text that came without an address.",
            hint="`pegas ingest` takes it in.",
            item=name,
        )
    return found


def _read(one: Refreshable, settings: Settings, result: Refreshed) -> bytes | None:
    """The bytes of a file as they are now; None where it cannot be read, which is noted."""
    path = Path(unquote(urlsplit(one.uri).path))
    if not path.exists():
        result.gone.append(str(path))
        return None
    try:
        return files.read_file(path, max_bytes=settings.max_document_bytes)
    except PegasError as error:
        result.problems.append(str(error))
        return None


def _take(connection: Connection, one: Refreshable, content: bytes | None, result: Refreshed) -> Item:
    if one.is_page:
        documents.reopen(connection, one.document_id)
        documents.ask_to_fetch(connection, one.document_id)
        return Item(one.uri, one.document_id)
    if content is None:
        return Item(one.uri, one.document_id, "unchanged", "The file is not there now; what is known of it stays.")
    if sha256(content).digest() == one.sha256:
        return Item(one.uri, one.document_id, "unchanged", "It is known and has not changed.")
    name = Path(unquote(urlsplit(one.uri).path)).name
    documents.reopen(connection, one.document_id, Body(content, name=name))
    return Item(one.uri, one.document_id)
