"""Requests and what became of each thing asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from pegas_assets.errors import NotFound
from pegas_assets.stores.documents import OPEN
from pegas_assets.text.cleaning import clean_text

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection


TAKING_S = 120
"""How long the next batch of a request may take before it counts as given up."""


@dataclass(frozen=True)
class Item:
    """One thing asked for. `outcome` is set where it brings no work of its own: duplicate, unchanged or refused."""

    item: str
    document_id: int | None
    outcome: str | None = None
    reason: str = ""
    open: bool = False
    """Whether a duplicate's document is itself still to be done."""


@dataclass(frozen=True)
class ItemState:
    """How one thing stands: a document's status, or the outcome."""

    item: str
    document_id: int | None
    status: str
    reason: str


@dataclass(frozen=True)
class OperationState:
    """How a request stands. `finished` when nothing of it is still to be taken in or done."""

    operation_id: str
    kind: str
    created_at: datetime
    counts: dict[str, int]
    taking: bool
    """Whether more things are still being taken in."""
    finished: bool
    items: tuple[ItemState, ...] = field(default=())
    items_total: int = 0


def open_operation(connection: Connection, kind: str, client: str, *, taking: bool = False) -> str:
    """Begin a request; returns its id. `taking` where its things follow in further transactions."""
    row = connection.execute(
        "INSERT INTO pm_operation (kind, client) VALUES (%s, %s) RETURNING id", [kind, clean_text(client)]
    ).fetchone()
    assert row is not None
    if taking:
        set_taking(connection, row[0], taking=True)
    return str(row[0])


def set_taking(connection: Connection, operation_id: str, *, taking: bool) -> None:
    """Say that more things of a request follow, within `TAKING_S`, or that it is complete."""
    connection.execute(
        "UPDATE pm_operation SET taking_until = CASE WHEN %s THEN now() + make_interval(secs => %s) END WHERE id = %s",
        [taking, TAKING_S, operation_id],
    )


def add_items(connection: Connection, operation_id: str, items: Sequence[Item]) -> None:
    """Append items to a request, numbered on."""
    connection.execute(
        """
        INSERT INTO pm_operation_item (operation_id, seq, item, doc_id, outcome, reason)
        SELECT %(id)s, asked.seq + (SELECT count(*) FROM pm_operation_item WHERE operation_id = %(id)s),
               asked.item, asked.doc_id, asked.outcome, asked.reason
        FROM unnest(%(items)s::text[], %(documents)s::bigint[], %(outcomes)s::text[], %(reasons)s::text[])
             WITH ORDINALITY AS asked (item, doc_id, outcome, reason, seq)
        """,
        {
            "id": operation_id,
            "items": [clean_text(item.item) for item in items],
            "documents": [item.document_id for item in items],
            "outcomes": [item.outcome for item in items],
            "reasons": [clean_text(item.reason) for item in items],
        },
    )


def operation_state(connection: Connection, operation_id: str, limit: int = 50, *, offset: int = 0) -> OperationState:
    """How a request stands, with `limit` of its items from `offset` on, those with something to say first.

    Raises:
        NotFound: no request has this id.
    """
    import uuid

    try:
        uuid.UUID(operation_id)
    except ValueError:
        raise NotFound(f"There is no operation {operation_id!r}.", hint="Use the id that memory_ingest gave.") from None
    row = connection.execute(
        "SELECT kind, created_at, coalesce(taking_until > now(), false) FROM pm_operation WHERE id = %s", [operation_id]
    ).fetchone()
    if row is None:
        raise NotFound(f"There is no operation {operation_id!r}.", hint="Use the id that memory_ingest gave.")
    rows = connection.execute(
        """
        SELECT item, doc_id, status, reason, count(*) OVER (PARTITION BY status) AS same
        FROM (
            SELECT item.seq, item.item, item.doc_id,
                   -- A duplicate of what is not done stands as that does.
                   CASE WHEN item.outcome = 'duplicate' AND document.status <> 'done' THEN document.status
                        ELSE coalesce(item.outcome, document.status, 'forgotten') END AS status,
                   CASE WHEN item.outcome = 'duplicate' AND document.error <> '' THEN document.error
                        ELSE coalesce(nullif(item.reason, ''), document.error, '') END AS reason
            FROM pm_operation_item AS item LEFT JOIN pm_document AS document ON document.id = item.doc_id
            WHERE item.operation_id = %s
        ) AS asked
        ORDER BY reason = '', seq
        """,
        [operation_id],
    ).fetchall()
    counts = {status: same for _, _, status, _, same in rows}
    return OperationState(
        operation_id=operation_id,
        kind=row[0],
        created_at=row[1],
        counts=counts,
        taking=row[2],
        finished=not row[2] and not any(counts.get(status) for status in OPEN),
        items=tuple(ItemState(*found[:4]) for found in rows[offset : offset + limit]),
        items_total=len(rows),
    )
