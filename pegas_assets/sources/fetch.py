"""Fetches a page from the public web: bounded in time and size, and never from inside."""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from pegas_assets.errors import FetchFailed
from pegas_assets.settings import Settings, public_address
from pegas_assets.sources.addresses import Resolver, host_allowed, normalise_url, resolve_checked
from pegas_assets.sources.answers import TRY_AGAIN, raise_for_status, retry_after, said_plainly
from pegas_assets.sources.inflate import TooLarge, inflate

if TYPE_CHECKING:
    import httpcore

    from pegas_assets.sources.network import Deadline

USER_AGENT = "PegasMemory/0.1 (research memory; fetches a page once when its user asks)"
ACCEPT = (
    "text/html,application/xhtml+xml,text/markdown,text/plain,application/pdf;q=0.9,application/json;q=0.8,*/*;q=0.5"
)

Progress = Callable[[int, int | None], None]
"""Called with the bytes had so far and, where the server said, how many there are on the wire."""

Gate = Callable[[str], None]
"""Called with an address before each request to it; what it raises ends the fetch."""


class NotYet(Exception):
    """A gate's word that a host may not be asked for some seconds.

    `came` is the way to the address that waits: `fetch` goes on from there when it is given back.
    """

    def __init__(self, seconds: float, reason: str = "") -> None:
        super().__init__(reason or f"the host may be asked in {seconds:g} s")
        self.seconds = seconds
        self.reason = reason
        self.came: tuple[Hop, ...] = ()
        self.url = ""


@dataclass(frozen=True)
class Hop:
    """An address that led on to another, and by which status."""

    url: str
    status: int


_REDIRECTS = (301, 302, 303, 307, 308)
_FOR_GOOD = (301, 308)
_LONGEST_WAIT_S = 10.0
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Fetched:
    """A page as it was had. Header names are in lower case; `content_type` is without parameters.

    `not_modified` is true for an answer 304 to a conditional request: the body is empty then. `moved_to` is where the
    page moved for good (301, 308), empty where it did not.
    """

    url: str
    status: int
    headers: dict[str, str]
    body: bytes
    content_type: str
    charset: str
    etag: str
    last_modified: str
    fetched_at: datetime
    not_modified: bool = False
    hops: tuple[Hop, ...] = ()
    moved_to: str = ""

    @property
    def redirects(self) -> tuple[str, ...]:
        """The addresses that led to the page."""
        return tuple(hop.url for hop in self.hops)


@dataclass(frozen=True)
class FetchOptions:
    """The bounds of a fetch.

    `timeout_s` is the whole time, attempts, redirects and pauses included. `max_bytes` is of the content after
    decompression. `attempts` are tries while the server answers 429 or 5xx, or the connection breaks; `Retry-After` is
    honoured up to 10 s. `allow_hosts` are names, addresses or networks that are fetched though they are inside. With
    `cut` the beginning of what is larger than `max_bytes` is taken.
    """

    timeout_s: float = 30.0
    max_bytes: int = 20_000_000
    max_redirects: int = 5
    attempts: int = 3
    allow_hosts: tuple[str, ...] = ()
    proxy_url: str | None = None
    cut: bool = False

    @classmethod
    def from_settings(cls, settings: Settings) -> FetchOptions:
        return cls(
            timeout_s=settings.fetch_timeout_s,
            max_bytes=settings.fetch_max_bytes,
            max_redirects=settings.fetch_max_redirects,
            attempts=settings.fetch_attempts,
            allow_hosts=settings.fetch_allow_hosts,
            proxy_url=settings.proxy_url,
        )


