"""Sitemaps and feeds as sites write them."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegas_assets.errors import Refused
from pegas_assets.model import DocumentKind
from pegas_assets.sources.registry import parse
from pegas_assets.sources.sitemap import (
    Listed,
    is_sitemap,
    moment_of,
    named_like_sitemap,
    newest_first,
    parse_sitemap,
    same_site,
)

URL = "https://example.org/sitemap.xml"
URLSET = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
    "<url><loc>https://example.org/a?x=1&amp;y=2</loc><lastmod>2024-05-06</lastmod><priority>0.5</priority>"
    "<image:image><image:loc>https://example.org/a.png</image:loc></image:image></url>"
    "<url><loc>\n  https://example.org/b \n</loc><lastmod>2024-05-06T07:08:09+02:00</lastmod></url>"
    "<url><loc>/c</loc></url><url><loc>https://example.org/b</loc></url><url><lastmod>2024-01-01</lastmod></url>"
    "</urlset>"
)


def test_pages_come_with_the_day_of_their_last_change() -> None:
    assert parse_sitemap(URLSET.encode(), URL).pages == (
        Listed("https://example.org/a?x=1&y=2", datetime(2024, 5, 6, 23, 59, 59, tzinfo=UTC)),
        Listed("https://example.org/b", datetime(2024, 5, 6, 5, 8, 9, tzinfo=UTC)),
        Listed("https://example.org/c"),
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_sitemap_in_another_encoding_and_packed_is_read(encoding: str) -> None:
    text = URLSET.replace('encoding="UTF-8"', f'encoding="{encoding.removesuffix("-sig")}"')
    assert len(parse_sitemap(gzip.compress(text.encode(encoding)), URL + ".gz").pages) == 3


def test_an_index_names_sitemaps() -> None:
    found = parse_sitemap(
        b"<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><!-- two -->"
        b"<sitemap><loc>https://example.org/1.xml.gz</loc><lastmod>2024-05</lastmod></sitemap>"
        b"<sitemap><loc>https://example.org/2.xml</loc></sitemap></sitemapindex>",
        URL,
    )
    assert found.pages == ()
    assert [item.url for item in found.sitemaps] == ["https://example.org/1.xml.gz", "https://example.org/2.xml"]


def test_a_list_of_addresses_is_a_sitemap_and_prose_is_none() -> None:
    listed = parse_sitemap(b"\xef\xbb\xbfhttps://example.org/a\r\n\r\n# more\r\nhttps://example.org/b\r\n", URL)
    assert [page.url for page in listed.pages] == ["https://example.org/a", "https://example.org/b"]
    for prose in (
        b"See https://example.org/a for more.",
        b"",
        b"\x89PNG\r\n\x1a\n\x00\x00",
        b"<html><p>Map</p></html>",
        b"<a/>",
    ):
        with pytest.raises(Refused, match="no sitemap and no feed") as raised:
            parse_sitemap(prose, URL)
        assert raised.value.code == "no_sitemap"


def test_feeds_name_their_posts() -> None:
    rss = parse_sitemap(
        b"<rss version='2.0'><channel><link>https://example.org/</link><item><title>One</title>"
        b"<link>https://example.org/1</link><pubDate>Mon, 06 May 2024 07:08:09 +0200</pubDate></item>"
        b"<item><guid>https://example.org/2</guid></item><item><guid isPermaLink='false'>x</guid></item></channel></rss>",
        "https://example.org/rss",
    )
    assert rss.pages == (
        Listed("https://example.org/1", datetime(2024, 5, 6, 5, 8, 9, tzinfo=UTC)),
        Listed("https://example.org/2"),
    )
    atom = parse_sitemap(
        b"<feed xmlns='http://www.w3.org/2005/Atom'><link rel='self' href='https://example.org/feed'/>"
        b"<entry><link rel='edit' href='/e'/><link href='/3'/><published>2023-01-01T00:00:00Z</published>"
        b"<updated>2024-01-01T00:00:00Z</updated></entry></feed>",
        "https://example.org/feed",
    )
    assert atom.pages == (Listed("https://example.org/3", datetime(2024, 1, 1, tzinfo=UTC)),)


def test_the_newest_come_first_and_those_without_a_day_last() -> None:
    old, new, undated = (
        Listed("o", datetime(2020, 1, 1, tzinfo=UTC)),
        Listed("n", datetime(2024, 1, 1, tzinfo=UTC)),
        Listed("u"),
    )
    assert newest_first([undated, old, new]) == [new, old, undated]


@pytest.mark.parametrize("text", ["", "yesterday", "0000-00-00", "2024-13-01", "99999-01-01", "2024-05-06T99:00:00Z"])
def test_a_day_that_is_none_says_nothing(text: str) -> None:
    assert moment_of(text) is None


def test_a_year_or_a_month_is_its_beginning() -> None:
    assert moment_of("2024") == datetime(2024, 1, 1, tzinfo=UTC)
    assert moment_of("2024-05") == datetime(2024, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("url", "is_named"),
    [
        (URL, True),
        ("https://example.org/wp-sitemap-posts-1.xml.gz", True),
        ("https://example.org/sitemap_index.xml?x=1", True),
        ("https://example.org/blog/feed/", True),
        ("https://example.org/news.rss", True),
        ("https://example.org/sitemap.html", False),
        ("https://example.org/feed-the-birds", False),
        ("https://sitemap.example.org/about", False),
        ("http://[::1", False),
    ],
)
def test_names_of_sitemaps_are_known(url: str, is_named: bool) -> None:
    assert named_like_sitemap(url) is is_named


def test_a_site_is_a_domain_and_a_port() -> None:
    assert same_site("https://www.example.co.uk/a", "http://docs.example.co.uk/")
    assert not same_site("https://example.co.uk/", "https://other.co.uk/")
    assert not same_site("http://127.0.0.1:8001/", "http://127.0.0.1:8002/")
    assert not same_site("http://127.0.0.1:99999/", "http://127.0.0.1/")


def test_a_sitemap_under_another_name_is_no_document() -> None:
    assert is_sitemap(URLSET.encode())
    with pytest.raises(Refused, match="is a sitemap") as raised:
        parse(URLSET.encode(), media_type="text/xml", uri="https://example.org/x", kind=DocumentKind.WEB)
    assert "--sitemap" in raised.value.hint


def test_entities_are_not_unfolded_and_nothing_is_read_from_disk() -> None:
    bomb = b'<!DOCTYPE u [<!ENTITY a "aaaaaaaaaa">' + b"".join(
        b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9)
    )
    bomb += (
        b'<!ENTITY f SYSTEM "file:///etc/hostname">]><urlset><url><loc>https://example.org/&j;&f;</loc></url></urlset>'
    )
    try:
        pages = parse_sitemap(bomb, URL).pages
    except Refused:
        return
    assert all(len(page.url) < 100 for page in pages)


def test_a_packed_bomb_is_refused() -> None:
    with pytest.raises(Refused, match="cannot be unpacked"):
        parse_sitemap(gzip.compress(b"<urlset>" + b" " * 30_000_000), URL)


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=200).map(lambda tail: b"<urlset><url><loc>" + tail) | st.binary(max_size=200))
def test_any_bytes_are_a_sitemap_or_refused(body: bytes) -> None:
    try:
        for page in parse_sitemap(body, URL).pages:
            assert page.url
    except Refused:
        return
