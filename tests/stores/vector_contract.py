"""What every vector store must do. A test module subclasses `VectorStoreContract` and gives it a `store` fixture."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegas_assets.errors import BadEmbedding, FingerprintMismatch, InvalidInput, NotFound
from pegas_assets.identity import BUCKETS, bucket_of
from pegas_assets.stores.vectors import Point, SparseVector, VectorFilter, VectorStore

DIMENSION = 16
FINGERPRINT = "test:model:16:plain:unit"
EVERYTHING = VectorFilter()

AWKWARD_KEYS = [
    "doc:1#chunk:0",
    "ключ",
    "0123456789abcdef0123456789abcdef",
    "atom:1",
    "x" * 4000,
    "with space\tand\nline end",
    'quote " and \\ backslash',
    "e\u0301 is not \u00e9",
    "\u00e9 is not e\u0301",
    "🐝",
    "nul\x00inside",
]


def unit(seed: int, dimension: int = DIMENSION) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A vector of length 1 that belongs to a number."""
    row = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    return row / np.linalg.norm(row)


def terms(*indices: int) -> SparseVector:
    return SparseVector(tuple(sorted(indices)), (1.0,) * len(indices))


def point(key: str, seed: int = 0, sparse: SparseVector | None = None, **payload: Any) -> Point:
    fields = {"key": key, "bucket": bucket_of(key), "h": f"h-{key[:20]}", "kind": "atom", **payload}
    return Point(key, unit(seed), sparse, fields)


def stored(store: VectorStore, name: str) -> dict[str, str]:
    """Key → `h` of all that a collection holds."""
    return {key: h for bucket in range(BUCKETS) for key, h in store.hashes(name, bucket).items()}


def dense_keys(store: VectorStore, name: str, wanted: VectorFilter = EVERYTHING, limit: int = 100) -> set[str]:
    return {key for key, _ in store.search(name, dense=unit(0), sparse=None, filter=wanted, limit=limit).dense}


