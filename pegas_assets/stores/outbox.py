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


@dataclass(frozen=True)
class Columns:
    """The SQL that names a target's columns: literal text, since names cannot be parameters."""

    claim: LiteralString
    done: LiteralString
    failed: LiteralString
    pending_buckets: LiteralString


VECTOR = Columns(
    claim="""
        SELECT id, entity_type, entity_id, entity_key, anchor_key, bucket, vector_attempts FROM pm_outbox
        WHERE vector_state = 'pending' AND bucket = ANY(%s) AND vector_next_at <= now() AND entity_type = ANY(%s)
          AND (%s::text[] IS NULL OR entity_key = ANY(%s)) ORDER BY id LIMIT %s
    """,
    done="UPDATE pm_outbox SET vector_state = 'done', vector_error = NULL WHERE id = ANY(%s)",
    failed="""
        UPDATE pm_outbox SET vector_attempts = vector_attempts + 1, vector_error = left(%s, 2000),
               vector_state = CASE WHEN vector_attempts + 1 >= %s THEN 'dead' ELSE 'pending' END,
               vector_next_at = now() + make_interval(secs => (%s::float8[])[least(vector_attempts + 1, %s)])
        WHERE id = ANY(%s)
    """,
    pending_buckets="""
        SELECT bucket, count(*) FROM pm_outbox WHERE vector_state = 'pending' AND vector_next_at <= now() + make_interval(secs => %s)
          AND (%s::text[] IS NULL OR entity_key = ANY(%s))
        GROUP BY bucket ORDER BY bucket
    """,
)
GRAPH = Columns(
    claim="""
        SELECT id, entity_type, entity_id, entity_key, anchor_key, bucket, graph_attempts FROM pm_outbox
        WHERE graph_state = 'pending' AND bucket = ANY(%s) AND graph_next_at <= now() AND entity_type = ANY(%s)
          AND (%s::text[] IS NULL OR entity_key = ANY(%s)) ORDER BY id LIMIT %s
    """,
    done="UPDATE pm_outbox SET graph_state = 'done', graph_error = NULL WHERE id = ANY(%s)",
    failed="""
        UPDATE pm_outbox SET graph_attempts = graph_attempts + 1, graph_error = left(%s, 2000),
               graph_state = CASE WHEN graph_attempts + 1 >= %s THEN 'dead' ELSE 'pending' END,
               graph_next_at = now() + make_interval(secs => (%s::float8[])[least(graph_attempts + 1, %s)])
        WHERE id = ANY(%s)
    """,
    pending_buckets="""
        SELECT bucket, count(*) FROM pm_outbox WHERE graph_state = 'pending' AND graph_next_at <= now() + make_interval(secs => %s)
          AND (%s::text[] IS NULL OR entity_key = ANY(%s))
        GROUP BY bucket ORDER BY bucket
    """,
)


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
    connection: Connection, columns: Columns, keys: Sequence[str] | None = None, within_s: float = 0.0
) -> dict[int, int]:
    """Bucket → rows that may be worked on now, or within some seconds; of all entities or of these."""
    wanted = list(keys) if keys is not None else None
    return dict(connection.execute(columns.pending_buckets, [within_s, wanted, wanted]).fetchall())


def read_rows(
    connection: Connection,
    columns: Columns,
    buckets: Sequence[int],
    kinds: Sequence[str],
    limit: int,
    keys: Sequence[str] | None = None,
) -> list[OutboxRow]:
    """The oldest pending rows of buckets whose locks the caller holds, of given entity types, or of given keys only."""
    wanted = list(keys) if keys is not None else None
    rows = connection.execute(columns.claim, [list(buckets), list(kinds), wanted, wanted, limit]).fetchall()
    return [OutboxRow(*row) for row in rows]


def settle_done(connection: Connection, columns: Columns, ids: Sequence[int]) -> None:
    if ids:
        connection.execute(columns.done, [list(ids)])


def settle_failed(
    connection: Connection,
    columns: Columns,
    ids: Sequence[int],
    error: str,
    max_attempts: int,
    backoff_s: Sequence[float] = BACKOFF_S,
) -> None:
    """Keep the error and back off; after `max_attempts` the row is set aside as dead."""
    if ids:
        connection.execute(columns.failed, [error, max_attempts, list(backoff_s), len(backoff_s), list(ids)])


def unsettled_ids(connection: Connection, columns: Columns, bucket: int) -> list[int]:
    """The rows of a bucket that a reconcile of it answers: pending, backing off or dead."""
    statement: LiteralString = (
        "SELECT id FROM pm_outbox WHERE vector_state <> 'done' AND bucket = %s"
        if columns is VECTOR
        else "SELECT id FROM pm_outbox WHERE graph_state <> 'done' AND bucket = %s"
    )
    return [row[0] for row in connection.execute(statement, [bucket]).fetchall()]


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
