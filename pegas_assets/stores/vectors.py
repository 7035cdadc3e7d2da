"""The vector store's interface: points in, keys and scores out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pegas_assets.embedding.base import Vector

DENSE = "dense"
SPARSE = "bm25"

KEYWORD_FIELDS = ("key", "kind", "type", "status", "sources", "documents", "language")
INTEGER_FIELDS = ("bucket", "created_at")
FLOAT_FIELDS = ("confidence",)
"""The payload fields that searches filter on; each is indexed. `created_at` is in seconds since 1970, UTC."""


@dataclass(frozen=True)
class SparseVector:
    """A BM25 vector: ascending token ids and their weights. The engine multiplies in the IDF."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Point:
    """One projected thing. `payload` holds `key`, `bucket`, `h` and what searches filter on: plain JSON values."""

    key: str
    dense: Vector | None
    sparse: SparseVector | None
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class VectorFilter:
    """What a hit must be. Empty means any; within a field any value does, and all fields must hold."""

    kinds: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    min_confidence: float | None = None
    created_from: int | None = None
    created_until: int | None = None
    buckets: tuple[int, ...] = ()


@dataclass(frozen=True)
class LegHits:
    """What each leg of one query found, best first: pairs of key and the engine's own score."""

    dense: tuple[tuple[str, float], ...] = ()
    sparse: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class CollectionInfo:
    """`indexed` counts the points that the vector index covers; the rest is scanned."""

    name: str
    points: int
    indexed: int
    dimension: int
    fingerprint: str
    payload_indexes: tuple[str, ...] = field(default=())


class VectorStore(Protocol):
    """A vector engine. All methods raise `EngineUnavailable` where it does not answer; they may be called from threads.

    Ids are `identity.point_id(key)`; the key itself is in the payload, indexed, and is what comes back.
    """

    def ensure_collection(self, name: str, dimension: int, fingerprint: str) -> None:
        """Make the collection and its payload indexes where they are missing.

        Raises:
            FingerprintMismatch: it exists, made under another fingerprint or dimension.
        """
        ...

    def upsert(self, name: str, points: Sequence[Point]) -> None:
        """Write points, each whole. Returns when they can be searched and would survive `kill -9`.

        Raises:
            BadEmbedding: a vector has a wrong size or a value that is not finite; nothing is written.
        """
        ...

    def delete(self, name: str, keys: Sequence[str]) -> None:
        """Remove points. A key that is not there is no error."""
        ...

    def search(
        self,
        name: str,
        *,
        dense: Vector | None,
        sparse: SparseVector | None,
        filter: VectorFilter,
        limit: int,
    ) -> LegHits:
        """Up to `limit` hits for each leg that has a vector, in one round trip."""
        ...

    def hashes(self, name: str, bucket: int) -> dict[str, str]:
        """Key → `h` of every point in a bucket."""
        ...

    def info(self, name: str) -> CollectionInfo | None:
        """How a collection stands; None where there is none."""
        ...

    def collections(self) -> list[str]: ...

    def drop_collection(self, name: str) -> None:
        """Remove a collection with all that it holds. One that is not there is no error."""
        ...

    def optimize(self, name: str, progress: Callable[[str], object] | None = None) -> bool:
        """Build the vector index over what was written since the last time, while serving goes on. False: nothing to do."""
        ...

    def version(self) -> str:
        """Name and version of the engine; also the health check."""
        ...

    def close(self) -> None: ...