def fetch(
    url: str,
    *,
    options: FetchOptions | None = None,
    etag: str = "",
    last_modified: str = "",
    progress: Progress | None = None,
    resolver: Resolver = socket.getaddrinfo,
    sleep: Callable[[float], None] = time.sleep,
    ssl_context: ssl.SSLContext | None = None,
    gate: Gate | None = None,
    came: tuple[Hop, ...] = (),
) -> Fetched:
    """The page at an address, after redirects.

    Every host on the way is resolved once, all its addresses are checked to be public, and the connection goes to a
    checked address. With `options.proxy_url` (http, https, socks5 or socks5h) the proxy resolves names, so that what it
    connects to is out of our hands: addresses in the URL are checked, and names as far as they resolve here too.
    No proxy, certificate or cookie is taken from the environment.

    Args:
        url: http or https.
        options: the bounds; those of `FetchOptions` where none are given.
        etag, last_modified: of the copy one has; an unchanged page comes back as `not_modified`.
        progress: told as bytes come in.
        resolver, sleep, ssl_context: for tests and special networks.
        gate: asked before each request, redirects and further tries included.
        came: the way that a fetch had come when its gate said `NotYet`; `url` is then where it waits.

    Raises:
        NotYet: from the gate.
        InvalidInput: code `address_not_allowed`; no socket was opened to that address.
        FetchFailed: no page was had; `retryable` tells a 503 from a 404.
        Refused: the page is too large, or unfolds like a bomb.
    """
    from pegas_assets.sources.network import Deadline

    options = options or FetchOptions()
    deadline = Deadline(options.timeout_s)
    current = normalise_url(url, allow_hosts=options.allow_hosts)
    conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    get = _Getter(options, deadline, progress, resolver, ssl_context)
    hops = list(came)
    while True:
        try:
            fetched, pause = _tried(get, current, conditions, max(1, options.attempts), deadline, sleep, gate)
        except NotYet as wait:
            wait.came, wait.url = tuple(hops), current
            raise
        seen = [*(hop.url for hop in hops), current]
        if fetched.status not in _REDIRECTS or "location" not in fetched.headers:
            break
        target = normalise_url(urljoin(current, fetched.headers["location"].strip()), allow_hosts=options.allow_hosts)
        if target in seen:
            raise FetchFailed(
                f"The page {public_address(seen[0])} redirects in a circle, back to {public_address(target)}.",
                hint="The site may ask for cookies; give the address that a browser ends at.",
                item=public_address(url),
            )
        if len(seen) > options.max_redirects:
            raise FetchFailed(
                f"The page {public_address(seen[0])} redirects more than {options.max_redirects} times.",
                hint="Give the address that a browser ends at.",
                item=public_address(url),
            )
        hops.append(Hop(current, fetched.status))
        current = target
    raise_for_status(fetched, pause)
    return replace(fetched, hops=tuple(hops), moved_to=_moved_to(hops, current))


def _moved_to(hops: list[Hop], final: str) -> str:
    """The last address that was reached by moves for good alone."""
    moved = ""
    for hop, target in zip(hops, [*(hop.url for hop in hops[1:]), final], strict=False):
        if hop.status not in _FOR_GOOD:
            break
        moved = target
    return moved


def _tried(
    get: _Getter,
    url: str,
    conditions: dict[str, str],
    attempts: int,
    deadline: Deadline,
    sleep: Callable[[float], None],
    gate: Gate | None,
) -> tuple[Fetched, float | None]:
    """An answer, after as many tries as make sense, and the pause that the server asked for last."""
    for attempt in range(1, attempts + 1):
        pause: float | None = None
        if gate is not None:
            gate(url)
        try:
            fetched = get(url, conditions)
            if fetched.status not in TRY_AGAIN:
                return fetched, None
            pause = retry_after(fetched.headers.get("retry-after", ""))
            if attempt == attempts or (pause or 0) > _LONGEST_WAIT_S:
                return fetched, pause
        except FetchFailed as error:
            if attempt == attempts or not error.retryable or error.code == "fetch_timeout":
                raise
        wait = pause if pause is not None else 0.4 * 2 ** (attempt - 1)
        if wait >= deadline.left():
            raise FetchFailed(
                f"The server of {public_address(url)} gave no page within {deadline.seconds:g} s.",
                hint="Try again later, or raise PEGAS_FETCH_TIMEOUT_S.",
                item=public_address(url),
                code="fetch_timeout",
                retryable=True,
            )
        sleep(wait)
    raise AssertionError("attempts is at least 1")


