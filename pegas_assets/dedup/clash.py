"""What sets two statements apart that are no duplicates: a value that clashes, or merely another thing said."""

from __future__ import annotations

from collections import Counter

from pegas_assets.dedup import lexicon
from pegas_assets.dedup.antonyms import opposite
from pegas_assets.dedup.form import BE, Form
from pegas_assets.dedup.quantities import Token
from pegas_assets.dedup.statement import Verdict, VerdictKind, clash, related

_SHARED_MOST = 0.5
"""The share of tokens in common from which two statements speak of one thing, whatever their cosine."""

_SUBJECT_WORDS = 2
"""Fewer words in common say nothing of a subject: `Weight: 4 kg`."""


def shared(one: Form, other: Form) -> float:
    """The share of the longer statement's tokens that the other has too, prepositions and the copula left out."""
    mine = Counter(token.key for token in one.tokens if token.kind != "light")
    theirs = Counter(token.key for token in other.tokens if token.kind != "light")
    longer = max(mine.total(), theirs.total())
    return (mine & theirs).total() / longer if longer else 0.0


def explain(one: Form, other: Form, near: bool) -> Verdict:
    """How two statements in one language that are no duplicates stand to each other.

    `near` says that their cosine is that of related statements. A clash needs the same subject: all but what clashes is
    equal, and what clashes is not what names the subject.
    """
    mine, theirs = _left(one, other), _left(other, one)
    close = near or shared(one, other) >= _SHARED_MOST
    if not close:
        return Verdict(VerdictKind.DIFFERENT, "nothing in common")
    if one.question or other.question:
        return related("a question")
    if not mine and not theirs:
        return _same_words(one, other)
    if (found := _clash(mine, theirs, one, other)) is not None:
        return found
    for reason, listed in (
        ("negation", lexicon.NEGATIONS),
        ("conditions", lexicon.CONDITIONS),
        ("quantifiers", lexicon.QUANTIFIERS),
        ("modality or tense", lexicon.MODALS),
    ):
        if any(token.word in listed for token in (*mine, *theirs)):
            return related(reason)
    if any(token.values for token in (*mine, *theirs)):
        return related("numbers")
    if any(token.name for token in (*mine, *theirs)):
        return related("names")
    return related("other words")


def _left(one: Form, other: Form) -> list[Token]:
    """The tokens of one statement that the other lacks, in order."""
    theirs = other.keys
    left = []
    for token in one.tokens:
        if theirs[token.key] > 0:
            theirs[token.key] -= 1
        elif token.key != BE:
            left.append(token)
    return left


def _same_words(one: Form, other: Form) -> Verdict:
    def order(form: Form) -> list[str]:
        return [token.key for token in form.tokens if token.kind != "light"]

    if _negated(list(one.tokens)):
        counted = any(token.word in lexicon.QUANTIFIERS for token in one.tokens)
        return clash("scope of the negation") if counted else related("order around a negation")
    if order(one) == order(other):
        return related("inflection: tense, voice or roles")
    if [key for key in order(one) if key[0] not in "#@"] == [key for key in order(other) if key[0] not in "#@"]:
        return clash("numbers exchanged")
    if any(token.word in ("than", "чем") or token.word.endswith(("ее", "ше")) for token in one.tokens):
        return clash("sides of a comparison")
    return related("roles")


def _clash(mine: list[Token], theirs: list[Token], one: Form, other: Form) -> Verdict | None:
    if all(token.kind == "negation" for token in (*mine, *theirs)):
        return clash("negation")
    words = [token for token in (*mine, *theirs) if token.kind != "negation"]
    one_sided = _negated(mine) != _negated(theirs)
    if one_sided and all(token.word in lexicon.QUANTIFIERS or token.word == "есть" for token in words):
        return clash("negation")
    if len(mine) != len(theirs):
        return None
    pairs = list(zip(mine, theirs, strict=True))
    if all(a.kind == b.kind == "number" for a, b in pairs):
        return _numbers_clash(pairs, one)
    if len(pairs) > 1:
        return None
    a, b = pairs[0]
    if opposite(a.word, b.word) or opposite(a.key, b.key):
        said = f"opposites: {a.word} / {b.word}"
        # `The left valve …` and `the right valve …` are two valves.
        names_subject = a.kind == "word" and _position(a, one) == _position(b, other) == 0 and a.word.isalpha()
        return related(said) if names_subject else clash(said)
    named = a.name and b.name and _position(a, one) > 0 and _position(b, other) > 0
    if named and _words(one) > _SUBJECT_WORDS:
        return clash(f"names: {a.word} / {b.word}")
    return None


def _negated(tokens: list[Token]) -> bool:
    return any(token.kind == "negation" for token in tokens)


def _numbers_clash(pairs: list[tuple[Token, Token]], one: Form) -> Verdict:
    """One figure that differs is another value; several are another row, or another time besides."""
    if any(a.identifier or b.identifier for a, b in pairs):
        return related("numbers that name the subject")
    if _words(one) < _SUBJECT_WORDS:
        return related("other figures")
    a, b = pairs[0]
    if len(pairs) == 1 and a.unit == b.unit and a.values == b.values:
        return related("notation of a number")
    if len(pairs) == 1 and _opens(a, one):
        return related("times")
    said = ", ".join(f"{a.word} / {b.word}" for a, b in pairs)
    if len(pairs) > 1:
        return clash(f"numbers: {said}") if _exchanged(pairs) else related("other figures")
    return clash(f"{'numbers' if a.unit == b.unit else 'units'}: {said}")


def _exchanged(pairs: list[tuple[Token, Token]]) -> bool:
    return sorted(a.values for a, _ in pairs) == sorted(b.values for _, b in pairs)


def _opens(token: Token, form: Form) -> bool:
    """Whether a number stands in a phrase of time at the head of its statement: `In 2019 the yield was …`."""
    at = _position(token, form)
    return at == 1 and form.tokens[0].key in ("in", "on", "since", "by", "в", "на", "с", "до", "после", "к")


def _words(form: Form) -> int:
    return sum(token.kind in ("word", "negation") for token in form.tokens)


def _position(token: Token, form: Form) -> int:
    return next((i for i, other in enumerate(form.tokens) if other == token), -1)
