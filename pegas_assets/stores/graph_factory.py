"""Chooses the graph by the settings."""

from __future__ import annotations

from pegas_assets.errors import InvalidInput
from pegas_assets.settings import Settings
from pegas_assets.stores.graph import GraphStore


def open_graph(settings: Settings) -> GraphStore:
    """The embedded Bolt server's graph, which is started when first used.

    Raises:
        InvalidInput: a Memgraph server is named, for which this version has no settings of its own yet.
    """
    if settings.bolt_url is not None:
        raise InvalidInput(
            "PEGAS_BOLT_URL is set, and this version runs the embedded Bolt server only.",
            hint="Unset PEGAS_BOLT_URL.",
            component="graph",
        )
    from pegas_assets.embedded.bolt import ensure_bolt
    from pegas_assets.stores.graph_bolt import BoltGraphStore

    return BoltGraphStore(lambda: ensure_bolt(settings))
