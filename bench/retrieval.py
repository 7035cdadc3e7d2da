"""XQuAD paragraphs through the whole line: accepted, cut, distilled, projected, then found by their questions.

XQuAD (google-deepmind/xquad, CC BY-SA 4.0) is read from `PEGAS_XQUAD_DIR`, or from `shared/data/xquad` beside the
checkout; it is not part of the project, and nothing is tuned on it.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

from bench.harness import Figure, bench_runtime, p95, report, say
from pegas_assets.pipeline.accept import accept_text
from pegas_assets.pipeline.ingest import ingest_source
from pegas_assets.projection.drain import drain
from pegas_assets.runtime import Runtime
from pegas_assets.search.hybrid import search
from pegas_assets.search.request import SearchRequest

TARGETS = {("ru", "ru"): 0.960, ("en", "en"): 0.970, ("ru", "en"): 0.86, ("en", "ru"): 0.86}


def folder() -> Path:
    named = os.environ.get("PEGAS_XQUAD_DIR")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data" / "xquad"


def read(language: str) -> tuple[list[str], list[tuple[str, int]]]:
    """Paragraphs, and questions with the place of the paragraph that answers them."""
    data = json.loads((folder() / f"{language}.json").read_text("utf-8"))
    paragraphs: list[str] = []
    questions: list[tuple[str, int]] = []
    for article in data["data"]:
        for paragraph in article["paragraphs"]:
            questions += [(question["question"], len(paragraphs)) for question in paragraph["qas"]]
            paragraphs.append(paragraph["context"])
    return paragraphs, questions


def ingest(runtime: Runtime, language: str, paragraphs: list[str]) -> dict[int, int]:
    """Document id → paragraph."""
    places: dict[int, int] = {}
    source = ""
    for place, paragraph in enumerate(paragraphs):
        accepted = accept_text(runtime.database, runtime.settings, paragraph, client=language)
        source = accepted.sources[0]
        document = accepted.items[0].document_id
        assert document is not None
        places.setdefault(document, place)
    ingest_source(
        runtime.ingest_parts,
        source,
        progress=lambda stage, done, of: say(f"{language} {stage} {done}/{of}") if done % 40 == 0 else None,
    )
    drain(runtime.database, runtime.targets)
    return places


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=0, help="ask only so many of each language; 0 for all")
    chosen = parser.parse_args()
    if not (folder() / "ru.json").exists():
        say("XQuAD is not here: set PEGAS_XQUAD_DIR to a folder with ru.json and en.json")
        return
    figures = []
    with bench_runtime() as runtime:
        asked: dict[str, list[tuple[str, int]]] = {}
        places: dict[str, dict[int, int]] = {}
        for language in ("ru", "en"):
            paragraphs, asked[language] = read(language)
            if chosen.questions:
                step = max(1, len(asked[language]) // chosen.questions)
                asked[language] = asked[language][::step]
            started = time.perf_counter()
            places[language] = ingest(runtime, language, paragraphs)
            figures.append(
                Figure(f"ingest {language}", len(paragraphs) / (time.perf_counter() - started), "paragraphs/s")
            )
        for (question, text), target in TARGETS.items():
            took: list[float] = []
            reciprocal = 0.0
            for query, wanted in asked[question]:
                result = search(runtime.search_engines, SearchRequest.checked(query, sources=[f"text:{text}"]))
                took.append(result.took_ms)
                for rank, hit in enumerate(result.hits, 1):
                    if any(places[text].get(citation.document_id) == wanted for citation in hit.citations):
                        reciprocal += 1 / rank
                        break
            figures.append(Figure(f"MRR@10, {question} → {text}", reciprocal / len(took), "", f"≥ {target}"))
            figures.append(Figure(f"search, {question} → {text}, p95 with embedding", p95(took), "ms"))
            say(f"{question} → {text}: {reciprocal / len(took):.4f}")
    report("retrieval", figures)


if __name__ == "__main__":
    main()
