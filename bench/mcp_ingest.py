"""MCP: `memory_ingest` of a one-page text through an in-process run: until accepted, found, and done."""

from __future__ import annotations

import time

from bench.harness import Figure, bench_runtime, milliseconds, p50, p95, report, say
from bench.mcp_store import PLACES, THINGS, _warm
from tests.mcp.raw import RawServer, environment, structure_of, text_of

PAGES = 12
PATIENCE_S = 10.0


def page(number: int) -> str:
    """About 1,800 characters in five paragraphs, no two pages alike."""
    place = f"{PLACES[number % len(PLACES)]}{number}"
    paragraphs = [f"# The harbour of {place}"]
    for part in range(5):
        paragraphs.append(
            " ".join(
                f"The {THINGS[(part + line) % len(THINGS)]} of {place} carries the mark {number * 100 + part * 10 + line}"
                f" and was moved {line + 2} times since the year {1800 + number * 7 + part}."
                for line in range(4)
            )
        )
    return "\n\n".join(paragraphs)


def main() -> None:
    with bench_runtime() as runtime, RawServer(environment(PEGAS_HOME=str(runtime.settings.home))) as server:
        server.initialize("bench")
        server.request("tools/list")
        _warm(server)
        for number in range(2):
            server.call("memory_ingest", {"text": page(900 + number), "wait_s": 10})
        accepted: list[float] = []
        found: list[float] = []
        done: list[float] = []
        late = 0
        for number in range(PAGES):
            started = time.perf_counter()
            answer = server.call("memory_ingest", {"text": page(number), "wait_s": 0})
            accepted.append((time.perf_counter() - started) * 1000)
            assert not answer.get("isError"), text_of(answer)
            document = structure_of(answer)["items"][0]["document"]
            mark = f"lamp of {PLACES[number % len(PLACES)]}{number} mark"
            if not _until(lambda document=document, mark=mark: _finds(server, mark, document), started):  # type: ignore[misc]
                late += 1
            found.append((time.perf_counter() - started) * 1000)
            operation = structure_of(answer)["operation_id"]
            _until(lambda operation=operation: _ended(server, operation), started)  # type: ignore[misc]
            done.append((time.perf_counter() - started) * 1000)
        text = page(5000)
        paragraphs = text.split("\n\n")
        floor = milliseconds(lambda: runtime.embedder.embed_passages(paragraphs[1:]))
    if late:
        say(f"{late} pages were not found within {PATIENCE_S:g} s")
    report(
        "mcp_ingest",
        [
            Figure("accepted, p95", p95(accepted), "ms", "≤ 300"),
            Figure("accepted, p50", p50(accepted), "ms"),
            Figure("found by search, p95", p95(found), "ms", "≤ 1500"),
            Figure("found by search, p50", p50(found), "ms"),
            Figure("all its atoms made, p95", p95(done), "ms"),
            Figure("all its atoms made, p50", p50(done), "ms", "", floor),
        ],
    )


def _finds(server: RawServer, query: str, document: str) -> bool:
    hits = structure_of(server.call("memory_search", {"query": query, "limit": 5})).get("hits", [])
    return any(citation["document"] == document for hit in hits for citation in hit.get("citations", []))


def _ended(server: RawServer, operation: str) -> bool:
    return bool(structure_of(server.call("memory_stats", {"operation_id": operation})).get("finished"))


def _until(true: object, started: float) -> bool:
    assert callable(true)
    while time.perf_counter() - started < PATIENCE_S:
        if true():
            return True
        time.sleep(0.02)
    return False


if __name__ == "__main__":
    main()
