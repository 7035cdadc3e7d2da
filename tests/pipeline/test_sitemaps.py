"""Sites taken in by their sitemaps, and long lists of addresses."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pegas_assets.errors import FetchFailed, InvalidInput, Refused
from pegas_assets.pipeline.accept import Acceptance, accept_urls
from pegas_assets.pipeline.sitemaps import accept_sitemap
from pegas_assets.runtime import Runtime
from pegas_assets.stores.operations import operation_state
from tests.pipeline.reading import ingest, one, rows
from tests.pipeline.site import PAGE, Site, fetching_base, serving

TOMORROW = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as made:
        yield made


@pytest.fixture
def base(home: Path) -> Iterator[Runtime]:
    with fetching_base(home) as made:
        yield made


def urlset(site: Site, pages: dict[str, str]) -> str:
    """A sitemap of pages, each with its last change."""
    entries = "".join(
        f"<url><loc>{path if '://' in path else site.url(path)}</loc>{f'<lastmod>{day}</lastmod>' if day else ''}</url>"
        for path, day in pages.items()
    )
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


def serve(site: Site, pages: dict[str, str]) -> None:
    site.page("/sitemap.xml", body=urlset(site, pages), Content_Type="application/xml")
    for number, path in enumerate(pages):
        site.page(path, body=PAGE.format(1900 + number))


def taken(base: Runtime, accepted: Acceptance) -> dict[str, int]:
    for source in accepted.sources:
        ingest(base, source)
    with base.database.connection() as connection:
        state = operation_state(connection, accepted.operation_id)
    assert state.finished
    return state.counts


def asked(site: Site) -> list[str]:
    paths = [path for path, _ in site.asked]
    site.asked.clear()
    return paths


def test_a_site_is_taken_by_its_sitemap_and_what_did_not_change_is_not_asked_for_again(
    base: Runtime, site: Site
) -> None:
    serve(site, {"/a": "2020-01-01", "/b": "2021-01-01", "/c": ""})
    assert taken(base, accept_sitemap(base.database, base.settings, site.url("/sitemap.xml"))) == {"done": 3}
    assert asked(site) == ["/sitemap.xml", "/b", "/a", "/c"]
    # Another day, another sitemap: only /a changed since.
    serve(site, {"/a": TOMORROW, "/b": "2021-01-01", "/c": ""})
    site.page("/a", body=PAGE.format(1999))
    assert taken(base, accept_sitemap(base.database, base.settings, site.url("/sitemap.xml"))) == {
        "done": 1,
        "unchanged": 2,
    }
    assert asked(site) == ["/sitemap.xml", "/a"]
    assert one(base, "SELECT count(*) FROM pm_atom WHERE content = 'The weir was rebuilt in 1999.'") == 1


def test_the_newest_are_taken_up_to_the_limit_and_the_rest_is_said(base: Runtime, site: Site) -> None:
    serve(site, {"/old": "2020-01-01", "/undated": "", "/new": "2024-01-01", "/newer": "2024-06-01"})
    accepted = accept_sitemap(base.database, base.settings, site.url("/sitemap.xml"), limit=2)
    assert [item.item for item in accepted.items] == [site.url("/newer"), site.url("/new")]
    assert accepted.notes == ("Of 4 pages the 2 newest were taken; --limit or PEGAS_SITEMAP_LIMIT allows more.",)


def test_pages_of_other_sites_are_left_out(base: Runtime, site: Site) -> None:
    serve(site, {"/a": ""})
    pages = {
        "/a": "",
        "https://elsewhere.example/b": "",
        f"http://127.0.0.1:{site.port + 1}/c": "",
        "http://10.0.0.1/": "",
    }
    site.page("/sitemap.xml", body=urlset(site, pages))
    accepted = accept_sitemap(base.database, base.settings, site.url("/sitemap.xml"))
    assert [item.item for item in accepted.items] == [site.url("/a")]
    assert "3 addresses of other sites" in accepted.notes[0]


def test_an_index_is_followed_and_a_broken_part_of_it_is_said(base: Runtime, site: Site) -> None:
    serve(site, {"/a": "", "/b": ""})
    children = "".join(
        f"<sitemap><loc>{site.url(path)}</loc></sitemap>"
        for path in ("/one.xml.gz", "/missing.xml", "/two.txt", "/index.xml")
    )
    children += "<sitemap><loc>https://elsewhere.example/s.xml</loc></sitemap>"
    site.page("/index.xml", body=f"<sitemapindex>{children}</sitemapindex>")
    site.page("/one.xml.gz", body=gzip.compress(urlset(site, {"/a": ""}).encode()), Content_Type="application/x-gzip")
    site.page("/two.txt", body=f"{site.url('/b')}\n{site.url('/a')}\n", Content_Type="text/plain")
    accepted = accept_sitemap(base.database, base.settings, site.url("/index.xml"))
    assert sorted(item.item for item in accepted.items) == [site.url("/a"), site.url("/b")]
    assert any("missing.xml was left out" in note and "404" in note for note in accepted.notes)
    assert asked(site) == ["/index.xml", "/one.xml.gz", "/missing.xml", "/two.txt"]


def test_of_a_dated_index_no_more_is_read_than_the_limit_needs(base: Runtime, site: Site) -> None:
    serve(site, {"/a": "2024-01-01", "/b": "2020-01-01"})
    site.page(
        "/index.xml",
        body="<sitemapindex>"
        f"<sitemap><loc>{site.url('/old.xml')}</loc><lastmod>2020-01-01</lastmod></sitemap>"
        f"<sitemap><loc>{site.url('/new.xml')}</loc><lastmod>2024-01-01</lastmod></sitemap></sitemapindex>",
    )
    site.page("/new.xml", body=urlset(site, {"/a": "2024-01-01"}))
    site.page("/old.xml", body=urlset(site, {"/b": "2020-01-01"}))
    accepted = accept_sitemap(base.database, base.settings, site.url("/index.xml"), limit=1)
    assert [item.item for item in accepted.items] == [site.url("/a")]
    assert asked(site) == ["/index.xml", "/new.xml"]


def test_what_is_no_sitemap_is_a_page_where_only_its_name_spoke_for_it(base: Runtime, site: Site) -> None:
    site.page("/sitemap", body=PAGE.format(1954))
    with pytest.raises(Refused, match="no sitemap and no feed"):
        accept_sitemap(base.database, base.settings, site.url("/sitemap"))
    accepted = accept_sitemap(base.database, base.settings, site.url("/sitemap"), or_page=True)
    assert taken(base, accepted) == {"done": 1}


def test_a_sitemap_that_cannot_be_had_ends_its_request_with_the_reason(base: Runtime, site: Site) -> None:
    begun: list[str] = []
    with pytest.raises(FetchFailed, match="404"):
        accept_sitemap(base.database, base.settings, site.url("/sitemap.xml"), begun=begun.append)
    with base.database.connection() as connection:
        state = operation_state(connection, begun[0])
    assert state.finished
    assert state.counts == {"refused": 1}
    assert "404" in state.items[0].reason
    site.page("/sitemap.xml", body=urlset(site, {"https://elsewhere.example/": ""}))
    with pytest.raises(InvalidInput, match="no page of its own site"):
        accept_sitemap(base.database, base.settings, site.url("/sitemap.xml"))


def test_a_sitemap_that_robots_txt_forbids_is_refused(base: Runtime, site: Site) -> None:
    serve(site, {"/a": ""})
    site.robots = "User-agent: *\nDisallow: /sitemap.xml\n"
    with pytest.raises(Refused, match="robots"):
        accept_sitemap(base.database, base.settings, site.url("/sitemap.xml"))
    assert asked(site) == []


def test_a_refused_page_is_not_asked_for_again_before_its_site_names_a_change(base: Runtime, site: Site) -> None:
    serve(site, {"/a": "2020-01-01"})
    site.page("/a", body="<html><body></body></html>")
    assert taken(base, accept_sitemap(base.database, base.settings, site.url("/sitemap.xml"))) == {"refused": 1}
    assert taken(base, accept_sitemap(base.database, base.settings, site.url("/sitemap.xml"))) == {"unchanged": 1}
    assert asked(site) == ["/sitemap.xml", "/a", "/sitemap.xml"]


def test_a_long_list_of_addresses_is_taken_in_batches_with_progress(base: Runtime) -> None:
    told: list[tuple[int, int]] = []
    urls = [f"https://example.org/{number}" for number in range(1200)]
    urls[700] = "http://10.0.0.1/"
    accepted = accept_urls(base.database, base.settings, urls, progress=lambda done, total: told.append((done, total)))
    assert told == [(500, 1200), (1000, 1200), (1200, 1200)]
    assert [item.item for item in accepted.items] == urls
    assert (accepted.items[700].outcome, accepted.sources) == ("refused", ("web:example.org",))
    assert rows(base, "SELECT count(*), max(seq) FROM pm_operation_item") == [(1200, 1200)]
    assert one(base, "SELECT count(*) FROM pm_operation WHERE taking_until IS NULL") == 1
