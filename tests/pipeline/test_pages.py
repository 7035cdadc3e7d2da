"""Pages from a real server: fetched, not found, tried again, not changed, and never from inside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pegas_assets.runtime import Runtime
from tests.pipeline.reading import ingest, one, retry_now, rows
from tests.pipeline.site import PAGE, Answer, Site, fetching_base, serving, take


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as made:
        yield made


@pytest.fixture
def base(home: Path) -> Iterator[Runtime]:
    """A base that may fetch from this machine."""
    with fetching_base(home) as made:
        yield made


def test_a_page_is_fetched_kept_and_read(base: Runtime, site: Site) -> None:
    site.page("/weir", body=PAGE.format(1954))
    assert take(base, site.url("/weir")) == {"done": 1}
    ((kind, source, title, uri),) = rows(base, "SELECT kind, source, title, uri FROM pm_document")
    assert (kind, source, title, uri) == ("web", "web:127.0.0.1", "The weir", site.url("/weir"))
    assert bytes(one(base, "SELECT bytes FROM pm_document_body")).decode() == PAGE.format(1954)
    assert "fact: The weir was rebuilt in 1954." in [
        f"{type_}: {content}" for type_, content in rows(base, "SELECT type, content FROM pm_atom")
    ]


def test_a_page_that_is_not_there_fails_at_once_with_the_reason(base: Runtime, site: Site) -> None:
    assert take(base, site.url("/missing")) == {"failed": 1}
    ((error, attempts),) = rows(base, "SELECT error, attempts FROM pm_document")
    assert "404" in error
    assert (attempts, len(site.asked)) == (1, 1)
    # It may be asked for again.
    site.page("/missing", body=PAGE.format(1954))
    assert take(base, site.url("/missing")) == {"done": 1}


def test_a_server_that_is_busy_is_asked_again_later_and_that_does_not_count_against_the_reading(
    base: Runtime, site: Site
) -> None:
    site.page("/weir", status=503, body="later")
    assert take(base, site.url("/weir")) == {"fetching": 1}
    for _ in range(3):
        retry_now(base)
        ingest(base, "web:127.0.0.1")
    ((status, attempts, waits),) = rows(base, "SELECT status, attempts, next_attempt_at > now() FROM pm_document")
    assert (status, attempts, waits) == ("fetching", 4, True)
    site.page("/weir", body=PAGE.format(1954))
    retry_now(base)
    ingest(base, "web:127.0.0.1")
    assert rows(base, "SELECT status, error FROM pm_document") == [("done", None)]


@pytest.mark.parametrize(
    "inside", ["http://10.0.0.1/", "http://169.254.169.254/latest", "http://[::1]:8/", "file:///etc"]
)
def test_a_redirect_to_the_inside_is_refused_and_nothing_of_it_is_kept(base: Runtime, site: Site, inside: str) -> None:
    site.page("/weir", status=302, Location=inside)
    counts = take(base, site.url("/weir"))
    assert counts in ({"refused": 1}, {"failed": 1})
    assert one(base, "SELECT error FROM pm_document")
    assert one(base, "SELECT count(*) FROM pm_document_body") == 0
    assert one(base, "SELECT count(*) FROM pm_document_uri") == 1


def test_a_redirected_page_is_known_under_both_addresses(base: Runtime, site: Site) -> None:
    site.page("/old", status=301, Location="/weir")
    site.page("/weir", body=PAGE.format(1954))
    assert take(base, site.url("/old")) == {"done": 1}
    assert take(base, site.url("/weir")) == {"unchanged": 1}
    assert one(base, "SELECT count(*) FROM pm_document") == 1


def test_two_pages_of_one_text_are_one_document(base: Runtime, site: Site) -> None:
    for path in ("/a", "/b"):
        site.page(path, body=PAGE.format(1954))
    assert take(base, site.url("/a"), site.url("/b")) == {"done": 1, "duplicate": 1}
    assert one(base, "SELECT count(*) FROM pm_document") == 1
    assert one(base, "SELECT count(*) FROM pm_document_uri") == 2
    assert take(base, site.url("/b")) == {"unchanged": 1}


def test_a_known_page_is_not_asked_for_again_until_refresh_and_then_with_its_mark(base: Runtime, site: Site) -> None:
    def tagged(headers: dict[str, str]) -> Answer:
        if headers.get("if-none-match") == '"v1"':
            # Such an answer may leave the mark out.
            return 304, {}, ""
        return 200, {"ETag": '"v1"', "Content-Type": "text/html"}, PAGE.format(1954)

    site.pages["/weir"] = tagged
    assert take(base, site.url("/weir")) == {"done": 1}
    chunks = rows(base, "SELECT id FROM pm_chunk")
    assert take(base, site.url("/weir#top")) == {"unchanged": 1}
    assert len(site.asked) == 1
    for times in (2, 3):
        assert take(base, site.url("/weir"), refresh=True) == {"done": 1}
        assert len(site.asked) == times
        assert site.asked[-1][1].get("if-none-match") == '"v1"'
    assert rows(base, "SELECT id FROM pm_chunk") == chunks


def test_a_page_that_changed_is_read_anew_on_refresh(base: Runtime, site: Site) -> None:
    site.page("/weir", body=PAGE.format(1954))
    take(base, site.url("/weir"))
    site.page("/weir", body=PAGE.format(1955))
    assert take(base, site.url("/weir"), refresh=True) == {"done": 1}
    status = dict(rows(base, "SELECT content, status FROM pm_atom WHERE type = 'fact'"))
    assert status["The weir was rebuilt in 1954."] == "stale"
    assert status["The weir was rebuilt in 1955."] == "candidate"


def test_a_page_that_went_away_keeps_what_was_read(base: Runtime, site: Site) -> None:
    site.page("/weir", body=PAGE.format(1954))
    take(base, site.url("/weir"))
    del site.pages["/weir"]
    assert take(base, site.url("/weir"), refresh=True) == {"done": 1}
    ((status, error),) = rows(base, "SELECT status, error FROM pm_document")
    assert status == "done"
    assert "404" in error
    assert one(base, "SELECT count(*) FROM pm_atom WHERE status = 'candidate'") > 0


def test_what_is_too_large_is_refused_without_its_bytes(home: Path, site: Site) -> None:
    with fetching_base(home, fetch_max_bytes=1000) as made:
        site.page("/big", body="<p>" + "gate " * 1000)
        assert take(made, site.url("/big")) == {"refused": 1}
        assert one(made, "SELECT count(*) FROM pm_document_body") == 0


def test_a_signpost_is_followed_to_its_page_and_never_inside(base: Runtime, site: Site) -> None:
    site.page(
        "/old", body="<html><head><meta http-equiv=Refresh content='0; URL=\"new/\"'></head><body>Moved.</body></html>"
    )
    site.page("/new/", body=PAGE.format(1954))
    assert take(base, site.url("/old")) == {"done": 1}
    assert one(base, "SELECT title FROM pm_document") == "The weir"
    site.page("/inside", body="<meta http-equiv=refresh content='0;url=http://10.0.0.1/'>Moved.")
    assert take(base, site.url("/inside")) == {"refused": 1}
    for here, there in (("/a", "/b"), ("/b", "/a")):
        site.page(here, body=f"<meta http-equiv=refresh content='0;url={there}'>Moved.")
    assert take(base, site.url("/a")) == {"refused": 1}
    assert len(site.asked) == 5
