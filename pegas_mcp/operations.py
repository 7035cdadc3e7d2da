"""How a request stands, as the tools and a resource show it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pegas_mcp.results import OperationAnswer, OperationItem

if TYPE_CHECKING:
    from pegas_assets.runtime import Runtime

ITEMS_SHOWN = 20
MAX_ITEM_CHARS = 300


def operation_answer(
    runtime: Runtime, operation_id: str, *, offset: int = 0, limit: int = ITEMS_SHOWN
) -> OperationAnswer:
    """The state of a request, with `limit` of its items from `offset` on.

    Raises:
        NotFound: no request has this id.
    """
    from pegas_assets.stores.operations import operation_state

    with runtime.database.connection() as connection:
        state = operation_state(connection, operation_id, limit, offset=offset)
    return OperationAnswer(
        operation_id=state.operation_id,
        asked_at=state.created_at.isoformat(timespec="seconds"),
        taking=state.taking,
        finished=state.finished,
        counts=state.counts,
        items=shown_items((item.item, item.status, item.document_id, item.reason) for item in state.items),
        items_total=state.items_total,
    )


def shown_items(items: Iterable[tuple[str, str, int | None, str]]) -> list[OperationItem]:
    """Things that were asked for, each as short as it can be recognised by."""
    return [
        OperationItem(
            item=item[:MAX_ITEM_CHARS],
            status=status,
            document=f"doc:{document}" if document is not None else "",
            reason=reason[:MAX_ITEM_CHARS],
        )
        for item, status, document, reason in items
    ]
