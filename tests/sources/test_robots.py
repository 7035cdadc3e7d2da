"""robots.txt as sites write it."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegas_assets.sources.robots import MAX_DELAY_S, origin_of, parse_robots, robots_text

SITE = "https://example.org"


def allowed(text: str, path: str) -> bool:
    return parse_robots(text).allows(SITE + path)


@pytest.mark.parametrize(
    ("text", "path", "may"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
        ("\ufeffUser-agent: *\r\nDisallow: /private/\r\n", "/private/x", False),
        ("\ufeffUser-agent: *\r\nDisallow: /private/\r\n", "/public/private/", True),
        ("User-agent: *\rDisallow: /x\r", "/x", False),
        ("user-agent:*\ndisallow:/x # not this", "/x", False),
        ("User-agent: GPTBot\nDisallow: /\n", "/a", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: PegasMemory\nAllow: /\n", "/a", True),
        ("User-agent: pegasmemory/0.1\nDisallow: /a\n\nUser-agent: *\nAllow: /\n", "/a", False),
        ("User-agent: Googlebot\nUser-agent: *\nDisallow: /a\n", "/a", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?v=1", True),
        ("User-agent: *\nDisallow: /*?session=", "/a?session=1", False),
        # The longer rule wins, and at equal length the one that allows.
        ("User-agent: *\nDisallow: /a\nAllow: /a/open", "/a/open/1", True),
        ("User-agent: *\nAllow: /a\nDisallow: /a", "/a", True),
        ("User-agent: *\nDisallow: /каша", "/%D0%BA%D0%B0%D1%88%D0%B0", False),
        ("Disallow: /", "/a", True),
        ("<!doctype html><p>User-agent: *\nDisallow: /</p>", "/a", True),
    ],
)
def test_what_a_site_forbids_is_not_fetched(text: str, path: str, may: bool) -> None:
    assert allowed(robots_text(text.encode()), path) is may


def test_the_pause_that_a_site_wants_is_honoured_up_to_a_bound() -> None:
    assert parse_robots("User-agent: *\nCrawl-delay: 2.5\nDisallow: /x").delay_s == 2.5
    assert parse_robots("User-agent: *\nCrawl-delay: 86400").delay_s == MAX_DELAY_S
    for nonsense in ("-1", "soon", "nan", "inf", ""):
        assert parse_robots(f"User-agent: *\nCrawl-delay: {nonsense}\nDisallow: /x").delay_s == 0
    assert parse_robots("User-agent: other\nCrawl-delay: 9").delay_s == 0


def test_sitemaps_are_named() -> None:
    assert parse_robots(f"Sitemap: {SITE}/s.xml\nUser-agent: *\n").sitemaps == (f"{SITE}/s.xml",)


def test_one_file_speaks_for_a_scheme_host_and_port() -> None:
    assert origin_of("https://example.org:8443/a/b?c") == "https://example.org:8443"


def test_ten_thousand_robots_with_ten_thousand_rules_do_not_fill_the_memory() -> None:
    text = "".join(f"User-agent: robot{number}\n" for number in range(12_000))
    text += "".join(f"Disallow: /{number}*\n" for number in range(12_000))
    tracemalloc.start()
    try:
        assert allowed(text, "/9")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 60_000_000


def test_a_rule_of_stars_is_matched_without_going_back_and_forth() -> None:
    assert not allowed("User-agent: *\nDisallow: /" + "*a" * 2000 + "$", "/" + "a" * 7000)
    assert allowed("User-agent: *\nDisallow: /" + "*a" * 2000 + "b$", "/" + "a" * 7000)


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_rules(body: bytes) -> None:
    robots = parse_robots(robots_text(body))
    robots.allows(SITE + "/a?b")
    assert 0 <= robots.delay_s <= MAX_DELAY_S
