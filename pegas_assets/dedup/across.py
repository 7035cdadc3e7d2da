"""What two statements in two languages must agree in before their cosine may make them one."""

from __future__ import annotations

import re

from pegas_assets.dedup import lexicon
from pegas_assets.dedup.form import Form
from pegas_assets.dedup.quantities import Token

_CYRILLIC = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"
_LETTERS = str.maketrans(_CYRILLIC, "abvgdeejziiklmnoprstufhcqxx-y-eua")
_LATIN = (
    ("sch", "x"), ("tch", "q"), ("sh", "x"), ("ch", "q"), ("kh", "h"), ("zh", "j"), ("ph", "f"), ("th", "t"),
    ("ts", "c"), ("tz", "c"), ("ck", "k"), ("qu", "kv"), ("x", "ks"), ("w", "v"), ("q", "k"),
)  # fmt: skip


def agree(one: Form, other: Form) -> str:
    """Empty where numbers, units, negation, comparison and names agree; else what does not."""
    if sorted(_numbers(one)) != sorted(_numbers(other)):
        return "numbers"
    if _negated(one) != _negated(other):
        return "negation"
    if _conditional(one) != _conditional(other):
        return "conditions"
    if not _names_found(one, other) or not _names_found(other, one):
        return "names"
    return "a question" if one.question != other.question else ""


def anchors(one: Form, other: Form) -> int:
    """How many numbers and names two statements share: what ties them to one fact besides their cosine."""
    names = sum(1 for token in one.tokens if token.name and _found(token, other))
    return len(_numbers(one)) + names


def skeleton(word: str) -> str:
    """A name's consonants in one alphabet: `Гагарин` and `Gagarin` have the same."""
    word = word.lower().translate(_LETTERS).replace("-", "")
    for written, sound in _LATIN:
        word = word.replace(written, sound)
    word = re.sub(r"c(?![eiy])", "k", word)
    return re.sub(r"(.)\1+", r"\1", re.sub(r"[aeiouy]", "", word))


def _numbers(form: Form) -> list[str]:
    return [token.key for token in form.tokens if token.kind == "number"]


def _negated(form: Form) -> bool:
    return sum(token.kind == "negation" for token in form.tokens) % 2 == 1


def _conditional(form: Form) -> bool:
    return any(token.word in lexicon.CONDITIONS for token in form.tokens)


def _names_found(one: Form, other: Form) -> bool:
    """Whether every name has its match; what opens a sentence may be a name, and counts as one."""
    opening = next((token for token in one.tokens if token.kind == "word"), None)
    return all(_found(token, other) for token in one.tokens if token.name or token is opening)


def _found(name: Token, form: Form) -> bool:
    wanted = skeleton(name.word)
    return any(_alike(wanted, skeleton(token.word)) for token in form.tokens if token.kind == "word")


def _alike(one: str, other: str) -> bool:
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    # A Russian ending adds a consonant at most: `Лукиным`.
    return len(short) >= 2 and long.startswith(short) and len(long) - len(short) <= 1
