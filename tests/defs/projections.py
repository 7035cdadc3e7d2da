"""Projections in tests: their drift, and how to lose them."""

from __future__ import annotations

from pegas_assets.projection.reconcile import drift
from pegas_assets.runtime import Runtime


def drift_of(runtime: Runtime) -> dict[str, int]:
    """How many keys differ from PostgreSQL, by target."""
    return {target.name: sum(one.total for one in drift(runtime.database, target)) for target in runtime.targets}


def shown_by(runtime: Runtime) -> dict[str, int]:
    """How many points and nodes there are."""
    info = runtime.vectors.info(runtime.vector_target.collection())
    return {"vectors": info.points if info is not None else 0, "graph": sum(runtime.graph.counts().values())}


def lose_both(runtime: Runtime) -> None:
    """Empty both stores, as a disk that died would."""
    runtime.vectors.drop_collection(runtime.vector_target.collection())
    runtime.graph.clear()
