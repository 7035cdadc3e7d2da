"""Which language a stretch of text is in: by its script, then by its letters, then by a small model."""

from __future__ import annotations

import re
from copy import copy
from functools import lru_cache
from typing import Protocol

_NOT_PROSE = re.compile(r"https?://\S+|\S+@\S+|[\w./\\-]+[/\\][\w./\\-]+|\b\w*[_\d]\w*\b")
_LETTER = re.compile(r"[^\W\d_]")
_LATIN_LETTER = re.compile("[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]")
_CYRILLIC_LETTER = re.compile("[\u0400-\u052f]")
_SCRIPTS = {
    "greek": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "hebrew": re.compile("[\u0590-\u05ff\ufb1d-\ufb4f]"),
    "arabic": re.compile("[\u0620-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc]"),
    "kana": re.compile("[\u3040-\u30ff]"),
    "han": re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002ffff]"),
    "hangul": re.compile("[\uac00-\ud7af\u1100-\u11ff]"),
    "thai": re.compile("[\u0e01-\u0e4e]"),
    "devanagari": re.compile("[\u0900-\u097f]"),
    "georgian": re.compile("[\u10a0-\u10ff]"),
    "armenian": re.compile("[\u0531-\u0587]"),
}
_ONE_LANGUAGE = {"greek": "el", "hebrew": "he", "hangul": "ko", "thai": "th", "georgian": "ka", "armenian": "hy"}

_LATIN_LANGUAGES = (
    "en de fr es it pt nl pl cs sk sl hr ro hu sv da no fi et lv lt tr id vi ca la sq eu is ga cy eo az uz sw tl"
)
_ENGLISH = (
    "the of and to in is that it for was on are as with be by this have from or had not but what all were when we "
    "there can an your which their if will each about how up out them then she many some so these would other into "
    "has more her two like him see could no make than been its who now did get may over only very after most also "
    "before should where does you they he his our at do i a"
)
_LATIN = tuple(_LATIN_LANGUAGES.split())
_ENGLISH_WORDS = frozenset(_ENGLISH.split())
_SURE_ENGLISH = frozenset(("the", "and", "with", "this", "that", "which", "were", "from"))
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")

_ENOUGH_LETTERS = 20
"""Fewer letters than this say nothing sure about the language."""

_SAMPLE_CHARS = 1200


class _Ranks(Protocol):
    def set_languages(self, langs: tuple[str, ...]) -> None: ...

    def rank(self, text: str) -> list[tuple[str, float]]: ...


def detect_language(text: str, *, hint: str = "und") -> str:
    """The ISO 639-1 code of the text's main language, or `und` where the text does not say.

    `hint` is the language of the surroundings (a chunk's document): it stands where the text alone is too short to
    tell. Addresses, paths and identifiers are left out first. A text that is at least three tenths Cyrillic is taken
    as Cyrillic: technical prose in Russian is full of Latin names. Looks at the first 1,200 characters.
    """
    sample = _NOT_PROSE.sub(" ", text[:_SAMPLE_CHARS])
    letters = len(_LETTER.findall(sample))
    if letters < 2:
        return hint
    if sample.isascii():
        return _latin(sample, letters, hint)
    cyrillic = len(_CYRILLIC_LETTER.findall(sample))
    if cyrillic >= 0.3 * letters:
        return _cyrillic(sample, cyrillic)
    latin = len(_LATIN_LETTER.findall(sample))
    if latin == letters:
        return _latin(sample, latin, hint)
    counts = {script: len(pattern.findall(sample)) for script, pattern in _SCRIPTS.items()}
    other = letters - latin - cyrillic - sum(counts.values())
    # A syllable or an ideograph says as much as several letters.
    for script in ("han", "hangul", "kana"):
        counts[script] *= 3
    counts["latin"] = latin
    script = max(counts, key=counts.__getitem__)
    if other > counts[script]:
        return _ranked(sample, None) if letters >= _ENOUGH_LETTERS else "und"
    if script in _ONE_LANGUAGE:
        return _ONE_LANGUAGE[script]
    if script in ("han", "kana"):
        return "ja" if counts["kana"] * 20 >= counts["han"] else "zh"
    if script == "arabic":
        return _arabic(sample)
    if script == "devanagari":
        return _ranked(sample, ("hi", "mr", "ne")) if letters >= _ENOUGH_LETTERS else "hi"
    return _latin(sample, latin, hint)


def _cyrillic(sample: str, letters: int) -> str:
    low = sample.lower()
    seen = frozenset(low)
    if seen & frozenset("қғңөұүһәҳҷӣӯҡҙҫ"):
        return _ranked(sample, ("kk", "ky", "tt", "ba", "mn", "tg"))
    if seen & frozenset("ђћ"):
        return "sr"
    if seen & frozenset("ѓќѕ"):
        return "mk"
    if seen & frozenset("љњџј"):
        return _ranked(sample, ("sr", "mk"))
    ukrainian = sum(low.count(letter) for letter in "іїєґ")
    russian = sum(low.count(letter) for letter in "ыэёъ")
    # Belarusian writes і and has no и; Ukrainian has both, and never ы.
    if "і" in seen and "и" not in seen and seen & frozenset("ыўэё"):
        return "be"
    if ukrainian and ukrainian >= russian:
        return "uk"
    if seen & frozenset("ыэё"):
        return "ru"
    if letters < 2 * _ENOUGH_LETTERS:
        return "ru"
    return _ranked(sample, ("ru", "uk", "bg", "sr", "mk"))


def _arabic(sample: str) -> str:
    seen = frozenset(sample)
    if seen & frozenset("ٹڈڑےں"):
        return "ur"
    return "fa" if seen & frozenset("پچژگیک") and not seen & frozenset("ةىي") else "ar"


def _latin(sample: str, letters: int, hint: str) -> str:
    words = [word.lower() for word in _WORD.findall(sample)]
    # Function words decide most English without loading a model.
    if len(words) >= 4 and sum(word in _ENGLISH_WORDS for word in words) >= 0.3 * len(words) and sample.isascii():
        return "en"
    hint = hint if hint in _LATIN else "und"
    if len(words) < 2:
        return hint
    if letters < 2 * _ENOUGH_LETTERS and not _SURE_ENGLISH.isdisjoint(words) and sample.isascii():
        return "en"
    ranks = _model(_LATIN).rank(sample[:600])
    best, share = ranks[0]
    # Short English with names in it comes out as anything; take English where it is among the likely ones.
    if best != "en" and letters < 120 and dict(ranks)["en"] >= 0.5 * share and sample.isascii():
        best = "en"
    if letters < 120 and hint != "und" and dict(ranks)[hint] >= 0.1 * share:
        return hint
    return best if share >= (0.12 if letters >= _ENOUGH_LETTERS else 0.35) else hint


def _ranked(sample: str, languages: tuple[str, ...] | None) -> str:
    return _model(languages).rank(sample[:600])[0][0]


@lru_cache(maxsize=16)
def _model(languages: tuple[str, ...] | None) -> _Ranks:
    narrow = copy(_full_model())
    if languages is not None:
        narrow.set_languages(languages)
    return narrow


@lru_cache(maxsize=1)
def _full_model() -> _Ranks:
    from py3langid.langid import LanguageIdentifier

    return LanguageIdentifier.from_model_file("data/model.npz.xz", norm_probs=True)  # type: ignore[no-any-return]
