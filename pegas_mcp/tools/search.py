"""`memory_search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mcp_types import CallToolResult
from pydantic import Field

from pegas_mcp.rendering import searched
from pegas_mcp.results import SearchAnswer, answer
from pegas_mcp.tools.arguments import (
    Call,
    Confidence,
    Documents,
    Kind,
    Moment,
    Sources,
    Statuses,
    Types,
    limited,
    session_of,
)
from pegas_mcp.tools.marks import reading

if TYPE_CHECKING:
    from pegas_assets.model import SearchResult
    from pegas_assets.runtime import Runtime


@reading("Search the memory")
async def memory_search(
    ctx: Call,
    query: Annotated[str, Field(description="Words or a question, Russian or English, to 10,000 characters")],
    limit: Annotated[int, Field(description="Most hits, 1 to 100; more is cut to 100")] = 10,
    offset: Annotated[int, Field(description="Hits to skip, 0 to 1000")] = 0,
    types: Types = [],  # noqa: B006 - the SDK makes a schema of it; nobody changes it
    statuses: Statuses = [],  # noqa: B006
    sources: Sources = [],  # noqa: B006
    documents: Documents = [],  # noqa: B006
    kinds: Annotated[list[Kind], Field(description="What to find; [] is atoms")] = [],  # noqa: B006
    min_confidence: Confidence = None,
    since: Moment = None,
    until: str | None = None,
    as_of: Annotated[str | None, Field(description="The memory as it was then, ISO time")] = None,
    include_stale: bool = False,
) -> Annotated[CallToolResult, SearchAnswer]:
    """Find atoms of knowledge by meaning and by words, each with its citations.

    Example: {"query": "how long do bees sleep", "limit": 5, "types": ["fact"]}
    """
    k, notes = limited(limit, "; ask for the rest with offset")

    def work(runtime: Runtime) -> SearchResult:
        from pegas_assets.search.hybrid import search
        from pegas_assets.search.request import SearchRequest

        request = SearchRequest.checked(
            query,
            k=k,
            offset=offset,
            types=types,
            statuses=statuses,
            sources=sources,
            documents=documents,
            kinds=kinds,
            min_confidence=min_confidence,
            since=since,
            until=until,
            as_of=as_of,
            include_stale=include_stale,
        )
        return search(runtime.search_engines, request)

    structure, text = searched(await session_of(ctx).run(work), offset=offset, notes=notes)
    return answer(structure, text)


TOOLS = (memory_search,)
