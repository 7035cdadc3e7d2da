"""The partition sets, and the arrow between two that differ."""

from __future__ import annotations

import dagster as dg

from pegas_assets.identity import BUCKETS

SOURCES_NAME = "source"

sources = dg.DynamicPartitionsDefinition(name=SOURCES_NAME)
"""Where documents come from: `web:<domain>`, `file:<folder>-<hash>`, `text:<client>`. Few, where documents are many."""


def bucket_key(bucket: int) -> str:
    """The partition key of a bucket: `00` to `15`."""
    return f"{bucket:02d}"


buckets = dg.StaticPartitionsDefinition([bucket_key(bucket) for bucket in range(BUCKETS)])
"""The slices of a projection, by the hash of a key."""

# Without a mapping, two different sets are joined by equal key in silence, and no source is called like a bucket.
every_partition = dg.AllPartitionMapping()
