"""The dedup rule: two statements, their cosine, the model's profile; no store, no model."""

from __future__ import annotations

import re
from functools import lru_cache

from pegas_assets.dedup.across import agree, anchors
from pegas_assets.dedup.clash import explain
from pegas_assets.dedup.form import Form, form_of, rule_language
from pegas_assets.dedup.order import same_statement
from pegas_assets.dedup.statement import Statement, Verdict, different, duplicate, related
from pegas_assets.embedding.profile import Profile
from pegas_assets.identity import atom_hash, canonical_text, sha256_hex
from pegas_assets.model import AtomType
from pegas_assets.text.sentences import split_sentences

EXACT_TYPES = frozenset((AtomType.CODE, AtomType.TABLE))
"""Types whose text is the same only letter for letter."""

MOST_SENTENCES = 12
"""Longer paragraphs are one thing only by their hash."""

_EDGES = re.compile(r"^[\s\"'«»“”„‘’*_–—-]+|[\s\"'«»“”„‘’*_.!…;:-]+$")


def compare(a: Statement, b: Statement, cosine: float, profile: Profile) -> Verdict:
    """Whether two statements are one, clash, speak of one thing, or have nothing to do with each other.

    Precision comes first. The words decide: what is left of them when articles, synonyms, notation, inflection and safe
    changes of order no longer count must be equal. The cosine, which is 0.96 for a paraphrase and for another number
    alike, can only forbid. The same for (a, b) as for (b, a).
    """
    if (b.text, b.language) < (a.text, a.language):
        a, b = b, a
    if a.type != b.type:
        return _of_two_types(a, b, cosine, profile)
    if atom_hash(a.type, a.text) == atom_hash(b.type, b.text):
        return duplicate("same text")
    if a.type in EXACT_TYPES:
        return different(f"{a.type} is the same by its text only")
    if _bare(a.text) == _bare(b.text):
        return duplicate("same wording")
    if a.type == AtomType.TEXT:
        return _paragraphs(a, b, cosine, profile)
    return _sentences(a, b, cosine, profile)


def signature(statement: Statement) -> str:
    """What two duplicates in one language share whatever their order: SHA-256 in hex of their form's tokens.

    Equal signatures make no duplicates by themselves; unequal ones rule them out, but for outer punctuation and other
    languages. A store that keeps it finds a duplicate among any number of statements that differ in one figure.
    """
    if statement.type in EXACT_TYPES:
        return atom_hash(statement.type, statement.text)
    parts = _split(statement.text, statement.language) if statement.type == AtomType.TEXT else (statement.text,)
    forms = [form_of(part, statement.language) for part in parts]
    lines = [" ".join(sorted(token.key for token in form.tokens)) for form in forms]
    return sha256_hex("\n".join([statement.type, rule_language(statement.text, statement.language), *lines]))


def _of_two_types(a: Statement, b: Statement, cosine: float, profile: Profile) -> Verdict:
    exact = a.type in EXACT_TYPES or b.type in EXACT_TYPES
    if exact or AtomType.TEXT in (a.type, b.type):
        return related("another type") if cosine >= profile.related and not exact else different("another type")
    verdict = _sentences(a, b, cosine, profile)
    return related("same wording, another type") if verdict.is_duplicate else verdict


def _paragraphs(a: Statement, b: Statement, cosine: float, profile: Profile) -> Verdict:
    ours, theirs = _split(a.text, a.language), _split(b.text, b.language)
    if len(ours) == len(theirs) == 1:
        return _sentences(a, b, cosine, profile)
    near = cosine >= profile.related
    if len(ours) != len(theirs) or len(ours) > MOST_SENTENCES:
        return related("paragraphs of other sentences") if near else different("other sentences")
    worst: Verdict | None = None
    for mine, other in zip(ours, theirs, strict=True):
        if _bare(mine) == _bare(other):
            continue
        verdict = _sentences(Statement(a.type, mine, a.language), Statement(b.type, other, b.language), cosine, profile)
        if not verdict.is_duplicate:
            worst = verdict
            break
    if worst is None:
        return duplicate("same sentences")
    return related(f"a sentence differs: {worst.reason}") if near else different("a sentence differs")


def _sentences(a: Statement, b: Statement, cosine: float, profile: Profile) -> Verdict:
    one, other = form_of(a.text, a.language), form_of(b.text, b.language)
    near = cosine >= profile.related
    if one.language != other.language:
        return _across(one, other, cosine, profile)
    if one.tokens and one.question == other.question and _same_either_way(one, other):
        if cosine >= profile.duplicate:
            return duplicate("same words")
        return related("same words, far apart in meaning") if near else different("far apart in meaning")
    return explain(one, other, near)


def _same_either_way(one: Form, other: Form) -> bool:
    return same_statement(one.tokens, other.tokens) or same_statement(other.tokens, one.tokens)


def _across(one: Form, other: Form, cosine: float, profile: Profile) -> Verdict:
    reason = agree(one, other)
    if not reason and cosine >= profile.cross_language_duplicate and anchors(one, other):
        return duplicate("same fact in another language")
    if cosine < profile.related:
        return different("another language, far apart in meaning")
    return related(f"another language: {reason or 'words cannot be compared'}")


@lru_cache(maxsize=8_000)
def _bare(text: str) -> str:
    """The text without outer punctuation, letter for letter otherwise."""
    return _EDGES.sub("", canonical_text(text))


@lru_cache(maxsize=4_000)
def _split(text: str, language: str) -> tuple[str, ...]:
    return tuple(text[start:end] for start, end in split_sentences(text, rule_language(text, language)))
