"""The embedded vector store: the contract, and what a store with a host process must do besides."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from pegas_assets.embedded.process import find, write_private
from pegas_assets.embedded.vector_host import vector_host
from pegas_assets.errors import EngineUnavailable, InvalidInput, NotFound
from pegas_assets.settings import Settings
from pegas_assets.stores.vector_encoding import INDEXES
from pegas_assets.stores.vectors import FLOAT_FIELDS, INTEGER_FIELDS, KEYWORD_FIELDS
from pegas_assets.stores.vectors_embedded import EmbeddedVectorStore
from tests.homes import make_home
from tests.stores.vector_contract import DIMENSION, EVERYTHING, VectorStoreContract, point, stored, terms, unit


@pytest.fixture(scope="module")
def store(settings: Settings) -> Iterator[EmbeddedVectorStore]:
    made = EmbeddedVectorStore(settings)
    yield made
    made.close()


class TestEmbeddedVectorStore(VectorStoreContract):
    def test_every_field_that_is_filtered_on_is_indexed(self, store: EmbeddedVectorStore, name: str) -> None:
        info = store.info(name)
        assert info is not None
        assert set(info.payload_indexes) == {*KEYWORD_FIELDS, *INTEGER_FIELDS, *FLOAT_FIELDS} == set(INDEXES)

    @pytest.mark.parametrize("odd", ["имя с пробелом", "a/b", "a%2Fb", "UPPER"])
    def test_a_collection_may_have_any_name(self, store: EmbeddedVectorStore, odd: str) -> None:
        store.ensure_collection(odd, DIMENSION, "f")
        store.upsert(odd, [point("atom:1")])
        assert odd in store.collections()
        assert set(stored(store, odd)) == {"atom:1"}
        store.drop_collection(odd)

    @pytest.mark.parametrize("bad", ["", ".", "..", ".hidden", "x" * 300, "\ud800"])
    def test_a_name_that_no_folder_can_have_is_refused(self, store: EmbeddedVectorStore, bad: str) -> None:
        with pytest.raises(InvalidInput):
            store.ensure_collection(bad, DIMENSION, "f")

    def test_the_index_covers_what_was_written_and_finds_the_same(self, store: EmbeddedVectorStore) -> None:
        dimension = 1024
        store.ensure_collection("indexed", dimension, "f")
        points = [
            point(f"atom:{number}", 0, terms(number % 40, 50 + number), language=("ru", "en")[number % 2])
            for number in range(2000)
        ]
        points = [type(each)(each.key, unit(n, dimension), each.sparse, each.payload) for n, each in enumerate(points)]
        store.upsert("indexed", points)
        before = store.info("indexed")
        assert before is not None
        assert (before.points, before.indexed) == (2000, 0)
        sparse = [store.search("indexed", dense=None, sparse=terms(3, n), filter=EVERYTHING, limit=5) for n in (60, 70)]
        lines: list[str] = []
        assert store.optimize("indexed", lines.append)
        assert lines[-1] == "the index serves"
        after = store.info("indexed")
        assert after is not None
        assert (after.points, after.indexed) == (2000, 2000)
        assert after.payload_indexes == before.payload_indexes
        assert not store.optimize("indexed")
        for number in range(0, 2000, 200):
            hits = store.search("indexed", dense=unit(number, dimension), sparse=None, filter=EVERYTHING, limit=3)
            assert hits.dense[0][0] == f"atom:{number}"
        again = [store.search("indexed", dense=None, sparse=terms(3, n), filter=EVERYTHING, limit=5) for n in (60, 70)]
        assert [{key for key, _ in hits.sparse[:1]} for hits in again] == [
            {key for key, _ in hits.sparse[:1]} for hits in sparse
        ]
        assert len(stored(store, "indexed")) == 2000
        store.drop_collection("indexed")

    def test_optimizing_what_is_not_there(self, store: EmbeddedVectorStore) -> None:
        with pytest.raises(NotFound):
            store.optimize("absent")

    def test_a_small_collection_needs_no_index(self, store: EmbeddedVectorStore, name: str) -> None:
        store.upsert(name, [point("atom:1")])
        assert not store.optimize(name)
        assert set(stored(store, name)) == {"atom:1"}

    def test_a_fork_does_not_share_connections(self, store: EmbeddedVectorStore, name: str) -> None:
        store.upsert(name, [point(f"atom:{number}", number) for number in range(10)])
        child = os.fork()
        if not child:
            status = 1
            try:
                found = {
                    store.search(name, dense=unit(n), sparse=None, filter=EVERYTHING, limit=1).dense[0][0]
                    for n in range(10)
                }
                status = 0 if found == {f"atom:{number}" for number in range(10)} else 2
            finally:
                os._exit(status)
        for number in range(10):
            hits = store.search(name, dense=unit(number), sparse=None, filter=EVERYTHING, limit=1)
            assert hits.dense[0][0] == f"atom:{number}"
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture
def alone() -> Iterator[Settings]:
    """A home whose host may be harmed."""
    with make_home() as made:
        yield made


def host_pid(settings: Settings) -> int:
    state = find(vector_host(settings.home))
    assert state is not None
    return state.pid


def test_a_host_that_hangs_is_an_error(alone: Settings) -> None:
    store = EmbeddedVectorStore(alone)
    store.ensure_collection("c", DIMENSION, "f")
    store.upsert("c", [point("atom:1")])
    pid = host_pid(alone)
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(EngineUnavailable) as caught:
            store.search("c", dense=unit(1), sparse=None, filter=EVERYTHING, limit=1)
        assert caught.value.component == "vectors"
        assert caught.value.retryable
        with pytest.raises(EngineUnavailable):
            store.upsert("c", [point("atom:2")])
    finally:
        os.kill(pid, signal.SIGCONT)
    assert dense_found(store) >= {"atom:1"}


def test_a_host_of_another_version_is_named(alone: Settings) -> None:
    store = EmbeddedVectorStore(alone)
    store.version()
    store.close()
    path = vector_host(alone.home).state_path
    content = path.read_bytes()
    os.kill(host_pid(alone), signal.SIGSTOP)  # It would put its state file right.
    try:
        write_private(path, content.replace(b'"protocol": 1', b'"protocol": 99'))
        with pytest.raises(EngineUnavailable, match="another version"):
            store.version()
    finally:
        os.kill(host_pid(alone), signal.SIGCONT)


def test_a_host_that_cannot_start_is_a_sentence(alone: Settings) -> None:
    (alone.home / "vectors").write_text("a file where the folder should be")
    store = EmbeddedVectorStore(alone)
    with pytest.raises(EngineUnavailable) as caught:
        store.search("c", dense=unit(1), sparse=None, filter=EVERYTHING, limit=1)
    assert caught.value.component == "vectors"
    assert "vectors.log" in caught.value.hint


def test_a_damaged_collection_harms_no_other(alone: Settings) -> None:
    store = EmbeddedVectorStore(alone)
    for name in ("good", "bad"):
        store.ensure_collection(name, DIMENSION, "f")
        store.upsert(name, [point("atom:1")])
    os.kill(host_pid(alone), signal.SIGKILL)
    for path in (alone.home / "vectors" / "bad").rglob("edge_config.json"):
        path.write_text("{")
    with pytest.raises(EngineUnavailable, match="bad"):
        stored(store, "bad")
    assert set(stored(store, "good")) == {"atom:1"}
    store.drop_collection("bad")
    store.ensure_collection("bad", DIMENSION, "f")
    assert stored(store, "bad") == {}


def dense_found(store: EmbeddedVectorStore) -> set[str]:
    return {key for key, _ in store.search("c", dense=unit(1), sparse=None, filter=EVERYTHING, limit=10).dense}
