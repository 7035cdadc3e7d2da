"""What the stages of ingest work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pegas_assets.distill.base import Distiller
from pegas_assets.embedding.base import Embedder
from pegas_assets.embedding.profile import Profile
from pegas_assets.settings import Settings
from pegas_assets.stores.postgres import Database
from pegas_assets.stores.vectors import VectorStore


@dataclass(frozen=True)
class IngestParts:
    """The parts of one base that ingest uses. The vector store only helps dedup find what is near, and may be down."""

    database: Database
    settings: Settings
    embedder: Embedder
    distiller: Distiller
    profile: Profile | None
    vectors: Callable[[], VectorStore]
    collection: Callable[[], str]
    relieve: Callable[[], None] | None = None
    """Called between batches: drains the outbox when it is long, since dedup reads what is not projected one by one."""
