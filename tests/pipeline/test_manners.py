"""Fetching as a guest: robots.txt, one request after another, pauses that are asked for, lists of pages."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegas_assets.errors import FetchFailed, InvalidInput, Refused
from pegas_assets.pipeline.accept import accept_urls
from pegas_assets.pipeline.listing import pages_of
from pegas_assets.pipeline.manners import Guest, origin_of
from pegas_assets.runtime import Runtime
from pegas_assets.stores import documents, hosts
from tests.conftest import fresh_base
from tests.embedding_once import embeds_once
from tests.pipeline.reading import one
from tests.pipeline.test_pages import PAGE, Site, serving, take

BUSY = pytest.approx


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as made:
        yield made


@pytest.fixture
def base(home: Path) -> Iterator[Runtime]:
    """A base that may fetch from this machine."""
    with fresh_base(home) as made:
        allowed = {"fetch_allow_hosts": ("127.0.0.1",), "fetch_attempts": 1, "fetch_timeout_s": 5.0}
        made.settings = made.settings.model_copy(update=allowed)
        yield embeds_once(made)


def guest(base: Runtime, waits: list[float], **settings: object) -> Guest:
    return Guest(base.database, base.settings.model_copy(update=settings), sleep=waits.append)


def test_what_robots_do_not_allow_is_refused_with_the_way_out(base: Runtime, site: Site) -> None:
    site.page("/robots.txt", body="User-agent: *\nDisallow: /secret\n", Content_Type="text/plain")
    site.page("/secret", body=PAGE.format(1954))
    site.page("/open", body=PAGE.format(1955))
    assert take(base, site.url("/secret"), site.url("/open")) == {"refused": 1, "done": 1}
    reason = one(base, "SELECT error FROM pm_document WHERE status = 'refused'")
    assert "robots.txt" in reason
    assert "PEGAS_ROBOTS" in reason
    assert [path for path, _ in site.asked] == ["/open"]
    assert len(site.robots_asked) == 1
    assert guest(base, [], robots="ignore").fetch(site.url("/secret")).status == 200


@pytest.mark.parametrize(("status", "allowed"), [(404, True), (403, True), (200, True)])
def test_a_site_without_robots_allows_everything(base: Runtime, site: Site, status: int, allowed: bool) -> None:
    site.page("/robots.txt", status=status, body="<html>Disallow: /</html>")
    site.page("/open", body=PAGE.format(1955))
    assert guest(base, []).fetch(site.url("/open")).status == 200


def test_a_site_that_cannot_say_is_asked_again_later_or_taken_at_its_last_word(base: Runtime, site: Site) -> None:
    site.page("/robots.txt", status=503, body="", Retry_After="7")
    site.page("/open", body=PAGE.format(1955))
    with pytest.raises(FetchFailed) as raised:
        guest(base, []).fetch(site.url("/open"))
    assert (raised.value.code, raised.value.retryable, raised.value.retry_in_s) == ("robots_unknown", True, 7.0)
    with base.database.connection() as connection:
        hosts.keep_robots(connection, origin_of(site.url("/")), "User-agent: *\nDisallow: /open\n")
        connection.execute("UPDATE pm_host SET robots_at = now() - interval '10 days'")
    with pytest.raises(Refused):
        guest(base, []).fetch(site.url("/open"))
    assert not site.asked


def test_requests_to_one_site_keep_their_distance(base: Runtime, site: Site) -> None:
    site.page("/robots.txt", body="User-agent: *\nCrawl-delay: 5\n", Content_Type="text/plain")
    site.page("/open", body=PAGE.format(1955))
    waits: list[float] = []
    visitor = guest(base, waits)
    for _ in range(3):
        visitor.fetch(site.url("/open"))
    assert waits == [BUSY(5, abs=1.5), BUSY(10, abs=1.5)]
    for _ in range(2):
        visitor.fetch(site.url("/open"))
    with pytest.raises(FetchFailed) as raised:
        visitor.fetch(site.url("/open"))
    assert raised.value.code == "host_busy"
    assert raised.value.retry_in_s == BUSY(25, abs=2)


def test_turns_of_many_at_once_are_all_different(base: Runtime) -> None:
    taken: list[float] = []

    def take_some() -> None:
        for _ in range(5):
            with base.database.connection() as connection:
                taken.append(hosts.take_turn(connection, "https://example.org", 10.0))

    threads = [threading.Thread(target=take_some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    ordered = sorted(taken)
    assert len(ordered) == 20
    assert all(later - earlier > 5 for earlier, later in itertools.pairwise(ordered))


def test_a_pause_that_the_server_asks_for_holds_for_the_whole_site(base: Runtime, site: Site) -> None:
    site.page("/busy", status=429, body="", Retry_After="3000")
    site.page("/open", body=PAGE.format(1955))
    with pytest.raises(FetchFailed) as raised:
        guest(base, []).fetch(site.url("/busy"))
    assert raised.value.retry_in_s == 3000
    with pytest.raises(FetchFailed) as waiting:
        guest(base, []).fetch(site.url("/open"))
    assert waiting.value.code == "host_busy"
    assert [path for path, _ in site.asked] == ["/busy"]


def test_pages_of_several_sites_take_turns(base: Runtime) -> None:
    urls = [f"https://{host}.example.org/{page}" for host in ("a", "b") for page in range(3)]
    accepted = accept_urls(base.database, base.settings, urls)
    with base.database.connection() as connection:
        ordered = documents.in_turns(connection, accepted.document_ids)
        sites = [
            connection.execute("SELECT split_part(uri, '/', 3) FROM pm_document WHERE id = %s", [id_]).fetchone()
            for id_ in ordered
        ]
    assert [site[0][0] for site in sites if site] == ["a", "b", "a", "b", "a", "b"]


def sitemap(site: Site, *pages: tuple[str, str]) -> str:
    entries = "".join(f"<url><loc>{site.url(path)}</loc><lastmod>{when}</lastmod></url>" for path, when in pages)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


def test_a_sitemap_gives_the_pages_of_its_site_newest_first(base: Runtime, site: Site) -> None:
    site.page("/robots.txt", body="User-agent: *\nDisallow: /secret\n", Content_Type="text/plain")
    site.page("/one.xml", body=sitemap(site, ("/old", "2020-01-01"), ("/new", "2024-01-01"), ("/secret", "2024-01-01")))
    elsewhere = "<urlset><url><loc>https://elsewhere.example/x</loc></url></urlset>"
    site.page("/two.xml", body=elsewhere)
    index = "".join(f"<sitemap><loc>{site.url(path)}</loc></sitemap>" for path in ("/one.xml", "/two.xml", "/gone.xml"))
    site.page("/sitemap.xml", body=f"<sitemapindex>{index}</sitemapindex>")
    listed = pages_of(base.database, base.settings, site.url("/sitemap.xml"))
    assert [page for page, _ in listed.pages] == [site.url("/new"), site.url("/old")]
    assert len(listed.notes) == 3
    assert [page for page, _ in pages_of(base.database, base.settings, site.url("/sitemap.xml"), limit=1).pages] == [
        site.url("/new")
    ]
    with pytest.raises(InvalidInput, match="lists no page"):
        pages_of(base.database, base.settings, site.url("/two.xml"))


def test_what_did_not_change_after_it_was_fetched_is_not_fetched_again(base: Runtime, site: Site) -> None:
    for path, year in (("/old", 1954), ("/new", 1955)):
        site.page(path, body=PAGE.format(year))
    urls = [site.url("/old"), site.url("/new")]
    take(base, *urls)
    site.page("/sitemap.xml", body=sitemap(site, ("/old", "2020-01-01"), ("/new", "2100-01-01")))
    listed = dict(pages_of(base.database, base.settings, site.url("/sitemap.xml")).pages)
    accepted = accept_urls(base.database, base.settings, listed, modified=listed)
    assert {item.item: item.outcome for item in accepted.items} == {urls[0]: "unchanged", urls[1]: None}
