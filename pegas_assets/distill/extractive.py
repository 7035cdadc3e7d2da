"""Distils without a model: rules of wording for definitions, facts, tables, code and rules, in English and Russian."""

from __future__ import annotations

from collections.abc import Iterator

from pegas_assets.distill.code_blocks import code_of, extract_code
from pegas_assets.distill.definitions import definition_of
from pegas_assets.distill.facts import fact_of
from pegas_assets.distill.passages import blocks_of, sentences_of
from pegas_assets.distill.rules import json_rules, rule_of
from pegas_assets.distill.sentence import MAX_SENTENCE_CHARS, Sentence
from pegas_assets.distill.tables import extract_tables
from pegas_assets.model import AtomType, Block, BlockKind, ChunkToDistil, Distillation, DistilledAtom, DistilState


class ExtractiveDistiller:
    """Typed atoms by wording alone: the same chunk gives the same atoms, each quoting the chunk letter for letter."""

    @property
    def name(self) -> str:
        return "extractive/1"

    def distil(self, chunk: ChunkToDistil) -> Distillation:
        """The chunk's typed atoms in the order of their places, no two of one type with one content."""
        atoms: dict[tuple[AtomType, str], DistilledAtom] = {}
        for atom in _atoms(chunk):
            atoms.setdefault((atom.type, atom.claim), atom)
        if not atoms:
            return Distillation(state=DistilState.NO_FACTS, reason="No sentence, table or code that states anything.")
        return Distillation(state=DistilState.FACTS, atoms=tuple(atoms.values()))


def _atoms(chunk: ChunkToDistil) -> Iterator[DistilledAtom]:
    lead = ""
    for block in blocks_of(chunk):
        if block.kind is BlockKind.HEADING:
            lead = ""
        elif block.kind is BlockKind.TABLE:
            yield from extract_tables(chunk, block, lead)
        elif block.kind is BlockKind.CODE:
            yield from _code_atoms(chunk, block, lead)
        else:
            sentences = sentences_of(chunk, block)
            lead = sentences[-1].text if sentences and sentences[-1].raw.rstrip().endswith(":") else ""
            yield from _prose_atoms(chunk, block, sentences)


def _code_atoms(chunk: ChunkToDistil, block: Block, lead: str) -> Iterator[DistilledAtom]:
    """A block that is nothing but rules in JSON gives those; any other gives its code, and the rules in it."""
    code, start = code_of(chunk.content, block)
    found = list(json_rules(code, start))
    if sum(len("".join(rule.content.split())) for rule in found) < 0.8 * len("".join(code[:20_000].split())):
        yield from extract_code(chunk, block, lead)
    yield from found


def _prose_atoms(chunk: ChunkToDistil, block: Block, sentences: list[Sentence]) -> Iterator[DistilledAtom]:
    text = chunk.content[block.start : block.end]
    found = list(json_rules(text, block.start))
    yield from found
    subject = ""
    for sentence in sentences:
        if len(sentence.raw) > MAX_SENTENCE_CHARS or not sentence.text:
            subject = ""
            continue
        if any(rule.start < sentence.end and sentence.start < rule.end for rule in found):
            continue
        atom = rule_of(sentence) or definition_of(sentence) or fact_of(sentence, subject)
        if atom:
            yield atom
        subject = _subject_after(sentence, atom, subject)


def _subject_after(sentence: Sentence, atom: DistilledAtom | None, subject: str) -> str:
    """What a following "it" stands for: the term just defined, as long as nothing else has been spoken of."""
    if atom and atom.type is AtomType.DEFINITION:
        term = str(atom.metadata["term"])
        at = sentence.text.find(term)
        return sentence.text[: at + len(term)] if 0 <= at <= len("The ") else ""
    return subject if atom and subject and atom.claim.startswith(subject) else ""
