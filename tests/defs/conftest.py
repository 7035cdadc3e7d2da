"""Fixtures of the Dagster floor. A module shares one base and one instance; a test has sources of its own in it.

| fixture     | scope    | what it is                                                                           |
|-------------|----------|--------------------------------------------------------------------------------------|
| `opened`    | module   | a `Runtime` on a base of this module                                                 |
| `instance`  | module   | the pooled in-process instance of that base                                          |
| `source`    | function | a client's name whose source no other test has, with a function that accepts texts   |
"""

from __future__ import annotations

import socket
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from pegas_assets.defs.instance import close_instance, open_inprocess_instance
from pegas_assets.pipeline.accept import accept_text
from pegas_assets.runtime import Runtime
from tests.conftest import fresh_base
from tests.defs.texts import document


@dataclass(frozen=True)
class Source:
    """A source of one test."""

    runtime: Runtime
    client: str

    @property
    def key(self) -> str:
        return f"text:{self.client}"

    def accept(self, numbers: Sequence[int]) -> list[int]:
        """Accept documents by number; returns their ids."""
        ids: list[int] = []
        for number in numbers:
            ids += accept_text(
                self.runtime.database, self.runtime.settings, document(number), client=self.client
            ).document_ids
        return ids

    def statuses(self) -> dict[str, int]:
        with self.runtime.database.connection() as connection:
            rows = connection.execute(
                "SELECT status, count(*) FROM pm_document WHERE source = %s GROUP BY 1", [self.key]
            ).fetchall()
        return {row[0]: row[1] for row in rows}


@pytest.fixture(scope="module")
def opened(home: Path) -> Iterator[Runtime]:
    with fresh_base(home) as made:
        yield made


@pytest.fixture(scope="module")
def instance(opened: Runtime) -> Iterator[dg.DagsterInstance]:
    made = open_inprocess_instance(opened.settings)
    yield made
    close_instance(made)


@pytest.fixture
def source(opened: Runtime) -> Source:
    return Source(opened, f"t{uuid.uuid4().hex[:8]}")


@pytest.fixture
def unused_port() -> int:
    """A port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
