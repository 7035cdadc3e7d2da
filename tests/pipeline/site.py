"""A web server on this machine whose pages a test writes; given as a proxy it is any number of hosts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pegas_assets.pipeline.accept import accept_urls
from pegas_assets.runtime import Runtime
from pegas_assets.stores.operations import operation_state
from tests.conftest import fresh_base
from tests.embedding_once import embeds_once
from tests.pipeline.reading import ingest

PAGE = (
    "<html><head><title>The weir</title></head><body><main><h1>The weir</h1>"
    "<p>The weir was rebuilt in {}. It has nine gates, and the keeper opens them by hand.</p></main></body></html>"
)

Answer = tuple[int, dict[str, str], str | bytes]


class Site:
    """A site whose pages a test writes. `asked` holds path and headers of each request, without those for robots.txt."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.robots = ""
        self.robots_asked = 0
        self.moments: list[float] = []
        self.pages: dict[str, Callable[[dict[str, str]], Answer]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def page(self, path: str, status: int = 200, body: str | bytes = "", **headers: str) -> None:
        named = {"Content-Type": "text/html; charset=utf-8"} | {k.replace("_", "-"): v for k, v in headers.items()}
        self.pages[path] = lambda _: (status, named, body)


@contextmanager
def serving() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            site.moments.append(time.monotonic())
            if self.path.endswith("/robots.txt"):
                site.robots_asked += 1
                found = (200 if site.robots else 404, {}, site.robots)
                answer = site.pages.get(self.path, lambda _: found)
            else:
                site.asked.append((self.path, headers))
                answer = site.pages.get(self.path, lambda _: (404, {}, "no such page"))
            status, named, body = answer(headers)
            self.send_response(status)
            for name, value in named.items():
                self.send_header(name, value)
            data = body if isinstance(body, bytes) else body.encode()
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Site(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


@contextmanager
def fetching_base(home: Path, **settings: Any) -> Iterator[Runtime]:
    """A base that may fetch from this machine."""
    with fresh_base(home) as made:
        allowed = {"fetch_allow_hosts": ("127.0.0.1",), "fetch_attempts": 1, "fetch_timeout_s": 5.0, **settings}
        made.settings = made.settings.model_copy(update=allowed)
        yield embeds_once(made)


def take(base: Runtime, *urls: str, refresh: bool = False) -> dict[str, int]:
    """Accept addresses, do the work of their sources, and count how the items stand."""
    accepted = accept_urls(base.database, base.settings, urls, refresh=refresh)
    for source in accepted.sources:
        ingest(base, source)
    with base.database.connection() as connection:
        return operation_state(connection, accepted.operation_id).counts
