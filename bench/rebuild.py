"""Fills a base, drains it into both projections, empties them, rebuilds them, and searches, beside the bare engines."""

from __future__ import annotations

import argparse
import random
import time

import numpy as np

from bench.bare import bare_writes, empty
from bench.given import given_engines
from bench.harness import Figure, bench_runtime, milliseconds, p50, p95, peak_mb, report, say
from bench.synthetic import fill, queries
from pegas_assets.embedding.base import Vector
from pegas_assets.embedding.bm25 import encode_query
from pegas_assets.projection.drain import drain
from pegas_assets.projection.reconcile import drift, reconcile
from pegas_assets.runtime import Runtime
from pegas_assets.search.hybrid import CANDIDATES, search
from pegas_assets.search.request import SearchRequest

DRAINED = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--atoms", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--no-optimize", action="store_true")
    chosen = parser.parse_args()
    with bench_runtime() as runtime:
        report(f"rebuild-{chosen.atoms}", measure(runtime, chosen.atoms, chosen.queries, not chosen.no_optimize))


def measure(runtime: Runtime, atoms: int, count: int, optimize: bool) -> list[Figure]:
    figures: list[Figure] = []
    first = min(DRAINED, atoms)
    say(f"filling {first:,} atoms, then draining the outbox into both projections")
    fill(runtime, first)
    started = time.perf_counter()
    drained = drain(runtime.database, runtime.targets)
    seconds = time.perf_counter() - started
    say("the same, written by the bare engines one after the other")
    bare = bare_writes(runtime, first)
    rate = first / seconds
    figures.append(Figure("drain into both projections", rate, "atoms/s", "≥ 3,000", first / bare.of(first)))
    figures += [Figure(f"of it, into {item.target}", item.done / item.seconds, "rows/s") for item in drained]
    if atoms > first:
        say(f"filling {atoms - first:,} more")
        fill(runtime, atoms - first, seed=8)
    say("emptying both projections and rebuilding them")
    empty(runtime)
    total = 0.0
    for target, floor in zip(runtime.targets, (bare.vectors, bare.graph), strict=True):
        started = time.perf_counter()
        reconcile(runtime.database, target, verify=False)
        took = time.perf_counter() - started
        total += took
        figures.append(Figure(f"rebuild of {target.name}", took, "s", "", floor * atoms / first))
    figures.append(Figure("rebuild of both", total, "s", "≤ 90 at 100,000", bare.of(atoms)))
    figures.append(Figure("peak memory of our process", peak_mb(), "MB", "≤ 1,024"))
    started = time.perf_counter()
    wrong = sum(item.total for target in runtime.targets for item in drift(runtime.database, target))
    figures.append(Figure("drift check of both", time.perf_counter() - started, "s"))
    figures.append(Figure("drift", wrong, "keys", "0"))
    figures += searches(runtime, count, "as written", "p95 ≤ 40")
    if optimize:
        say("building the vector index")
        started = time.perf_counter()
        runtime.vectors.optimize(runtime.vector_target.collection(), say)
        figures.append(Figure("vector index", time.perf_counter() - started, "s"))
        figures += searches(runtime, count, "indexed", "p95 ≤ 15")
    return figures


def searches(runtime: Runtime, count: int, state: str, target: str) -> list[Figure]:
    asked = queries(count, runtime.embedder.fingerprint.dimension)
    given = given_engines(runtime, asked)
    collection = runtime.vector_target.collection()
    whole: list[float] = []
    bare: list[float] = []
    for query, vector in asked:
        request = SearchRequest.checked(query)
        whole.append(milliseconds(lambda request=request: search(given, request)))  # type: ignore[misc]
        bare.append(milliseconds(lambda request=request, vector=vector: _bare(runtime, collection, request, vector)))  # type: ignore[misc]
    return [
        Figure(f"search {state}, p50", p50(whole), "ms", "", p50(bare)),
        Figure(f"search {state}, p95", p95(whole), "ms", target, p95(bare)),
    ]


def _bare(runtime: Runtime, collection: str, request: SearchRequest, vector: Vector) -> None:
    """The engines' own work for one search: both legs, one read of rows by id, one hop of graph."""
    hits = runtime.vectors.search(
        collection,
        dense=vector,
        sparse=encode_query(request.query),
        filter=request.vector_filter(),
        limit=CANDIDATES,
    )
    keys = [key for key, _ in (*hits.dense, *hits.sparse)]
    with runtime.database.connection() as connection:
        connection.execute(
            "SELECT id, type, claim, content, status FROM pm_atom WHERE id = ANY(%s)",
            [[int(key.removeprefix("atom:")) for key in keys]],
        ).fetchall()
    runtime.graph.neighbours("Atom", keys[:5], 20)


if __name__ == "__main__":
    random.seed(1)
    np.random.seed(1)
    main()
