"""The graph projection."""

import dagster as dg

from pegas_assets.defs.partitions import buckets, every_partition
from pegas_assets.defs.reprojection import PROJECTION_RETRIES, materialise_buckets
from pegas_assets.defs.resources import RuntimeResource
from pegas_assets.projection.targets import GRAPH


@dg.asset(
    deps=[dg.AssetDep("atoms", partition_mapping=every_partition)],
    partitions_def=buckets,
    backfill_policy=dg.BackfillPolicy.single_run(),
    retry_policy=PROJECTION_RETRIES,
    group_name="projections",
    kinds={"memgraph"},
    owners=["team:memory"],
    tags={"pegas/target": GRAPH},
    description=(
        "One node per atom and per document, one edge per link and per citation, read over Bolt.\n\n"
        "A partition is one sixteenth of all nodes, with the edges that start in it. A materialisation **reconciles** it: "
        "nodes first, then edges, then the comparison with PostgreSQL. An edge whose other end is not there yet waits; "
        "no stub is made for it."
    ),
)
def memgraph_graph(context: dg.AssetExecutionContext, runtime: RuntimeResource) -> dg.MaterializeResult[None]:
    return materialise_buckets(context, runtime.opened, GRAPH)
