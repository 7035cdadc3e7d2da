"""Vectors are kept in PostgreSQL and made once."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import psycopg
import pytest

from pegas_assets.embedded.postgres import ensure_postgres
from pegas_assets.embedding.base import Fingerprint, Vector, Vectors
from pegas_assets.embedding.cache import embed_passages_cached, stored_vectors, text_key
from pegas_assets.errors import BadEmbedding
from pegas_assets.stores.migrations import migrate
from pegas_assets.stores.postgres import Database
from tests.homes import make_home


class CountingEmbedder:
    """An embedder of eight dimensions that remembers what it was asked."""

    max_tokens = 512

    def __init__(self, model: str = "counting") -> None:
        self.fingerprint = Fingerprint("test", model, 8, "none")
        self.asked: list[str] = []
        self.watch: psycopg.Connection | None = None

    def count_tokens(self, text: str) -> int:
        return len(text)

    def embed_passages(self, texts: list[str]) -> Vectors:
        if self.watch is not None:
            assert self.watch.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        self.asked += texts
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        raw = np.frombuffer(text_key(text)[:8], dtype=np.uint8).astype(np.float32) + 1
        return raw / np.linalg.norm(raw)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with make_home() as settings:
        address = ensure_postgres(settings)
        database = Database(lambda: address, size=1)
        migrate(database)
        database.close()
        yield address


@pytest.fixture(params=[True, False], ids=["autocommit", "transactions"])
def connection(url: str, request: pytest.FixtureRequest) -> Iterator[psycopg.Connection]:
    with psycopg.connect(url, autocommit=request.param) as made:
        yield made
        made.rollback()
        made.execute("DELETE FROM pm_embedding")


def test_a_text_is_embedded_once(connection: psycopg.Connection) -> None:
    embedder = CountingEmbedder()
    embedder.watch = connection
    first = embed_passages_cached(connection, embedder, ["a", "b", "a", "ё"])
    again = embed_passages_cached(connection, embedder, ["ё", "c", "a"])
    assert sorted(embedder.asked) == ["a", "b", "c", "ё"]
    assert np.array_equal(first, np.stack([embedder.embed_query(text) for text in ["a", "b", "a", "ё"]]))
    assert np.array_equal(again, np.stack([embedder.embed_query(text) for text in ["ё", "c", "a"]]))


def test_vectors_of_two_models_are_kept_apart(connection: psycopg.Connection) -> None:
    one, other = CountingEmbedder("one"), CountingEmbedder("other")
    embed_passages_cached(connection, one, ["a"])
    embed_passages_cached(connection, other, ["a"])
    assert one.asked == other.asked == ["a"]
    assert stored_vectors(connection, one.fingerprint, [text_key("b")]) == {}


def test_what_was_embedded_before_a_failure_is_kept(connection: psycopg.Connection) -> None:
    class Failing(CountingEmbedder):
        def embed_passages(self, texts: list[str]) -> Vectors:
            if self.asked:
                raise BadEmbedding("The model broke.")
            return super().embed_passages(texts)

    texts = [f"text {i}" for i in range(100)]
    with pytest.raises(BadEmbedding):
        embed_passages_cached(connection, Failing(), texts)
    seen: list[tuple[int, int]] = []
    embedder = CountingEmbedder()
    embed_passages_cached(connection, embedder, texts, lambda done, of: seen.append((done, of)))
    assert len(embedder.asked) == 100 - 64
    assert seen == [(36, 36)]


def test_no_texts_have_no_vectors(connection: psycopg.Connection) -> None:
    assert embed_passages_cached(connection, CountingEmbedder(), []).shape == (0, 8)


def test_a_kept_vector_of_another_size_is_refused_by_name(connection: psycopg.Connection) -> None:
    embedder = CountingEmbedder()
    connection.execute(
        "INSERT INTO pm_embedding (fingerprint, text_hash, vector) VALUES (%s, %s, %s)",
        (str(embedder.fingerprint), text_key("a"), b"\0" * 12),
    )
    connection.commit()
    with pytest.raises(BadEmbedding, match="12 bytes, not 32"):
        embed_passages_cached(connection, embedder, ["a"])


def test_many_writers_of_the_same_texts_agree(url: str) -> None:
    texts = [f"shared {i}" for i in range(300)]
    found: list[Vectors] = []

    def write(offset: int) -> None:
        with psycopg.connect(url, autocommit=True) as own:
            vectors = embed_passages_cached(own, CountingEmbedder(), texts[offset:] + texts[:offset])
            found.append(np.roll(vectors, offset, axis=0))

    threads = [threading.Thread(target=write, args=(40 * i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 6
    assert all(np.array_equal(vectors, found[0]) for vectors in found)
