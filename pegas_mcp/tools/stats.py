"""`memory_stats`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mcp_types import CallToolResult
from pydantic import Field

from pegas_mcp.operations import operation_answer
from pegas_mcp.rendering import counted, standing
from pegas_mcp.results import StatsAnswer, answer
from pegas_mcp.tools.arguments import Call, session_of
from pegas_mcp.tools.marks import reading

if TYPE_CHECKING:
    from pegas_assets.runtime import Runtime
    from pegas_assets.stats import Stats


@reading("Statistics")
async def memory_stats(
    ctx: Call,
    operation_id: Annotated[str, Field(description="From memory_ingest: how it stands, instead of counts")] = "",
) -> Annotated[CallToolResult, StatsAnswer]:
    """Count documents, atoms, open gaps and what projections do not show yet; or tell how far one operation is.

    Example: {} or {"operation_id": "0b7c2f3e-…"}
    """
    session = session_of(ctx)
    if operation_id:
        operation = await session.run(lambda runtime: operation_answer(runtime, operation_id))
        return answer(StatsAnswer(**dict(operation)), standing(operation))

    def work(runtime: Runtime) -> Stats:
        from pegas_assets.stats import stats

        return stats(runtime.database)

    structure, text = counted(await session.run(work), ingest=session.ingest_state)
    return answer(structure, text)


TOOLS = (memory_stats,)
