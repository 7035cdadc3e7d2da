"""Asks a base, and holds every answer to what is true of all."""

from __future__ import annotations

from typing import Any

import pytest

from pegas_assets.model import Hit, SearchResult
from pegas_assets.runtime import Runtime
from pegas_assets.search.hybrid import search
from pegas_assets.search.request import SearchRequest
from tests.search.conftest import EVERYTHING


def ask(base: Runtime, query: str = EVERYTHING, **more: Any) -> SearchResult:
    found = search(base.search_engines, SearchRequest.checked(query, **({"k": 50} | more)))
    for hit in found.hits:
        assert 0 <= hit.score <= 1
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=5e-4)
        assert hit.untrusted
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    return found


def bare(text: str) -> str:
    """A passage without the heading that stands over it."""
    return text.rpartition("\n\n")[2] if text.startswith("#") else text


def texts(found: SearchResult) -> set[str]:
    return {bare(hit.text) for hit in found.hits}


def best(found: SearchResult) -> str:
    return bare(found.hits[0].text)


def hit_of(found: SearchResult, text: str) -> Hit:
    return next(hit for hit in found.hits if bare(hit.text) == text)
