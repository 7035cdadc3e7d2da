"""Documents: accepted, fetched, kept."""

import dagster as dg

from pegas_assets.defs.metadata import as_failure, log_progress, report_metadata, source_metadata
from pegas_assets.defs.partitions import sources
from pegas_assets.defs.resources import RuntimeResource
from pegas_assets.defs.stages import IngestConfig
from pegas_assets.pipeline.documents import fetch_pending


@dg.asset(
    partitions_def=sources,
    backfill_policy=dg.BackfillPolicy.single_run(),
    group_name="knowledge",
    kinds={"postgres", "http"},
    owners=["team:memory"],
    metadata={"dagster/table_name": "pm_document"},
    description=(
        "One row per document: where it came from, its bytes as they came, how it stands and why.\n\n"
        "A source is a web site, a folder or an agent. Documents are **accepted** by `memory_ingest`, `memory_store` or "
        "`pegas ingest` in one transaction, before any of this runs. A materialisation fetches the pages of the source "
        "that have no bytes yet. A document that cannot be had keeps its row, its status and the reason."
    ),
)
def documents(
    context: dg.AssetExecutionContext, config: IngestConfig, runtime: RuntimeResource
) -> dg.MaterializeResult[None]:
    opened = runtime.opened
    for source in context.partition_keys:
        with as_failure():
            report = fetch_pending(
                opened.database, opened.settings, source, only=config.only, progress=log_progress(context)
            )
        metadata = report_metadata(report) | source_metadata(opened.database, source, whole=config.whole)
        context.add_asset_metadata(metadata, partition_key=source)
    return dg.MaterializeResult()
