"""`pegas refresh`, and lists of addresses and sitemaps for `pegas ingest`."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Commands
from tests.pipeline.site import PAGE, Site, serving


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("PEGAS_FETCH_ALLOW_HOSTS", "127.0.0.1")
    with serving() as made:
        for path, year in (("/a", 1954), ("/b", 1955), ("/c", 1956)):
            made.page(path, body=PAGE.format(year))
        made.page("/sitemap.xml", body="".join(f"{made.url(path)}\n" for path in ("/a", "/b", "/c")))
        yield made


def test_a_list_of_addresses_is_taken_from_a_file_and_from_stdin(
    pegas: Commands, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"\ufeff# pages\n\n{site.url('/a')}\r\n  {site.url('/b')}\n{site.url('/a')}\n/etc/hostname\n"
    (tmp_path / "list.txt").write_text(text, encoding="utf-8")
    outcome = pegas("ingest", "--urls", "list.txt", "--json")
    assert outcome.code == 1, "a line that is no address is refused"
    assert outcome.json["counts"] == {"done": 2, "refused": 1}
    assert [path for path, _ in site.asked] == ["/a", "/b"]
    stdin = io.TextIOWrapper(io.BytesIO(f"{site.url('/c')}\n{site.url('/a')}\n".encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert pegas("ingest", "--urls", "-", "--json").json["counts"] == {"done": 1, "unchanged": 1}


def test_a_sitemap_is_recognised_and_bounded_and_what_is_left_out_is_said(pegas: Commands, site: Site) -> None:
    outcome = pegas("ingest", site.url("/sitemap.xml"), "--limit", "2", "--json")
    assert outcome.code == 0, outcome
    assert outcome.json["counts"] == {"done": 2}
    assert "Of 3 pages the 2 newest were taken" in outcome.json["notes"][0]
    site.page("/pages", body=site.url("/c"))
    assert pegas("ingest", "--sitemap", site.url("/pages")).code == 0
    assert [path for path, _ in site.asked] == ["/sitemap.xml", "/a", "/b", "/pages", "/c"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ingest",), ("nothing was given", "--urls")),
        (("ingest", "--urls", "missing.txt"), ("missing.txt", "cannot be read")),
        (("ingest", "--urls", "empty.txt"), ("no address",)),
        (("ingest", "--limit", "0", "http://127.0.0.1/sitemap.xml"), ("--limit",)),
        (("refresh", "--older-than", "soon"), ("--older-than", "30d")),
        (("refresh", "--all", "--older-than", "7d"), ("exclude",)),
        (("refresh", "--all", "notes.md"), ("exclude",)),
    ],
)
def test_what_cannot_be_done_is_said(
    shared: Commands, elsewhere: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    (elsewhere / "empty.txt").write_text("# none\n\n")
    shared(*arguments).refused(*words)


def test_what_is_known_is_asked_again_and_what_is_gone_is_said(pegas: Commands, site: Site, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("The sluice gate of Alder lock weighs 4 tonnes.")
    assert pegas("ingest", str(note), site.url("/a"), site.url("/b")).code == 0
    site.page("/a", body=PAGE.format(1999))
    site.page("/b", status=410)
    note.unlink()
    outcome = pegas("refresh")
    assert outcome.code == 0, outcome
    assert "Gone since" in outcome.out
    assert "PEGAS_REFRESH_AFTER is off" in outcome.out
    assert len(site.asked) == 2
    outcome = pegas("refresh", "--all", "--json")
    assert outcome.code == 0, outcome
    assert len(site.asked) == 4
    reasons = {item["item"]: item["reason"] for item in outcome.json["items"]}
    assert "410" in reasons[site.url("/b")]
    assert reasons[site.url("/a")] == ""
    assert reasons[note.as_uri()].startswith("Gone since")
    assert "1999" in pegas("search", "when was the weir rebuilt", "--json").out
    assert "4 tonnes" in pegas("search", "sluice gate of Alder lock", "--json").out
    assert pegas("refresh", "--older-than", "7d", "--json").json["counts"] == {"unchanged": 1}
    outcome = pegas("refresh", site.url("/never"))
    assert outcome.code == 1
    assert "not known" in outcome.out
