"""What the stages of ingest have in common: their config."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg
from pydantic import Field

INGEST_STAGES = ("documents", "chunks", "atoms")


class IngestConfig(dg.Config):
    """Narrows a run, or forces it over what was done."""

    document_ids: list[int] = Field(default=[], description="Only these documents of the source; all when empty.")
    force: bool = Field(default=False, description="Read and distil again what is done already.")

    @property
    def only(self) -> Sequence[int] | None:
        return self.document_ids or None

    @property
    def whole(self) -> bool:
        """Whether the run is about all of its source."""
        return not self.document_ids
