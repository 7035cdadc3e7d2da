"""How a base stands, by SQL alone: it answers also when no engine but PostgreSQL does."""

from __future__ import annotations

from datetime import UTC, datetime

from pegas_assets.model import Frozen
from pegas_assets.stores.outbox import lag
from pegas_assets.stores.postgres import Connection, Database


class TargetLag(Frozen):
    """How far a projection is behind PostgreSQL."""

    pending: int
    oldest_pending_s: float
    dead: int
    example_error: str = ""


class Stats(Frozen):
    """Counts of a base."""

    documents: dict[str, int]
    sources: int
    chunks: int
    chunks_undistilled: int
    chunks_failed: int
    atoms: int
    atoms_by_type: dict[str, int]
    atoms_by_status: dict[str, int]
    citations: int
    citations_gone: int
    links: int
    contradiction_candidates: int
    gaps_open: int
    outbox: dict[str, TargetLag]
    collections: dict[str, str]


class SourceState(Frozen):
    """One partition: its documents by status, and the last thing that went wrong."""

    source: str
    documents: dict[str, int]
    last_error: str = ""


def stats(database: Database) -> Stats:
    """Counts of everything.

    Raises:
        EngineUnavailable: PostgreSQL does not answer.
    """
    with database.connection() as connection:
        now = datetime.now(UTC)
        return Stats(
            documents=_counted(connection, "SELECT status, count(*) FROM pm_document GROUP BY 1 ORDER BY 1"),
            sources=_one(connection, "SELECT count(DISTINCT source) FROM pm_document"),
            chunks=_one(connection, "SELECT count(*) FROM pm_chunk"),
            chunks_undistilled=_one(connection, "SELECT count(*) FROM pm_chunk WHERE distilled_by IS NULL"),
            chunks_failed=_one(connection, "SELECT count(*) FROM pm_chunk WHERE distil_state = 'failed'"),
            atoms=_one(connection, "SELECT count(*) FROM pm_atom"),
            atoms_by_type=_counted(connection, "SELECT type, count(*) FROM pm_atom GROUP BY 1 ORDER BY 1"),
            atoms_by_status=_counted(connection, "SELECT status, count(*) FROM pm_atom GROUP BY 1 ORDER BY 1"),
            citations=_one(connection, "SELECT count(*) FROM pm_citation WHERE gone_at IS NULL"),
            citations_gone=_one(connection, "SELECT count(*) FROM pm_citation WHERE gone_at IS NOT NULL"),
            links=_one(connection, "SELECT count(*) FROM pm_atom_link"),
            contradiction_candidates=_one(connection, "SELECT count(*) FROM pm_contradiction_candidate"),
            gaps_open=_one(connection, "SELECT count(*) FROM pm_research_gap WHERE status = 'open'"),
            outbox={
                name: TargetLag(
                    pending=state.pending,
                    oldest_pending_s=round((now - state.oldest_pending).total_seconds(), 1)
                    if state.oldest_pending
                    else 0.0,
                    dead=state.dead,
                    example_error=state.example_error,
                )
                for name, state in lag(connection).items()
            },
            collections=dict(
                connection.execute("SELECT name, fingerprint FROM pm_collection WHERE state = 'active'").fetchall()
            ),
        )


def sources(database: Database) -> list[SourceState]:
    """Every partition with documents, by name."""
    with database.connection() as connection:
        rows = connection.execute(
            """
            SELECT source, jsonb_object_agg(status, documents), coalesce(max(error) FILTER (WHERE error IS NOT NULL), '')
            FROM (SELECT source, status, count(*) AS documents, max(error) AS error FROM pm_document GROUP BY 1, 2) AS state
            GROUP BY source ORDER BY source
            """
        ).fetchall()
    return [SourceState(source=row[0], documents=row[1], last_error=row[2]) for row in rows]


def _one(connection: Connection, statement: str) -> int:
    row = connection.execute(statement.encode()).fetchone()
    assert row is not None
    return int(row[0])


def _counted(connection: Connection, statement: str) -> dict[str, int]:
    return dict(connection.execute(statement.encode()).fetchall())
