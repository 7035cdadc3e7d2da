"""What an agent reads of a hit: the part of a long text that answers, and where the rest is."""

from __future__ import annotations

import pytest

from pegas_assets.model import AtomStatus, AtomType, Hit, HitKind, SearchResult
from pegas_mcp.rendering import HIT_CHARS, SHOWN_CHARS, searched

ANSWER = "The lamp burns 40 litres of oil a year."


def hit(text: str, quote: str = ANSWER) -> Hit:
    return Hit(
        key="atom:1",
        kind=HitKind.ATOM,
        score=1.0,
        parts={"dense": 1.0},
        type=AtomType.TEXT,
        claim=quote,
        text=text,
        quote=quote,
        language="en",
        status=AtomStatus.CANDIDATE,
        confidence=0.5,
    )


def found(*hits: Hit, more: bool = False) -> SearchResult:
    return SearchResult(query="oil", hits=hits, more=more)


@pytest.mark.parametrize("before", [0, 30, 500, 560, 1000, 5000])
@pytest.mark.parametrize("after", [0, 30, 500, 560, 1000, 5000])
def test_the_sentence_that_answers_is_in_what_is_shown(before: int, after: int) -> None:
    text = "x " * (before // 2) + ANSWER + " y" * (after // 2)

    structure, block = searched(found(hit(text)), offset=0)

    assert ANSWER in structure.hits[0].text
    assert ANSWER in block
    assert len(structure.hits[0].text) <= HIT_CHARS
    (shown,) = [line for line in block.splitlines() if ANSWER in line]
    assert len(shown) <= SHOWN_CHARS + 2
    assert structure.hits[0].text_cut is (len(text) > HIT_CHARS)
    assert shown.startswith("> …") is (ANSWER in shown and not shown.startswith(f"> {text[:20]}"))


def test_a_page_of_hits_says_where_the_next_begins() -> None:
    structure, block = searched(found(hit(ANSWER), more=True), offset=7)

    assert structure.next_offset == 8
    assert "offset=8" in block


@pytest.mark.parametrize(("offset", "hits"), [(1000, 1), (30, 0)])
def test_no_offset_is_offered_that_brings_nothing(offset: int, hits: int) -> None:
    structure, block = searched(found(*[hit(ANSWER)] * hits, more=True), offset=offset)

    assert structure.next_offset is None
    assert "offset=" not in block
    assert bool(structure.notes) is bool(hits)
