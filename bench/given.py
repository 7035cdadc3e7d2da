"""Searches whose query vectors are given: the model's time is none of these benches'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pegas_assets.embedding.base import Vector
from pegas_assets.runtime import Runtime
from pegas_assets.search.engines import SearchEngines


@dataclass
class GivenVectors:
    """An embedder that knows the vectors of its queries."""

    known: dict[str, Vector]
    inner: object

    def embed_query(self, text: str) -> Vector:
        return self.known[text]

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


def given_engines(runtime: Runtime, asked: Sequence[tuple[str, Vector]]) -> SearchEngines:
    """The base's engines, with an embedder that only looks these queries up."""
    embedder = GivenVectors(dict(asked), runtime.embedder)
    return replace(runtime.search_engines, embedder=lambda: embedder)  # type: ignore[arg-type, return-value]
