"""Chooses the vector engine by the settings."""

from __future__ import annotations

from pegas_assets.errors import InvalidInput
from pegas_assets.settings import Settings
from pegas_assets.stores.vectors import VectorStore


def open_vectors(settings: Settings) -> VectorStore:
    """The embedded engine, which is started when first used.

    Raises:
        InvalidInput: a Qdrant server is named, for which this version has no adapter.
    """
    if settings.qdrant_url is not None:
        raise InvalidInput(
            "PEGAS_QDRANT_URL is set, and this version runs the embedded vector engine only.",
            hint="Unset PEGAS_QDRANT_URL.",
            component="vectors",
        )
    from pegas_assets.stores.vectors_embedded import EmbeddedVectorStore

    return EmbeddedVectorStore(settings)
