"""Projections made to match PostgreSQL, and what a run says of it."""

from __future__ import annotations

from collections.abc import Callable

import dagster as dg

from pegas_assets.defs.metadata import Metadata, as_failure, model_metadata
from pegas_assets.defs.partitions import bucket_key
from pegas_assets.projection.drain import Drained
from pegas_assets.projection.reconcile import reconcile
from pegas_assets.projection.targets import GRAPH, VECTORS, Reconciled
from pegas_assets.runtime import Runtime

ASSET_OF_TARGET = {VECTORS: "qdrant_collection", GRAPH: "memgraph_graph"}

PROJECTION_RETRIES = dg.RetryPolicy(max_retries=2, delay=2, backoff=dg.Backoff.EXPONENTIAL)
"""For a store that restarts. Only what the error calls retryable is tried again."""


def materialise_buckets(context: dg.AssetExecutionContext, runtime: Runtime, target: str) -> dg.MaterializeResult[None]:
    """Reconcile the buckets of a run; each partition gets its own metadata."""

    def tell(done: Reconciled) -> None:
        context.log.info(f"bucket {bucket_key(done.bucket)}: {done.upserted} written, {done.deleted} removed")

    with as_failure():
        results = reconcile(
            runtime.database, runtime.target(target), [int(key) for key in context.partition_keys], progress=tell
        )
        engine = engine_metadata(runtime, target)
    for result in results:
        context.add_asset_metadata(reconciled_metadata(result) | engine, partition_key=bucket_key(result.bucket))
    return dg.MaterializeResult()


def reconciled_metadata(result: Reconciled) -> Metadata:
    """Counts of one bucket; `drift left` is nothing, unless an edge waits for its end."""
    return {
        "dagster/row_count": result.expected,
        "written": result.upserted,
        "removed": result.deleted,
        "edges waiting": result.waiting,
        "drift left": result.left.total if result.left is not None else 0,
        "seconds": round(result.seconds, 3),
        "per second": round(result.upserted / result.seconds, 1) if result.seconds else 0.0,
    }


def drained_materialisations(drained: Drained) -> list[dg.AssetMaterialization]:
    """One event for each bucket that a drain touched: a run of one op may report any set of partitions."""
    rate = round(drained.done / drained.seconds, 1) if drained.seconds else 0.0
    return [
        dg.AssetMaterialization(
            asset_key=ASSET_OF_TARGET[drained.target],
            partition=bucket_key(bucket),
            metadata={"outbox rows": rows, "by": "drain", "rows of all buckets": drained.done, "per second": rate},
        )
        for bucket, rows in sorted(drained.by_bucket.items())
    ]


def engine_metadata(runtime: Runtime, target: str) -> Metadata:
    """The engine behind a projection and, for vectors, the model and the collection."""
    if target == GRAPH:
        return {"engine": runtime.graph.version(), "graph": runtime.settings.graph_name}
    metadata = {"engine": runtime.vectors.version(), "collection": runtime.vector_target.collection()}
    return metadata | model_metadata(runtime)


def progress_of_drain(log: Callable[[str], None]) -> Callable[[Drained], None]:
    """Progress of a drain as lines of a log."""
    return lambda drained: log(f"{drained.target}: {drained.done} rows shown, {drained.failed} failed")