@dataclass(frozen=True)
class _Getter:
    """One request and its answer, without redirects or retries."""

    options: FetchOptions
    deadline: Deadline
    progress: Progress | None
    resolver: Resolver
    ssl_context: ssl.SSLContext | None

    def __call__(self, url: str, conditions: dict[str, str]) -> Fetched:
        import httpcore

        headers = {
            "Host": urlsplit(url).netloc,
            "User-Agent": USER_AGENT,
            "Accept": ACCEPT,
            "Accept-Encoding": "gzip, deflate",
            "Accept-Language": "*",
            "Connection": "close",
            **{name: value for name, value in conditions.items() if value},
        }
        if self.options.proxy_url:
            self._check_behind_proxy(url)
        with said_plainly(url, self.deadline.seconds), self._pool() as pool:
            timeout = dict.fromkeys(("connect", "read", "write", "pool"), self.deadline.step(httpcore.ConnectTimeout))
            with pool.stream("GET", url, headers=list(headers.items()), extensions={"timeout": timeout}) as answer:
                return self._read(url, answer, any(conditions.values()))

    def _read(self, url: str, answer: httpcore.Response, conditional: bool) -> Fetched:
        headers: dict[str, str] = {}
        for raw_name, raw_value in answer.headers:
            headers.setdefault(raw_name.decode("latin-1").lower(), _header_text(raw_value))
        declared = headers.get("content-length", "")
        total = int(declared) if declared.isdecimal() and len(declared) < 19 else None
        if total is not None and total > self.options.max_bytes and answer.status < 300 and not self.options.cut:
            raise TooLarge(f"it is larger than {self.options.max_bytes:,} bytes")
        body = bytearray()
        if 200 <= answer.status < 300:
            encoding = headers.get("content-encoding", "")
            try:
                for piece in inflate(answer.iter_stream(), encoding, max_bytes=self.options.max_bytes):
                    body += piece
                    if self.progress:
                        self.progress(len(body), total if not encoding else None)
            except TooLarge:
                if not self.options.cut:
                    raise
        kind = headers.get("content-type", "")
        charset = _CHARSET.search(kind)
        return Fetched(
            url=url,
            status=answer.status,
            headers=headers,
            body=bytes(body),
            content_type=kind.split(";")[0].strip().lower(),
            charset=charset.group(1) if charset else "",
            etag=headers.get("etag", ""),
            last_modified=headers.get("last-modified", ""),
            fetched_at=datetime.now(UTC),
            not_modified=answer.status == HTTPStatus.NOT_MODIFIED and conditional,
        )

    def _pool(self) -> httpcore.ConnectionPool:
        import httpcore

        from pegas_assets.sources.network import CheckedBackend

        context = self.ssl_context or _trusted()
        backend = CheckedBackend(
            self.deadline,
            allow_hosts=self.options.allow_hosts,
            resolver=self.resolver,
            through_proxy=bool(self.options.proxy_url),
        )
        if not self.options.proxy_url:
            return httpcore.ConnectionPool(ssl_context=context, network_backend=backend)
        parts = urlsplit(self.options.proxy_url)
        user = (parts.username or "", parts.password or "") if parts.username else None
        address = httpcore.URL(
            scheme=parts.scheme, host=parts.hostname or "", port=parts.port or _PROXY_PORTS[parts.scheme], target="/"
        )
        if parts.scheme in ("socks5", "socks5h"):
            return httpcore.SOCKSProxy(address, proxy_auth=user, ssl_context=context, network_backend=backend)
        return httpcore.HTTPProxy(
            address,
            proxy_auth=user,
            ssl_context=context,
            proxy_ssl_context=context if parts.scheme == "https" else None,
            network_backend=backend,
        )

    def _check_behind_proxy(self, url: str) -> None:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if host_allowed(host, self.options.allow_hosts):
            return
        try:
            resolve_checked(host, parts.port or 443, allow_hosts=self.options.allow_hosts, resolver=self.resolver)
        except FetchFailed:
            # Only the proxy knows this name.
            return


_PROXY_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


def _header_text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    """The system's certificate authorities and those of certifi: a thin container has only the latter."""
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
