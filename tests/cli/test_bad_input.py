"""Every bad input gets one sentence that says what was wrong, and an exit code; never a traceback."""

from __future__ import annotations

import io
import os
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from pegas_assets.runtime import Runtime
from pegas_assets.sources import files
from tests.cli.conftest import Commands


@pytest.fixture
def missing_page() -> Iterator[str]:
    """The address of a page that a server of this machine does not have."""

    class NotFound(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), NotFound)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/gone"
    server.shutdown()
    thread.join(timeout=5)
    server.server_close()


def feed(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))


def test_a_missing_file(shared: Commands) -> None:
    shared("ingest", "no/such/file.md").refused("no/such/file.md")


def test_a_folder_without_files(shared: Commands, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    shared("ingest", "empty").refused("no file", "empty")


def test_a_file_that_cannot_be_read(shared: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed.md").write_text("For other eyes.")
    # Root may read everything, so the system is made to say no.
    allowed = os.access
    monkeypatch.setattr(
        files.os, "access", lambda path, mode, **options: Path(path).name != "closed.md" and allowed(path, mode)
    )
    shared("ingest", "closed.md").refused("closed.md", "permission")


def test_an_empty_file(shared: Commands, tmp_path: Path) -> None:
    (tmp_path / "nothing.md").write_text("")
    shared("ingest", "nothing.md").refused("nothing.md", "empty")


def test_binary_with_the_name_of_a_text_is_refused_with_a_reason(shared: Commands, tmp_path: Path) -> None:
    (tmp_path / "picture.txt").write_bytes(bytes(range(256)) * 40)
    outcome = shared("ingest", "picture.txt", "--json")
    assert outcome.code == 1
    assert outcome.json["counts"] == {"refused": 1}
    assert outcome.json["items"][0]["reason"]


def test_a_file_above_the_cap(shared: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "long.md").write_text("word " * 1000)
    monkeypatch.setenv("PEGAS_MAX_DOCUMENT_BYTES", "1000")
    shared("ingest", "long.md").refused("larger than 1,000 bytes")


def test_stdin_above_the_cap(shared: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, b"word " * 1000)
    monkeypatch.setenv("PEGAS_MAX_DOCUMENT_BYTES", "1000")
    shared("ingest", "-").refused("stdin", "1,000 bytes")


def test_nothing_on_stdin(shared: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, b" \n")
    shared("ingest", "-").refused("empty")


def test_binary_on_stdin(shared: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, bytes(range(256)) * 40)
    shared("ingest", "-").refused("no text")


@pytest.mark.parametrize("address", ["http://", "ftp://example.org/file", "http://[::1"])
def test_an_address_that_is_none(shared: Commands, address: str) -> None:
    shared("ingest", address).refused(address)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1/", "http://169.254.169.254/latest/meta-data", "http://10.0.0.1/"]
)
def test_an_address_inside_is_refused(shared: Commands, address: str) -> None:
    shared("ingest", address).refused("may not be fetched")


def test_a_page_that_is_not_there(shared: Commands, missing_page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGAS_FETCH_ALLOW_HOSTS", "127.0.0.1")
    outcome = shared("ingest", missing_page, "--json")
    assert outcome.code == 1
    assert outcome.json["counts"] == {"failed": 1}
    assert "404" in outcome.json["items"][0]["reason"]


def test_one_bad_thing_among_good_ones_holds_up_none(shared: Commands, tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("The sluice gate of Alder lock weighs 4 tonnes.")
    outcome = shared("ingest", "good.md", "no-such.md", "--json")
    assert outcome.code == 1
    assert outcome.json["counts"] == {"done": 1, "refused": 1}


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--type", "poem", ("poem", "fact")),
        ("--status", "old", ("old", "verified")),
        ("--k", "0", ("k is 0",)),
        ("--k", "-3", ("k is -3",)),
        ("--k", "many", ("--k",)),
        ("--offset", "-1", ("offset",)),
        ("--min-confidence", "7", ("0 to 1",)),
        ("--since", "yesterday", ("yesterday", "2026-01-31")),
        ("--colour", "red", ("--colour",)),
    ],
)
def test_a_filter_that_means_nothing(shared: Commands, option: str, value: str, words: tuple[str, ...]) -> None:
    shared("search", "sluice", option, value).refused(*words)


def test_a_huge_k_is_clamped_and_says_so(shared: Commands) -> None:
    outcome = shared("search", "sluice", "--k", "999999999999", "--json")
    assert outcome.code == 0
    assert "clamped" in outcome.json["notes"][0]


@pytest.mark.parametrize("query", ["", "   ", "?!… — «»"])
def test_a_query_without_a_word(shared: Commands, query: str) -> None:
    shared("search", query).refused("query")


def test_a_query_of_a_megabyte(shared: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, b"sluice " * 150_000)
    shared("search", "-").refused("characters", "10,000")


def test_a_budget_out_of_range(shared: Commands) -> None:
    shared("context", "sluice", "--budget", "0").refused("budget")


def test_a_document_that_is_not_there(shared: Commands) -> None:
    shared("forget", "123456", "--yes").refused("no document 123456")
    shared("forget", "https://example.org/never", "--yes").refused("https://example.org/never")
    shared("forget", "9" * 40, "--yes").refused("no document")


def test_forgetting_asks_first(shared: Commands) -> None:
    shared("forget", "1").refused("--yes")


def test_a_projection_or_bucket_that_does_not_exist(shared: Commands) -> None:
    shared("drift", "tables").refused("tables", "vectors")
    shared("reconcile", "graph", "--bucket", "16").refused("16", "0 to 15")


def test_a_command_that_does_not_exist(shared: Commands) -> None:
    outcome = shared("remember")
    outcome.refused("remember", "pegas --help")
    assert outcome.code == 2


def test_a_setting_that_means_nothing(shared: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGAS_FETCH_ATTEMPTS", "often")
    shared("status").refused("PEGAS_FETCH_ATTEMPTS")


def test_a_database_that_is_down_is_named_without_its_password(
    shared: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEGAS_DATABASE_URL", "postgresql://reader:opensesame@127.0.0.1:1/memory")
    outcome = shared("search", "sluice")
    outcome.refused("127.0.0.1:1", "not reachable")
    assert "opensesame" not in outcome.out + outcome.err
    status = shared("status")
    assert status.code == 1
    assert "PROBLEM" in status.out
    assert "opensesame" not in status.out + status.err


def test_an_engine_that_this_version_lacks_is_named(shared: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGAS_QDRANT_URL", "http://127.0.0.1:1")
    shared("drift", "vectors").refused("PEGAS_QDRANT_URL")


def test_a_migration_that_was_edited(pegas: Commands, base: Runtime) -> None:
    with base.database.connection() as connection:
        connection.execute("UPDATE pm_migration SET checksum = 'other' WHERE version = 2")
    for command in (["migrate"], ["search", "sluice"]):
        pegas(*command).refused("0002_outbox", "edited")
    status = pegas("status")
    assert status.code == 1
    assert "edited after it was applied" in status.out


def test_a_port_that_is_taken(shared: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        monkeypatch.setenv("PEGAS_HTTP_PORT", str(port))
        shared("up").refused(str(port), "taken", "PEGAS_HTTP_PORT")


def test_json_is_asked_for_and_the_error_is_json(shared: Commands) -> None:
    outcome = shared("search", "", "--json")
    assert outcome.code == 1
    assert outcome.err == ""
    assert outcome.json["error"]["code"] == "invalid_input"
    assert outcome.json["error"]["hint"]
    wrong = shared("search", "sluice", "--k", "many", "--json")
    assert wrong.code == 2
    assert wrong.json["error"]["code"] == "invalid_input"
