"""MCP: `memory_store` until `memory_search` finds the statement, over stdio, on embedded engines."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from bench.harness import Figure, bench_runtime, milliseconds, p50, p95, report, say
from pegas_assets.runtime import Runtime
from pegas_assets.settings import Settings
from tests.mcp.raw import RawServer, environment, structure_of, text_of

STATEMENTS = 30
BOUND_S = 15.0
"""What a busy machine may take; on a quiet one all statements fit."""
PLACES = ("Arden", "Brae", "Corrin", "Dunmore", "Eskdale", "Farrow", "Gairloch", "Hallin")
THINGS = ("crane", "buoy", "lamp", "bell", "sluice", "slipway", "ferry", "weir", "gauge", "mast")


def statement(number: int) -> str:
    place, thing = PLACES[number % len(PLACES)], THINGS[number // 3 % len(THINGS)]
    return f"The {thing} at {place} number {number * 37 + 11} was repaired {number + 2} times by its keeper."


@dataclass
class Measured:
    """Milliseconds of each statement, and how many were not among the first three hits."""

    stored: list[float] = field(default_factory=list)
    found: list[float] = field(default_factory=list)
    missed: int = 0


def main() -> None:
    with bench_runtime() as runtime:
        fresh = _measure(runtime.settings)
        # A second base that has seen the vectors and none of the statements.
        with Runtime(runtime.settings.model_copy(update={"base": "second"})) as second:
            second.ensure_schema()
            _copy_embeddings(runtime, second)
            cached = _measure(second.settings)
        embedder = runtime.embedder
        floor = []
        for number in range(10):
            said = statement(1000 + number)
            embedder.embed_query("what else the model has to load")
            # The statement as text and as fact: the model's part, which a kept vector spares.
            floor.append(milliseconds(lambda said=said: embedder.embed_passages([said, f"fact: {said}"])))  # type: ignore[misc]
        query = [milliseconds(lambda number=number: embedder.embed_query(statement(number))) for number in range(10)]  # type: ignore[misc]
    report(
        "mcp_store",
        [
            Figure("store until found, vectors kept, p95", p95(cached.found), "ms", "≤ 150", p95(query)),
            Figure("store until found, vectors kept, p50", p50(cached.found), "ms", "", p50(query)),
            Figure("store until found, nothing kept, p95", p95(fresh.found), "ms", "", p95(floor) + p95(query)),
            Figure("store until found, nothing kept, p50", p50(fresh.found), "ms", "", p50(floor) + p50(query)),
            Figure("memory_store alone, vectors kept, p95", p95(cached.stored), "ms"),
            Figure("memory_store alone, nothing kept, p95", p95(fresh.stored), "ms"),
            Figure("not found", cached.missed + fresh.missed, "statements", "0"),
        ],
    )


def _measure(settings: Settings) -> Measured:
    made = Measured()
    variables = environment(PEGAS_HOME=str(settings.home), PEGAS_BASE=settings.base)
    with RawServer(variables) as server:
        server.initialize("bench")
        server.request("tools/list")
        _warm(server)
        ends = time.perf_counter() + BOUND_S
        for number in range(STATEMENTS):
            if time.perf_counter() > ends:
                say(f"stopped after {number} statements: the machine is busy")
                break
            said = statement(number)
            started = time.perf_counter()
            answer = server.call("memory_store", {"content": said})
            made.stored.append((time.perf_counter() - started) * 1000)
            assert not answer.get("isError"), text_of(answer)
            hits = structure_of(server.call("memory_search", {"query": said, "limit": 3}))["hits"]
            made.found.append((time.perf_counter() - started) * 1000)
            made.missed += said not in [hit["text"] for hit in hits]
    return made


def _copy_embeddings(source: Runtime, target: Runtime) -> None:
    with source.database.connection() as connection:
        rows = connection.execute("SELECT fingerprint, text_hash, vector FROM pm_embedding").fetchall()
    with target.database.connection() as connection:
        connection.cursor().executemany(
            "INSERT INTO pm_embedding (fingerprint, text_hash, vector) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", rows
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
