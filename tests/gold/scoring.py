"""How well typed atoms match the labels of the gold documents: precision, recall and F1 by type and language.

A label names a type (and others that would do), a quotation, and words that the claim must hold. An atom matches a
label when the type fits, the quotations share most of their words, and the claim holds the words, opens with no
pronoun and carries no Markdown. An atom that matches no label is wrong; one that matches an optional label counts
neither way.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pegas_assets.distill.base import Distiller
from pegas_assets.model import ChunkToDistil, DistilledAtom

GOLD = Path(__file__).parent
ENOUGH_SHARED = 0.55
"""F1 of the words of two quotations from which on they are the same place."""
MAX_CLAIM_CHARS = 220

_WORD = re.compile(r"\w+")
_OPENS_WITH_PRONOUN = re.compile(
    r"(?:it|they|he|she|this|that|these|those|its|their|his|her|он|она|оно|они|это|этот|эта|эти|его|её|ее|их)\b",
    re.IGNORECASE,
)
_MARKS = re.compile(r"\*\*|`|\]\(|^[-*+>#|] ")


@dataclass(frozen=True)
class Label:
    """An atom that a careful reader takes from the document."""

    type: str
    quotation: str
    also: tuple[str, ...] = ()
    claim_contains: tuple[str, ...] = ()
    optional: bool = False

    @property
    def types(self) -> tuple[str, ...]:
        return (self.type, *self.also)


@dataclass(frozen=True)
class GoldDocument:
    """A document with its labels."""

    name: str
    path: Path
    language: str
    held_out: bool
    labels: tuple[Label, ...]
    must_not: tuple[str, ...]


@dataclass
class Tally:
    """Counts of what was right, wrong and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass
class Outcome:
    """What became of one document's labels and atoms."""

    document: GoldDocument
    matched: list[tuple[Label, DistilledAtom]] = field(default_factory=list)
    wrong: list[DistilledAtom] = field(default_factory=list)
    missed: list[Label] = field(default_factory=list)
    forbidden: list[DistilledAtom] = field(default_factory=list)
    """Atoms made of a sentence that must not become one."""


def load_gold() -> list[GoldDocument]:
    """All gold documents, in the order of their names."""
    found = []
    for folder in sorted(GOLD.glob("[0-9]*")):
        expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
        found.append(
            GoldDocument(
                name=folder.name,
                path=next(folder.glob("document.*")),
                language=expected["language"],
                held_out=expected["held_out"],
                labels=tuple(
                    Label(
                        type=atom["type"],
                        quotation=atom["quotation"],
                        also=tuple(atom.get("also", ())),
                        claim_contains=tuple(atom.get("claim_contains", ())),
                        optional=atom.get("optional", False),
                    )
                    for atom in expected["atoms"]
                ),
                must_not=tuple(expected["must_not"]),
            )
        )
    return found


def chunks_of(document: GoldDocument) -> list[ChunkToDistil]:
    """The document as the pipeline hands it to a distiller."""
    from pegas_assets.sources.registry import parse

    media_types = {".md": "text/markdown", ".html": "text/html", ".txt": "text/plain"}
    parsed = parse(
        document.path.read_bytes(), name=document.path.name, media_type=media_types.get(document.path.suffix, "")
    )
    return [
        ChunkToDistil(
            content=chunk.content,
            language=chunk.language,
            section=chunk.locator.section,
            blocks=chunk.blocks,
            document_title=parsed.title,
            document_kind=parsed.kind,
        )
        for chunk in parsed.chunks
    ]


def atoms_of(document: GoldDocument, distiller: Distiller) -> list[DistilledAtom]:
    return [atom for chunk in chunks_of(document) for atom in distiller.distil(chunk).atoms]


def score(document: GoldDocument, atoms: Iterable[DistilledAtom]) -> Outcome:
    """Pairs labels with atoms, the closest quotations first, each at most once."""
    given = list(atoms)
    outcome = Outcome(document)
    pairs = sorted(
        (
            (likeness, -label_at, -atom_at)
            for label_at, label in enumerate(document.labels)
            for atom_at, atom in enumerate(given)
            if (likeness := _likeness(label.quotation, atom.quotation)) >= ENOUGH_SHARED and _fits(label, atom)
        ),
        reverse=True,
    )
    labels_taken: set[int] = set()
    atoms_taken: set[int] = set()
    for _, label_at, atom_at in pairs:
        if -label_at not in labels_taken and -atom_at not in atoms_taken:
            labels_taken.add(-label_at)
            atoms_taken.add(-atom_at)
            outcome.matched.append((document.labels[-label_at], given[-atom_at]))
    outcome.wrong = [atom for at, atom in enumerate(given) if at not in atoms_taken]
    outcome.missed = [
        label for at, label in enumerate(document.labels) if at not in labels_taken and not label.optional
    ]
    outcome.forbidden = [
        atom for atom in given if any(_likeness(sentence, atom.quotation) >= 0.75 for sentence in document.must_not)
    ]
    return outcome


def _fits(label: Label, atom: DistilledAtom) -> bool:
    claim = _folded(atom.claim)
    return (
        atom.type.value in label.types
        and all(_folded(words) in claim for words in label.claim_contains)
        and len(atom.claim) <= MAX_CLAIM_CHARS
        and not _OPENS_WITH_PRONOUN.match(atom.claim)
        and not _MARKS.search(atom.claim)
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("ё", "е").split())


def _likeness(one: str, other: str) -> float:
    """F1 of the words of two texts, each word as often as it occurs."""
    left, right = Counter(_WORD.findall(_folded(one))), Counter(_WORD.findall(_folded(other)))
    shared = (left & right).total()
    return 2 * shared / (left.total() + right.total()) if shared else 0.0


def tallies(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], Tally]:
    """Counts by (type, language); `all` stands for every type or language."""
    counts: dict[tuple[str, str], Tally] = defaultdict(Tally)
    for outcome in outcomes:
        language = outcome.document.language
        for label, atom in outcome.matched:
            if not label.optional:
                _count(counts, atom.type.value, language, "right")
        for atom in outcome.wrong:
            _count(counts, atom.type.value, language, "wrong")
        for label in outcome.missed:
            _count(counts, label.type, language, "missed")
    return dict(counts)


def _count(counts: dict[tuple[str, str], Tally], kind: str, language: str, what: str) -> None:
    for key in ((kind, language), (kind, "all"), ("all", language), ("all", "all")):
        tally = counts[key]
        setattr(tally, what, getattr(tally, what) + 1)
