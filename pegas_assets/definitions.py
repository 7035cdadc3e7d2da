"""The Dagster code location: what `dagster`, the daemon and the UI load. Nothing connects here."""

from __future__ import annotations

import dagster as dg

from pegas_assets.defs import assets
from pegas_assets.defs.checks import drift_checks, soundness_checks
from pegas_assets.defs.jobs import jobs
from pegas_assets.defs.resources import RuntimeResource
from pegas_assets.defs.schedules import schedules
from pegas_assets.defs.sensors import sensors

defs = dg.Definitions(
    # Every module of `defs/assets` is loaded: an asset is added by adding its file.
    assets=dg.load_assets_from_package_module(assets),
    asset_checks=[*drift_checks, *soundness_checks],
    jobs=jobs,
    sensors=sensors,
    schedules=schedules,
    resources={"runtime": RuntimeResource()},
    # The default starts a process for each step: 15 to 24 s for three small assets, where this takes a fraction.
    executor=dg.in_process_executor,
)
