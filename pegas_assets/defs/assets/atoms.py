"""Atoms: chunks distilled, deduplicated, cited."""

import dagster as dg

from pegas_assets.defs.metadata import as_failure, atoms_metadata, log_progress, model_metadata, report_metadata
from pegas_assets.defs.partitions import sources
from pegas_assets.defs.resources import RuntimeResource
from pegas_assets.defs.stages import IngestConfig
from pegas_assets.pipeline.atoms import distil_pending


@dg.asset(
    deps=["chunks"],
    partitions_def=sources,
    backfill_policy=dg.BackfillPolicy.single_run(),
    group_name="knowledge",
    kinds={"postgres", "python"},
    owners=["team:memory"],
    metadata={"dagster/table_name": "pm_atom"},
    description=(
        "One row per unit of knowledge: a paragraph, a definition, a fact, a rule, a table or a piece of code, typed, "
        "cited and deduplicated.\n\n"
        "A materialisation distils the chunks that the present distiller has not read, a few in one transaction. A "
        "near-duplicate is no new atom: its citation is added to the atom that it repeats. Every change reaches the two "
        "projections through the outbox, which triggers write in the same transaction."
    ),
)
def atoms(
    context: dg.AssetExecutionContext, config: IngestConfig, runtime: RuntimeResource
) -> dg.MaterializeResult[None]:
    opened = runtime.opened
    for source in context.partition_keys:
        with as_failure():
            report = distil_pending(
                opened.ingest_parts,
                source,
                only=config.only,
                force=config.force,
                progress=log_progress(context),
            )
        metadata = (
            report_metadata(report)
            | atoms_metadata(opened.database, source, whole=config.whole)
            | model_metadata(opened)
        )
        context.add_asset_metadata(metadata, partition_key=source)
    return dg.MaterializeResult()
