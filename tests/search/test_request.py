"""What may be asked, and what is said to the rest."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pegas_assets.errors import InvalidInput
from pegas_assets.model import AtomStatus, AtomType, HitKind
from pegas_assets.search.request import MAX_K, MAX_QUERY_CHARS, SearchRequest


@pytest.mark.parametrize(
    ("asked", "item", "says"),
    [
        ({"query": ""}, "query", "empty"),
        ({"query": " \x00\n"}, "query", "empty"),
        ({"query": "?! — …"}, "query", "no word"),
        ({"query": "x" * (MAX_QUERY_CHARS + 1)}, "query", "10,001 characters"),
        ({"k": 0}, "k", "at least 1"),
        ({"k": -3}, "k", "at least 1"),
        ({"offset": -1}, "offset", "0 to 1000"),
        ({"offset": 1001}, "offset", "0 to 1000"),
        ({"min_confidence": 1.5}, "min_confidence", "0 to 1"),
        ({"min_confidence": float("nan")}, "min_confidence", "0 to 1"),
        ({"types": ["facts"]}, "type", "'facts' is no type"),
        ({"statuses": ["good"]}, "status", "'good' is no status"),
        ({"kinds": ["chapter"]}, "kind", "'chapter' is no kind"),
        ({"since": "yesterday"}, "since", "no date"),
        ({"until": "2026-13-01"}, "until", "no date"),
        ({"as_of": "soon"}, "as_of", "no date"),
    ],
)
def test_what_cannot_be_asked_gets_a_sentence_with_the_way_out(asked: dict[str, Any], item: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as caught:
        SearchRequest.checked(**({"query": "weir"} | asked))
    assert caught.value.item == item
    assert caught.value.hint


def test_the_hint_lists_the_words_that_may_be_used() -> None:
    with pytest.raises(InvalidInput) as caught:
        SearchRequest.checked("weir", types=["facts"])
    assert all(member.value in caught.value.hint for member in AtomType)


def test_a_k_that_is_too_large_is_clamped_and_said() -> None:
    request = SearchRequest.checked("weir", k=5000)
    assert request.k == MAX_K
    assert "5000" in request.notes[0]
    assert SearchRequest.checked("weir", k=MAX_K).notes == ()


def test_what_is_not_said_is_what_is_useful() -> None:
    request = SearchRequest.checked("  the weir\x00 ")
    assert request.query == "the weir"
    assert request.kinds == (HitKind.ATOM,)
    assert set(request.statuses) == {AtomStatus.CANDIDATE, AtomStatus.VERIFIED, AtomStatus.CONTESTED}
    assert AtomStatus.STALE in SearchRequest.checked("weir", include_stale=True).statuses
    assert SearchRequest.checked("weir", statuses=["rejected"]).statuses == (AtomStatus.REJECTED,)


def test_a_moment_without_a_zone_is_utc() -> None:
    request = SearchRequest.checked("weir", since="2026-01-31", until="2026-02-01T12:00:00+03:00", as_of="2026-02-01")
    assert request.since == datetime(2026, 1, 31, tzinfo=UTC)
    assert request.until == datetime(2026, 2, 1, 9, tzinfo=UTC)
    assert request.latest == datetime(2026, 2, 1, tzinfo=UTC)
