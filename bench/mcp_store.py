"""MCP: `memory_store` until `memory_search` finds the statement, over stdio, on embedded engines."""

from __future__ import annotations

import time

from bench.harness import Figure, bench_runtime, milliseconds, p50, p95, report, say
from tests.mcp.raw import RawServer, environment, structure_of, text_of

STATEMENTS = 40
BOUND_S = 35.0
"""What a busy machine may take; on a quiet one all statements fit."""
PLACES = ("Arden", "Brae", "Corrin", "Dunmore", "Eskdale", "Farrow", "Gairloch", "Hallin")
THINGS = ("crane", "buoy", "lamp", "bell", "sluice", "slipway", "ferry", "weir", "gauge", "mast")


def statement(number: int) -> str:
    place, thing = PLACES[number % len(PLACES)], THINGS[number // 3 % len(THINGS)]
    return f"The {thing} at {place} number {number * 37 + 11} was repaired {number + 2} times by its keeper."


def main() -> None:
    with bench_runtime() as runtime, RawServer(environment(PEGAS_HOME=str(runtime.settings.home))) as server:
        server.initialize("bench")
        server.request("tools/list")
        _warm(server)
        stored: list[float] = []
        found: list[float] = []
        missed = 0
        ends = time.perf_counter() + BOUND_S
        for number in range(STATEMENTS):
            if time.perf_counter() > ends:
                say(f"stopped after {number} statements: the machine is busy")
                break
            said = statement(number)
            started = time.perf_counter()
            answer = server.call("memory_store", {"content": said})
            stored.append((time.perf_counter() - started) * 1000)
            assert not answer.get("isError"), text_of(answer)
            hits = structure_of(server.call("memory_search", {"query": said, "limit": 3}))["hits"]
            found.append((time.perf_counter() - started) * 1000)
            missed += said not in [hit["text"] for hit in hits]
        embedder = runtime.embedder
        floor = []
        for number in range(10):
            said = statement(1000 + number)
            # The statement as text and as fact, then the query: the model's part, which nothing spares.
            floor.append(
                milliseconds(
                    lambda said=said: (embedder.embed_passages([said, f"fact: {said}"]), embedder.embed_query(said))
                )  # type: ignore[misc]
            )
    say(f"{missed} of {len(found)} were not among the first three hits")
    report(
        "mcp_store",
        [
            Figure("store until found, p95", p95(found), "ms", "≤ 150", p95(floor)),
            Figure("store until found, p50", p50(found), "ms", "", p50(floor)),
            Figure("memory_store alone, p95", p95(stored), "ms"),
            Figure("memory_store alone, p50", p50(stored), "ms"),
            Figure("not found", missed, "statements", "0"),
        ],
    )


def _warm(server: RawServer) -> None:
    """Wait until the background has opened and loaded everything, then once through."""
    deadline = time.perf_counter() + 40
    while time.perf_counter() < deadline:
        if "ready" in structure_of(server.call_again("memory_stats")).get("ingest", ""):
            break
        time.sleep(0.2)
    for number in range(3):
        server.call_again("memory_store", {"content": statement(5000 + number)})
        server.call_again("memory_search", {"query": statement(5000 + number)})


if __name__ == "__main__":
    main()
