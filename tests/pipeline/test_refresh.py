"""What is known is looked at again: what changed is read anew, what did not costs nothing, what is gone stays known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pegas_assets.errors import NotFound
from pegas_assets.pipeline.accept import accept_files
from pegas_assets.pipeline.refresh import refresh
from pegas_assets.runtime import Runtime
from tests.conftest import fresh_base
from tests.embedding_once import embeds_once
from tests.pipeline.reading import ingest, one, rows
from tests.pipeline.test_pages import PAGE, Site, serving, take

LOG = "The weir was rebuilt in {}.\n\nIt has nine gates, and the keeper opens them by hand.\n"


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as made:
        yield made


@pytest.fixture
def base(home: Path) -> Iterator[Runtime]:
    with fresh_base(home) as made:
        allowed = {"fetch_allow_hosts": ("127.0.0.1",), "fetch_attempts": 1, "fetch_timeout_s": 5.0}
        made.settings = made.settings.model_copy(update=allowed)
        yield embeds_once(made)


def again(base: Runtime, **how: object) -> dict[str, int]:
    """Refresh, do the work, and say how many of what."""
    looked = refresh(base.database, base.settings, **how)  # type: ignore[arg-type]
    for source in looked.acceptance.sources:
        ingest(base, source)
    return {
        "pages": looked.pages,
        "changed": looked.changed,
        "unchanged": looked.unchanged,
        "gone": len(looked.gone),
        "problems": len(looked.problems),
    }


def facts(base: Runtime) -> dict[str, str]:
    return dict(rows(base, "SELECT content, status FROM pm_atom WHERE type = 'fact'"))


def test_a_file_that_changed_is_read_anew_and_what_stands_in_it_still_is_kept(base: Runtime, tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(LOG.format(1954) + f"File {name} is kept by hand.\n")
    for source in accept_files(base.database, base.settings, str(tmp_path)).sources:
        ingest(base, source)
    before = rows(base, "SELECT id FROM pm_atom WHERE content LIKE 'It has nine gates%'")
    (tmp_path / "a.txt").write_text(LOG.format(1955) + "File a.txt is kept by hand.\n")
    assert again(base, older_than_s=0.0) == {"pages": 0, "changed": 1, "unchanged": 1, "gone": 0, "problems": 0}
    assert rows(base, "SELECT id FROM pm_atom WHERE content LIKE 'It has nine gates%'") == before
    # The other file says it still.
    assert facts(base)["The weir was rebuilt in 1954."] == "candidate"
    (tmp_path / "b.txt").write_text(LOG.format(1955))
    again(base, named=[str(tmp_path / "b.txt")])
    assert facts(base)["The weir was rebuilt in 1954."] == "stale"
    reason = one(base, "SELECT status_reason FROM pm_atom WHERE content = 'The weir was rebuilt in 1954.'")
    assert "b.txt" in reason or "document" in reason
    (tmp_path / "b.txt").write_text(LOG.format(1954))
    again(base, named=[str(tmp_path / "b.txt")])
    assert facts(base)["The weir was rebuilt in 1954."] == "candidate"


def test_what_did_not_change_makes_no_work(base: Runtime, site: Site, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(LOG.format(1954))
    for source in accept_files(base.database, base.settings, str(tmp_path)).sources:
        ingest(base, source)
    marks = {"ETag": '"v1"', "Content-Type": "text/html"}
    site.pages["/weir"] = lambda headers: (
        (304, {}, "") if headers.get("if-none-match") == '"v1"' else (200, marks, PAGE.format(1954))
    )
    take(base, site.url("/weir"))
    state = rows(base, "SELECT id, updated_at, status FROM pm_atom ORDER BY id")
    chunks = rows(base, "SELECT id, distilled_by FROM pm_chunk ORDER BY id")
    outbox = one(base, "SELECT count(*) FROM pm_outbox WHERE entity_key LIKE 'atom:%'")
    assert again(base, older_than_s=0.0) == {"pages": 1, "changed": 0, "unchanged": 1, "gone": 0, "problems": 0}
    assert rows(base, "SELECT id, updated_at, status FROM pm_atom ORDER BY id") == state
    assert rows(base, "SELECT id, distilled_by FROM pm_chunk ORDER BY id") == chunks
    assert one(base, "SELECT count(*) FROM pm_outbox WHERE entity_key LIKE 'atom:%'") == outbox
    assert rows(base, "SELECT DISTINCT status FROM pm_document") == [("done",)]


def test_what_is_gone_from_the_disk_or_the_web_stays_known_with_the_reason(
    base: Runtime, site: Site, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text(LOG.format(1954))
    for source in accept_files(base.database, base.settings, str(tmp_path)).sources:
        ingest(base, source)
    site.page("/weir", body=PAGE.format(1960))
    take(base, site.url("/weir"))
    known = facts(base)
    (tmp_path / "a.txt").unlink()
    site.page("/weir", status=410)
    assert again(base, older_than_s=0.0) == {"pages": 1, "changed": 0, "unchanged": 1, "gone": 1, "problems": 0}
    assert facts(base) == known
    assert "410" in one(base, "SELECT error FROM pm_document WHERE kind = 'web'")
    assert rows(base, "SELECT DISTINCT status FROM pm_document") == [("done",)]


def test_only_what_is_old_enough_is_asked_for_and_pages_alone_by_the_clock(
    base: Runtime, site: Site, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text(LOG.format(1954))
    for source in accept_files(base.database, base.settings, str(tmp_path)).sources:
        ingest(base, source)
    for path in ("/young", "/old"):
        site.page(path, body=PAGE.format(len(path) * 100))
        take(base, site.url(path))
    with base.database.connection() as connection:
        connection.execute("UPDATE pm_document SET fetched_at = now() - interval '8 days' WHERE uri LIKE '%/old'")
    site.asked.clear()
    assert again(base, older_than_s=7 * 86_400.0)["pages"] == 1
    assert [path for path, _ in site.asked] == ["/old"]
    assert again(base, older_than_s=0.0, pages_only=True) == {
        "pages": 2, "changed": 0, "unchanged": 0, "gone": 0, "problems": 0,
    }  # fmt: skip


def test_what_is_not_known_is_told(base: Runtime) -> None:
    for name in ("https://example.org/never", "/no/such/file", "12345"):
        with pytest.raises(NotFound, match="not known"):
            refresh(base.database, base.settings, named=[name])
