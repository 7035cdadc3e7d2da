"""What a result points at, to be read whole: atoms, documents page by page, operations."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pegas_assets.errors import InvalidInput, NotFound
from pegas_assets.model import AtomType, DocumentKind
from pegas_assets.text.cleaning import clean_json
from pegas_mcp.operations import operation_answer
from pegas_mcp.rendering import source_kind

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from pegas_assets.runtime import Runtime
    from pegas_mcp.session import Session

PAGE_CHARS = 20_000
"""Of a document's or atom's text where no limit is given: 5,000 tokens."""
CITATIONS = 50
ITEMS = 200
MAX_ITEMS = 1000
MAX_PAGE_CHARS = 100_000
"""At most 4 bytes each, so a page stays far below a line of 1,000,000 bytes."""


def add_resources(server: MCPServer[Session], session: Session) -> None:
    """Register the templates."""

    async def read(work: Callable[[Runtime], dict[str, Any]]) -> str:
        return json.dumps(clean_json(await session.run(work)), ensure_ascii=False, indent=1)

    @server.resource(
        "pegas://atom/{id}{?offset,limit,citations_from}",
        name="atom",
        title="An atom with its citations",
        mime_type="application/json",
    )
    async def atom(id: str, offset: int = 0, limit: int = PAGE_CHARS, citations_from: int = 0) -> str:
        """One atom: claim, text from `offset` (characters), status and why, and 50 citations from `citations_from`."""
        number = _number(id, "atom")
        skipped = _page(citations_from, 1)[0]
        return await read(lambda runtime: _atom(runtime, number, *_page(offset, limit), skipped))

    @server.resource(
        "pegas://document/{id}{?offset,limit}",
        name="document",
        title="A document's text, page by page",
        mime_type="application/json",
    )
    async def document(id: str, offset: int = 0, limit: int = PAGE_CHARS) -> str:
        """One document: what it is and its text, `limit` characters (at most 100,000) from `offset`."""
        number = _number(id, "document")
        return await read(lambda runtime: _document(runtime, number, *_page(offset, limit)))

    @server.resource(
        "pegas://operation/{id}{?offset,limit}",
        name="operation",
        title="How an operation stands",
        mime_type="application/json",
    )
    async def operation(id: str, offset: int = 0, limit: int = ITEMS) -> str:
        """One request: `limit` (at most 1,000) of its things from `offset` on, and what became of each."""
        skipped, shown = _page(offset, limit)
        return await read(lambda runtime: _operation(runtime, id, skipped, min(shown, MAX_ITEMS)))


def _operation(runtime: Runtime, operation_id: str, offset: int, limit: int) -> dict[str, Any]:
    state = operation_answer(runtime, operation_id, offset=offset, limit=limit).model_dump(mode="json")
    end = offset + len(state["items"])
    if state["items"] and end < state["items_total"]:
        state["next_offset"] = end
    return {"offset": offset, **state}


def _atom(runtime: Runtime, number: int, offset: int, limit: int, skipped: int) -> dict[str, Any]:
    from pegas_assets.stores.hits import atom_rows

    with runtime.database.connection() as connection:
        row = atom_rows(connection, [number], citations=slice(skipped, skipped + CITATIONS)).get(number)
    if row is None:
        raise NotFound(f"There is no atom {number}.", hint="Use a key that memory_search gave.", item=str(number))
    return {
        "key": f"atom:{row.id}",
        "type": AtomType(row.type).value,
        "status": row.status.value,
        "status_reason": row.status_reason,
        "confidence": round(row.confidence, 3),
        "language": row.language,
        "created_at": row.created_at.isoformat(timespec="seconds"),
        "projected": row.projected,
        "untrusted": True,
        "claim": row.claim,
        "context": row.context,
        **_paged(row.content[offset : offset + limit], offset, len(row.content), f"pegas://atom/{row.id}"),
        "citations_total": row.citation_count,
        "citations_from": skipped,
        **_following(skipped + len(row.citations), row.citation_count, f"pegas://atom/{row.id}"),
        "citations": [
            {
                "document": f"pegas://document/{citation.document_id}",
                "title": citation.document_title,
                "uri": citation.uri,
                "source": citation.source,
                "source_kind": source_kind(citation.source),
                "where": str(citation.locator),
                "quote": citation.quoted_text[:2000],
            }
            for citation in row.citations
        ],
    }


def _document(runtime: Runtime, number: int, offset: int, limit: int) -> dict[str, Any]:
    from pegas_assets.stores.document_text import document_page

    with runtime.database.connection() as connection:
        page = document_page(connection, number, offset, limit)
    return {
        "id": number,
        "kind": DocumentKind(page.kind).value,
        "title": page.title,
        "uri": page.uri,
        "source": page.source,
        "source_kind": source_kind(page.source),
        "status": page.status,
        "error": page.error,
        "language": page.language,
        "untrusted": True,
        **_paged(page.text, offset, page.total, f"pegas://document/{number}"),
    }


def _following(end: int, total: int, address: str) -> dict[str, str]:
    return {"citations_cut": f"There are more: read {address}?citations_from={end}"} if end < total else {}


def _paged(text: str, offset: int, total: int, address: str) -> dict[str, Any]:
    end = offset + len(text)
    page: dict[str, Any] = {"offset": offset, "characters": len(text), "total_characters": total, "text": text}
    if end < total:
        page["cut"] = f"There is more: read {address}?offset={end}"
        page["next_offset"] = end
    return page


def _number(word: str, what: str) -> int:
    cleaned = word.removeprefix("atom:").removeprefix("doc:")
    if not cleaned.isascii() or not cleaned.isdigit() or len(cleaned) > 18:
        raise InvalidInput(f"{word[:100]!r} is no {what} number.", hint=f"Write pegas://{what}/12.", item=word[:100])
    return int(cleaned)


def _page(offset: int, limit: int) -> tuple[int, int]:
    if offset < 0 or limit < 1:
        raise InvalidInput(
            "offset must be 0 or more and limit 1 or more.", hint="Leave both out for the first page.", item="offset"
        )
    return offset, min(limit, MAX_PAGE_CHARS)
