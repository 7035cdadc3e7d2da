"""Lists of pages: sitemaps, indexes, feeds, plain lists."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

import pytest

from pegas_assets.errors import InvalidInput
from pegas_assets.sources.robots import delay_asked, may_fetch, sitemaps_named
from pegas_assets.sources.sitemap import looks_like_sitemap, read_page_list

AT = "https://example.org/sitemap.xml"
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
URLSET = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset {NS}><url><loc> https://example.org/a?x=1&amp;y=2 </loc><lastmod>2024-05-01</lastmod></url>
<url><loc>/b</loc><lastmod>2024-05-01T10:00:00+02:00</lastmod></url><url><lastmod>nothing</lastmod></url></urlset>"""
PAGES = [
    ("https://example.org/a?x=1&y=2", datetime(2024, 5, 1, 23, 59, 59, tzinfo=UTC)),
    ("https://example.org/b", datetime(2024, 5, 1, 8, tzinfo=UTC)),
]


@pytest.mark.parametrize("pack", [lambda body: body, gzip.compress, lambda body: b"\xef\xbb\xbf\n" + body[39:]])
def test_a_sitemap_names_pages_with_their_times(pack: object) -> None:
    listed = read_page_list(pack(URLSET.encode()), AT)  # type: ignore[operator]
    assert listed.pages == PAGES
    assert listed.lists == []


def test_an_index_names_further_lists() -> None:
    index = f"<sitemapindex {NS}><sitemap><loc>https://example.org/s1.xml</loc></sitemap></sitemapindex>"
    assert read_page_list(index.encode(), AT).lists == [("https://example.org/s1.xml", None)]


def test_feeds_and_plain_lists_name_pages_too() -> None:
    rss = "<rss><channel><link>https://example.org/</link><item><link>https://example.org/n</link><pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate></item></channel></rss>"
    atom = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link rel="self" href="/x"/><link href="/n"/><updated>2024-05-01T10:00:00Z</updated></entry></feed>'
    for feed in (rss, atom):
        assert read_page_list(feed.encode(), AT).pages == [
            ("https://example.org/n", datetime(2024, 5, 1, 10, tzinfo=UTC))
        ]
    plain = b"# pages\nhttps://example.org/a\nhttps://example.org/b\n"
    assert [page for page, _ in read_page_list(plain, AT).pages] == ["https://example.org/a", "https://example.org/b"]


@pytest.mark.parametrize(
    "body", [b"<html><body>Not found</body></html>", b"some words", b"<", gzip.compress(b"<urlset/>")[:9]]
)
def test_what_is_no_list_is_told(body: bytes) -> None:
    with pytest.raises(InvalidInput, match="no sitemap"):
        read_page_list(body, AT)


def test_an_entity_of_a_file_is_never_read() -> None:
    hostile = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><urlset {NS}><url><loc>https://example.org/&e;</loc></url></urlset>'
    assert all("root:" not in page for page, _ in read_page_list(hostile.encode(), AT).pages)


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("https://example.org/sitemap.xml", True),
        ("https://example.org/x/sitemap_index.xml.gz", True),
        ("https://example.org/post-sitemap.xml?a=1", True),
        ("https://example.org/sitemap", False),
        ("https://example.org/feed.xml", False),
        ("http://[::1", False),
    ],
)
def test_a_sitemap_is_known_by_its_name(url: str, is_one: bool) -> None:
    assert looks_like_sitemap(url) is is_one


def test_robots_are_read_as_the_standard_says() -> None:
    robots = "\ufeffUser-agent: *\nDisallow: /private*\nAllow: /private/open$\nCrawl-delay: 200\n\nUser-agent: PegasMemory\nDisallow: /ours\nCrawl-delay: 3\nSitemap: https://example.org/s.xml\n"
    assert not may_fetch(robots, "https://example.org/ours/page")
    assert may_fetch(robots, "https://example.org/private/page")
    assert delay_asked(robots) == 3.0
    assert sitemaps_named(robots) == ["https://example.org/s.xml"]
    others = robots.replace("PegasMemory", "SomeBot")
    assert not may_fetch(others, "https://example.org/private/page")
    assert may_fetch(others, "https://example.org/private/open")
    assert delay_asked(others) == 30.0
    for nothing in ("", " \n", "<html>no</html>"):
        assert may_fetch(nothing, "https://example.org/private")
