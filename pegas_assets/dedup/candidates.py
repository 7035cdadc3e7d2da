"""A batch of new statements settled: each is new, or one with an atom that is kept or that came before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pegas_assets.dedup.rule import compare, signature
from pegas_assets.dedup.statement import Statement, Verdict, VerdictKind
from pegas_assets.embedding.base import Vector, Vectors
from pegas_assets.embedding.profile import Profile

NEAREST = 16
"""How many of the nearest by cosine are compared; what has the same signature is compared besides."""

MOST_CONTRADICTIONS = 5
"""Of many statements that clash with one, the nearest are told."""


@dataclass(frozen=True)
class Candidate:
    """A new statement, its vector of length 1, and the hash of its content (`identity.atom_hash`)."""

    statement: Statement
    vector: Vector
    content_hash: str


@dataclass(frozen=True)
class Existing:
    """A kept atom near a candidate."""

    atom_id: int
    statement: Statement
    vector: Vector


@dataclass(frozen=True)
class KeptAtom:
    """Names an atom that is kept."""

    atom_id: int


@dataclass(frozen=True)
class BatchMember:
    """Names an earlier member of the same batch, itself new, by its position."""

    index: int


Ref = KeptAtom | BatchMember

ExistingLookup = Callable[[Sequence[Candidate]], Sequence[Sequence[Existing]]]
"""For each candidate the kept atoms to compare it with, in the order of the candidates.

The nearest by vector, those with the same `signature` where it is kept, and what is not projected yet.
"""


@dataclass(frozen=True)
class Contradiction:
    """Something that a new statement clashes with."""

    ref: Ref
    reason: str
    cosine: float


@dataclass(frozen=True)
class Resolution:
    """What becomes of a candidate: new where `duplicate_of` is None, else a citation for what it names."""

    duplicate_of: Ref | None = None
    reason: str = "new"
    cosine: float = 0.0
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def is_new(self) -> bool:
        return self.duplicate_of is None


@dataclass(frozen=True)
class Match:
    """The duplicate that was found among candidates: its position, why, and how near it is."""

    index: int
    reason: str
    cosine: float


def best_duplicate(
    statement: Statement,
    vector: Vector,
    matrix: Vectors,
    statements: Sequence[Statement],
    profile: Profile,
    top: int = NEAREST,
) -> Match | None:
    """The nearest of `statements` that says the same, or None.

    `matrix` holds their vectors, shape (n, dimension). The `top` nearest by cosine are compared.
    """
    if not len(statements):
        return None
    cosines = matrix @ vector
    for index in _nearest(cosines, top):
        verdict = compare(statement, statements[index], float(cosines[index]), profile)
        if verdict.is_duplicate:
            return Match(index, verdict.reason, float(cosines[index]))
    return None


def resolve(batch: Sequence[Candidate], existing: ExistingLookup, profile: Profile) -> list[Resolution]:
    """A resolution for each candidate, in order. Kept atoms come before members of the batch, the first before later ones.

    A duplicate carries no contradictions: what it is a duplicate of has them.
    """
    if not batch:
        return []
    matrix = np.stack([candidate.vector for candidate in batch])
    kept = existing(batch)
    settled: list[Resolution] = []
    by_hash: dict[str, int] = {}
    by_signature: dict[str, list[int]] = defaultdict(list)
    for i, (candidate, near) in enumerate(zip(batch, kept, strict=True)):
        if candidate.content_hash in by_hash:
            first = by_hash[candidate.content_hash]
            settled.append(Resolution(_final(settled, first), "same text", 1.0))
            continue
        by_hash[candidate.content_hash] = i
        name = signature(candidate.statement)
        resolution = _among_kept(candidate, near, profile)
        if resolution.is_new and i:
            resolution = _in_batch(i, batch, matrix, by_signature[name], settled, resolution, profile)
        by_signature[name].append(i)
        settled.append(resolution)
    return settled


def _among_kept(candidate: Candidate, near: Sequence[Existing], profile: Profile) -> Resolution:
    clashes: list[Contradiction] = []
    scored = sorted(
        ((float(candidate.vector @ atom.vector), atom) for atom in near), key=lambda pair: (-pair[0], pair[1].atom_id)
    )
    for cosine, atom in scored:
        verdict = compare(candidate.statement, atom.statement, cosine, profile)
        if verdict.is_duplicate:
            return Resolution(KeptAtom(atom.atom_id), verdict.reason, cosine)
        _note(clashes, KeptAtom(atom.atom_id), verdict, cosine)
    return Resolution(contradictions=_strongest(clashes))


def _in_batch(
    i: int,
    batch: Sequence[Candidate],
    matrix: Vectors,
    same_signature: Sequence[int],
    settled: Sequence[Resolution],
    so_far: Resolution,
    profile: Profile,
) -> Resolution:
    cosines = matrix[:i] @ matrix[i]
    order = [*same_signature, *(index for index in _nearest(cosines, NEAREST) if cosines[index] >= profile.related)]
    clashes = list(so_far.contradictions)
    for index in dict.fromkeys(order):
        cosine = float(cosines[index])
        verdict = compare(batch[i].statement, batch[index].statement, cosine, profile)
        if verdict.is_duplicate:
            return Resolution(_final(settled, index), verdict.reason, cosine)
        if settled[index].is_new:
            _note(clashes, BatchMember(index), verdict, cosine)
    return Resolution(contradictions=_strongest(clashes))


def _final(settled: Sequence[Resolution], index: int) -> Ref:
    """What a batch member stands for: itself where it is new, else what it is a duplicate of."""
    return settled[index].duplicate_of or BatchMember(index)


def _note(clashes: list[Contradiction], ref: Ref, verdict: Verdict, cosine: float) -> None:
    if verdict.kind is VerdictKind.CONTRADICTION_CANDIDATE:
        clashes.append(Contradiction(ref, verdict.reason, cosine))


def _strongest(clashes: list[Contradiction]) -> tuple[Contradiction, ...]:
    return tuple(sorted(clashes, key=lambda clash: -clash.cosine)[:MOST_CONTRADICTIONS])


def _nearest(cosines: Vector, top: int) -> list[int]:
    """Positions of the highest cosines, highest first."""
    if len(cosines) > top:
        chosen = np.argpartition(-cosines, top - 1)[:top]
        return [int(i) for i in chosen[np.argsort(-cosines[chosen], kind="stable")]]
    return [int(i) for i in np.argsort(-cosines, kind="stable")]
