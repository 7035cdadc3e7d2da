"""Two rankings become one, and each score says where it came from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegas_assets.embedding.bm25 import encode_document, encode_query
from pegas_assets.search.fusion import coverage_of, fuse

KEYS = st.sampled_from([f"atom:{i}" for i in range(12)])
COSINES = st.lists(st.tuples(KEYS, st.floats(-1, 1)), max_size=12)
BM25 = st.lists(st.tuples(KEYS, st.floats(0, 40)), max_size=12)
SHARE = st.floats(0, 1)


@given(COSINES, BM25, SHARE, SHARE, st.none() | st.floats(0, 1))
def test_scores_lie_between_0_and_1_and_their_parts_sum_to_them(
    dense: list[tuple[str, float]],
    sparse: list[tuple[str, float]],
    weight: float,
    coverage: float,
    floor: float | None,
) -> None:
    hits = fuse(dense, sparse, weight=weight, coverage=coverage, floor=floor)
    assert {hit.key for hit in hits} == {key for key, _ in dense} | {key for key, _ in sparse}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert 0.0 <= hit.score <= 1.0
        assert sum(hit.parts.values()) == pytest.approx(hit.score)


@given(COSINES, BM25, SHARE, SHARE)
def test_the_order_of_the_hits_given_changes_nothing(
    dense: list[tuple[str, float]], sparse: list[tuple[str, float]], weight: float, coverage: float
) -> None:
    there = fuse(dense, sparse, weight=weight, coverage=coverage)
    back = fuse(dense[::-1], sparse[::-1], weight=weight, coverage=coverage)
    assert there == back


def test_what_both_legs_find_comes_before_what_one_finds() -> None:
    hits = fuse([("a", 0.90), ("b", 0.89)], [("b", 12.0), ("c", 11.0)], weight=0.5, coverage=1.0, floor=0.75)
    assert hits[0].key == "b"
    assert set(hits[0].parts) == {"dense", "bm25"}


def test_a_lexical_leg_that_covers_nothing_changes_no_order() -> None:
    dense = [("a", 0.90), ("b", 0.88), ("c", 0.80)]
    hits = fuse(dense, [("z", 30.0), ("c", 20.0)], weight=0.5, coverage=0.0)
    assert [hit.key for hit in hits][:2] == ["a", "b"]
    assert hits[0].score == 1.0


@pytest.mark.parametrize(("dense", "sparse"), [([("a", 0.9), ("b", 0.8)], []), ([], [("a", 9.0), ("b", 3.0)])])
def test_one_leg_alone_decides_where_the_other_is_silent(
    dense: list[tuple[str, float]], sparse: list[tuple[str, float]]
) -> None:
    hits = fuse(dense, sparse, weight=0.5, coverage=0.3)
    assert [hit.key for hit in hits] == ["a", "b"]
    assert hits[0].score == 1.0


def test_nothing_found_is_nothing() -> None:
    assert fuse([], [], weight=0.5, coverage=1.0) == []


def test_a_single_hit_is_the_best_hit() -> None:
    assert fuse([("a", 0.7)], [], weight=0.5, coverage=1.0, floor=0.75)[0].score == 1.0


def test_two_close_cosines_stay_close_whatever_the_list_holds() -> None:
    hits = fuse([("a", 0.90), ("b", 0.89)], [], weight=0.5, coverage=1.0, floor=0.75)
    assert hits[1].score > 0.9


def test_coverage_is_the_share_of_the_querys_terms_in_the_best_hit() -> None:
    hit = encode_document("The lighthouse keeper painted the tower white in spring.")
    assert coverage_of(encode_query("who painted the lighthouse"), hit) == 1.0
    assert coverage_of(encode_query("lighthouse storm"), hit) == 0.5
    assert coverage_of(encode_query("кто покрасил маяк"), hit) == 0.0
    assert coverage_of(encode_query("of the"), hit) == 0.0
