"""Takes the pages that a site's sitemap or feed names."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from pegas_assets.errors import InvalidInput, PegasError, Refused
from pegas_assets.pipeline.accept import Acceptance, Address, Begun, Taken, accept_urls
from pegas_assets.pipeline.hosts import HostGate, fetch_in_turn
from pegas_assets.settings import Settings, public_address
from pegas_assets.sources.addresses import normalise_url
from pegas_assets.sources.fetch import FetchOptions
from pegas_assets.sources.sitemap import MAX_BYTES, Listed, Sitemap, newest_first, parse_sitemap, same_site
from pegas_assets.stores.operations import Item, add_items, open_operation, set_taking
from pegas_assets.stores.postgres import Database

MAX_SITEMAPS = 50
"""Files that are read of one index: each may name 50,000 pages."""


def accept_sitemap(
    database: Database,
    settings: Settings,
    url: str,
    *,
    client: str = "",
    limit: int | None = None,
    refresh: bool = False,
    or_page: bool = False,
    begun: Begun | None = None,
    progress: Taken | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Acceptance:
    """Accept the pages of the same site that a sitemap, an index of sitemaps or a feed names, newest first.

    A known page is fetched again where the sitemap says that it changed since. At most `limit` pages are taken
    (`sitemap_limit` of the settings where none is given). With `or_page` what turns out to be no sitemap is
    accepted as a page. `begun` is told the operation's id before anything is fetched.

    Raises:
        InvalidInput: the address may not be fetched, or the sitemap names no page of its site.
        FetchFailed, Refused: there is no sitemap to be had.
    """
    start = normalise_url(url, allow_hosts=settings.fetch_allow_hosts)
    with database.connection() as connection:
        operation = open_operation(connection, "ingest", client, taking=True)
    if begun is not None:
        begun(operation)
    try:
        try:
            found, notes = _Reader(database, settings, sleep).pages(start, limit or settings.sitemap_limit)
            wanted = [Address(page.url, page.changed_at) for page in found]
        except Refused as error:
            if not (or_page and error.code == "no_sitemap"):
                raise
            wanted, notes = [Address(start)], ()
        return accept_urls(
            database,
            settings,
            wanted,
            client=client,
            refresh=refresh,
            operation=operation,
            progress=progress,
            notes=notes,
        )
    except PegasError as error:
        with database.connection() as connection:
            add_items(connection, operation, [Item(url, None, "refused", str(error))])
            set_taking(connection, operation, taking=False)
        raise


class _Reader:
    """Reads a sitemap and those that it names."""

    def __init__(self, database: Database, settings: Settings, sleep: Callable[[float], None]) -> None:
        self._gate = HostGate(database, settings)
        self._options = replace(FetchOptions.from_settings(settings), max_bytes=MAX_BYTES)
        self._sleep = sleep

    def pages(self, start: str, limit: int) -> tuple[list[Listed], tuple[str, ...]]:
        """The pages of the site, newest first, at most `limit`; and sentences on what was left out."""
        first = self._read(start)
        pages = list(first.pages)
        notes: list[str] = []
        waiting = newest_first([item for item in first.sitemaps if same_site(item.url, start)])
        seen = {start}
        dated = all(item.changed_at is not None for item in waiting)
        while waiting:
            if len(seen) > MAX_SITEMAPS or (dated and len(pages) >= limit):
                notes.append(f"{len(waiting):,} more sitemaps were not read.")
                break
            child = waiting.pop(0).url
            if child in seen:
                continue
            seen.add(child)
            try:
                more = self._read(child)
            except PegasError as error:
                notes.append(f"The sitemap {public_address(child)} was left out: {error}")
                continue
            pages += more.pages
            waiting += newest_first([item for item in more.sitemaps if same_site(item.url, start)])
        mine = [page for page in {page.url: page for page in pages}.values() if same_site(page.url, start)]
        if len(mine) < len(pages):
            notes.append(f"{len(pages) - len(mine):,} addresses of other sites, or named twice, were left out.")
        if not mine:
            raise InvalidInput(
                f"The sitemap {public_address(start)} names no page of its own site.",
                hint="Give the sitemap of the site whose pages you want.",
                item=public_address(start),
            )
        if len(mine) > limit:
            notes.append(
                f"Of {len(mine):,} pages the {limit:,} newest were taken; --limit or PEGAS_SITEMAP_LIMIT allows more."
            )
        return newest_first(mine)[:limit], tuple(notes)

    def _read(self, url: str) -> Sitemap:
        return parse_sitemap(fetch_in_turn(self._gate, url, self._options, self._sleep).body, url)
