"""The work that some documents still need, by source, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection


@dataclass(frozen=True)
class Waiting:
    """Documents of one source with work to do. `bytes` counts the bodies that are here; a page has none yet."""

    source: str
    document_ids: tuple[int, ...]
    bytes: int


def waiting_by_source(connection: Connection, document_ids: Sequence[int], *, force: bool = False) -> list[Waiting]:
    """Which of these documents have work to do, under the sources that they belong to; with `force`, all of them."""
    rows = connection.execute(
        """
        SELECT source, array_agg(document.id ORDER BY document.id), coalesce(sum(octet_length(body.bytes)), 0)
        FROM pm_document AS document LEFT JOIN pm_document_body AS body ON body.doc_id = document.id
        WHERE document.id = ANY(%s) AND (%s OR status IN ('accepted', 'fetching', 'parsed'))
        GROUP BY source ORDER BY min(document.id)
        """,
        [list(document_ids), force],
    ).fetchall()
    return [Waiting(source, tuple(ids), int(size)) for source, ids, size in rows]


def atoms_of_documents(connection: Connection, document_ids: Sequence[int]) -> int:
    """How many atoms cite these documents."""
    row = connection.execute(
        "SELECT count(DISTINCT atom_id) FROM pm_citation WHERE doc_id = ANY(%s) AND gone_at IS NULL",
        [list(document_ids)],
    ).fetchone()
    assert row is not None
    return int(row[0])
