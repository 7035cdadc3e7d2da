"""What a projection is: something that can be made to match PostgreSQL, entity by entity or bucket by bucket."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pegas_assets.stores.locks import LockClass
from pegas_assets.stores.outbox import OutboxRow, Statements

VECTORS = "vectors"
GRAPH = "graph"
TARGETS = (VECTORS, GRAPH)

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Applied:
    """What came of outbox rows. `waiting` could not be shown yet because a node at an end is missing."""

    done: tuple[int, ...]
    waiting: tuple[int, ...] = ()


@dataclass(frozen=True)
class Drift:
    """Where a bucket of a projection differs from PostgreSQL: keys that are missing, too many, or of another content."""

    target: str
    bucket: int
    expected: int
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    different: tuple[str, ...] = ()
    late: frozenset[str] = frozenset()
    """Those of them whose change is committed and still waits in the outbox."""

    @property
    def wrong(self) -> tuple[str, ...]:
        return (*self.missing, *self.extra, *self.different)

    @property
    def total(self) -> int:
        return len(self.missing) + len(self.extra) + len(self.different)


@dataclass(frozen=True)
class Reconciled:
    """What a reconcile wrote and removed in one bucket, and the drift that is left (none, unless an end is missing)."""

    target: str
    bucket: int
    expected: int
    upserted: int
    deleted: int
    waiting: int = 0
    seconds: float = 0.0
    left: Drift | None = field(default=None)


class Target(Protocol):
    """A projection. The caller holds the lock of every bucket that it passes."""

    @property
    def name(self) -> str: ...

    @property
    def lock(self) -> LockClass: ...

    @property
    def statements(self) -> Statements: ...

    @property
    def entity_kinds(self) -> tuple[tuple[str, ...], ...]:
        """The entity types that it shows, in the order in which they must be written."""
        ...

    def prepare(self) -> None:
        """Make collection, indexes and constraints where they are missing."""
        ...

    def empty(self) -> None:
        """Leave nothing in it but what `prepare` makes. The caller holds every bucket."""
        ...

    def apply(self, rows: Sequence[OutboxRow]) -> Applied:
        """Make the projection match the current rows of these entities."""
        ...

    def compare(self, bucket: int) -> Drift: ...

    def reconcile_nodes(self, bucket: int) -> Reconciled:
        """Make points or nodes of a bucket match; edges come after the nodes of all buckets."""
        ...

    def reconcile_edges(self, bucket: int) -> Reconciled:
        """Make the edges that start in a bucket match. Nothing to do for a target without edges."""
        ...


def sorted_out(expected: dict[str, str], present: dict[str, str], target: str, bucket: int) -> Drift:
    """The drift between two maps of key → hash."""
    return Drift(
        target=target,
        bucket=bucket,
        expected=len(expected),
        missing=tuple(sorted(expected.keys() - present.keys())),
        extra=tuple(sorted(present.keys() - expected.keys())),
        different=tuple(sorted(key for key, h in expected.items() if key in present and present[key] != h)),
    )


def ids_of(keys: Sequence[str]) -> list[int]:
    """The numbers of keys such as `atom:12`."""
    return [int(key.rpartition(":")[2]) for key in keys]
