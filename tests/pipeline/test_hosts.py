"""What hosts ask of whoever reads them: their robots.txt, and how often they may be asked, by all processes together."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from pegas_assets.pipeline.accept import accept_urls
from pegas_assets.pipeline.documents import fetch_pending
from pegas_assets.runtime import Runtime
from pegas_assets.stores.hosts import pause_host, take_turn
from tests.pipeline.reading import ingest, one, retry_now, rows
from tests.pipeline.site import PAGE, Site, fetching_base, serving, take


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as made:
        yield made


@pytest.fixture
def base(home: Path) -> Iterator[Runtime]:
    with fetching_base(home) as made:
        yield made


@pytest.fixture
def far(home: Path, site: Site) -> Iterator[Runtime]:
    """A base for which the site stands for every host of the web: it is the proxy. Addresses are never looked up."""
    with fetching_base(home, proxy_url=site.url(""), fetch_allow_hosts=(), fetch_delay_s=0.3) as made:
        yield made


def forget_robots(base: Runtime, hours: float) -> None:
    rows(
        base,
        "UPDATE pm_robots SET asked_at = asked_at - make_interval(secs => %s), "
        "fetched_at = fetched_at - make_interval(secs => %s)",
        hours * 3600,
        hours * 3600,
    )


def test_a_page_that_robots_txt_forbids_is_refused_in_a_sentence_and_not_asked_for(base: Runtime, site: Site) -> None:
    site.robots = "User-agent: *\nDisallow: /private\n"
    site.page("/private/a", body=PAGE.format(1954))
    site.page("/open", body=PAGE.format(1955))
    assert take(base, site.url("/private/a"), site.url("/open")) == {"refused": 1, "done": 1}
    ((error, code),) = rows(base, "SELECT error, error_code FROM pm_document WHERE status = 'refused'")
    assert "robots.txt of 127.0.0.1 does not want programs to read" in error
    assert "PEGAS_ROBOTS=ignore" in error
    assert code == "robots"
    assert [path for path, _ in site.asked] == ["/open"]


def test_robots_txt_is_asked_for_once_a_day_and_kept_for_every_process(base: Runtime, site: Site) -> None:
    for path in ("/a", "/b", "/c"):
        site.page(path, body=PAGE.format(1954) + path)
    take(base, site.url("/a"), site.url("/b"))
    take(base, site.url("/c"))
    assert site.robots_asked == 1
    forget_robots(base, 25)
    take(base, site.url("/a"), refresh=True)
    assert site.robots_asked == 2


def test_a_setting_leaves_robots_txt_aside(home: Path, site: Site) -> None:
    site.robots = "User-agent: *\nDisallow: /\n"
    site.page("/a", body=PAGE.format(1954))
    with fetching_base(home, robots="ignore") as base:
        assert take(base, site.url("/a")) == {"done": 1}
    assert site.robots_asked == 0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_site_without_robots_txt_allows_all(base: Runtime, site: Site, status: int) -> None:
    site.page("/robots.txt", status=status, body="User-agent: *\nDisallow: /")
    site.page("/a", body=PAGE.format(1954))
    assert take(base, site.url("/a")) == {"done": 1}


@pytest.mark.parametrize("status", [429, 500, 503])
def test_while_robots_txt_cannot_be_had_pages_wait_with_the_reason(base: Runtime, site: Site, status: int) -> None:
    site.page("/robots.txt", status=status)
    for path in ("/a", "/b"):
        site.page(path, body=PAGE.format(1954) + path)
    assert take(base, site.url("/a"), site.url("/b")) == {"fetching": 2}
    assert site.robots_asked == 1
    assert site.asked == []
    for error, waits in rows(base, "SELECT error, next_attempt_at > now() + interval '30 s' FROM pm_document"):
        assert f"robots.txt cannot be had: The server answered {status}" in error
        assert waits
    site.page("/robots.txt", body="")
    forget_robots(base, 1)
    retry_now(base)
    ingest(base, "web:127.0.0.1")
    assert rows(base, "SELECT DISTINCT status FROM pm_document") == [("done",)]


def test_the_robots_txt_that_was_had_holds_while_a_newer_one_cannot_be_had(base: Runtime, site: Site) -> None:
    site.robots = "User-agent: *\nDisallow: /private\n"
    site.page("/a", body=PAGE.format(1954))
    assert take(base, site.url("/a")) == {"done": 1}
    site.page("/robots.txt", status=500)
    forget_robots(base, 48)
    site.page("/b", body=PAGE.format(1955))
    assert take(base, site.url("/b"), site.url("/private")) == {"done": 1, "refused": 1}


def test_a_robots_txt_that_leads_inside_or_is_a_page_allows_all_and_nothing_inside_is_asked(
    base: Runtime, site: Site
) -> None:
    site.page("/a", body=PAGE.format(1954))
    site.page("/robots.txt", status=302, Location="http://10.0.0.1/robots.txt")
    assert take(base, site.url("/a")) == {"done": 1}
    forget_robots(base, 25)
    site.page("/robots.txt", body="<html>User-agent: *\nDisallow: /\n</html>")
    assert take(base, site.url("/a"), refresh=True) == {"done": 1}


def test_of_a_huge_robots_txt_the_beginning_counts(base: Runtime, site: Site) -> None:
    site.robots = "User-agent: *\nDisallow: /private\n" + "# more\n" * 200_000
    site.page("/a", body=PAGE.format(1954))
    assert take(base, site.url("/private/a"), site.url("/a")) == {"done": 1, "refused": 1}


def test_a_redirect_is_held_to_the_robots_txt_of_where_it_leads(far: Runtime, site: Site) -> None:
    site.page("http://8.8.8.8/a", status=302, Location="http://1.1.1.1/b")
    site.page("http://1.1.1.1/robots.txt", body="User-agent: *\nDisallow: /b")
    site.page("http://1.1.1.1/b", body=PAGE.format(1954))
    assert take(far, "http://8.8.8.8/a") == {"refused": 1}
    assert [path for path, _ in site.asked] == ["http://8.8.8.8/a"]


def test_requests_to_one_host_are_as_far_apart_as_the_setting_says_over_all_processes(far: Runtime, site: Site) -> None:
    urls = [f"http://8.8.8.8/{number}" for number in range(4)]
    for url in urls:
        site.page(url, body=PAGE.format(1954) + url)
    accepted = accept_urls(far.database, far.settings, urls)
    (source,) = accepted.sources
    one_half, other = accepted.document_ids[:2], accepted.document_ids[2:]
    with ThreadPoolExecutor(2) as workers:
        list(workers.map(lambda ids: fetch_pending(far.database, far.settings, source, only=ids), (one_half, other)))
    assert one(far, "SELECT count(*) FROM pm_document WHERE fetched_at IS NOT NULL") == 4
    assert len(site.moments) == 5  # robots.txt too
    assert all(later - earlier > 0.28 for earlier, later in pairwise(sorted(site.moments)))


def test_redirects_and_further_tries_keep_the_distance_too(home: Path, site: Site) -> None:
    site.page("http://8.8.8.8/a", status=301, Location="/b")
    answers = iter([(503, {}, ""), (200, {"Content-Type": "text/html"}, PAGE.format(1954))])
    site.pages["http://8.8.8.8/b"] = lambda _: next(answers)
    bounds = {"proxy_url": site.url(""), "fetch_allow_hosts": (), "fetch_delay_s": 0.3, "fetch_attempts": 2}
    with fetching_base(home, **bounds) as far:
        assert take(far, "http://8.8.8.8/a") == {"done": 1}
        assert take(far, "http://8.8.8.8/b") == {"unchanged": 1}
        assert one(far, "SELECT attempts FROM pm_document") == 0
    assert len(site.moments) == 5  # robots.txt, /a, /b, and both once more after the 503
    assert all(later - earlier > 0.28 for earlier, later in pairwise(site.moments))


def test_a_pause_that_a_server_asks_for_is_its_hosts_and_is_told(far: Runtime, site: Site) -> None:
    site.page("http://8.8.8.8/a", status=429, Retry_After="900")
    site.page("http://8.8.8.8/b", body=PAGE.format(1954))
    assert take(far, "http://8.8.8.8/a", "http://8.8.8.8/b") == {"fetching": 1, "accepted": 1}
    assert [path for path, _ in site.asked] == ["http://8.8.8.8/a"]
    for error, waits, attempts in rows(
        far, "SELECT error, next_attempt_at > now() + interval '800 s', attempts FROM pm_document ORDER BY id"
    ):
        assert "900 s" in error
        assert waits
        assert attempts <= 1
    # Another process meets the same pause.
    site.page("http://8.8.8.8/c", body=PAGE.format(1955))
    assert take(far, "http://8.8.8.8/c") == {"accepted": 1}
    assert len(site.asked) == 1


def test_a_crawl_delay_is_honoured_even_on_hosts_without_one_of_our_own(base: Runtime, site: Site) -> None:
    site.robots = "User-agent: *\nCrawl-delay: 0.4\n"
    for path in ("/a", "/b"):
        site.page(path, body=PAGE.format(1954) + path)
    take(base, site.url("/a"), site.url("/b"))
    assert len(site.asked) == 2
    assert site.moments[-1] - site.moments[-2] > 0.38


def test_this_machine_is_not_waited_for(base: Runtime, site: Site) -> None:
    base.settings = base.settings.model_copy(update={"fetch_delay_s": 60.0})
    for path in ("/a", "/b"):
        site.page(path, body=PAGE.format(1954) + path)
    waits: list[float] = []
    accepted = accept_urls(base.database, base.settings, [site.url("/a"), site.url("/b")])
    fetch_pending(base.database, base.settings, accepted.sources[0], sleep=waits.append)
    assert len(site.asked) == 2
    assert waits == []


def test_no_connection_is_held_while_a_host_is_waited_for(far: Runtime, site: Site) -> None:
    site.page("http://8.8.8.8/a", body=PAGE.format(1954))
    free: list[bool] = []

    def look(seconds: float) -> None:
        stats = far.database._open().get_stats()
        free.append(stats["pool_available"] == stats["pool_size"])
        rows(far, "UPDATE pm_host SET free_at = now()")

    accepted = accept_urls(far.database, far.settings, ["http://8.8.8.8/a"])
    fetch_pending(far.database, far.settings, accepted.sources[0], sleep=look)
    assert free
    assert all(free)
    assert one(far, "SELECT fetched_at IS NOT NULL FROM pm_document")


def test_one_of_many_takes_a_turn(base: Runtime) -> None:
    def take_one(_: int) -> bool:
        with base.database.connection() as connection:
            return take_turn(connection, "example.org", 60.0)[0] == 0.0

    with ThreadPoolExecutor(6) as workers:
        assert sum(workers.map(take_one, range(12))) == 1


def test_a_longer_pause_stays_and_none_is_endless(base: Runtime) -> None:
    with base.database.connection() as connection:
        pause_host(connection, "example.org", 1e9, "for ever")
        pause_host(connection, "example.org", 5.0, "a little")
        seconds, reason = take_turn(connection, "example.org", 0.0)
    assert reason == "for ever"
    assert 80_000 < seconds <= 86_400
