"""Fetches as a guest does: what robots.txt allows, one request after another for each site, over all processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from urllib.parse import urlsplit

from pegas_assets.errors import FetchFailed, InvalidInput, Refused
from pegas_assets.settings import Settings, public_address
from pegas_assets.sources.addresses import host_allowed
from pegas_assets.sources.fetch import Fetched, FetchOptions, fetch
from pegas_assets.sources.robots import MAX_BYTES, delay_asked, may_fetch
from pegas_assets.stores import hosts
from pegas_assets.stores.postgres import Database
from pegas_assets.text.decoding import decode

ROBOTS_AGE_S = 86_400.0
ROBOTS_TIMEOUT_S = 15.0
LONGEST_WAIT_S = 20.0
"""Seconds that a worker waits for its turn; who would wait longer comes again later."""
LONGEST_PAUSE_S = 3600.0
"""The most of what a server's Retry-After is believed."""


class Guest:
    """Fetches pages for one process. Holds no database connection while it waits."""

    def __init__(self, database: Database, settings: Settings, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._database = database
        self._settings = settings
        self._sleep = sleep
        self._options = FetchOptions.from_settings(settings)

    def fetch(self, url: str, *, etag: str = "", last_modified: str = "", max_bytes: int | None = None) -> Fetched:
        """A page, once it is its turn.

        Raises:
            Refused: robots.txt does not allow it; or the page is too large.
            FetchFailed: no page was had; `retry_in_s` says when to come again, where the site or the queue does.
            InvalidInput: the address may not be fetched.
        """
        robots = self._robots(url)
        self._require_allowed(robots, url)
        self._await_turn(url, robots)
        options = self._options
        if max_bytes is not None:
            options = FetchOptions(**{**options.__dict__, "max_bytes": max_bytes})
        try:
            page = fetch(url, options=options, etag=etag, last_modified=last_modified)
        except FetchFailed as error:
            if error.retry_in_s is not None:
                error.retry_in_s = min(error.retry_in_s, LONGEST_PAUSE_S)
                with self._database.connection() as connection:
                    hosts.hold_off(connection, origin_of(url), error.retry_in_s)
            raise
        if origin_of(page.url) != origin_of(url):
            # It led to another site, which has a word too.
            self._require_allowed(self._robots(page.url), page.url)
        return page

    def robots(self, url: str) -> str:
        """The robots.txt of an address's site; empty where there is none."""
        return self._robots(url)

    def _robots(self, url: str) -> str:
        if self._settings.robots == "ignore":
            return ""
        origin = origin_of(url)
        with self._database.connection() as connection:
            kept, young = hosts.robots_of(connection, origin, ROBOTS_AGE_S)
        if kept is not None and young:
            return kept
        try:
            robots = self._fetched_robots(origin)
        except FetchFailed as error:
            if kept is not None:
                return kept
            raise FetchFailed(
                f"The site {origin} does not say what may be fetched: {error.message}",
                hint="It is asked again later; PEGAS_ROBOTS=ignore fetches all the same.",
                item=public_address(url),
                code="robots_unknown",
                retryable=True,
                retry_in_s=error.retry_in_s,
            ) from None
        with self._database.connection() as connection:
            hosts.keep_robots(connection, origin, robots)
        return robots

    def _fetched_robots(self, origin: str) -> str:
        """The file; empty where the site has none. Raises FetchFailed where it is not known whether it has."""
        options = FetchOptions(
            **{**self._options.__dict__, "timeout_s": ROBOTS_TIMEOUT_S, "attempts": 1, "max_bytes": 4 * MAX_BYTES}
        )
        try:
            page = fetch(f"{origin}/robots.txt", options=options)
        except FetchFailed as error:
            if error.retryable:
                raise
            # No such file, or none for us: RFC 9309 takes it for leave.
            return ""
        except (Refused, InvalidInput):
            return ""
        if "html" in page.content_type:
            return ""
        return decode(page.body[:MAX_BYTES], declared=["utf-8"]).text

    def _require_allowed(self, robots: str, url: str) -> None:
        if not may_fetch(robots, url):
            raise Refused(
                f"The site asks programs not to take {public_address(url)} (robots.txt).",
                hint="Save the page from a browser and ingest that file; PEGAS_ROBOTS=ignore where you may.",
                item=public_address(url),
                code="robots_refused",
            )

    def _await_turn(self, url: str, robots: str) -> None:
        apart = max(self._settings.fetch_delay_s, delay_asked(robots))
        if host_allowed(urlsplit(url).hostname or "", self._settings.fetch_allow_hosts):
            # One's own: the pause is for strangers, but what the server itself asks for holds.
            apart = delay_asked(robots)
        origin = origin_of(url)
        with self._database.connection() as connection:
            wait = hosts.take_turn(connection, origin, apart)
            if wait > LONGEST_WAIT_S:
                hosts.give_back(connection, origin, apart)
        if wait > LONGEST_WAIT_S:
            raise FetchFailed(
                f"The site {origin} is asked slowly, and this page's turn comes in {wait:.0f} s.",
                hint="It is fetched then.",
                item=public_address(url),
                code="host_busy",
                retryable=True,
                retry_in_s=wait,
            )
        if wait > 0:
            self._sleep(wait)


def origin_of(url: str) -> str:
    """Scheme, host and port of an address, as `https://example.org`."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
