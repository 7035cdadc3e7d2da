from __future__ import annotations

import gzip
import socket
import ssl
import subprocess
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pegas_assets.errors import FetchFailed, InvalidInput, Refused
from pegas_assets.sources.fetch import FetchOptions, fetch

Answer = Callable[[BaseHTTPRequestHandler], None]
PAGE = b"<!doctype html><p>The bridge opens at noon.</p>"


class Site:
    """A web server on this machine whose paths answer as a test says, and which counts what it was asked."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.asked.append(self.path)
                site.answers[self.path.split("?")[0]](self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.scheme = "https" if context else "http"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.server.server_address[1]}{path}"

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    running = Site()
    yield running
    running.stop()


def says(body: bytes = PAGE, status: int = 200, **headers: str) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer


def options(**values: Any) -> FetchOptions:
    return FetchOptions(**{"allow_hosts": ("127.0.0.1",), "timeout_s": 10.0, **values})


def test_a_page_comes_with_its_type_charset_and_validators(site: Site) -> None:
    site.answers["/a"] = says(ETag='"v1"', Last_Modified="Wed, 05 Apr 2023 10:00:00 GMT")
    seen: list[tuple[int, int | None]] = []
    page = fetch(site.url("/a#part"), options=options(), progress=lambda done, total: seen.append((done, total)))
    assert (page.status, page.body, page.content_type, page.charset) == (200, PAGE, "text/html", "utf-8")
    assert (page.etag, page.last_modified) == ('"v1"', "Wed, 05 Apr 2023 10:00:00 GMT")
    assert page.url == site.url("/a")
    assert page.fetched_at.tzinfo is UTC
    assert page.fetched_at <= datetime.now(UTC)
    assert seen[-1] == (len(PAGE), len(PAGE))


def test_a_page_that_has_not_changed_says_so(site: Site) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        assert request.headers["If-None-Match"] == '"v1"'
        assert request.headers["User-Agent"].startswith("PegasMemory")
        request.send_response(304)
        request.send_header("ETag", '"v1"')
        request.end_headers()

    site.answers["/a"] = answer
    page = fetch(site.url("/a"), options=options(), etag='"v1"')
    assert page.not_modified
    assert page.body == b""


def test_redirects_are_followed_and_told(site: Site) -> None:
    site.answers["/old"] = says(b"", 301, Location="/new?x=1")
    site.answers["/new"] = says()
    page = fetch(site.url("/old"), options=options())
    assert page.url == site.url("/new?x=1")
    assert page.redirects == (site.url("/old"),)


def test_a_circle_of_redirects_and_too_many_are_said(site: Site) -> None:
    site.answers["/a"] = says(b"", 302, Location="/b")
    site.answers["/b"] = says(b"", 302, Location="/a")
    with pytest.raises(FetchFailed, match="circle"):
        fetch(site.url("/a"), options=options())
    for number in range(9):
        site.answers[f"/{number}"] = says(b"", 307, Location=f"/{number + 1}")
    with pytest.raises(FetchFailed, match="more than 3 times"):
        fetch(site.url("/0"), options=options(max_redirects=3))


def test_a_redirect_to_an_inner_address_is_refused_before_a_socket_is_opened(site: Site) -> None:
    with socket.socket() as inner:
        inner.bind(("127.0.0.2", 0))
        inner.listen()
        inner.settimeout(0.2)
        site.answers["/a"] = says(b"", 302, Location=f"http://127.0.0.2:{inner.getsockname()[1]}/secret")
        with pytest.raises(InvalidInput) as raised:
            fetch(site.url("/a"), options=options())
        assert raised.value.code == "address_not_allowed"
        with pytest.raises(TimeoutError):
            inner.accept()


def test_a_name_that_resolves_inside_is_refused_before_a_socket_is_opened(site: Site) -> None:
    def resolver(host: str, port: int, **_: object) -> list[tuple[Any, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    with pytest.raises(InvalidInput, match="loopback"):
        fetch(site.url("/a", host="rebind.example"), options=options(allow_hosts=()), resolver=resolver)
    assert site.asked == []


def test_the_connection_goes_to_the_address_that_was_checked(site: Site) -> None:
    asked: list[str] = []

    def resolver(host: str, port: int, **_: object) -> list[tuple[Any, ...]]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    names: list[str] = []

    def answer(request: BaseHTTPRequestHandler) -> None:
        names.append(request.headers["Host"])
        says()(request)

    site.answers["/a"] = answer
    url = site.url("/a", host="wiki.example")
    assert fetch(url, options=options(allow_hosts=("wiki.example",)), resolver=resolver).body == PAGE
    assert asked == ["wiki.example"]
    assert names[0].startswith("wiki.example:")


def test_a_drip_does_not_outlive_the_deadline(site: Site) -> None:
    stop = threading.Event()

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "100000")
        request.end_headers()
        while not stop.wait(0.05):
            try:
                request.wfile.write(b"x")
                request.wfile.flush()
            except OSError:
                return

    site.answers["/drip"] = answer
    started = time.monotonic()
    try:
        with pytest.raises(FetchFailed) as raised:
            fetch(site.url("/drip"), options=options(timeout_s=0.6))
    finally:
        stop.set()
    assert time.monotonic() - started < 5
    assert raised.value.code == "fetch_timeout"
    assert raised.value.retryable


def test_a_drip_of_headers_does_not_outlive_the_deadline_either(site: Site) -> None:
    stop = threading.Event()

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not stop.wait(0.05):
            try:
                request.wfile.write(b"x")
                request.wfile.flush()
            except OSError:
                return

    site.answers["/drip"] = answer
    try:
        with pytest.raises(FetchFailed, match="within the time"):
            fetch(site.url("/drip"), options=options(timeout_s=0.6))
    finally:
        stop.set()


def test_a_decompression_bomb_is_refused_while_it_is_small(site: Site) -> None:
    bomb = gzip.compress(bytes(100_000_000), 9)
    site.answers["/bomb"] = says(bomb, Content_Encoding="gzip")
    tracemalloc.start()
    try:
        with pytest.raises(Refused, match=r"bomb|larger"):
            fetch(site.url("/bomb"), options=options())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30_000_000


def test_a_page_that_is_too_large_is_refused_whether_it_says_so_or_not(site: Site) -> None:
    site.answers["/said"] = says(b"x" * 5000)

    def unsaid(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Connection", "close")
        request.end_headers()
        request.wfile.write(b"x" * 5000)
        request.close_connection = True

    site.answers["/unsaid"] = unsaid
    for path in ("/said", "/unsaid"):
        with pytest.raises(Refused, match="1,000 bytes"):
            fetch(site.url(path), options=options(max_bytes=1000))


@pytest.mark.parametrize("name", ["gzip", "deflate", "raw"])
def test_compressed_pages_are_read(site: Site, name: str) -> None:
    import zlib

    body = PAGE * 100
    packed = {"gzip": gzip.compress(body), "deflate": zlib.compress(body), "raw": zlib.compress(body)[2:-4]}[name]
    site.answers["/a"] = says(packed, Content_Encoding="gzip" if name == "gzip" else "deflate")
    assert fetch(site.url("/a"), options=options()).body == body


def test_damaged_compression_is_said(site: Site) -> None:
    site.answers["/a"] = says(gzip.compress(PAGE * 10)[:-12], Content_Encoding="gzip")
    site.answers["/b"] = says(PAGE, Content_Encoding="gzip")
    site.answers["/c"] = says(PAGE, Content_Encoding="br")
    for path in ("/a", "/b", "/c"):
        with pytest.raises(FetchFailed, match="cannot be read"):
            fetch(site.url(path), options=options(attempts=1))


def test_a_busy_server_is_asked_again_and_its_pause_is_honoured(site: Site) -> None:
    replies = iter([says(b"", 503, Retry_After="3"), says(b"", 429), says()])
    site.answers["/a"] = lambda request: next(replies)(request)
    pauses: list[float] = []
    assert fetch(site.url("/a"), options=options(), sleep=pauses.append).body == PAGE
    assert pauses[0] == 3.0
    assert len(pauses) == 2


def test_a_server_that_stays_broken_is_a_failure_that_may_be_tried_again(site: Site) -> None:
    site.answers["/a"] = says(b"", 503, Retry_After="900")
    with pytest.raises(FetchFailed, match="503 Service Unavailable") as raised:
        fetch(site.url("/a"), options=options())
    assert raised.value.retryable
    assert "900" in raised.value.hint
    assert len(site.asked) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_page_that_is_not_there_is_final(site: Site, status: int) -> None:
    site.answers["/a"] = says(b"<p>Not here</p>", status)
    with pytest.raises(FetchFailed, match=str(status)) as raised:
        fetch(site.url("/a?token=secret"), options=options())
    assert not raised.value.retryable
    assert "secret" not in str(raised.value)
    assert len(site.asked) == 1


def test_a_connection_that_breaks_off_is_tried_again(site: Site) -> None:
    def broken(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "500")
        request.end_headers()
        request.wfile.write(b"half")
        request.close_connection = True

    replies = iter([broken, says()])
    site.answers["/a"] = lambda request: next(replies)(request)
    assert fetch(site.url("/a"), options=options(), sleep=lambda _: None).body == PAGE


def test_a_port_where_nobody_listens_is_said() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(FetchFailed, match="cannot be reached") as raised:
        fetch(f"http://127.0.0.1:{port}/", options=options(attempts=1))
    assert raised.value.retryable


def test_a_certificate_that_nobody_signed_is_said(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=wiki.example"]
    command += ["-addext", "subjectAltName=DNS:wiki.example"]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    site = Site(context)

    def resolver(host: str, port: int, **_: object) -> list[tuple[Any, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    try:
        site.answers["/a"] = says()
        url = site.url("/a", host="wiki.example")
        allowed = options(allow_hosts=("wiki.example",))
        with pytest.raises(FetchFailed, match="no safe connection") as raised:
            fetch(url, options=allowed, resolver=resolver)
        assert not raised.value.retryable
        # The name, not the address it was resolved to, is what the certificate is checked against.
        trusting = ssl.create_default_context(cafile=str(certificate))
        assert fetch(url, options=allowed, resolver=resolver, ssl_context=trusting).body == PAGE
    finally:
        site.stop()


def test_a_proxy_is_used_for_the_page_and_inner_addresses_are_refused_all_the_same(site: Site) -> None:
    port = site.server.server_address[1]
    site.answers[f"http://only-the-proxy-knows.example:{port}/a"] = says()

    def resolver(*_: object, **__: object) -> list[tuple[Any, ...]]:
        raise socket.gaierror(-2, "Name or service not known")

    through = options(allow_hosts=(), proxy_url=site.url(""))
    page = fetch(f"http://only-the-proxy-knows.example:{port}/a", options=through, resolver=resolver)
    assert page.body == PAGE
    with pytest.raises(InvalidInput, match="private"):
        fetch("http://10.0.0.5/", options=through, resolver=resolver)
