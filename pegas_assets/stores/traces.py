"""The agent's own traces, apart from the knowledge base."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection


def prune_traces(connection: Connection, older_than_days: int) -> int:
    """Remove traces older than some days; returns how many."""
    return connection.execute(
        "DELETE FROM pm_episodic_trace WHERE created_at < now() - make_interval(days => %s)", [older_than_days]
    ).rowcount
