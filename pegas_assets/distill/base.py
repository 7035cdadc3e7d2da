"""What every distiller offers."""

from __future__ import annotations

from typing import Protocol

from pegas_assets.model import ChunkToDistil, Distillation


class Distiller(Protocol):
    """Makes typed atoms of a chunk. The same chunk under the same name gives the same atoms."""

    @property
    def name(self) -> str:
        """Model and prompt or rule version, for example `extractive/1`. Kept with what it made."""
        ...

    def distil(self, chunk: ChunkToDistil) -> Distillation:
        """The chunk's typed atoms, every quotation of which occurs in the chunk. Never raises for what a text says."""
        ...
