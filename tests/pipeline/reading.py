"""Takes texts into a base and reads from PostgreSQL what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pegas_assets.distill.base import Distiller
from pegas_assets.embedding.profile import Profile
from pegas_assets.errors import EngineUnavailable
from pegas_assets.model import ChunkToDistil, Distillation
from pegas_assets.pipeline.accept import Acceptance, accept_files, accept_text
from pegas_assets.pipeline.ingest import ingest_source
from pegas_assets.pipeline.parts import IngestParts
from pegas_assets.pipeline.report import StageReport
from pegas_assets.projection.drain import drain
from pegas_assets.projection.reconcile import drift
from pegas_assets.runtime import Runtime
from pegas_assets.stores.vectors import VectorStore

LENIENT = Profile(
    model="of the test",
    duplicate=0.8,
    cross_language_duplicate=2.0,
    related=0.8,
    weak_hit=0.75,
    unrelated=0.7,
    fusion_weight=0.55,
)
"""Lets the words decide: these tests are about what the line does with a verdict, not about thresholds."""


def ingest(base: Runtime, source: str, **more: Any) -> list[StageReport]:
    return ingest_source(base.ingest_parts, source, **more)


def take_text(base: Runtime, text: str, **more: Any) -> int:
    """Accept a text and do all its stages; returns the document that it ended at."""
    accepted = accept_text(base.database, base.settings, text, **more)
    for source in accepted.sources:
        ingest(base, source)
    return ended_at(base, accepted)


def take_file(base: Runtime, path: Path) -> int:
    accepted = accept_files(base.database, base.settings, str(path))
    for source in accepted.sources:
        ingest(base, source)
    return ended_at(base, accepted)


def ended_at(base: Runtime, accepted: Acceptance) -> int:
    """The document of the first thing asked for."""
    (row,) = rows(
        base, "SELECT doc_id FROM pm_operation_item WHERE operation_id = %s AND seq = 1", accepted.operation_id
    )
    return int(row[0])


def rows(base: Runtime, statement: str, *arguments: object) -> list[tuple[Any, ...]]:
    with base.database.connection() as connection:
        cursor = connection.execute(statement.encode(), list(arguments) or None)
        return cursor.fetchall() if cursor.description else []


def one(base: Runtime, statement: str, *arguments: object) -> Any:
    ((value,),) = rows(base, statement, *arguments)
    return value


def atoms(base: Runtime, document: int | None = None) -> dict[str, tuple[int, str]]:
    """`type: content` → (id, status) of the atoms that a document cites, or of all."""
    found = rows(
        base,
        "SELECT DISTINCT atom.type || ': ' || atom.content, atom.id, atom.status FROM pm_atom AS atom "
        "LEFT JOIN pm_citation AS citation ON citation.atom_id = atom.id "
        "WHERE %s::bigint IS NULL OR citation.doc_id = %s",
        document,
        document,
    )
    return {content: (id_, status) for content, id_, status in found}


def with_parts(
    base: Runtime,
    *,
    distiller: Distiller | None = None,
    profile: Profile | None = None,
    vectors_down: bool = False,
) -> IngestParts:
    """The parts of ingest with some of them exchanged."""
    parts = base.ingest_parts
    if distiller is not None:
        parts = replace(parts, distiller=distiller)
    if profile is not None:
        parts = replace(parts, profile=profile)
    if vectors_down:
        parts = replace(parts, vectors=down, collection=down)
    return parts


def down() -> VectorStore | Any:
    raise EngineUnavailable("The vector engine is down.", component="vectors")


def settle(base: Runtime) -> None:
    """Show everything in both projections."""
    for drained in drain(base.database, base.targets):
        assert not drained.unavailable
        assert (drained.failed, drained.waiting) == (0, 0)


def total_drift(base: Runtime) -> int:
    return sum(state.total for target in base.targets for state in drift(base.database, target))


class Scripted:
    """A distiller that does what it is told."""

    def __init__(self, outcome: Distillation | Exception, name: str = "scripted/1") -> None:
        self.outcome = outcome
        self.name = name
        self.seen: list[str] = []

    def distil(self, chunk: ChunkToDistil) -> Distillation:
        self.seen.append(chunk.content)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def retry_now(base: Runtime, documents: Sequence[int] | None = None) -> None:
    """Let documents that wait after a failure be tried at once."""
    rows(
        base,
        "UPDATE pm_document SET next_attempt_at = now() WHERE %s::bigint[] IS NULL OR id = ANY(%s)",
        list(documents) if documents else None,
        list(documents) if documents else None,
    )
