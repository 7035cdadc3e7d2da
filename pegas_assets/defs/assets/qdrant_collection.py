"""The vector projection."""

import dagster as dg

from pegas_assets.defs.partitions import buckets, every_partition
from pegas_assets.defs.reprojection import PROJECTION_RETRIES, materialise_buckets
from pegas_assets.defs.resources import RuntimeResource
from pegas_assets.projection.targets import VECTORS


@dg.asset(
    deps=[dg.AssetDep("atoms", partition_mapping=every_partition)],
    partitions_def=buckets,
    backfill_policy=dg.BackfillPolicy.single_run(),
    retry_policy=PROJECTION_RETRIES,
    group_name="projections",
    kinds={"qdrant"},
    owners=["team:memory"],
    tags={"pegas/target": VECTORS},
    description=(
        "One point per atom, with a dense and a BM25 vector and the payload that searches filter on.\n\n"
        "A partition is one sixteenth of all keys. A materialisation **reconciles** it: what is missing or different is "
        "written, what PostgreSQL does not have is removed, and the two are compared once more. It costs no model call, "
        "since PostgreSQL keeps the embeddings. Between reconciles the outbox keeps it up to date."
    ),
)
def qdrant_collection(context: dg.AssetExecutionContext, runtime: RuntimeResource) -> dg.MaterializeResult[None]:
    return materialise_buckets(context, runtime.opened, VECTORS)
