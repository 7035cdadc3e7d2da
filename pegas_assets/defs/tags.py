"""The tags of runs."""

from __future__ import annotations

from typing import Final

PARTITION: Final = "dagster/partition"
RANGE_START: Final = "dagster/asset_partition_range_start"
RANGE_END: Final = "dagster/asset_partition_range_end"
MAX_RUNTIME: Final = "dagster/max_runtime"
MAX_RETRIES: Final = "dagster/max_retries"

WORK: Final = "pegas/work"
"""What a run is about; `dagster.yaml` limits how many of a kind are in flight."""
SOURCE_KEY: Final = "pegas/source-key"
"""The source of an ingest run: the queue starts no two over one source at once."""
STATE: Final = "pegas/state"
"""The state of the tables that a run answers."""
DOCUMENTS: Final = "pegas/documents"
"""How many documents a run was narrowed to; absent on a run over a whole source."""

PID: Final = "pegas/pid"
HOST: Final = "pegas/host"
STARTED: Final = "pegas/started"
"""When the process started, in clock ticks since boot: tells it from another with a recycled pid."""
