"""Whether two words are forms of one word, without a change that changes what is said."""

from __future__ import annotations

import re
from functools import lru_cache

from pegas_assets.text.stemming import stem

_IRREGULAR_PLURALS = (
    "men:man women:woman children:child people:person feet:foot teeth:tooth mice:mouse geese:goose wolves:wolf "
    "leaves:leaf lives:life knives:knife halves:half shelves:shelf loaves:loaf calves:calf thieves:thief selves:self "
    "oxen:ox criteria:criterion phenomena:phenomenon bacteria:bacterium fungi:fungus nuclei:nucleus larvae:larva "
    "analyses:analysis crises:crisis theses:thesis octopi:octopus data:data gases:gas shoes:shoe does:do goes:go has:have is:be are:be am:be"
)
_PLURALS = dict(pair.split(":") for pair in _IRREGULAR_PLURALS.split())
_USE = re.compile(r"(?:[aeo]|^|f|m|ab|exc|acc|ref|re|mis)uses$")
_NO_PLURAL = re.compile(r"(?:ss|us|is|ics|news|series|species|lens|gas|always|perhaps|besides|sometimes|afterwards)$")


@lru_cache(maxsize=50_000)
def english_base(word: str) -> str:
    """An English word without the `s` of a plural or a third person. Tense, `-ing` and derivation stay: they matter."""
    if word in _PLURALS:
        return _PLURALS[word]
    if len(word) < 4 or not word.endswith("s") or _NO_PLURAL.search(word):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if re.search(r"(?:sses|shes|ches|xes|zzes|oes)$", word):
        return word[:-2]
    if word.endswith("uses") and not _USE.search(word):
        return word[:-2]
    return word[:-1]


_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("superlative", re.compile(r"(?:ейш|айш)")),
    ("comparative", re.compile(r"^н?ее$")),
    (
        "participle",
        re.compile(r"(?:вш|ущ|ющ|ащ|ящ)|нн(?:ый|ая|ое|ые|ого|ой|ых|ым|ую|ому|ом|ыми)$|^ем(?:ый|ая|ое|ые|ых|ой)$"),
    ),
    ("quality", re.compile(r"ост")),
    ("past", re.compile(r"^(?:[аяиеыоу]|ова|ева)?л(?:[аои])?$")),
    ("infinitive", re.compile(r"(?:[аяиеыоу]?ть|ти|чь)$")),
    ("short", re.compile(r"^(?:[ае]?н(?:[аоы])?)$")),
    ("present", re.compile(r"^(?:[аяиеуы]?[её]т|[уюая]т|ит|у[юе]т|уют|[её]шь|ишь|ете|ите|ем|им)$")),
)


@lru_cache(maxsize=50_000)
def russian_shape(word: str) -> tuple[str, str, bool]:
    """What a Russian word's ending says: the class, the ending itself, and whether the word is reflexive.

    Classes: past, present, infinitive, short (participles and adjectives in -н), participle, comparative, superlative,
    quality (-ость), nominal (all the rest).
    """
    reflexive = len(word) > 4 and word.endswith(("ся", "сь"))
    body = word[:-2] if reflexive else word
    root = stem(word)
    ending = body[len(root) :] if body.startswith(root) else ""
    for name, pattern in _RULES:
        if pattern.search(ending):
            return name, ending, reflexive
    return "nominal", ending, reflexive


def russian_forms_agree(one: str, other: str) -> bool:
    """Whether two Russian words of one stem (or one group of synonyms) differ in case, number or person at most.

    Tense, voice, mood, comparison and the gender of a past tense must agree: they say who, when and how much.
    """
    if one == other:
        return True
    kind, ending, reflexive = russian_shape(one)
    other_kind, other_ending, other_reflexive = russian_shape(other)
    if kind != other_kind or reflexive != other_reflexive:
        return False
    if kind == "past":
        return _genders_agree(ending, other_ending, "и")
    if kind == "short":
        return _genders_agree(ending, other_ending, "ы")
    return kind != "comparative" or ending == other_ending


_OBJECT_MADE = frozenset(
    map(frozenset, (("а", "у"), ("я", "ю"), ("", "а"), ("", "я"), ("ь", "я"), ("й", "я"), ("", "о"), ("а", "о")))
)
_PLURAL_MADE = frozenset(frozenset((one, many)) for one in ("", "а", "я", "ь", "й") for many in ("ы", "и"))


def roles_change(pairs: list[tuple[str, str]]) -> bool:
    """Whether the endings of aligned Russian nominals changed so that a subject may have become an object.

    `Мама любит дочку` and `Маму любит дочка` have the same stems in the same order. Two nominals that exchange
    endings, one that goes between the nominative and the form of an object (`пар` and `пара` are two words besides, and of
    some verbs the stemmer leaves the past: `покинул`, `покинуло`), or one whose number changes while the verb's does not, are enough.
    """
    changed = []
    verbs = []
    for one, other in pairs:
        kind, ending, _ = russian_shape(one)
        other_kind, other_ending, _ = russian_shape(other)
        if kind == other_kind == "nominal" and ending != other_ending:
            changed.append((ending, other_ending))
        elif kind in ("present", "past", "short"):
            verbs.append(ending == other_ending)
    if any((other, one) in changed for one, other in changed):
        return True
    if any(frozenset(pair) in _OBJECT_MADE for pair in changed):
        return True
    return bool(verbs) and all(verbs) and any(frozenset(pair) in _PLURAL_MADE for pair in changed)


def _genders_agree(ending: str, other: str, plural: str) -> bool:
    if ending.endswith(plural) or other.endswith(plural):
        return True
    vowels = "ао"
    return (ending[-1:] if ending[-1:] in vowels else "") == (other[-1:] if other[-1:] in vowels else "")
