"""The three stages of a source in order, for whoever needs no lineage: tests, benches, and a write of one atom."""

from __future__ import annotations

from collections.abc import Sequence

from pegas_assets.pipeline.atoms import distil_pending
from pegas_assets.pipeline.chunks import chunk_pending
from pegas_assets.pipeline.documents import fetch_pending
from pegas_assets.pipeline.parts import IngestParts
from pegas_assets.pipeline.report import Progress, StageReport


def ingest_source(
    parts: IngestParts,
    source: str,
    *,
    only: Sequence[int] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> list[StageReport]:
    """Fetch, cut and distil what is pending in a source.

    Raises:
        EngineUnavailable: an engine that the work cannot do without does not answer. What was done stays.
    """
    return [
        fetch_pending(parts.database, parts.settings, source, only=only, progress=progress),
        chunk_pending(
            parts.database, parts.settings, parts.embedder, source, only=only, force=force, progress=progress
        ),
        distil_pending(parts, source, only=only, force=force, progress=progress),
    ]
