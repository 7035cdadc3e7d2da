"""Finds the pages of a site by its sitemap or feed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from pegas_assets.errors import InvalidInput, PegasError
from pegas_assets.pipeline.manners import Guest
from pegas_assets.settings import Settings
from pegas_assets.sources.addresses import normalise_url
from pegas_assets.sources.partition import registered_domain
from pegas_assets.sources.robots import may_fetch
from pegas_assets.sources.sitemap import MAX_BYTES, read_page_list
from pegas_assets.stores.postgres import Database

DEFAULT_PAGES = 200
MAX_LISTS = 50
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Listed:
    """Pages to ingest, those that changed last first, and what was left out, in sentences."""

    pages: tuple[tuple[str, datetime | None], ...]
    notes: tuple[str, ...] = ()


def pages_of(
    database: Database,
    settings: Settings,
    url: str,
    *,
    limit: int = DEFAULT_PAGES,
    progress: Callable[[int, int], None] | None = None,
) -> Listed:
    """The pages of the same site that a sitemap (and those it names) or a feed lists, at most `limit`.

    `progress` is told how many lists were read, of how many that are known.

    Raises:
        InvalidInput: the address is no list of pages, or may not be fetched.
        FetchFailed: it cannot be had.
        Refused: robots.txt does not allow it, or it is too large.
    """
    guest = Guest(database, settings)
    site = registered_domain(url)
    waiting = [normalise_url(url, allow_hosts=settings.fetch_allow_hosts)]
    read: set[str] = set()
    pages: dict[str, datetime | None] = {}
    notes: list[str] = []
    elsewhere = 0
    while waiting and len(read) < MAX_LISTS:
        address = waiting.pop(0)
        read.add(address)
        try:
            page = guest.fetch(address, max_bytes=MAX_BYTES)
            listed = read_page_list(page.body, page.url)
        except PegasError as error:
            if len(read) == 1:
                raise
            notes.append(str(error))
            continue
        for found, _ in sorted(listed.lists, key=lambda entry: entry[1] or _LONG_AGO, reverse=True):
            if registered_domain(found) == site and found not in read:
                waiting.append(found)
        for found, when in listed.pages:
            try:
                normal = normalise_url(found, allow_hosts=settings.fetch_allow_hosts)
            except InvalidInput:
                elsewhere += 1
                continue
            if registered_domain(normal) == site:
                pages.setdefault(normal, when)
            else:
                elsewhere += 1
        if progress is not None:
            progress(len(read), len(read) + len(waiting))
        if len(pages) >= 20 * limit:
            break
    if waiting:
        notes.append(f"{len(waiting)} further lists were not read.")
    robots = guest.robots(url)
    allowed = {page: when for page, when in pages.items() if may_fetch(robots, page)}
    if len(allowed) < len(pages):
        notes.append(f"{len(pages) - len(allowed):,} pages are left out: robots.txt does not allow them.")
    if elsewhere:
        notes.append(f"{elsewhere:,} pages are left out: they are of other sites.")
    ordered = sorted(allowed.items(), key=lambda entry: entry[1] or _LONG_AGO, reverse=True)
    if len(ordered) > limit:
        notes.append(f"{len(ordered):,} pages are listed, and the {limit:,} that changed last were taken (--limit).")
    if not ordered:
        raise InvalidInput(f"{url} lists no page of its own site.", hint="Give another sitemap.", item=url)
    return Listed(tuple(ordered[:limit]), tuple(notes))
