"""A projection in memory: shows what PostgreSQL says, fails where it is told to, and writes down what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pegas_assets.errors import EngineUnavailable
from pegas_assets.projection.targets import Applied, Drift, Reconciled, sorted_out
from pegas_assets.stores.locks import LockClass
from pegas_assets.stores.outbox import VECTOR, OutboxRow
from pegas_assets.stores.postgres import Database
from pegas_assets.stores.projected import vector_hashes, vector_rows


class MemoryTarget:
    """The atoms of a base in a dictionary."""

    name = "vectors"
    lock = LockClass.VECTOR_BUCKET
    statements = VECTOR
    entity_kinds: tuple[tuple[str, ...], ...] = (("atom", "symbol"),)

    def __init__(self, database: Database) -> None:
        self.database = database
        self.shown: dict[str, str] = {}
        self.poison: set[str] = set()
        self.down = False
        self.batches: list[int] = []
        self.before_apply: Callable[[], None] | None = None
        self.after_read: Callable[[], None] | None = None

    def prepare(self) -> None:
        if self.down:
            raise EngineUnavailable("The store is away.", component="vectors")

    def empty(self) -> None:
        self.shown.clear()

    def apply(self, rows: Sequence[OutboxRow]) -> Applied:
        if self.before_apply is not None:
            self.before_apply()
        self.batches.append(len(rows))
        if any(row.key in self.poison for row in rows):
            raise ValueError("a row that nobody can digest")
        ids = [row.entity_id for row in rows if row.entity_id is not None]
        with self.database.connection() as connection:
            current = {row.key: row.h for row in vector_rows(connection, "memory", ids=ids)}
        if self.after_read is not None:
            self.after_read()
        for row in rows:
            if row.key in current:
                self.shown[row.key] = current[row.key]
            else:
                self.shown.pop(row.key, None)
        return Applied(done=tuple(row.id for row in rows))

    def compare(self, bucket: int) -> Drift:
        from pegas_assets.identity import bucket_of

        with self.database.connection() as connection:
            expected = vector_hashes(connection, "memory", bucket)
        present = {key: h for key, h in self.shown.items() if bucket_of(key) == bucket}
        return sorted_out(expected, present, self.name, bucket)

    def reconcile_nodes(self, bucket: int) -> Reconciled:
        found = self.compare(bucket)
        with self.database.connection() as connection:
            expected = vector_hashes(connection, "memory", bucket)
        for key in (*found.missing, *found.different):
            self.shown[key] = expected[key]
        for key in found.extra:
            del self.shown[key]
        return Reconciled(self.name, bucket, len(expected), len(found.missing) + len(found.different), len(found.extra))

    def reconcile_edges(self, bucket: int) -> Reconciled:
        return Reconciled(self.name, bucket, 0, 0, 0)

    def total_drift(self) -> int:
        return sum(self.compare(bucket).total for bucket in range(16))
