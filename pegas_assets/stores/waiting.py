"""What waits for a run, read by state: never "everything after the last id seen", since ids commit out of order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, LiteralString

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection


@dataclass(frozen=True)
class WaitingSource:
    """A source with work that may be done now. The last three fields together tell one state of it from the next."""

    source: str
    documents: int
    attempts: int
    changed: datetime


@dataclass(frozen=True)
class WaitingRows:
    """The outbox rows that a target may work on now; past `LIMIT` they are not counted on."""

    target: str
    rows: int
    newest_id: int
    attempts: int


LIMIT = 5000

_ROWS: dict[str, LiteralString] = {
    "vectors": """
        SELECT count(*), coalesce(max(id), 0), coalesce(sum(attempts), 0) FROM (
            SELECT id, vector_attempts AS attempts FROM pm_outbox
            WHERE vector_state = 'pending' AND vector_next_at <= now() AND created_at <= now() - make_interval(secs => %s)
            LIMIT %s
        ) AS waiting
    """,
    "graph": """
        SELECT count(*), coalesce(max(id), 0), coalesce(sum(attempts), 0) FROM (
            SELECT id, graph_attempts AS attempts FROM pm_outbox
            WHERE graph_state = 'pending' AND graph_next_at <= now() AND created_at <= now() - make_interval(secs => %s)
            LIMIT %s
        ) AS waiting
    """,
}


def waiting_sources(connection: Connection, quiet_s: float = 0.0) -> list[WaitingSource]:
    """Sources with documents to work on, the longest waiting first.

    What changed in the last `quiet_s` seconds is left out: whoever accepted it is most likely at it.
    """
    rows = connection.execute(
        """
        SELECT source, count(*), coalesce(sum(attempts), 0), max(updated_at) FROM pm_document
        WHERE status IN ('accepted', 'fetching', 'parsed') AND next_attempt_at <= now()
          AND updated_at <= now() - make_interval(secs => %s)
        GROUP BY source ORDER BY min(id)
        """,
        [quiet_s],
    ).fetchall()
    return [WaitingSource(source, count, int(attempts), changed) for source, count, attempts, changed in rows]


def waiting_rows(connection: Connection, quiet_s: float = 0.0) -> list[WaitingRows]:
    """The outbox rows of each target that has some, without those of the last `quiet_s` seconds."""
    found = []
    for target, statement in _ROWS.items():
        row = connection.execute(statement, [quiet_s, LIMIT]).fetchone()
        assert row is not None
        if row[0]:
            found.append(WaitingRows(target, row[0], row[1], int(row[2])))
    return found