class VectorStoreContract:
    """Subclasses give `store`."""

    @pytest.fixture
    def name(self, store: VectorStore) -> Iterator[str]:
        name = f"test_{uuid.uuid4().hex}"
        store.ensure_collection(name, DIMENSION, FINGERPRINT)
        yield name
        store.drop_collection(name)

    def test_what_went_in_is_found_by_either_leg(self, store: VectorStore, name: str) -> None:
        store.upsert(name, [point(f"atom:{i}", i, terms(i, 100)) for i in range(10)])
        hits = store.search(name, dense=unit(3), sparse=terms(7), filter=EVERYTHING, limit=4)
        assert hits.dense[0][0] == "atom:3"
        assert hits.dense[0][1] == pytest.approx(1.0, abs=1e-4)
        assert len(hits.dense) == 4
        assert [key for key, _ in hits.sparse] == ["atom:7"]

    def test_hits_come_best_first(self, store: VectorStore, name: str) -> None:
        store.upsert(name, [point(f"atom:{i}", i, terms(*range(i + 1))) for i in range(20)])
        hits = store.search(name, dense=unit(5), sparse=terms(*range(20)), filter=EVERYTHING, limit=20)
        for leg in (hits.dense, hits.sparse):
            scores = [score for _, score in leg]
            assert scores == sorted(scores, reverse=True)
            assert len(scores) == 20

    def test_a_rare_word_weighs_more_than_a_common_one(self, store: VectorStore, name: str) -> None:
        store.upsert(name, [point(f"atom:{i}", i, terms(1)) for i in range(30)] + [point("atom:rare", 99, terms(2))])
        hits = store.search(name, dense=None, sparse=terms(1, 2), filter=EVERYTHING, limit=5)
        assert hits.sparse[0][0] == "atom:rare"
        assert hits.sparse[0][1] > 2 * hits.sparse[1][1]

    def test_a_point_without_a_vector_is_found_by_the_other_leg_alone(self, store: VectorStore, name: str) -> None:
        store.upsert(
            name,
            [
                Point("dense", unit(1), None, {"key": "dense", "bucket": 0, "h": "1"}),
                Point("sparse", None, terms(5), {"key": "sparse", "bucket": 0, "h": "2"}),
                Point("empty", unit(2), SparseVector((), ()), {"key": "empty", "bucket": 0, "h": "3"}),
            ],
        )
        hits = store.search(name, dense=unit(1), sparse=terms(5), filter=EVERYTHING, limit=10)
        assert {key for key, _ in hits.dense} == {"dense", "empty"}
        assert {key for key, _ in hits.sparse} == {"sparse"}

    def test_a_search_without_any_vector_finds_nothing(self, store: VectorStore, name: str) -> None:
        store.upsert(name, [point("atom:1")])
        for sparse in (None, SparseVector((), ())):
            hits = store.search(name, dense=None, sparse=sparse, filter=EVERYTHING, limit=5)
            assert hits.dense == hits.sparse == ()

    def test_any_key_comes_back_letter_for_letter(self, store: VectorStore, name: str) -> None:
        store.upsert(name, [point(key, number) for number, key in enumerate(AWKWARD_KEYS)])
        assert set(stored(store, name)) == set(AWKWARD_KEYS)
        for number, key in enumerate(AWKWARD_KEYS):
            hits = store.search(name, dense=unit(number), sparse=None, filter=EVERYTHING, limit=1)
            assert hits.dense[0][0] == key
        store.delete(name, AWKWARD_KEYS[:5])
        assert set(stored(store, name)) == set(AWKWARD_KEYS[5:])

    def test_a_second_upsert_replaces_the_whole_point(self, store: VectorStore, name: str) -> None:
        store.upsert(name, [point("atom:1", 1, terms(5), status="verified", h="old")])
        store.upsert(name, [point("atom:1", 2, None, h="new")])
        hits = store.search(name, dense=unit(2), sparse=terms(5), filter=EVERYTHING, limit=5)
        assert [key for key, _ in hits.dense] == ["atom:1"]
        assert hits.dense[0][1] == pytest.approx(1.0, abs=1e-4)
        assert hits.sparse == ()
        assert stored(store, name) == {"atom:1": "new"}
        assert dense_keys(store, name, VectorFilter(statuses=("verified",))) == set()

    def test_the_last_of_two_points_of_one_batch_counts(self, store: VectorStore, name: str) -> None:
        store.upsert(name, [point("atom:1", 1, h="first"), point("atom:1", 2, h="second")])
        assert stored(store, name) == {"atom:1": "second"}

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            (VectorFilter(kinds=("symbol",)), {"b"}),
            (VectorFilter(kinds=("symbol", "atom")), {"a", "b", "c"}),
            (VectorFilter(types=("fact",)), {"a"}),
            (VectorFilter(statuses=("verified", "contested")), {"a", "c"}),
            (VectorFilter(sources=("web:пример.рф",)), {"a", "b"}),
            (VectorFilter(sources=("web:other.org",)), {"b", "c"}),
            (VectorFilter(documents=("doc:2",)), {"b", "c"}),
            (VectorFilter(languages=("ru",)), {"a"}),
            (VectorFilter(min_confidence=0.7), {"a", "b"}),
            (VectorFilter(min_confidence=0.71), {"a"}),
            (VectorFilter(created_from=200), {"b", "c"}),
            (VectorFilter(created_until=200), {"a", "b"}),
            (VectorFilter(created_from=150, created_until=250), {"b"}),
            (VectorFilter(buckets=(3, 4)), {"a", "b"}),
            (VectorFilter(kinds=("atom",), documents=("doc:2",), languages=("en",)), {"c"}),
            (VectorFilter(kinds=("atom",), buckets=(4,)), set()),
            (VectorFilter(types=("no such",)), set()),
        ],
    )
    def test_filters_hold_on_both_legs(
        self, store: VectorStore, name: str, wanted: VectorFilter, found: set[str]
    ) -> None:
        shared = terms(1)
        store.upsert(
            name,
            [
                point("a", 1, shared, kind="atom", type="fact", status="verified", sources=["web:пример.рф"],
                      documents=["doc:1"], language="ru", confidence=0.9, created_at=100, bucket=3),
                point("b", 2, shared, kind="symbol", type="code", status="candidate",
                      sources=["web:пример.рф", "web:other.org"], documents=["doc:1", "doc:2"], language="en",
                      confidence=0.7, created_at=200, bucket=4),
                point("c", 3, shared, kind="atom", type="text", status="contested", sources=["web:other.org"],
                      documents=["doc:2"], language="en", confidence=0, created_at=300, bucket=5),
                point("bare", 4, shared, kind="card", bucket=9),
            ],
        )  # fmt: skip
        hits = store.search(name, dense=unit(0), sparse=shared, filter=wanted, limit=10)
        assert {key for key, _ in hits.dense} == found
        assert {key for key, _ in hits.sparse} == found

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    def test_a_filter_means_what_it_says(self, store: VectorStore, name: str, data: st.DataObject) -> None:
        words = ("a", "b", "c")
        points = [
            point(
                f"atom:{number}",
                number,
                kind=data.draw(st.sampled_from(words)),
                sources=data.draw(st.lists(st.sampled_from(words), unique=True)),
                confidence=data.draw(st.sampled_from([0.0, 0.25, 0.5, 1.0])),
                created_at=data.draw(st.integers(0, 5)),
            )
            for number in range(12)
        ]
        some = st.lists(st.sampled_from(words), unique=True, max_size=2).map(tuple)
        wanted = VectorFilter(
            kinds=data.draw(some),
            sources=data.draw(some),
            min_confidence=data.draw(st.sampled_from([None, 0.25, 0.6])),
            created_from=data.draw(st.sampled_from([None, 2])),
            created_until=data.draw(st.sampled_from([None, 3])),
        )
        store.upsert(name, points)
        assert dense_keys(store, name, wanted) == {each.key for each in points if _matches(each, wanted)}

    def test_deleting_what_is_not_there_is_no_error(self, store: VectorStore, name: str) -> None:
        store.upsert(name, [point("atom:1"), point("atom:2")])
        store.delete(name, ["atom:2", "atom:99", "atom:2"])
        store.delete(name, [])
        assert set(stored(store, name)) == {"atom:1"}

    def test_an_empty_batch_is_no_error(self, store: VectorStore, name: str) -> None:
        store.upsert(name, [])
        assert stored(store, name) == {}

    def test_a_large_batch_is_written_whole(self, store: VectorStore, name: str) -> None:
        store.upsert(name, [point(f"atom:{number}", number, terms(number % 50)) for number in range(5000)])
        assert stored(store, name) == {f"atom:{number}": f"h-atom:{number}" for number in range(5000)}
        info = store.info(name)
        assert info is not None
        assert info.points == 5000
        store.delete(name, [f"atom:{number}" for number in range(4000)])
        assert len(stored(store, name)) == 1000

    def test_a_bucket_shows_only_its_own(self, store: VectorStore, name: str) -> None:
        store.upsert(name, [point(f"atom:{number}", number) for number in range(200)])
        for bucket in range(BUCKETS):
            expected = {f"atom:{number}" for number in range(200) if bucket_of(f"atom:{number}") == bucket}
            assert set(store.hashes(name, bucket)) == expected

    @pytest.mark.parametrize(
        "bad",
        [
            np.full(DIMENSION, np.nan, np.float32),
            np.array([1.0] * (DIMENSION - 1) + [np.inf], np.float32),
            np.array([1.0] * (DIMENSION - 1) + [-np.inf], np.float32),
            unit(1, DIMENSION + 1),
            unit(1, DIMENSION - 1),
            np.empty(0, np.float32),
            np.ones((2, DIMENSION), np.float32),
        ],
    )
    def test_a_bad_vector_is_refused_with_its_whole_batch(self, store: VectorStore, name: str, bad: Any) -> None:
        good = [point(f"atom:{number}", number) for number in range(2500)]
        with pytest.raises(BadEmbedding):
            store.upsert(name, [*good, replace(good[0], key="atom:bad", dense=bad)])
        with pytest.raises(BadEmbedding):
            store.upsert(name, [replace(good[0], dense=bad)])
        assert stored(store, name) == {}
        with pytest.raises(BadEmbedding):
            store.search(name, dense=bad, sparse=None, filter=EVERYTHING, limit=1)

    @pytest.mark.parametrize(
        "bad",
        [
            SparseVector((1, 2), (1.0,)),
            SparseVector((1, 2), (1.0, float("nan"))),
            SparseVector((2, 1), (1.0, 1.0)),
            SparseVector((1, 1), (1.0, 1.0)),
            SparseVector((-1,), (1.0,)),
            SparseVector((2**32,), (1.0,)),
            SparseVector((2**70,), (1.0,)),
        ],
    )
    def test_a_bad_word_vector_is_refused(self, store: VectorStore, name: str, bad: SparseVector) -> None:
        with pytest.raises(BadEmbedding):
            store.upsert(name, [point("atom:1", 1, terms(9)), point("atom:2", 2, bad)])
        assert stored(store, name) == {}
        with pytest.raises(BadEmbedding):
            store.search(name, dense=None, sparse=bad, filter=EVERYTHING, limit=1)

    @pytest.mark.parametrize(
        "bad",
        [
            Point("", unit(1), None, {"bucket": 0, "h": ""}),
            point("a", kind=5),
            point("a", sources=["x", 5]),
            point("a", confidence=float("nan")),
            point("a", confidence="high"),
            point("a", created_at="today"),
            point("a", created_at=2**63),
            Point("\ud800", unit(1), None, {"h": ""}),
            Point("a", unit(1), None, {"h": "\ud800"}),
            Point("a", unit(1), None, {"h": 5}),
        ],
    )
    def test_a_bad_point_is_a_sentence(self, store: VectorStore, name: str, bad: Point) -> None:
        with pytest.raises(InvalidInput):
            store.upsert(name, [point("atom:1"), bad])
        assert stored(store, name) == {}

    def test_a_limit_below_one_is_refused(self, store: VectorStore, name: str) -> None:
        with pytest.raises(InvalidInput):
            store.search(name, dense=unit(1), sparse=None, filter=EVERYTHING, limit=0)

    def test_ensuring_twice_changes_nothing(self, store: VectorStore, name: str) -> None:
        store.upsert(name, [point("atom:1")])
        store.ensure_collection(name, DIMENSION, FINGERPRINT)
        assert set(stored(store, name)) == {"atom:1"}
        info = store.info(name)
        assert info is not None
        assert (info.name, info.points, info.dimension, info.fingerprint) == (name, 1, DIMENSION, FINGERPRINT)

    @pytest.mark.parametrize(("dimension", "fingerprint"), [(DIMENSION, "other:model"), (DIMENSION + 1, FINGERPRINT)])
    def test_another_model_is_refused_by_both_names(
        self, store: VectorStore, name: str, dimension: int, fingerprint: str
    ) -> None:
        with pytest.raises(FingerprintMismatch) as caught:
            store.ensure_collection(name, dimension, fingerprint)
        for told in (FINGERPRINT, str(DIMENSION), fingerprint, str(dimension)):
            assert told in caught.value.message

    def test_a_collection_that_is_not_there(self, store: VectorStore) -> None:
        assert store.info("absent") is None
        store.drop_collection("absent")
        with pytest.raises(NotFound):
            store.upsert("absent", [point("atom:1")])
        with pytest.raises(NotFound):
            store.search("absent", dense=unit(1), sparse=None, filter=EVERYTHING, limit=1)
        with pytest.raises(NotFound):
            store.hashes("absent", 0)

    def test_a_dropped_collection_is_gone_and_its_name_free(self, store: VectorStore, name: str) -> None:
        store.upsert(name, [point("atom:1")])
        assert name in store.collections()
        store.drop_collection(name)
        assert name not in store.collections()
        assert store.info(name) is None
        store.ensure_collection(name, DIMENSION * 2, "other:model")
        info = store.info(name)
        assert info is not None
        assert (info.points, info.dimension, info.fingerprint) == (0, DIMENSION * 2, "other:model")

    def test_threads_write_and_search_at_once(self, store: VectorStore, name: str) -> None:
        def work(thread: int) -> None:
            for step in range(10):
                store.upsert(name, [point(f"atom:{thread}:{step}:{each}", each) for each in range(20)])
                store.delete(name, [f"atom:{thread}:{step}:0"])
                assert store.search(name, dense=unit(1), sparse=None, filter=EVERYTHING, limit=5).dense

        with ThreadPoolExecutor(8) as pool:
            for done in [pool.submit(work, thread) for thread in range(8)]:
                done.result()
        assert len(stored(store, name)) == 8 * 10 * 19

    def test_the_version_names_the_engine(self, store: VectorStore) -> None:
        assert "qdrant" in store.version().lower()


def _matches(each: Point, wanted: VectorFilter) -> bool:
    payload = each.payload
    return (
        (not wanted.kinds or payload["kind"] in wanted.kinds)
        and (not wanted.sources or bool(set(payload["sources"]) & set(wanted.sources)))
        and (wanted.min_confidence is None or payload["confidence"] >= wanted.min_confidence)
        and (wanted.created_from is None or payload["created_at"] >= wanted.created_from)
        and (wanted.created_until is None or payload["created_at"] <= wanted.created_until)
    )
