"""No vector that could poison a store gets past the checks."""

from __future__ import annotations

import numpy as np
import pytest

from pegas_assets.embedding.checks import checked
from pegas_assets.errors import BadEmbedding

GOOD = [[0.6, 0.8], [1.0, 0.0]]


def test_good_vectors_come_back_as_float32() -> None:
    vectors = checked(GOOD, 2, 2)
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (None, "no vectors"),
        ([], "0 vectors for 2 texts"),
        ([[0.6, 0.8]], "1 vectors for 2 texts"),
        ([[0.6, 0.8], [1.0, 0.0], [0.0, 1.0]], "3 vectors for 2 texts"),
        ([[0.6, 0.8, 0.0], [1.0, 0.0]], "unequal size"),
        ([[0.6, 0.8, 0.0], [1.0, 0.0, 0.0]], "dimension 3, not 2"),
        ([[0.6, 0.8], [float("nan"), 1.0]], "text 2 of 2"),
        ([[0.6, 0.8], [float("inf"), 1.0]], "not a finite number"),
        ([[0.6, 0.8], [None, 1.0]], "not a finite number"),
        ([["a", "b"], [1.0, 0.0]], "no numbers"),
        ([[0.0, 0.0], [1.0, 0.0]], "text 1 of 2 is zero"),
        ([[0.6, 0.8], [2.0, 0.0]], "length 2.0000, not 1"),
    ],
)
def test_bad_vectors_are_refused_with_a_sentence(vectors: object, said: str) -> None:
    with pytest.raises(BadEmbedding, match=said):
        checked(vectors, 2, 2)


def test_a_model_that_does_not_normalise_is_normalised() -> None:
    assert checked([[3.0, 4.0]], 1, 2, normalise=True).tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]


def test_no_texts_have_no_vectors() -> None:
    assert checked([], 0, 384).shape == (0, 384)
