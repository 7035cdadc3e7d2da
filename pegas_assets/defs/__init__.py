"""The Dagster floor: the only one that imports `dagster`."""

import warnings

# Two parameters that the field has used for years and Dagster still calls beta; every start would say so eight times.
warnings.filterwarnings("ignore", message=r"Parameter `(backfill_policy|owners)` of .* is currently in beta")
