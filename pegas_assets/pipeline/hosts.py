"""Asks hosts for pages as they wish: one request at a time, as far apart as they want, and none that robots.txt forbids."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address
from urllib.parse import urlsplit

from pegas_assets.errors import FetchFailed, InvalidInput, Refused
from pegas_assets.settings import Settings, public_address
from pegas_assets.sources.addresses import host_allowed
from pegas_assets.sources.fetch import Fetched, FetchOptions, Hop, NotYet, fetch
from pegas_assets.sources.robots import MAX_BYTES, Robots, origin_of, parse_robots, robots_text
from pegas_assets.stores import hosts
from pegas_assets.stores.postgres import Database

ROBOTS_FRESH_S = 86_400.0
"""A robots.txt is believed for a day, as RFC 9309 has it."""
ROBOTS_KEPT_S = 30 * 86_400.0
"""One that cannot be had again is believed for so long."""
ROBOTS_AGAIN_S = 60.0
"""After a failure a robots.txt is not asked for again before this, seconds."""
ROBOTS_TIMEOUT_S = 15.0
LONGEST_WAIT_S = 60.0


class HostGate:
    """Lets a request through when its host is free and its robots.txt allows the page; each passing takes a turn.

    No connection is held while a host is waited for: the gate says `NotYet`, and whoever fetches does something else.
    """

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._options = FetchOptions.from_settings(settings)

    def __call__(self, url: str) -> None:
        """Take the turn for a request to this address.

        Raises:
            NotYet: the host is not free, or asked to be left alone.
            Refused: its robots.txt does not want programs to read the page.
            FetchFailed: its robots.txt cannot be had now (`retryable`).
        """
        delay = self._delay(url)
        if self._settings.robots == "obey":
            robots = self._robots(url, delay)
            if not robots.allows(url):
                raise Refused(
                    f"The robots.txt of {host_of(url)} does not want programs to read {public_address(url)}.",
                    hint="Save the page from a browser and ingest that file; or ask the site, and set PEGAS_ROBOTS=ignore.",
                    item=public_address(url),
                    code="robots",
                )
            delay = max(delay, robots.delay_s)
        self._take(url, delay)

    def busy(self, names: list[str]) -> dict[str, tuple[float, str]]:
        """The hosts of these that are not free: seconds and, where they gave one, the reason."""
        with self._database.connection() as connection:
            return hosts.busy_hosts(connection, names)

    def pause(self, url: str, seconds: float) -> None:
        """Leave the host of an address alone, as its server asked."""
        reason = f"The server of {host_of(url)} asks to be left alone for {seconds:g} s."
        with self._database.connection() as connection:
            hosts.pause_host(connection, host_of(url), seconds, reason)

    def _delay(self, url: str) -> float:
        host = host_of(url)
        inner = host_allowed(host, self._settings.fetch_allow_hosts) or _loopback(host)
        return 0.0 if inner else self._settings.fetch_delay_s

    def _take(self, url: str, delay: float) -> None:
        with self._database.connection() as connection:
            seconds, reason = hosts.take_turn(connection, host_of(url), delay)
        if seconds:
            raise NotYet(seconds, reason)

    def _robots(self, url: str, delay: float) -> Robots:
        origin = origin_of(url)
        with self._database.connection() as connection:
            kept = hosts.read_robots(connection, origin)
        if kept is not None and kept.body is not None and kept.age_s is not None and kept.age_s < ROBOTS_FRESH_S:
            return parse_robots(kept.body)
        error = kept.error if kept is not None and kept.asked_s < ROBOTS_AGAIN_S else ""
        if not error:
            self._take(url, delay)
            try:
                body = self._fetched(f"{origin}/robots.txt")
            except FetchFailed as failed:
                error = str(failed)
                if failed.wait_s:
                    self.pause(url, failed.wait_s)
                with self._database.connection() as connection:
                    hosts.note_robots_failure(connection, origin, error)
            else:
                with self._database.connection() as connection:
                    hosts.keep_robots(connection, origin, body)
                return parse_robots(body)
        if kept is not None and kept.body is not None and kept.age_s is not None and kept.age_s < ROBOTS_KEPT_S:
            return parse_robots(kept.body)
        failure = FetchFailed(
            f"Whether {public_address(url)} may be read is not known, since the site's robots.txt cannot be had: {error}",
            hint="It is asked again later.",
            item=public_address(url),
            code="robots_unavailable",
            retryable=True,
        )
        failure.wait_s = ROBOTS_AGAIN_S
        raise failure

    def _fetched(self, url: str) -> str:
        """The text of a robots.txt; empty where there is none.

        Raises:
            FetchFailed: the server is in trouble or asks for patience, which is no word on what may be read.
        """
        options = replace(
            self._options,
            max_bytes=MAX_BYTES,
            cut=True,
            attempts=1,
            timeout_s=min(self._options.timeout_s, ROBOTS_TIMEOUT_S),
        )
        try:
            return robots_text(fetch(url, options=options).body)
        except FetchFailed as failed:
            # 4xx, and a circle of redirects: there is none, so all is allowed. A broken certificate the page will say.
            if failed.retryable:
                raise
            return ""
        except (InvalidInput, Refused):
            # It leads where nothing may be fetched from.
            return ""


def fetch_in_turn(
    gate: HostGate, url: str, options: FetchOptions, sleep: Callable[[float], None] = time.sleep
) -> Fetched:
    """One page, waited for as its host wants: for what is asked once, not for the pages of a run.

    Raises:
        FetchFailed: also where the host wants a longer pause than `LONGEST_WAIT_S` (`retryable`).
        Refused, InvalidInput: as `fetch` and the gate.
    """
    came: tuple[Hop, ...] = ()
    current = url
    while True:
        try:
            return fetch(current, options=replace(options, attempts=1), gate=gate, came=came)
        except NotYet as wait:
            if wait.seconds > LONGEST_WAIT_S:
                raise FetchFailed(
                    wait.reason or f"{host_of(wait.url)} may not be asked for {wait.seconds:.0f} s.",
                    hint="Try again then.",
                    item=public_address(url),
                    retryable=True,
                ) from None
            came, current = wait.came, wait.url
            sleep(wait.seconds)
        except FetchFailed as error:
            if error.wait_s and error.status:
                gate.pause(current, error.wait_s)
            raise


def host_of(url: str) -> str:
    """The host of an address in normal form, without its port: what a turn is taken at."""
    return urlsplit(url).hostname or ""


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
