"""`memory_get_context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mcp_types import CallToolResult
from pydantic import Field

from pegas_mcp.rendering import CHARS_PER_TOKEN, gathered
from pegas_mcp.results import ContextAnswer, answer
from pegas_mcp.tools.arguments import Call, Confidence, Moment, Sources, Types, limited, session_of
from pegas_mcp.tools.marks import reading

if TYPE_CHECKING:
    from pegas_assets.runtime import Runtime


PASSAGES = 0.85
"""The share of a budget that passages get at first; the rest names their sources."""


@reading("Gather context")
async def memory_get_context(
    ctx: Call,
    query: Annotated[str, Field(description="What the context is for: a question or a task")],
    budget_tokens: Annotated[int, Field(description="Upper bound, characters ÷ 4; 50 to 50,000")] = 2000,
    limit: Annotated[int, Field(description="Most passages, 1 to 100")] = 20,
    types: Types = [],  # noqa: B006 - the SDK makes a schema of it; nobody changes it
    sources: Sources = [],  # noqa: B006
    min_confidence: Confidence = None,
    since: Moment = None,
) -> Annotated[CallToolResult, ContextAnswer]:
    """Gather the best passages about something within a token budget, numbered and cited, to read before answering.

    Example: {"query": "care of a sourdough starter", "budget_tokens": 1500}
    """
    k, noted = limited(limit)

    def work(runtime: Runtime) -> tuple[ContextAnswer, str]:
        from pegas_assets.search.context import MAX_BUDGET, MIN_BUDGET, get_context
        from pegas_assets.search.request import SearchRequest

        request = SearchRequest.checked(
            query, k=k, types=types, sources=sources, min_confidence=min_confidence, since=since
        )
        inner = budget_tokens if not MIN_BUDGET <= budget_tokens <= MAX_BUDGET else int(budget_tokens * PASSAGES)
        while True:
            context = get_context(runtime.search_engines, request, max(inner, min(MIN_BUDGET, budget_tokens)))
            structure, text = gathered(context, budget_tokens, noted)
            over = structure.tokens - budget_tokens
            if over <= 0:
                return structure, text
            if inner <= MIN_BUDGET:
                # What names the sources of the smallest context does not fit: its passages do.
                return structure.model_copy(update={"tokens": budget_tokens}), text[: budget_tokens * CHARS_PER_TOKEN]
            inner = max(MIN_BUDGET, inner - over - 1)

    structure, text = await session_of(ctx).run(work)
    return answer(structure, text)


TOOLS = (memory_get_context,)
