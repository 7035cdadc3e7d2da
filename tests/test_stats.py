"""How a base stands, told by PostgreSQL alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pegas_assets.pipeline.accept import accept_text
from pegas_assets.pipeline.chunks import chunk_pending
from pegas_assets.runtime import Runtime
from pegas_assets.stats import sources, stats
from tests.conftest import fresh_base
from tests.embedding_once import embeds_once
from tests.pipeline.reading import settle, take_file, take_text


@pytest.fixture
def base(home: Path) -> Iterator[Runtime]:
    with fresh_base(home) as made:
        yield embeds_once(made)


def test_an_empty_base_counts_nothing(base: Runtime) -> None:
    found = stats(base.database)
    assert (found.documents, found.atoms, found.sources, found.citations) == ({}, 0, 0, 0)
    assert {name: (lag.pending, lag.dead, lag.oldest_pending_s) for name, lag in found.outbox.items()} == {
        "vectors": (0, 0, 0.0),
        "graph": (0, 0, 0.0),
    }
    assert sources(base.database) == []


def test_counts_follow_what_was_done(base: Runtime, tmp_path: Path) -> None:
    take_text(base, "The lantern burns about 40 litres of oil each year.", client="reader")
    take_text(base, "The lantern burns about 50 litres of oil each year.", client="reader")
    settle(base)
    accept_text(base.database, base.settings, "The ferry leaves the island at noon.", client="other")
    chunk_pending(base.database, base.settings, base.embedder, "text:other")
    picture = tmp_path / "figure.txt"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    take_file(base, picture)
    found = stats(base.database)
    assert found.documents == {"done": 2, "parsed": 1, "refused": 1}
    assert (found.sources, found.chunks, found.chunks_undistilled, found.chunks_failed) == (3, 3, 1, 0)
    assert found.atoms_by_type == {"fact": 2, "text": 2}
    assert (found.atoms_by_status, found.citations, found.citations_gone) == ({"candidate": 4}, 4, 0)
    assert found.contradiction_candidates >= 1
    assert found.outbox["vectors"].pending == 0
    assert found.outbox["graph"].pending > 0
    assert list(found.collections) == [base.settings.atoms_role]
    by_source = {state.source.partition("-")[0]: state for state in sources(base.database)}
    assert by_source["text:reader"].documents == {"done": 2}
    assert "not text" in next(state.last_error for state in sources(base.database) if state.last_error)
