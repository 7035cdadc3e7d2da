"""MCP: `memory_ingest` of a one-page text through an in-process run: until accepted, found, and done."""

from __future__ import annotations

import time

from bench.harness import Figure, bench_runtime, milliseconds, p50, p95, report, say
from bench.mcp_store import PLACES, _warm
from tests.mcp.raw import RawServer, environment, structure_of, text_of

PAGES = 12
PATIENCE_S = 10.0
BOUND_S = 35.0
"""What a busy machine may take; on a quiet one all pages fit."""


TOPICS = (
    ("bell founding", "bronze", "mould", "clapper", "foundry", "casting pit"),
    ("kite making", "spruce spar", "bridle", "ripstop", "tail", "headwind"),
    ("salt panning", "brine", "evaporation pan", "rake", "crust", "sluice gate"),
    ("rope walking", "hemp yarn", "strand", "tar kettle", "twist", "ropewalk"),
    ("tide prediction", "harmonic constant", "spring tide", "gauge well", "datum", "neap"),
    ("glass blowing", "gather", "blowpipe", "annealing oven", "cullet", "furnace"),
    ("peat cutting", "bog", "turf spade", "drying stack", "moss", "drainage ditch"),
    ("clock repair", "escapement", "mainspring", "pivot", "pendulum", "winding arbor"),
    ("letterpress printing", "forme", "type case", "quoin", "ink knife", "platen"),
    ("oyster farming", "spat", "longline", "purification tank", "shell bag", "tidal flat"),
    ("charcoal burning", "clamp", "birch billet", "smoke vent", "turf cover", "retort"),
    ("barrel making", "stave", "hoop driver", "croze groove", "toasting fire", "bung"),
    ("wool dyeing", "madder", "mordant", "skein", "vat", "fleece"),
    ("slate roofing", "batten", "ridge tile", "copper nail", "slater's ripper", "eave"),
)


def page(number: int) -> str:
    """About 1,500 characters in five paragraphs about a craft at a place."""
    craft, *words = TOPICS[number % len(TOPICS)]
    place = f"{PLACES[number % len(PLACES)]} {number}"
    paragraphs = [f"# Notes on {craft} at {place}"]
    for part, word in enumerate(words):
        other = words[(part + 2) % len(words)]
        paragraphs.append(
            f"The {word} used for {craft} here weighs {number + part + 2} kg and lasts about {part + 3} seasons. "
            f"Workers keep the {other} dry, because damp spoils {craft} more quickly than frost does. "
            f"In the year {1800 + number % 200 + part} the village counted {number % 90 + 10 * part} households that lived by it, "
            f"and each of them owned at least one {word}."
        )
    return "\n\n".join(paragraphs)


def main() -> None:
    with bench_runtime() as runtime, RawServer(environment(PEGAS_HOME=str(runtime.settings.home))) as server:
        server.initialize("bench")
        server.request("tools/list")
        _warm(server)
        for number in range(2):
            server.call("memory_ingest", {"text": page(12 + number), "wait_s": 10})
        accepted: list[float] = []
        found: list[float] = []
        done: list[float] = []
        late = 0
        ends = time.perf_counter() + BOUND_S
        for number in range(PAGES):
            if time.perf_counter() > ends:
                say(f"stopped after {number} pages: the machine is busy")
                break
            started = time.perf_counter()
            answer = server.call("memory_ingest", {"text": page(number), "wait_s": 0})
            accepted.append((time.perf_counter() - started) * 1000)
            assert not answer.get("isError"), text_of(answer)
            document = structure_of(answer)["items"][0]["document"]
            mark = TOPICS[number % len(TOPICS)][0]
            if not _until(lambda document=document, mark=mark: _finds(server, mark, document), started):  # type: ignore[misc]
                late += 1
            found.append((time.perf_counter() - started) * 1000)
            operation = structure_of(answer)["operation_id"]
            _until(lambda operation=operation: _ended(server, operation), started)  # type: ignore[misc]
            done.append((time.perf_counter() - started) * 1000)
        text = page(4999)
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
    hits = structure_of(server.call("memory_search", {"query": query, "limit": 10})).get("hits", [])
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
