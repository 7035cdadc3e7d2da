"""A context is cited, without repeats, and never over its budget."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegas_assets.errors import InvalidInput
from pegas_assets.runtime import Runtime
from pegas_assets.search.context import MAX_BUDGET, MIN_BUDGET, Context, get_context
from pegas_assets.search.request import SearchRequest
from tests.pipeline.reading import down, settle, take_text
from tests.search.conftest import BREAD, EVERYTHING, LIGHTHOUSE, OTHER_WEIR, PIER, WEIR

DOWN = "The vector engine is down."
QUERIES = (EVERYTHING, "when was the weir rebuilt", "маяк", "how much oil does the lantern burn", "quantum")


def context_of(base: Runtime, query: str, budget: int = 2000, k: int = 20) -> Context:
    return get_context(base.search_engines, SearchRequest.checked(query, k=k), budget)


def assert_consistent(context: Context) -> None:
    passages = [passage for group in context.groups for passage in group.passages]
    assert [passage.number for passage in passages] == list(range(1, len(passages) + 1))
    assert [int(number) for number in re.findall(r"^\[(\d+)\] ", context.text, re.MULTILINE)] == [
        passage.number for passage in passages
    ]
    for passage in passages:
        assert f"[{passage.number}] {passage.text}" in context.text
    by_number = {passage.number: passage.key for passage in passages}
    assert {cited.number: cited.key for cited in context.citations} == by_number
    for group in context.groups:
        numbers = {passage.number for passage in group.passages}
        documents = {cited.citation.document_id for cited in context.citations if cited.number in numbers}
        assert documents == {group.document_id}
    ids = [group.document_id for group in context.groups]
    assert len(ids) == len(set(ids))
    assert context.hits_used == len(passages)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(budget=st.integers(MIN_BUDGET, 400), query=st.sampled_from(QUERIES), k=st.integers(1, 20))
def test_a_context_is_never_over_its_budget(library: Runtime, budget: int, query: str, k: int) -> None:
    context = context_of(library, query, budget, k)
    assert context.tokens == math.ceil(len(context.text) / 4) <= budget
    assert context.hits_used + context.hits_left_out <= k
    assert_consistent(context)


def test_passages_stand_under_their_document_each_with_its_number(library: Runtime) -> None:
    context = context_of(library, EVERYTHING)
    assert_consistent(context)
    headings = [line for line in context.text.splitlines() if line.startswith("## ")]
    assert "## Of weirs" in headings
    harbour = next(group for group in context.groups if group.title == "The harbour")
    assert len(harbour.passages) == 2
    assert headings.count("## The harbour") == 1
    assert all(text in context.text for text in (WEIR, OTHER_WEIR, BREAD, LIGHTHOUSE))
    assert PIER not in context.text
    assert context.untrusted


def test_what_does_not_fit_whole_gives_the_sentence_that_answers(base: Runtime) -> None:
    rest = " ".join(f"Row {word} of the chart is empty." for word in ("one", "two", "three", "four", "five", "six"))
    take_text(base, f"{rest} The lantern burns about 40 litres of oil each year.")
    settle(base)
    context = context_of(base, "how much oil does the lantern burn", 50)
    ((passage,),) = [group.passages for group in context.groups]
    assert passage.cut
    assert passage.text == "The lantern burns about 40 litres of oil each year."


def test_a_passage_that_repeats_a_better_one_is_left_out_and_another_figure_is_no_repeat(base: Runtime) -> None:
    told = "The weir above the town was rebuilt in {} by the guild of millers. {}"
    for text in (
        told.format(1954, "Much was said about it."),
        told.format(1954, "Much was said of it then."),
        told.format(1955, "Much was said about it."),
        told.format(1954, "Much was not said about it."),
    ):
        take_text(base, text)
    settle(base)
    context = context_of(base, "when was the weir above the town rebuilt")
    assert (context.hits_used, context.hits_left_out) == (3, 1)
    assert "1955" in context.text
    assert "was not said" in context.text


def test_a_leg_that_is_down_is_named(library: Runtime) -> None:
    engines = replace(library.search_engines, graph=down)
    assert [leg.reason for leg in get_context(engines, SearchRequest.checked("weir")).degraded] == [DOWN]


@pytest.mark.parametrize("budget", [MIN_BUDGET - 1, 0, -5, MAX_BUDGET + 1])
def test_a_budget_out_of_range_gets_a_sentence(library: Runtime, budget: int) -> None:
    with pytest.raises(InvalidInput, match="budget_tokens") as caught:
        context_of(library, "weir", budget)
    assert caught.value.hint


def test_nothing_found_is_an_empty_context(base: Runtime) -> None:
    context = context_of(base, "weir")
    assert (context.text, context.tokens, context.citations, context.groups) == ("", 0, (), ())
