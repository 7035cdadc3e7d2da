"""One ranking of two: what the dense leg and the lexical leg found, by normalised scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pegas_assets.stores.vectors import DENSE, SPARSE, SparseVector


class Fused(NamedTuple):
    """A key, its score from 0 to 1, and the share of each leg in it: the shares sum to the score."""

    key: str
    score: float
    parts: dict[str, float]


def fuse(
    dense: Sequence[tuple[str, float]],
    sparse: Sequence[tuple[str, float]],
    *,
    weight: float,
    coverage: float,
    floor: float | None = None,
) -> list[Fused]:
    """The hits of both legs, best first.

    Each leg's scores are scaled to 0…1: BM25 by its best, since 0 there means nothing in common; cosines between
    `floor` (what unrelated texts have, of the model's profile) or the lowest of the list, whichever is lower, and
    the best. The lexical leg then gets a share of (1 − `weight`) · `coverage`, the dense leg the rest.

    `weight` is the dense leg's share where the lexical leg covers the query whole; `coverage` says how much of it
    it covers (see `coverage_of`). So a Russian question over English texts, of which the lexical leg knows a name at most,
    is ranked by its meaning, and a query of rare exact words by both. A leg without hits leaves all to the other.
    """
    lexical = (1.0 - weight) * min(max(coverage, 0.0), 1.0)
    if not dense or not sparse:
        lexical = 1.0 if sparse else 0.0
    shares: dict[str, dict[str, float]] = {}
    for key, scaled in _scaled(dense, floor).items():
        shares.setdefault(key, {})[DENSE] = (1.0 - lexical) * scaled
    for key, scaled in _scaled(sparse, 0.0).items():
        shares.setdefault(key, {})[SPARSE] = lexical * scaled
    ranked = [Fused(key, min(sum(parts.values()), 1.0), parts) for key, parts in shares.items()]
    return sorted(ranked, key=lambda hit: (-hit.score, hit.key))


def coverage_of(query: SparseVector, best: SparseVector) -> float:
    """The share of the query's terms that its best lexical hit has, 0 to 1; 0 for a query without terms."""
    asked = set(query.indices)
    return len(asked.intersection(best.indices)) / len(asked) if asked else 0.0


def _scaled(hits: Sequence[tuple[str, float]], floor: float | None) -> Mapping[str, float]:
    best: dict[str, float] = {}
    for key, score in hits:
        best[key] = max(score, best.get(key, score))
    if not best:
        return best
    high, low = max(best.values()), min(best.values())
    low = low if floor is None else min(low, floor)
    if high <= low:
        return dict.fromkeys(best, 1.0)
    return {key: (score - low) / (high - low) for key, score in best.items()}
