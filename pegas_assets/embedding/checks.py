"""What every vector must pass before anything keeps it or searches with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pegas_assets.embedding.base import Vectors
from pegas_assets.errors import BadEmbedding

NORM_TOLERANCE = 1e-3
"""How far from 1 the length of a unit vector may be; float32 and a text format leave less."""


def checked(vectors: object, count: int, dimension: int, *, normalise: bool = False) -> Vectors:
    """The vectors as a float32 array of shape (count, dimension), rows of length 1.

    `vectors` is whatever a model sent: an array, lists, or nothing. `normalise` scales the rows of a model that does not
    do so itself.

    Raises:
        BadEmbedding: another count or dimension, a value that is not finite, a zero vector, a length that is not 1.
    """
    if vectors is None:
        raise _bad("The embedding model sent no vectors.")
    try:
        array = np.asarray(vectors, dtype=np.float32)
    except (ValueError, TypeError):
        raise _bad("The embedding model sent vectors of unequal size, or values that are no numbers.") from None
    if array.size == 0 and count == 0:
        return np.empty((0, dimension), dtype=np.float32)
    if array.ndim != 2 or array.shape[0] != count:
        sent = array.shape[0] if array.ndim == 2 else 0
        raise _bad(f"The embedding model sent {sent} vectors for {count} texts.")
    if array.shape[1] != dimension:
        raise _bad(f"The embedding model sent vectors of dimension {array.shape[1]}, not {dimension}.")
    if (row := _first(~np.all(np.isfinite(array), axis=1).reshape(-1))) is not None:
        raise _bad(f"The vector of text {row + 1} of {count} has a value that is not a finite number.", row)
    norms = np.linalg.norm(array.astype(np.float64), axis=1)
    if (row := _first(norms < 1e-6)) is not None:
        raise _bad(f"The vector of text {row + 1} of {count} is zero.", row)
    if normalise:
        array = (array / norms[:, None]).astype(np.float32)
    elif (row := _first(np.abs(norms - 1.0) > NORM_TOLERANCE)) is not None:
        raise _bad(f"The vector of text {row + 1} of {count} has length {norms[row]:.4f}, not 1.", row)
    return np.ascontiguousarray(array)


def _first(wrong: NDArray[np.bool_]) -> int | None:
    return int(np.argmax(wrong)) if wrong.any() else None


def _bad(message: str, row: int | None = None) -> BadEmbedding:
    return BadEmbedding(
        message,
        hint="Nothing was stored; check the model, then embed again.",
        item="" if row is None else str(row),
        component="embedder",
    )
