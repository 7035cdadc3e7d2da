"""MCP: from the start of the process to the first answer to `tools/list`, every engine down, beside a bare server."""

from __future__ import annotations

import subprocess
import sys
import time

from bench.harness import Figure, p50, report, say
from tests.mcp.raw import CHECKOUT, RawServer, environment

ROUNDS = 9
BARE = """
from mcp.server import MCPServer
server = MCPServer("bare")
@server.tool()
def add(a: int, b: int) -> int:
    "Adds."
    return a + b
def main():
    server.run("stdio")
"""


def seconds(before: str) -> float:
    """One start. `before` makes another server; empty is this project's."""
    down = environment(
        PEGAS_DATABASE_URL="postgresql://nobody@127.0.0.1:1/none",
        PEGAS_QDRANT_URL="http://127.0.0.1:1",
        PEGAS_BOLT_URL="bolt://127.0.0.1:1",
    )
    started = time.perf_counter()
    with RawServer(down, before=before, replaced=bool(before)) as server:
        server.initialize()
        server.request("tools/list")
        return time.perf_counter() - started


def main() -> None:
    # Both are read from the disk's cache, as a second start is.
    subprocess.run([sys.executable, "-c", BARE + "import pegas_mcp.server"], cwd=CHECKOUT, check=True)
    ours: list[float] = []
    bare: list[float] = []
    for number in range(ROUNDS):
        # In turns, so that what else the machine does meets both.
        bare.append(seconds(BARE))
        ours.append(seconds(""))
        say(f"round {number + 1}: bare {bare[-1]:.2f} s, ours {ours[-1]:.2f} s")
    report(
        "mcp_start",
        [
            Figure("start to tools/list, median", p50(ours), "s", "≤ 1.3 × floor", p50(bare)),
            Figure("start to tools/list, fastest", min(ours), "s", "", min(bare)),
        ],
    )


if __name__ == "__main__":
    main()
