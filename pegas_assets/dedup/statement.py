"""What the dedup rule compares, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pegas_assets.model import AtomType


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim, or for a `text` atom its whole text, with its language (`ru`, `en`, …; `und` where unknown)."""

    type: AtomType
    text: str
    language: str = "und"


class VerdictKind(StrEnum):
    """`contradiction_candidate` is one subject with a value that clashes; `related` speaks of the same thing."""

    DUPLICATE = "duplicate"
    CONTRADICTION_CANDIDATE = "contradiction_candidate"
    RELATED = "related"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How two statements stand to each other, and the short reason."""

    kind: VerdictKind
    reason: str

    @property
    def is_duplicate(self) -> bool:
        return self.kind is VerdictKind.DUPLICATE


def duplicate(reason: str) -> Verdict:
    return Verdict(VerdictKind.DUPLICATE, reason)


def clash(reason: str) -> Verdict:
    return Verdict(VerdictKind.CONTRADICTION_CANDIDATE, reason)


def related(reason: str) -> Verdict:
    return Verdict(VerdictKind.RELATED, reason)


def different(reason: str) -> Verdict:
    return Verdict(VerdictKind.DIFFERENT, reason)
