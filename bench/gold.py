"""Prints precision, recall and F1 of the extractive distiller on the gold documents, tuned and held out apart.

python bench/gold.py [--errors] [--held-out]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pegas_assets.distill.extractive import ExtractiveDistiller
from tests.gold.scoring import Outcome, atoms_of, chunks_of, load_gold, score, tallies


def show(title: str, outcomes: list[Outcome]) -> None:
    print(f"\n{title}: {len(outcomes)} documents")
    print(f"{'type':14}{'language':10}{'right':>7}{'wrong':>7}{'missed':>8}{'precision':>11}{'recall':>8}{'F1':>7}")
    for (kind, language), tally in sorted(tallies(outcomes).items()):
        print(
            f"{kind:14}{language:10}{tally.right:7}{tally.wrong:7}{tally.missed:8}"
            f"{tally.precision:11.3f}{tally.recall:8.3f}{tally.f1:7.3f}"
        )
    print(f"sentences that must not become atoms and did: {sum(len(outcome.forbidden) for outcome in outcomes)}")


def show_errors(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        for atom in outcome.wrong:
            print(f"  wrong  {outcome.document.name}: [{atom.type}] {atom.claim}")
        for label in outcome.missed:
            print(f"  missed {outcome.document.name}: [{'/'.join(label.types)}] {label.quotation[:150]!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", action="store_true", help="list what was wrong and missed in the tuned documents")
    parser.add_argument("--held-out", action="store_true", help="list it for the held-out documents too")
    arguments = parser.parse_args()
    distiller = ExtractiveDistiller()
    outcomes = [score(document, atoms_of(document, distiller)) for document in load_gold()]
    tuned = [outcome for outcome in outcomes if not outcome.document.held_out]
    held_out = [outcome for outcome in outcomes if outcome.document.held_out]
    show("tuned", tuned)
    if arguments.errors:
        show_errors(tuned)
    if held_out:
        show("held out", held_out)
        if arguments.held_out:
            show_errors(held_out)
    chunks = [chunk for document in load_gold() for chunk in chunks_of(document)]
    began = time.perf_counter()
    count = sum(len(distiller.distil(chunk).atoms) for chunk in chunks)
    spent = time.perf_counter() - began
    print(f"\n{len(chunks)} chunks, {count} atoms in {spent:.2f} s: {len(chunks) / spent:.0f} chunks/s")


if __name__ == "__main__":
    main()
