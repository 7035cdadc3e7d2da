"""Readers: pages and megabytes a second of each kind of document, beside the bare library on the same bytes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from bench.harness import Figure, report, say
from pegas_assets.sources.registry import parse

ROUNDS = 5
EXAMPLES = Path(__file__).parents[1] / "examples"


def seconds(work: Callable[[], object]) -> float:
    """The median of some rounds, after one that warms up."""
    work()
    taken = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def many_pages(body: bytes, times: int) -> bytes:
    """A PDF with the pages of another, several times over."""
    import pymupdf

    source = pymupdf.open(stream=body, filetype="pdf")
    target = pymupdf.open()
    for _ in range(times):
        target.insert_pdf(source)
    return bytes(target.tobytes(garbage=3, deflate=True))


def bare_pdf(body: bytes) -> None:
    import pymupdf

    document = pymupdf.open(stream=body, filetype="pdf")
    for page in document:
        page.get_text()


def pdf_figures() -> list[Figure]:
    pages = 150
    body = many_pages((EXAMPLES / "tide-mill.pdf").read_bytes(), pages // 3)
    ours, bare = seconds(lambda: parse(body, name="mill.pdf")), seconds(lambda: bare_pdf(body))
    return [
        Figure("PDF, pages", pages / ours, "/s", "", pages / bare),
        Figure("PDF, bytes", len(body) / ours / 1e6, "MB/s", "", len(body) / bare / 1e6),
    ]


def main() -> None:
    figures: list[Figure] = []
    for name, measure in (("PDF", pdf_figures),):
        say(f"reading {name}")
        figures.extend(measure())
    report("readers", figures)


if __name__ == "__main__":
    main()
