"""Bases whose embedding model remembers, for the tests of the line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pegas_assets.runtime import Runtime
from tests.conftest import fresh_base
from tests.embedding_once import embeds_once


@pytest.fixture
def base(home: Path) -> Iterator[Runtime]:
    """A base of this test alone."""
    with fresh_base(home) as made:
        yield embeds_once(made)
