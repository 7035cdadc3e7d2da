"""Which distiller the settings ask for."""

from __future__ import annotations

from pegas_assets.distill.base import Distiller
from pegas_assets.distill.extractive import ExtractiveDistiller
from pegas_assets.settings import Settings


def open_distiller(settings: Settings) -> Distiller:
    """The distiller of these settings. Without a model it works by wording alone."""
    return ExtractiveDistiller()
