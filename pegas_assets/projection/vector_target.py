"""Atoms as points: dense and BM25 vectors with the payload that searches filter on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from pegas_assets.aside import ahead
from pegas_assets.embedding.base import Embedder
from pegas_assets.embedding.bm25 import RULE, encode_document
from pegas_assets.embedding.passages import embed_fitted, lexical_text, passage_of
from pegas_assets.projection.targets import VECTORS, Applied, Drift, Reconciled, ids_of, sorted_out
from pegas_assets.stores.collections import require_collection
from pegas_assets.stores.locks import LockClass
from pegas_assets.stores.outbox import VECTOR, OutboxRow, Statements
from pegas_assets.stores.postgres import Database
from pegas_assets.stores.projected import vector_hashes, vector_rows
from pegas_assets.stores.vectors import CollectionInfo, Point, VectorStore

BATCH = 2000
"""Points in one write: enough to fill the engine, little enough for memory."""
AHEAD = 500
"""Points made while as many are written: several to a bucket even of a small base."""


def collection_fingerprint(embedder: Embedder) -> str:
    """The name of all that decides what a point's vectors mean: the model and the BM25 rule."""
    return f"{embedder.fingerprint}+{RULE}"


class VectorTarget:
    """The collection of atoms. Points of other key prefixes are none of its business."""

    name = VECTORS
    lock = LockClass.VECTOR_BUCKET
    statements: Statements = VECTOR
    entity_kinds: tuple[tuple[str, ...], ...] = (("atom", "symbol"),)
    prefix = "atom:"

    def __init__(self, database: Database, vectors: VectorStore, embedder: Embedder, role: str) -> None:
        self._database = database
        self._vectors = vectors
        self._embedder = embedder
        self._role = role
        self._fingerprint = collection_fingerprint(embedder)
        self._collection: str | None = None
        self._ready = False

    def collection(self) -> str:
        """The name of the collection that serves.

        Raises:
            FingerprintMismatch: it was made by another model or rule.
        """
        if self._collection is None:
            with self._database.connection() as connection:
                self._collection = require_collection(
                    connection, self._role, self._fingerprint, self._embedder.fingerprint.dimension
                ).name
        return self._collection

    def ready_collection(self) -> str:
        """The name of the collection that serves, made where a new base has none yet."""
        if not self._ready:
            self.prepare()
            self._ready = True
        return self.collection()

    def prepare(self) -> None:
        self._vectors.ensure_collection(self.collection(), self._embedder.fingerprint.dimension, self._fingerprint)

    def build_index(self, progress: Callable[[str], object]) -> tuple[bool, CollectionInfo | None]:
        """Index what was written since the last time, while serving goes on: whether there was any, and how it stands."""
        name = self.ready_collection()
        return self._vectors.optimize(name, progress), self._vectors.info(name)

    def empty(self) -> None:
        self._vectors.drop_collection(self.collection())
        self.prepare()

    def apply(self, rows: Sequence[OutboxRow]) -> Applied:
        atoms = {row.key: row.entity_id for row in rows if row.entity_type == "atom" and row.entity_id is not None}
        points = self.points(list(atoms.values()))
        if points:
            self._vectors.upsert(self.collection(), points)
        gone = sorted(atoms.keys() - {point.key for point in points})
        if gone:
            self._vectors.delete(self.collection(), gone)
        # Symbols have no projection of their own yet: a reconcile shows them once they do.
        return Applied(done=tuple(row.id for row in rows))

    def compare(self, bucket: int) -> Drift:
        with self._database.connection() as connection:
            expected = vector_hashes(connection, self._fingerprint, bucket)
        return sorted_out(expected, self._present(bucket), self.name, bucket)

    def reconcile_nodes(self, bucket: int) -> Reconciled:
        started = time.perf_counter()
        drift = self.compare(bucket)
        wrong = ids_of([*drift.missing, *drift.different])
        batches = [wrong[start : start + AHEAD] for start in range(0, len(wrong), AHEAD)]
        for points in ahead(self.points, batches):
            self._vectors.upsert(self.collection(), points)
        if drift.extra:
            self._vectors.delete(self.collection(), drift.extra)
        return Reconciled(
            self.name, bucket, drift.expected, len(wrong), len(drift.extra), seconds=time.perf_counter() - started
        )

    def reconcile_edges(self, bucket: int) -> Reconciled:
        return Reconciled(self.name, bucket, 0, 0, 0)

    def _present(self, bucket: int) -> dict[str, str]:
        present = self._vectors.hashes(self.collection(), bucket)
        return {key: h for key, h in present.items() if key.startswith(self.prefix)}

    def points(self, ids: Sequence[int]) -> list[Point]:
        """The points of atoms, by id; those that are no more are left out."""
        with self._database.connection() as connection:
            rows = vector_rows(connection, self._fingerprint, ids=ids)
        if not rows:
            return []
        passages = [passage_of(row.type, row.claim, row.content, row.context) for row in rows]
        with self._database.connection() as connection:
            dense = embed_fitted(connection, self._embedder, passages)
        return [
            Point(
                key=row.key,
                dense=dense[place],
                sparse=encode_document(lexical_text(row.type, row.claim, row.content, row.context)),
                payload={**row.payload, "h": row.h},
            )
            for place, row in enumerate(rows)
        ]
