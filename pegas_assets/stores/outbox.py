"""The outbox: what changed and which projection has not shown it yet.

Whoever reads rows for a target and bucket holds that bucket's advisory lock (stores/locks.py), which makes it the only
consumer: rows need no lock of their own, so one target never waits for the other, and a dead process leaves no claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, LiteralString

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

BACKOFF_S = (1.0, 5.0, 30.0, 120.0, 600.0, 1800.0, 3600.0)
"""Seconds until a row that failed is tried again, by attempt."""
WAITING_S = (0.05, 0.2, 1.0, 5.0, 30.0, 120.0, 600.0)
"""The same for an edge whose end is missing: most often another consumer is just writing that node."""


class Statements:
    """The outbox as one target sees it: SQL that differs in the first word of four columns' names."""

    def __init__(self, target: LiteralString) -> None:
        self.claim: LiteralString = f"""
            SELECT id, entity_type, entity_id, entity_key, anchor_key, bucket, {target}_attempts FROM pm_outbox
            WHERE {target}_state = 'pending' AND bucket = ANY(%s) AND {target}_next_at <= now() AND entity_type = ANY(%s)
              AND (%s::text[] IS NULL OR entity_key = ANY(%s)) ORDER BY id LIMIT %s
        """
        self.done: LiteralString = (
            f"UPDATE pm_outbox SET {target}_state = 'done', {target}_error = NULL WHERE id = ANY(%s)"
        )
        self.failed: LiteralString = f"""
            UPDATE pm_outbox SET {target}_attempts = {target}_attempts + 1, {target}_error = left(%s, 2000),
                   {target}_state = CASE WHEN {target}_attempts + 1 >= %s THEN 'dead' ELSE 'pending' END,
                   {target}_next_at = now() + make_interval(secs => (%s::float8[])[least({target}_attempts + 1, %s)])
            WHERE id = ANY(%s)
        """
        self.pending_buckets: LiteralString = f"""
            SELECT bucket, count(*) FROM pm_outbox
            WHERE {target}_state = 'pending' AND {target}_next_at <= now() + make_interval(secs => %s)
              AND (%s::text[] IS NULL OR entity_key = ANY(%s))
            GROUP BY bucket ORDER BY bucket
        """
        self.unsettled: LiteralString = f"SELECT id FROM pm_outbox WHERE {target}_state <> 'done' AND bucket = %s"


VECTOR = Statements("vector")
GRAPH = Statements("graph")


@dataclass(frozen=True)
class OutboxRow:
    """An entity whose projection is to be made again."""

    id: int
    entity_type: str
    entity_id: int | None
    key: str
    anchor_key: str | None
    bucket: int
    attempts: int


def pending_buckets(
    connection: Connection, statements: Statements, keys: Sequence[str] | None = None, within_s: float = 0.0
) -> dict[int, int]:
    """Bucket → rows that may be worked on now, or within some seconds; of all entities or of these."""
    wanted = list(keys) if keys is not None else None
    return dict(connection.execute(statements.pending_buckets, [within_s, wanted, wanted]).fetchall())


def read_rows(
    connection: Connection,
    statements: Statements,
    buckets: Sequence[int],
    kinds: Sequence[str],
    limit: int,
    keys: Sequence[str] | None = None,
) -> list[OutboxRow]:
    """The oldest pending rows of buckets whose locks the caller holds, of given entity types, or of given keys only."""
    wanted = list(keys) if keys is not None else None
    rows = connection.execute(statements.claim, [list(buckets), list(kinds), wanted, wanted, limit]).fetchall()
    return [OutboxRow(*row) for row in rows]


def settle_done(connection: Connection, statements: Statements, ids: Sequence[int]) -> None:
    if ids:
        connection.execute(statements.done, [list(ids)])


def settle_failed(
    connection: Connection,
    statements: Statements,
    ids: Sequence[int],
    error: str,
    max_attempts: int,
    backoff_s: Sequence[float] = BACKOFF_S,
) -> None:
    """Keep the error and back off; after `max_attempts` the row is set aside as dead."""
    if ids:
        connection.execute(statements.failed, [error, max_attempts, list(backoff_s), len(backoff_s), list(ids)])


def unsettled_ids(connection: Connection, statements: Statements, bucket: int) -> list[int]:
    """The rows of a bucket that a reconcile of it answers: pending, backing off or dead."""
    return [row[0] for row in connection.execute(statements.unsettled, [bucket]).fetchall()]


def enqueue(
    connection: Connection, kind: str, ids: Sequence[int], keys: Sequence[str], anchors: Sequence[str | None]
) -> None:
    """Ask for entities to be projected again, as their triggers do."""
    if ids:
        connection.execute(
            "SELECT pm_enqueue(%s, %s::bigint[], %s::text[], %s::text[], 'upsert')",
            [kind, list(ids), list(keys), list(anchors)],
        )


def revive_dead(connection: Connection) -> int:
    """Put rows that were set aside back into the queue; returns how many."""
    return connection.execute(
        """
        UPDATE pm_outbox SET
            vector_state = CASE vector_state WHEN 'dead' THEN 'pending' ELSE vector_state END,
            vector_attempts = 0, vector_next_at = now(),
            graph_state = CASE graph_state WHEN 'dead' THEN 'pending' ELSE graph_state END,
            graph_attempts = 0, graph_next_at = now()
        WHERE vector_state = 'dead' OR graph_state = 'dead'
        """
    ).rowcount


def prune_processed(connection: Connection, older_than_days: int) -> int:
    """Remove rows that both projections have shown for some days; returns how many."""
    return connection.execute(
        "DELETE FROM pm_outbox WHERE processed AND created_at < now() - make_interval(days => %s)", [older_than_days]
    ).rowcount


@dataclass(frozen=True)
class OutboxLag:
    """How far a projection is behind: rows, the oldest of them, rows set aside, and one error to look at."""

    pending: int
    oldest_pending: datetime | None
    dead: int
    example_error: str


def lag(connection: Connection) -> dict[str, OutboxLag]:
    """The lag of `vectors` and `graph`, by SQL alone: it shows also when no daemon runs."""
    row = connection.execute(
        """
        SELECT count(*) FILTER (WHERE vector_state = 'pending'), min(created_at) FILTER (WHERE vector_state = 'pending'),
               count(*) FILTER (WHERE vector_state = 'dead'), coalesce(max(vector_error) FILTER (WHERE vector_state <> 'done'), ''),
               count(*) FILTER (WHERE graph_state = 'pending'), min(created_at) FILTER (WHERE graph_state = 'pending'),
               count(*) FILTER (WHERE graph_state = 'dead'), coalesce(max(graph_error) FILTER (WHERE graph_state <> 'done'), '')
        FROM pm_outbox WHERE NOT processed
        """
    ).fetchone()
    assert row is not None
    return {"vectors": OutboxLag(*row[:4]), "graph": OutboxLag(*row[4:])}
