"""Runs the handed cases about searching: those in tests/cases and in the folders of PEGAS_CASES_DIR."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegas_assets.pipeline.accept import accept_files
from pegas_assets.projection.reconcile import drift, reconcile
from pegas_assets.runtime import Runtime
from tests.conftest import fresh_base
from tests.embedding_once import embeds_once
from tests.pipeline.reading import ingest, rows, settle, take_text
from tests.search.asking import ask, texts
from tests.search.conftest import BREAD, LIGHTHOUSE

LANTERN = "The lantern burns about 40 litres of oil each year."

HERE = Path(__file__).parent.parent / "cases"


def cases(wanted: str) -> list[Any]:
    roots = [HERE, *(Path(part) for part in os.environ.get("PEGAS_CASES_DIR", "").split(":") if part)]
    found = {}
    for root in roots:
        for file in sorted(root.rglob("case.json")):
            case = json.loads(file.read_text(encoding="utf-8"))
            if wanted in case.get("expected", {}) and case.get("kind") in ("text", "web") and case.get("input"):
                found[case["id"]] = pytest.param(file.parent, case, id=case["id"])
    return list(found.values())


@pytest.fixture(scope="module")
def shelf(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """The inputs of all cases that search, among each other and with texts that have nothing to do with them."""
    with fresh_base(home) as made:
        embeds_once(made)
        for text in (BREAD, LIGHTHOUSE, LANTERN, "Чайник стоит на плите.", "Сосед купил новый дом."):
            take_text(made, text)
        for param in cases("search"):
            folder, case = param.values
            for name in case["input"]:
                accepted = accept_files(made.database, made.settings, str(folder / "input" / name))
                ingest(made, accepted.sources[0])
        settle(made)
        yield made


def queries() -> list[Any]:
    found = []
    for param in cases("search"):
        folder, case = param.values
        search_for = case["expected"]["search"]
        for number, query in enumerate(search_for if isinstance(search_for, list) else [search_for]):
            found.append(pytest.param(folder, case, query, id=f"{case['id']}-{number}"))
    return found


@pytest.mark.parametrize(("folder", "case", "query"), queries())
def test_the_cases_that_search_find_what_they_should(
    shelf: Runtime, folder: Path, case: dict[str, Any], query: dict[str, Any]
) -> None:
    inputs = {(folder / "input" / name).resolve().as_uri() for name in case["input"]}
    hits = ask(shelf, query["query"], k=10).hits
    lexical = [hit for hit in hits if hit.parts.get("bm25", 0) > 0]
    by_words = any(citation.uri in inputs for hit in lexical for citation in hit.citations)
    if query.get("finds"):
        assert by_words
        assert any(citation.uri in inputs for citation in hits[0].citations)
    elif "finds" in query:
        assert not by_words


def steps() -> list[Any]:
    roots = [HERE, *(Path(part) for part in os.environ.get("PEGAS_CASES_DIR", "").split(":") if part)]
    found = {}
    for root in roots:
        for file in sorted(root.rglob("case.json")):
            case = json.loads(file.read_text(encoding="utf-8"))
            if case.get("kind") == "qdrant" and "search_results" in case["expected"]:
                scenario = json.loads((file.parent / "input" / "scenario.json").read_text(encoding="utf-8"))
                found[case["id"]] = pytest.param(scenario["steps"], id=case["id"])
    return list(found.values())


@pytest.mark.parametrize("scenario", steps())
def test_the_cases_of_stores_out_of_step(base: Runtime, scenario: list[str]) -> None:
    documents: list[int] = []
    sentences = [
        f"Berth {n} of the harbour is for {what}." for n, what in enumerate(("boats", "ferries", "tugs", "yachts"), 1)
    ]
    deleted: set[int] = set()
    repaired = False

    def number_in(step: str) -> int:
        return int(next(word for word in step.split() if word.isdigit()))

    for step in scenario:
        if step.startswith("ingest"):
            documents = [take_text(base, sentence) for sentence in sentences[: number_in(step)]]
            settle(base)
        elif step.startswith("delete document"):
            place = number_in(step) - 1
            rows(base, "DELETE FROM pm_document WHERE id = %s", documents[place])
            # No consumer sees it either, as if it had been lost on the way.
            rows(base, "UPDATE pm_outbox SET vector_state = 'done', graph_state = 'done'")
            deleted.add(place)
        elif step.startswith("delete the points"):
            keys = [
                f"atom:{id_}"
                for (id_,) in rows(
                    base, "SELECT atom_id FROM pm_citation WHERE doc_id = %s", documents[number_in(step) - 1]
                )
            ]
            base.vectors.delete(base.vector_target.collection(), keys)
        elif step == "run repair":
            before = {
                target.name: sum(state.total for state in drift(base.database, target)) for target in base.targets
            }
            assert before["vectors"] > 0
            for target in base.targets:
                assert all(done.left is not None and done.left.total == 0 for done in reconcile(base.database, target))
            repaired = True
        elif step == "search":
            shown = texts(ask(base, "which berth of the harbour is for whom"))
            assert not shown & {sentences[place] for place in deleted}
            if repaired:
                assert shown == {sentences[n] for n in range(len(documents)) if n not in deleted}
        else:
            raise AssertionError(f"no such step: {step}")
