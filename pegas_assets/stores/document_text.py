"""A document's text, put together again from its chunks: what a reader of one page needs, and no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pegas_assets.errors import NotFound

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection


@dataclass(frozen=True)
class DocumentPage:
    """A stretch of a document's text, with what the document is. `total` is the whole text's length, characters."""

    kind: str
    title: str
    uri: str
    source: str
    status: str
    error: str
    language: str
    text: str
    total: int


def document_page(connection: Connection, document_id: int, offset: int, limit: int) -> DocumentPage:
    """`limit` characters of a document from `offset`; empty where it has no chunks yet.

    What no chunk holds, which is white space between two, reads as a blank line or a blank.

    Raises:
        NotFound: there is no such document, or it is forgotten.
    """
    row = connection.execute(
        """
        SELECT kind, coalesce(title, ''), coalesce(uri, ''), source, status, coalesce(error, ''), language,
               coalesce((SELECT max((locator ->> 'end')::bigint) FROM pm_chunk WHERE doc_id = document.id), 0)
        FROM pm_document AS document WHERE id = %s AND status <> 'forgotten'
        """,
        [document_id],
    ).fetchone()
    if row is None:
        raise NotFound(f"There is no document {document_id}.", hint="Use a number that a citation gave.")
    chunks = connection.execute(
        """
        SELECT (locator ->> 'start')::bigint, content FROM pm_chunk
        WHERE doc_id = %(id)s AND (locator ->> 'end')::bigint > %(from)s AND (locator ->> 'start')::bigint < %(until)s
        ORDER BY (locator ->> 'start')::bigint, seq
        """,
        {"id": document_id, "from": offset, "until": offset + limit},
    ).fetchall()
    parts: list[str] = []
    at = min(offset, chunks[0][0]) if chunks else offset
    start_of_parts = at
    for start, content in chunks:
        if start > at:
            parts.append(_gap(start - at))
            at = start
        fresh = content[at - start :]
        parts.append(fresh)
        at += len(fresh)
    end = min(offset + limit, int(row[7]))
    if at < end:
        parts.append(_gap(end - at))
    text = "".join(parts)[offset - start_of_parts :][:limit]
    kind, title, uri, source, status, error, language, total = row
    return DocumentPage(kind, title, uri, source, status, error, language, text, int(total))


def _gap(length: int) -> str:
    return "\n" * min(length, 2) + " " * (length - 2)
