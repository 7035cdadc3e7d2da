"""What a search reads from, each opened when it is first needed, so that one being down costs one leg."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pegas_assets.embedding.base import Embedder
from pegas_assets.embedding.profile import Profile
from pegas_assets.stores.graph import GraphStore
from pegas_assets.stores.postgres import Database
from pegas_assets.stores.vectors import VectorStore


@dataclass(frozen=True)
class SearchEngines:
    """The parts of one base that searches use."""

    database: Database
    vectors: Callable[[], VectorStore]
    graph: Callable[[], GraphStore]
    embedder: Callable[[], Embedder]
    collection: Callable[[], str]
    profile: Callable[[], Profile | None]
