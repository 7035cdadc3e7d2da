"""Which statement of a text is the cause of which: told by the words between them, and by those that a sentence opens with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

SURE = 0.8
LIKELY = 0.6

_THEREFORE = re.compile(
    r"^(?:therefore|thus|hence|consequently|accordingly|as a (?:result|consequence)|for (?:this|that) reason|because of (?:this|that)"
    r"|that is why|this is why|поэтому|следовательно|вследствие (?:этого|чего)|в результате(?: этого)?|из-за этого|по этой причине"
    r"|оттого|вот почему|значит)\b[\s,:—–-]*(?!of\b)\w",
    re.IGNORECASE,
)
_SO = re.compile(r"^(?:so,|so (?:the|it|they|he|she|we|a|an)\b|итак,|так что\b|потому(?!\s*,?\s*что)\b)", re.IGNORECASE)
_REASON = re.compile(
    r"^(?:(?:this|that|it) (?:is|was) because|the (?:reason|cause) (?:is|was|for (?:this|that) (?:is|was))"
    r"|(?:это|так) (?:происходит|вызвано|случается|бывает)?,? ?(?:потому,? что|из-за того,? что)|причина(?: этого)?(?: в том,? что| —| –|:)|дело в том,? что)",
    re.IGNORECASE,
)
_BETWEEN_EFFECT = re.compile(
    r"^[\s,;—–-]*(?:and )?(?:therefore|thus|hence|consequently|so that|as a result|which is why|и поэтому|поэтому|следовательно|так что|вследствие чего|отчего)[\s,]*$",
    re.IGNORECASE,
)
_BETWEEN_CAUSE = re.compile(
    r"^[\s,;—–-]*(?:because|since|as|потому,? что|так как|поскольку|ибо|из-за того,? что|оттого,? что)[\s,]*$",
    re.IGNORECASE,
)
_NO_WORDS = re.compile(r"^[\W_]*$")
_FAR_CHARS = 300
_ENUMERATOR = re.compile(r"^\s*(?:[-*+•>]\s+|\d{1,3}[.)]\s+)+")
_NEW_PART = re.compile(r"\n\s*\n\s*(?:#{1,6} |\||```|>)")


@dataclass(frozen=True)
class Said:
    """A statement of a chunk, by its span in the chunk's text."""

    start: int
    end: int


@dataclass(frozen=True)
class Cause:
    """That one statement causes another, by their places in the sequence that was given."""

    cause: int
    effect: int
    confidence: float


def causes(text: str, statements: Sequence[Said]) -> list[Cause]:
    """The causes that a text names between neighbouring statements, each pair once.

    “Therefore …” points from the sentence before to this one, “The reason is …” the other way; within a sentence
    “because” and its kin part two statements. Between the two no other words may stand, and no heading, table or code.
    """
    order = sorted(range(len(statements)), key=lambda place: (statements[place].start, -statements[place].end))
    found: dict[tuple[int, int], float] = {}
    for at, place in enumerate(order):
        here = statements[place]
        before = _neighbour(text, statements, order[:at], here)
        if before is None:
            continue
        gap = text[statements[before].end : here.start]
        opening = _ENUMERATOR.sub("", text[here.start : here.end])
        pair: tuple[int, int] | None = None
        confidence = SURE
        if _BETWEEN_EFFECT.match(gap):
            pair = (before, place)
        elif _BETWEEN_CAUSE.match(gap):
            pair = (place, before)
        elif _NO_WORDS.match(gap) and not _NEW_PART.search(gap + text[here.start : here.start + 4]):
            if _THEREFORE.match(opening):
                pair = (before, place)
            elif _REASON.match(opening):
                pair = (place, before)
            elif _SO.match(opening):
                pair, confidence = (before, place), LIKELY
        if pair is not None:
            found[pair] = max(confidence, found.get(pair, 0.0))
    return [Cause(cause, effect, confidence) for (cause, effect), confidence in sorted(found.items())]


def _neighbour(text: str, statements: Sequence[Said], earlier: Sequence[int], here: Said) -> int | None:
    """The statement that ends last before this one begins; the shortest of those that end there."""
    ended = [place for place in earlier if statements[place].end <= here.start]
    if not ended:
        return None
    near = max(ended, key=lambda place: (statements[place].end, statements[place].start))
    return near if here.start - statements[near].end <= _FAR_CHARS else None
