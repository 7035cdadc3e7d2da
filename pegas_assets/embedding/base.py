"""What every embedding model offers, and the name under which its vectors are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Shape (n, dimension), rows of length 1."""

Vector = NDArray[np.float32]
"""Shape (dimension,), length 1."""


@dataclass(frozen=True)
class Fingerprint:
    """All that decides what a vector means: two vectors compare only under one fingerprint."""

    provider: str
    model: str
    dimension: int
    prefix: str
    normalised: bool = True

    def __str__(self) -> str:
        norm = "unit" if self.normalised else "raw"
        return f"{self.provider}:{self.model}:{self.dimension}:{self.prefix}:{norm}"


class Embedder(Protocol):
    """An embedding model. Implementations are safe to call from several threads."""

    @property
    def fingerprint(self) -> Fingerprint: ...

    @property
    def max_tokens(self) -> int:
        """Longest passage, in this model's tokens, that is embedded whole, prefix and specials included."""
        ...

    def count_tokens(self, text: str) -> int:
        """How many tokens a passage takes, prefix and specials included, uncut."""
        ...

    def embed_passages(self, texts: list[str]) -> Vectors:
        """Vectors of passages, in order.

        Raises:
            InvalidInput: a text is longer than `max_tokens` (nothing is cut silently).
            BadEmbedding: what came back has another count, dimension, a value that is not finite, or a wrong norm.
        """
        ...

    def embed_query(self, text: str) -> Vector:
        """The vector of a query; a longer one than `max_tokens` is cut at a word, since its head says what is asked."""
        ...
