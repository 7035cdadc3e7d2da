"""The graph under Dagster's default executor: a process for each step, which must find the job again by its name."""

from __future__ import annotations

import dagster as dg

from pegas_assets.definitions import defs
from pegas_assets.defs.reprojection import ASSET_OF_TARGET
from pegas_assets.defs.stages import INGEST_STAGES


def ingest() -> dg.JobDefinition:
    return _spread(dg.AssetSelection.assets(*INGEST_STAGES))


def rebuild() -> dg.JobDefinition:
    return _spread(dg.AssetSelection.assets(*ASSET_OF_TARGET.values()))


def _spread(selection: dg.AssetSelection) -> dg.JobDefinition:
    job = dg.define_asset_job("spread", selection.without_checks(), executor_def=dg.multiprocess_executor)
    spread = dg.Definitions(assets=defs.assets, jobs=[job], resources=defs.resources)
    return spread.resolve_job_def("spread")
