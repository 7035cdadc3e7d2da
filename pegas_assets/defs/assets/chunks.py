"""Chunks: documents read and cut."""

import dagster as dg

from pegas_assets.defs.metadata import as_failure, log_progress, report_metadata, source_metadata
from pegas_assets.defs.partitions import sources
from pegas_assets.defs.resources import RuntimeResource
from pegas_assets.defs.stages import IngestConfig
from pegas_assets.pipeline.chunks import chunk_pending


@dg.asset(
    deps=["documents"],
    partitions_def=sources,
    backfill_policy=dg.BackfillPolicy.single_run(),
    group_name="knowledge",
    kinds={"postgres", "python"},
    owners=["team:memory"],
    metadata={"dagster/table_name": "pm_chunk"},
    description=(
        "One row per stretch of a document, with its headings, page and offsets: the evidence that citations point at.\n\n"
        "A materialisation reads and cuts what has no chunks for its present bytes. Each document commits for itself; a "
        "chunk whose text is unchanged stays, with all that was distilled from it. No chunk is longer than the embedding "
        "model can read."
    ),
)
def chunks(
    context: dg.AssetExecutionContext, config: IngestConfig, runtime: RuntimeResource
) -> dg.MaterializeResult[None]:
    opened = runtime.opened
    for source in context.partition_keys:
        with as_failure():
            report = chunk_pending(
                opened.database,
                opened.settings,
                opened.embedder,
                source,
                only=config.only,
                force=config.force,
                progress=log_progress(context),
            )
        metadata = report_metadata(report) | source_metadata(opened.database, source, whole=config.whole)
        context.add_asset_metadata(metadata, partition_key=source)
    return dg.MaterializeResult()
