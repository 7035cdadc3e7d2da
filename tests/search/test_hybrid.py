"""Hybrid search on the real engines: filters, states, legs that are down, pages of hits."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pegas_assets.errors import EngineUnavailable
from pegas_assets.model import AtomStatus, AtomType, HitKind
from pegas_assets.projection.drain import drain
from pegas_assets.runtime import Runtime
from pegas_assets.search.hybrid import search
from pegas_assets.search.request import SearchRequest
from pegas_assets.stores.atoms import set_status
from pegas_assets.stores.locks import LockClass, try_buckets
from tests.pipeline.reading import down, one, rows, settle, take_file, take_text
from tests.search.asking import ask, bare, best, hit_of, texts
from tests.search.conftest import (
    BREAD,
    BUOY,
    CONTESTED,
    CONTESTING,
    EVERYTHING,
    FERRY,
    LIGHTHOUSE,
    OTHER_WEIR,
    PIER,
    WEIR,
    WELL,
)
from tests.stores.rows import make_atoms, make_document, make_link

LANTERN = "The lantern burns about 40 litres of oil each year."
BOATS = "The harbour has 48 boats."
SHOWN = {LANTERN, BOATS, WEIR, OTHER_WEIR, LIGHTHOUSE, BREAD, CONTESTED, CONTESTING, BUOY, FERRY}


def test_everything_that_may_be_shown_is_shown_once(library: Runtime) -> None:
    found = ask(library)
    assert texts(found) == SHOWN
    assert len(found.hits) == len(SHOWN)
    assert (found.degraded, found.notes, found.more) == ((), (), False)


def test_the_best_hit_comes_first_with_its_evidence(library: Runtime) -> None:
    hit = ask(library, "how much oil does the lantern burn").hits[0]
    assert bare(hit.text) == LANTERN
    assert (hit.type, hit.status, hit.kind) == (AtomType.TEXT, AtomStatus.CANDIDATE, HitKind.ATOM)
    (citation,) = hit.citations
    assert citation.quoted_text == hit.quote == LANTERN
    assert citation.locator.section == ("The harbour",)
    assert citation.uri.endswith("/harbour.md")
    assert citation.document_title == "The harbour"
    assert hit.parts.keys() >= {"dense", "bm25"}


def test_a_chunk_is_one_hit_with_its_typed_atoms_under_it(library: Runtime) -> None:
    hit = hit_of(ask(library, "when was the weir rebuilt, and how many gates has it"), WEIR)
    assert hit.key == f"atom:{one(library, 'SELECT id FROM pm_atom WHERE content = %s', WEIR)}"
    assert {matched.type for matched in hit.matched} == {AtomType.FACT}
    assert {matched.quote for matched in hit.matched} <= {"The weir was rebuilt in 1954.", "It has nine gates."}


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"statuses": ["verified"]}, {BREAD}),
        ({"statuses": ["stale"]}, {WELL}),
        ({"statuses": ["rejected"]}, {PIER}),
        ({"statuses": ["contested", "verified"]}, {BREAD, CONTESTED}),
        ({"include_stale": True}, SHOWN | {WELL}),
        ({"sources": ["text:cook"]}, {BREAD}),
        ({"sources": ["text:reader"]}, {WEIR, CONTESTED, BUOY, FERRY}),
        ({"sources": ["text:cook", "text:other"]}, {BREAD, OTHER_WEIR, CONTESTING}),
        ({"languages": ["ru"]}, {LIGHTHOUSE}),
        ({"min_confidence": 0.9}, {BREAD}),
        ({"until": "2020-01-01"}, set()),
        ({"since": "2020-01-01"}, SHOWN),
        ({"since": "2120-01-01"}, set()),
        ({"as_of": "2020-01-01"}, set()),
        ({"kinds": ["symbol"]}, set()),
        ({"documents": [-1]}, set()),
        ({"types": ["table"]}, set()),
    ],
    ids=str,
)
def test_each_filter_lets_through_what_it_names(library: Runtime, filters: dict[str, Any], wanted: set[str]) -> None:
    assert texts(ask(library, **filters)) == wanted


@pytest.mark.parametrize("leg", ["vectors", "embedder", "both"])
@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"statuses": ["verified"]}, {BREAD}),
        ({"sources": ["text:cook"]}, {BREAD}),
        ({"languages": ["ru"]}, {LIGHTHOUSE}),
        ({}, SHOWN),
    ],
    ids=str,
)
def test_filters_hold_with_a_leg_down(library: Runtime, leg: str, filters: dict[str, Any], wanted: set[str]) -> None:
    engines = library.search_engines
    if leg != "embedder":
        engines = replace(engines, vectors=down, collection=down)
    if leg != "vectors":
        engines = replace(engines, embedder=down)
    found = search(engines, SearchRequest.checked(EVERYTHING, k=50, **filters))
    assert texts(found) == wanted
    assert {degraded.component for degraded in found.degraded} >= ({"vectors"} if leg != "embedder" else set())


def test_a_filter_by_type_shows_typed_atoms_as_hits_of_their_own(library: Runtime) -> None:
    found = ask(library, "weir rebuilt gates", types=["fact"])
    assert {hit.type for hit in found.hits} == {AtomType.FACT}
    assert {"The weir was rebuilt in 1954.", "The weir was rebuilt in 1955."} <= {hit.claim for hit in found.hits}
    assert all(hit.citations for hit in found.hits)


def test_a_filter_by_document_takes_any_of_those_named(library: Runtime) -> None:
    ids = dict(rows(library, "SELECT content, doc_id FROM pm_chunk"))
    assert texts(ask(library, documents=[ids[WEIR], ids[FERRY]])) == {WEIR, FERRY}


def test_what_is_contested_comes_with_what_contests_it(library: Runtime) -> None:
    hit = hit_of(ask(library, "how high is the tide at the mole"), CONTESTED)
    assert (hit.status, hit.status_reason) == (AtomStatus.CONTESTED, "said so")
    assert hit.contested_by == (CONTESTING,)


def test_what_is_not_projected_or_not_distilled_is_found_and_says_so(library: Runtime) -> None:
    buoy = hit_of(ask(library, "what colour is the buoy"), BUOY)
    assert (buoy.projected, buoy.undistilled) == (False, False)
    assert ask(library, "what colour is the buoy").hits[0].text == BUOY
    ferry = ask(library, "when does the ferry leave").hits[0]
    assert (ferry.text, ferry.kind, ferry.projected, ferry.undistilled) == (FERRY, HitKind.CHUNK, False, True)
    assert ferry.key.startswith("chunk:")
    assert ferry.citations[0].quoted_text == FERRY
    assert ferry.status is None


@pytest.mark.parametrize("component", ["embedder", "vectors", "graph"])
def test_a_leg_that_is_down_is_named_and_the_rest_answers(library: Runtime, component: str) -> None:
    away: dict[str, Any] = {"collection": down} if component == "vectors" else {}
    engines = replace(library.search_engines, **{component: _gone(component)}, **away)
    found = search(engines, SearchRequest.checked("how much oil does the lantern burn"))
    assert best(found) == LANTERN
    assert [degraded.component for degraded in found.degraded] == [component]
    assert found.degraded[0].reason


def test_with_every_engine_but_postgresql_down_words_still_find(library: Runtime) -> None:
    engines = replace(library.search_engines, vectors=down, collection=down, embedder=down, graph=down)
    found = search(engines, SearchRequest.checked("маяка построили"))
    assert found.hits[0].text == LIGHTHOUSE
    assert search(engines, SearchRequest.checked("of the and")).hits == ()


def test_without_postgresql_a_search_fails_and_says_so() -> None:
    from pegas_assets.stores.postgres import Database

    nowhere = Database(lambda: "postgresql://user:secret@127.0.0.1:1/none")
    engines: Any = type("Engines", (), {"database": nowhere})()
    with pytest.raises(EngineUnavailable) as caught:
        search(engines, SearchRequest.checked("weir"))
    assert "secret" not in str(caught.value)


def _gone(component: str) -> Any:
    def gone() -> None:
        raise EngineUnavailable(f"The {component} is away.", component=component)

    return gone


def test_a_question_finds_its_answer_in_another_language(library: Runtime) -> None:
    assert best(ask(library, "From how many miles away is the light of the lighthouse seen?")) == LIGHTHOUSE
    assert best(ask(library, "Сколько лодок в гавани?")) == BOATS


def test_k_is_never_exceeded_and_pages_have_no_gap_and_no_repeat(base: Runtime) -> None:
    facts = [f"Buoy {n} is lit at night." for n in range(1, 91)]
    make_atoms(base.database, make_document(base.database), facts)
    settle(base)
    seen: list[str] = []
    offset = 0
    while True:
        found = ask(base, "which buoy is lit at night", k=7, offset=offset)
        assert len(found.hits) <= 7
        seen += [hit.text for hit in found.hits]
        offset += 7
        if not found.more:
            break
    assert sorted(seen) == sorted(facts)
    assert ask(base, "which buoy is lit at night", k=7, offset=500).hits == ()


def test_what_hangs_on_a_hit_in_the_graph_is_found_by_it(base: Runtime) -> None:
    document = make_document(base.database)
    (seed, near) = make_atoms(base.database, document, ["The sluice is rusty.", "Ships wait outside for days."])
    make_atoms(base.database, document, ["Bread is cheap."])
    make_link(base.database, seed, near)
    settle(base)
    found = ask(base, "rusty sluice", k=3)
    assert "graph" in hit_of(found, "Ships wait outside for days.").parts
    assert "graph" not in hit_of(found, "Bread is cheap.").parts
    # By the graph alone, where no other leg finds it; below the hit that it hangs on.
    engines = replace(base.search_engines, vectors=down, collection=down)
    hits = search(engines, SearchRequest.checked("rusty sluice")).hits
    assert [(hit.text, set(hit.parts)) for hit in hits] == [
        ("The sluice is rusty.", {"dense", "bm25"}),
        ("Ships wait outside for days.", {"graph"}),
    ]


def test_two_passages_that_state_one_fact_are_two_hits(base: Runtime) -> None:
    first = f"From the keeper's own book.\n\n{LANTERN}"
    second = f"Notes of a clerk about money.\n\n{LANTERN}"
    for text in (first, second):
        take_text(base, text)
    settle(base)
    found = ask(base, "how much oil does the lantern burn each year", k=5)
    assert {" ".join(hit.text.split()) for hit in found.hits} == {" ".join(text.split()) for text in (first, second)}
    assert all(matched.type is AtomType.FACT for hit in found.hits for matched in hit.matched)
    (fact,) = ask(base, "oil of the lantern", types=["fact"]).hits
    assert fact.citation_count == 2


def test_the_past_is_replayed_with_its_status_and_evidence(base: Runtime, tmp_path: Path) -> None:
    def now() -> Any:
        return one(base, "SELECT clock_timestamp()")

    file = tmp_path / "weir.md"
    file.write_text("The weir was rebuilt in 1954.")
    before = now() - timedelta(seconds=1)
    take_file(base, file)
    fact = one(base, "SELECT id FROM pm_atom WHERE type = 'fact'")
    made = now()
    with base.database.connection() as connection:
        set_status(connection, fact, AtomStatus.VERIFIED, "The register says so.")
    verified = now()
    file.write_text("The weir was pulled down.")
    take_file(base, file)
    settle(base)

    def then(moment: Any) -> list[tuple[str, str, int]]:
        found = ask(base, "when was the weir rebuilt", types=["fact"], as_of=moment, statuses=list(AtomStatus))
        return [
            (str(hit.status), hit.status_reason, hit.citation_count) for hit in found.hits if hit.key == f"atom:{fact}"
        ]

    assert then(before) == []
    assert then(made) == [("candidate", "", 1)]
    assert then(verified) == [("verified", "The register says so.", 1)]
    ((status, reason, citations),) = then(now())
    assert (status, citations) == ("stale", 0)
    assert "no longer" in reason
    assert f"atom:{fact}" not in [hit.key for hit in ask(base, "when was the weir rebuilt", types=["fact"]).hits]


def test_a_change_is_seen_before_any_projection_follows(base: Runtime) -> None:
    (atom,) = make_atoms(base.database, make_document(base.database), ["The sluice is rusty."])
    settle(base)
    with base.database.connection() as connection:
        set_status(connection, atom, AtomStatus.REJECTED, "It was painted.")
    assert ask(base, "rusty sluice").hits == ()
    with base.database.connection() as connection:
        set_status(connection, atom, AtomStatus.VERIFIED, "It was not.")
    drain(base.database, base.targets)
    rows(base, "DELETE FROM pm_atom WHERE id = %s", atom)
    assert ask(base, "rusty sluice").hits == ()


def test_a_search_waits_for_no_consumer(base: Runtime) -> None:
    make_atoms(base.database, make_document(base.database), ["The sluice is rusty."])
    with base.database.session() as session:
        held = [
            len(try_buckets(session, kind, range(16))) for kind in (LockClass.VECTOR_BUCKET, LockClass.GRAPH_BUCKET)
        ]
        assert held == [16, 16]
        (hit,) = ask(base, "rusty sluice").hits
    assert not hit.projected


def test_each_document_is_cited_by_its_own_words(base: Runtime) -> None:
    said = ["The large pump begins at 2.1 bar.", "The big pump starts at 2.1 bar."]
    first, second = (take_text(base, text) for text in said)
    settle(base)
    found = ask(base, "when does the pump start", types=["text"])
    (hit,) = [hit for hit in found.hits if hit.citation_count == 2]
    assert {citation.document_id: citation.quoted_text for citation in hit.citations} == {
        first: said[0],
        second: said[1],
    }


def test_a_quotation_across_languages_is_in_the_passage_that_it_stands_for(base: Runtime) -> None:
    english = "Gagarin flew into space in 1961. The rocket stood in Baikonur."
    russian = "Гагарин полетел в космос в 1961 году. Ракета стояла на Байконуре."
    documents = {take_text(base, english): english, take_text(base, russian): russian}
    settle(base)
    for hit in ask(base, "кто первым побывал за пределами Земли").hits:
        for citation in hit.citations:
            assert citation.quoted_text in documents[citation.document_id]
            if citation.document_id == hit.citations[0].document_id:
                assert hit.quote in hit.text
