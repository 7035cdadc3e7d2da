"""One collection in the embedded vector engine: its shard, who writes to it, and how another takes its place.

Several threads search at once. Writes take turns in small slices, because the engine holds the interpreter while it
applies one. While `vector_rebuild` indexes a copy, every id that is written is noted, and brought over before the copy
serves.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pegas_assets.embedded import shard_files
from pegas_assets.embedded.shard_files import CollectionMeta
from pegas_assets.embedded.vector_codec import DENSE, SPARSE, Write, filter_of, missing_indexes
from pegas_assets.errors import BadEmbedding, EngineUnavailable, FingerprintMismatch, NotFound

if TYPE_CHECKING:
    import qdrant_edge

log = logging.getLogger(__name__)

_HNSW_M = 16
_HNSW_EF_CONSTRUCT = 100
_HNSW_EF = 128
_FULL_SCAN_KB = 10_000
_INDEXING_KB = 5_000
_SCROLL = 10_000
_FLUSH_POINTS = 30_000
_FLUSH_IDLE_S = 3.0
_READER_WAIT_S = 10.0


class Stopping(ConnectionError):
    """The host is going down: its clients see the connection end, and try the next one."""


class Generation:
    """An open shard, closed only when its last reader has gone."""

    def __init__(self, path: Path) -> None:
        from qdrant_edge import EdgeShard

        self.path = path
        self.shard = EdgeShard.load(str(path))
        self._readers = 0
        self._idle = threading.Condition()

    def enter(self) -> None:
        with self._idle:
            self._readers += 1

    def leave(self) -> None:
        with self._idle:
            self._readers -= 1
            self._idle.notify_all()

    def close(self) -> None:
        """Wait a bounded time for the readers, then flush and close."""
        with self._idle:
            self._idle.wait_for(lambda: self._readers == 0, timeout=_READER_WAIT_S)
        self.shard.close()


class Collection:
    """A collection on disk, opened when first used.

    `write_lock` guards the order of writes and which generation serves; `flush_lock` keeps a flush out of a copy that
    is being made. They are taken in this order.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.meta = shard_files.read_meta(folder)
        self.write_lock = threading.Lock()
        self.flush_lock = threading.Lock()
        self.build_lock = threading.Lock()
        self.touched: set[str] | None = None
        """Ids written since the copy was taken that is being indexed; None while there is no such copy."""
        self.dirty = True
        """Whether there may be something that no index covers yet."""
        self.closing = threading.Event()
        self.dropped = False
        self._live: Generation | None = None
        self._open_lock = threading.Lock()
        self._unflushed = 0

    @staticmethod
    def create(root: Path, meta: CollectionMeta) -> Collection:
        """Make an empty collection: whole, or not at all."""
        import qdrant_edge as qe

        folder = root / shard_files.folder_name(meta.name)
        new = root / f"{shard_files.NEW}{uuid4().hex}"
        generation = shard_files.next_generation(new)
        generation.mkdir(parents=True, mode=0o700)
        config = qe.EdgeConfig(
            vectors={DENSE: qe.EdgeVectorParams(size=meta.dimension, distance=qe.Distance.Cosine)},
            sparse_vectors={SPARSE: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf)},
            hnsw_config=qe.HnswIndexConfig(_HNSW_M, _HNSW_EF_CONSTRUCT, _FULL_SCAN_KB),
            optimizers=qe.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=_INDEXING_KB),
        )
        shard = qe.EdgeShard.create(str(generation), config)
        shard.flush()
        shard.close()
        shard_files.write_meta(new, meta)
        shard_files.write_current(new, generation)
        new.rename(folder)
        return Collection(folder)

    def check(self, dimension: int, fingerprint: str) -> None:
        """Refuse vectors of another model.

        Raises:
            FingerprintMismatch: the collection was made under another fingerprint or dimension.
        """
        if (self.meta.dimension, self.meta.fingerprint) != (dimension, fingerprint):
            raise FingerprintMismatch(
                f"The collection {self.meta.name} was made under {self.meta.fingerprint} "
                f"(dimension {self.meta.dimension}), but {fingerprint} (dimension {dimension}) is set.",
                hint="Set that model again, or rebuild into a new collection.",
                item=self.meta.name,
                component="vectors",
            )

    def live(self) -> Generation:
        """The generation that serves, for whoever holds the write lock.

        Raises:
            NotFound: the collection was dropped meanwhile.
            EngineUnavailable: its files cannot be opened.
        """
        with self._open_lock:
            return self._opened()

    @contextlib.contextmanager
    def reading(self) -> Iterator[qdrant_edge.EdgeShard]:
        """The shard that serves, kept open until the block ends, even when another takes its place meanwhile."""
        with self._open_lock:
            generation = self._opened()
            generation.enter()
        try:
            yield generation.shard
        finally:
            generation.leave()

    def _opened(self) -> Generation:
        if self.dropped:
            raise NotFound(f"There is no vector collection {self.meta.name}.", item=self.meta.name)
        if self.closing.is_set():
            raise Stopping
        if self._live is None:
            began = time.monotonic()
            try:
                self._live = Generation(shard_files.read_current(self.folder))
            except Exception as error:
                raise EngineUnavailable(
                    f"The vector collection {self.meta.name} cannot be opened: {error}.",
                    hint="If it stays so, drop it and rebuild it from PostgreSQL: nothing is stored only there.",
                    item=self.meta.name,
                    component="vectors",
                ) from error
            log.info("opened %s in %.2f s", self.meta.name, time.monotonic() - began)
        return self._live

    def switch(self, generation: Generation) -> Generation:
        """Let another generation serve, on disk and here; returns the old one. The caller holds the write lock."""
        with self._open_lock:
            old = self._opened()
            shard_files.write_current(self.folder, generation.path)
            self._live = generation
            return old

    def ensure_indexes(self, wanted: Mapping[str, str]) -> None:
        """Make the payload indexes that are missing."""
        with self.write_lock:
            shard = self.live().shard
            for operation in missing_indexes(shard, wanted):
                shard.update(operation)

    def copy_indexes(self, generation: Generation) -> None:
        """Give another generation the payload indexes that were added since it was copied."""
        from qdrant_edge import UpdateOperation

        present = set(generation.shard.info().payload_schema)
        for field, entry in self.live().shard.info().payload_schema.items():
            if field not in present:
                generation.shard.update(UpdateOperation.create_field_index(field, entry.params or entry.data_type))

    def write(self, operations: Iterable[Write]) -> None:
        """Apply operations in order. When this returns they are in the shard's log, which outlives the process."""
        for operation, ids in operations:
            with self.write_lock:
                self.live().shard.update(operation)
                if self.touched is not None:
                    self.touched.update(ids)
                self.dirty = True
                self._unflushed += len(ids)

    def search(
        self,
        dense: list[float] | None,
        sparse: tuple[list[int], list[float]] | None,
        conditions: Mapping[str, Any],
        limit: int,
    ) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Keys and scores of the dense and of the sparse leg, best first."""
        from qdrant_edge import PayloadSelector, Query, QueryRequest, SearchParams, SparseVector

        if dense is not None and len(dense) != self.meta.dimension:
            raise BadEmbedding(
                f"The query vector has {len(dense)} numbers, the collection {self.meta.name} takes "
                f"{self.meta.dimension}.",
                hint="The embedding model differs from the one that the collection was made for.",
                component="vectors",
            )
        wanted = filter_of(conditions)
        # Two queries, not a batch: measured, the batch takes up to twice as long once there is an index.
        legs: list[list[tuple[str, float]]] = [[], []]
        with self.reading() as shard:
            for leg, query in enumerate(
                (
                    None if dense is None else Query.Nearest(dense, DENSE),
                    None if sparse is None else Query.Nearest(SparseVector(*sparse), SPARSE),
                )
            ):
                if query is None:
                    continue
                found = shard.query(
                    QueryRequest(
                        limit,
                        query=query,
                        filter=wanted,
                        with_payload=PayloadSelector.Include(["key"]),
                        params=SearchParams(hnsw_ef=max(_HNSW_EF, limit)),
                    )
                )
                legs[leg] = [(point.payload["key"], point.score) for point in found if point.payload]
        return legs[0], legs[1]

    def hashes(self, bucket: int) -> dict[str, str]:
        """Key → `h` of every point in a bucket."""
        from qdrant_edge import PayloadSelector, ScrollRequest

        wanted = filter_of({"bucket": [bucket]})
        fields = PayloadSelector.Include(["key", "h"])
        found: dict[str, str] = {}
        offset = None
        with self.reading() as shard:
            while True:
                records, offset = shard.scroll(ScrollRequest(offset, _SCROLL, wanted, fields))
                found.update(
                    (record.payload["key"], record.payload.get("h", "")) for record in records if record.payload
                )
                if offset is None:
                    return found

    def info(self) -> dict[str, Any]:
        """Points, how many of them the vector index covers, and the fields that are indexed."""
        from qdrant_edge import CountRequest, Filter, HasVectorCondition

        with self.reading() as shard:
            state = shard.info()
            # The engine counts every sparse vector as indexed, so these are taken off.
            sparse = shard.count(CountRequest(filter=Filter(must=[HasVectorCondition(SPARSE)])))
        return {
            "points": state.points_count,
            "indexed": min(max(0, state.indexed_vectors_count - sparse), state.points_count),
            "dimension": self.meta.dimension,
            "fingerprint": self.meta.fingerprint,
            "payload_indexes": sorted(state.payload_schema),
        }

    def copy(self, target: Path) -> int:
        """Copy the serving shard as it stands between two writes, and note from then on what is written; bytes."""
        with self.write_lock, self.flush_lock:
            generation = self.live()
            generation.shard.flush()
            self._unflushed = 0
            size = shard_files.copy_tree(generation.path, target)
            self.touched = set()
            self.dirty = False
            return size

    def flush_if_due(self, idle_s: float) -> None:
        """Flush what is in the log alone, when nobody has asked for anything lately or there is much of it.

        A flush stops every thread for a tenth of a second or more, so it is rare; without any, a restart would apply
        the whole log again.
        """
        if not self._unflushed or self._live is None:
            return
        if self._unflushed < _FLUSH_POINTS and idle_s < _FLUSH_IDLE_S:
            return
        with self.flush_lock:
            self._unflushed = 0
            with self.reading() as shard:
                shard.flush()

    def close(self, *, drop: bool = False) -> None:
        """Finish the write that is under way, end a build, flush, close."""
        self.dropped = drop
        self.closing.set()
        with self.write_lock, self.flush_lock, self._open_lock:
            if self._live is not None:
                self._live.close()
                self._live = None
        if self.build_lock.acquire(timeout=_READER_WAIT_S):
            self.build_lock.release()


def touched_points(shard: qdrant_edge.EdgeShard, ids: Sequence[str]) -> Iterator[Write]:
    """What brings another shard level with this one for these ids: their points as they are now, or their removal."""
    from qdrant_edge import Point, UpdateOperation

    records = shard.retrieve([*ids], with_payload=True, with_vector=True)
    present = [str(record.id) for record in records]
    if records:
        points = [Point(record.id, record.vector or {}, record.payload) for record in records]
        yield UpdateOperation.upsert_points(points), present
    if gone := list(set(ids).difference(present)):
        yield UpdateOperation.delete_points([*gone]), gone
