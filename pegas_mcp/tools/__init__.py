"""The tools, one file for each group. What a tool reads, writes or destroys is said where it is defined."""

from __future__ import annotations

from mcp.server.mcpserver.tools import Tool

import pegas_mcp.tools.context as context
import pegas_mcp.tools.ingest as ingest
import pegas_mcp.tools.search as search
import pegas_mcp.tools.stats as stats
import pegas_mcp.tools.store as store
from pegas_mcp.tools.marks import as_tool, writes

GROUPS = (search, context, stats, store, ingest)


def tools_for(*, read_only: bool) -> list[Tool]:
    """Every tool, or those that write nothing."""
    functions = [function for group in GROUPS for function in group.TOOLS]
    return [as_tool(function) for function in functions if not (read_only and writes(function))]
