"""Asking again: what changed is made anew, what did not costs nothing, what is gone keeps its knowledge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pegas_assets.embedding.base import Vectors
from pegas_assets.model import AtomStatus, ChunkToDistil, Distillation, DistilState
from pegas_assets.pipeline.accept import Acceptance, accept_files
from pegas_assets.pipeline.ingest import ingest_source
from pegas_assets.pipeline.refresh import refresh_named, refresh_old
from pegas_assets.runtime import Runtime
from pegas_assets.stores.atoms import set_status
from pegas_assets.stores.operations import ItemState, operation_state
from tests.pipeline.reading import atoms, ingest, one, rows, take_file, total_drift
from tests.pipeline.reading import settle as show_all
from tests.pipeline.site import PAGE, Answer, Site, fetching_base, serving, take

WEEK_S = 7 * 86_400.0


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as made:
        yield made


@pytest.fixture
def base(home: Path) -> Iterator[Runtime]:
    with fetching_base(home) as made:
        yield made


def settled(base: Runtime, accepted: Acceptance) -> list[ItemState]:
    """Do the work of a request, and tell how its things stand."""
    for source in accepted.sources:
        ingest(base, source)
    with base.database.connection() as connection:
        state = operation_state(connection, accepted.operation_id)
    assert state.finished
    return list(state.items)


def refresh(base: Runtime, *what: str) -> list[ItemState]:
    return settled(base, refresh_named(base.database, base.settings, what))


def old(base: Runtime, days: int) -> None:
    rows(base, "UPDATE pm_document SET checked_at = now() - make_interval(days => %s)", days)


class Counted:
    """Counts what the embedding model and the distiller are asked for."""

    def __init__(self, base: Runtime) -> None:
        self.embedded: list[str] = []
        self.distilled: list[str] = []
        self.name = base.ingest_parts.distiller.name
        self._distiller = base.ingest_parts.distiller
        self._embedder = base.embedder
        self.fingerprint = self._embedder.fingerprint
        self.max_tokens = self._embedder.max_tokens
        self.count_tokens = self._embedder.count_tokens
        self.embed_query = self._embedder.embed_query
        self.parts = replace(base.ingest_parts, distiller=self, embedder=self)  # type: ignore[arg-type]

    def distil(self, chunk: ChunkToDistil) -> Distillation:
        self.distilled.append(chunk.content)
        return self._distiller.distil(chunk)

    def embed_passages(self, texts: list[str]) -> Vectors:
        self.embedded += texts
        return self._embedder.embed_passages(texts)


def test_a_page_that_did_not_change_costs_a_request_and_no_work(base: Runtime, site: Site) -> None:
    site.page("/weir", body=PAGE.format(1954), ETag='"v1"')
    take(base, site.url("/weir"))
    before = rows(base, "SELECT id FROM pm_chunk UNION ALL SELECT id FROM pm_atom")
    counted = Counted(base)
    for answer in ((304, {}, ""), (200, {"Content-Type": "text/html"}, PAGE.format(1954))):
        site.pages["/weir"] = lambda _, answer=answer: answer  # type: ignore[misc]
        accepted = refresh_named(base.database, base.settings, [site.url("/weir")])
        reports = ingest_source(counted.parts, accepted.sources[0])
        assert reports[0].skipped == {"not changed": 1}
        assert [report.documents for report in reports] == [1, 0, 0]
    assert len(site.asked) == 3
    assert (counted.embedded, counted.distilled) == ([], [])
    assert rows(base, "SELECT id FROM pm_chunk UNION ALL SELECT id FROM pm_atom") == before
    assert rows(base, "SELECT status, error FROM pm_document") == [("done", None)]


def test_of_a_page_that_changed_only_the_changed_part_is_made_anew(base: Runtime, tmp_path: Path) -> None:
    parts = [f"# Part {n}\n\n" + f"The gate number {n} of the weir is {n + 2} metres wide. " * 12 for n in range(6)]
    file = tmp_path / "weir.md"
    file.write_text("\n\n".join(parts))
    document = take_file(base, file)
    chunks = one(base, "SELECT count(*) FROM pm_chunk")
    assert chunks >= 6
    parts[3] = "# Part 3\n\nThe gate number 3 was walled up in 1960."
    file.write_text("\n\n".join(parts))
    counted = Counted(base)
    accepted = refresh_old(base.database, base.settings, older_than_s=None)
    ingest_source(counted.parts, accepted.sources[0], only=[document])
    assert len(counted.distilled) == 1
    assert "walled up" in counted.distilled[0]
    assert all("walled up" in text for text in counted.embedded)


def test_what_lost_its_quotation_is_stale_and_is_again_what_it_was_when_the_text_returns(
    base: Runtime, site: Site
) -> None:
    site.page("/weir", body=PAGE.format(1954))
    take(base, site.url("/weir"))
    fact, _ = atoms(base)["fact: The weir was rebuilt in 1954."]
    with base.database.connection() as connection:
        set_status(connection, fact, AtomStatus.VERIFIED, "A person looked it up.")
    site.page("/weir", body=PAGE.format(1955))
    refresh(base, site.url("/weir"))
    ((status, reason),) = rows(base, "SELECT status, status_reason FROM pm_atom WHERE id = %s", fact)
    assert status == "stale"
    assert reason.startswith("The quotation is no longer in document")
    site.page("/weir", body=PAGE.format(1954))
    refresh(base, site.url("/weir"))
    assert rows(base, "SELECT status, status_reason FROM pm_atom WHERE id = %s", fact) == [
        ("verified", "The quotation is back.")
    ]
    assert atoms(base)["fact: The weir was rebuilt in 1955."][1] == "stale"
    show_all(base)
    assert total_drift(base) == 0


def test_a_quotation_that_is_back_lives_again_though_no_distiller_finds_it(base: Runtime, site: Site) -> None:
    site.page("/weir", body=PAGE.format(1954))
    take(base, site.url("/weir"))
    fact, _ = atoms(base)["fact: The weir was rebuilt in 1954."]

    class Blind:
        name = base.ingest_parts.distiller.name

        def distil(self, chunk: ChunkToDistil) -> Distillation:
            return Distillation(state=DistilState.NO_FACTS)

    parts = replace(base.ingest_parts, distiller=Blind())
    for year, status in ((1955, "stale"), (1954, "candidate")):
        site.page("/weir", body=PAGE.format(year))
        accepted = refresh_named(base.database, base.settings, [site.url("/weir")])
        ingest_source(parts, accepted.sources[0])
        assert one(base, "SELECT status FROM pm_atom WHERE id = %s", fact) == status
    assert one(base, "SELECT chunk_id IS NOT NULL AND gone_at IS NULL FROM pm_citation WHERE atom_id = %s", fact)


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_is_gone_is_said_to_be_and_keeps_its_knowledge(base: Runtime, site: Site, status: int) -> None:
    site.page("/weir", body=PAGE.format(1954))
    take(base, site.url("/weir"))
    known = atoms(base)
    site.page("/weir", status=status)
    (item,) = refresh(base, site.url("/weir"))
    assert item.status == "done"
    assert item.reason.startswith("Gone since 20")
    assert str(status) in item.reason
    assert atoms(base) == known
    first = one(base, "SELECT gone_at FROM pm_document")
    refresh(base, site.url("/weir"))
    assert one(base, "SELECT gone_at FROM pm_document") == first
    site.page("/weir", body=PAGE.format(1954))
    (item,) = refresh(base, site.url("/weir"))
    assert (item.status, item.reason) == ("done", "")
    assert one(base, "SELECT gone_at FROM pm_document") is None


@pytest.mark.parametrize(
    "answer", [(403, {}, ""), (200, {}, "<html><body></body></html>"), (302, {"Location": "/in"}, "")]
)
def test_a_page_that_shows_itself_no_more_keeps_its_knowledge_with_the_reason(
    base: Runtime, site: Site, answer: Answer
) -> None:
    site.page("/weir", body=PAGE.format(1954))
    take(base, site.url("/weir"))
    known = atoms(base)
    site.pages["/weir"] = lambda _: answer
    site.page("/in", status=401)
    (item,) = refresh(base, site.url("/weir"))
    assert item.status == "done"
    assert item.reason
    assert atoms(base) == known
    # It is not asked for by itself.
    assert one(base, "SELECT fetched_at IS NOT NULL FROM pm_document")


def test_a_page_that_moved_for_good_is_known_under_its_new_address(base: Runtime, site: Site) -> None:
    site.page("/weir", body=PAGE.format(1954))
    take(base, site.url("/weir"))
    site.page("/weir", status=301, Location="/new/weir")
    site.page("/new/weir", body=PAGE.format(1954))
    assert [item.status for item in refresh(base, site.url("/weir"))] == ["done"]
    assert take(base, site.url("/new/weir")) == {"unchanged": 1}
    assert one(base, "SELECT count(*) FROM pm_document") == 1


def test_where_a_page_only_stands_for_now_is_no_address_of_it(base: Runtime, site: Site) -> None:
    site.page("/latest", status=302, Location="/v1")
    site.page("/v1", body=PAGE.format(1954))
    take(base, site.url("/latest"))
    assert [uri for (uri,) in rows(base, "SELECT uri FROM pm_document_uri")] == [site.url("/latest")]


def test_an_address_that_parts_from_the_text_it_was_met_with_becomes_a_document_of_its_own(
    base: Runtime, site: Site
) -> None:
    for path in ("/a", "/b"):
        site.page(path, body=PAGE.format(1954))
    take(base, site.url("/a"), site.url("/b"))
    assert [item.status for item in refresh(base, site.url("/b"))] == ["duplicate"]
    assert one(base, "SELECT count(*) FROM pm_document") == 1
    site.page("/b", body=PAGE.format(1960))
    assert [item.status for item in refresh(base, site.url("/b"))] == ["done"]
    assert one(base, "SELECT count(*) FROM pm_document") == 2
    assert atoms(base)["fact: The weir was rebuilt in 1954."][1] == "candidate"
    assert atoms(base)["fact: The weir was rebuilt in 1960."][1] == "candidate"


def test_pages_are_asked_again_by_their_age_the_longest_unasked_first(base: Runtime, site: Site) -> None:
    for path in ("/a", "/b", "/c"):
        site.page(path, body=f"<p>The pond {path} is deep and cold in winter, and has nine old carps.</p>")
        take(base, site.url(path))
    old(base, 3)
    rows(base, "UPDATE pm_document SET checked_at = now() - interval '9 days' WHERE uri LIKE '%/b'")
    rows(base, "UPDATE pm_document SET checked_at = now() - interval '8 days' WHERE uri LIKE '%/c'")
    site.asked.clear()
    accepted = refresh_old(base.database, base.settings, older_than_s=WEEK_S, limit=1)
    assert [item.item for item in accepted.items] == [site.url("/b")]
    settled(base, accepted)
    settled(base, refresh_old(base.database, base.settings, older_than_s=WEEK_S))
    assert [path for path, _ in site.asked] == ["/b", "/c"]
    # Whatever came of it, it was asked.
    old(base, 30)
    site.page("/a", status=403)
    settled(base, refresh_old(base.database, base.settings, older_than_s=WEEK_S))
    assert refresh_old(base.database, base.settings, older_than_s=WEEK_S).items == ()
    assert refresh_old(base.database, base.settings, older_than_s=None).items == ()


def test_known_files_are_read_again_and_those_that_are_gone_are_said(base: Runtime, tmp_path: Path) -> None:
    texts = {
        "a.md": "The weir at Larch has nine gates.",
        "b.md": "The ford is dry in summer.",
        "c.md": "A mill stands there.",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    settled(base, accept_files(base.database, base.settings, str(tmp_path)))
    known = atoms(base)
    (tmp_path / "a.md").write_text("The weir at Larch has ten gates.")
    (tmp_path / "b.md").unlink()
    (tmp_path / "d.md").write_text("Nobody asked for this one.")
    states = {
        Path(item.item).name: item
        for item in settled(base, refresh_old(base.database, base.settings, older_than_s=None))
    }
    assert {name: state.status for name, state in states.items()} == {
        "a.md": "done",
        "b.md": "unchanged",
        "c.md": "unchanged",
    }
    assert states["b.md"].reason.startswith("Gone since 20")
    assert {name for name, (_, status) in atoms(base).items() if status == "stale"} == {
        name for name in known if "nine gates" in name
    }
    assert one(base, "SELECT error FROM pm_document WHERE gone_at IS NOT NULL").startswith("Gone since 20")
    (tmp_path / "b.md").write_text(texts["b.md"])
    settled(base, refresh_old(base.database, base.settings, older_than_s=None))
    assert rows(base, "SELECT 1 FROM pm_document WHERE gone_at IS NOT NULL OR error IS NOT NULL") == []


def test_a_text_that_stands_in_two_files_is_not_gone_with_one(base: Runtime, tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("The weir at Larch has nine gates.")
    settled(base, accept_files(base.database, base.settings, str(tmp_path)))
    (tmp_path / "a.md").unlink()
    reasons = [item.reason for item in refresh(base, str(tmp_path))]
    assert any("known from elsewhere" in reason for reason in reasons)
    assert one(base, "SELECT count(*) FROM pm_document WHERE gone_at IS NOT NULL") == 0


def test_only_what_is_named_is_asked_again_and_what_is_not_known_is_said(
    base: Runtime, site: Site, tmp_path: Path
) -> None:
    for folder in ("in", "out"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a b.md").write_text(f"The {folder} gate is open.")
        settled(base, accept_files(base.database, base.settings, str(tmp_path / folder)))
    states = refresh(base, str(tmp_path / "in"), site.url("/never"), str(tmp_path / "nowhere"), "http://10.0.0.1/")
    by_status = {state.item: (state.status, state.reason) for state in states}
    assert by_status[(tmp_path / "in" / "a b.md").as_uri()][0] == "unchanged"
    assert "not known" in by_status[site.url("/never")][1]
    assert "No file at or below" in by_status[str(tmp_path / "nowhere")][1]
    assert by_status["http://10.0.0.1/"][0] == "refused"
    assert len(states) == 4
    assert site.asked == []
