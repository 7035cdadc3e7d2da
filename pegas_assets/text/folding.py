"""The search copy of a text: what is compared, ranked and looked up, never what is stored or shown."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = (
    *(0x00AD, 0x034F, 0x061C, 0x180E, 0xFEFF),
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
)
_APOSTROPHES = "\u2018\u2019\u201b\u02bc\u02b9\u02bb\u2032\u0060\u00b4\uff07"
_HYPHENS = "\u2010\u2011\u2212\ufe63\uff0d"
_BEFORE: dict[int, str | None] = {
    **dict.fromkeys(_INVISIBLE, None),
    **{ord(mark): "'" for mark in _APOSTROPHES},
    **{ord(mark): "-" for mark in _HYPHENS},
    ord("№"): " ",  # NFKC makes the Latin word `no` of it
}
"""Applied before the normal form: NFKC turns a spacing acute into a space with a combining mark."""

_PLAIN = str.maketrans({"ё": "е", "ѐ": "е", "ѝ": "и", "Ё": "Е", "Ѐ": "Е", "Ѝ": "И"})

# Latin and Cyrillic letters that look the same: in both cases, then in capitals only. `ѕ`, `і` and `ј` are Cyrillic.
_LATIN = "aceopxyijsACEOPXYIJSBHKMT"
_CYRILLIC = "асеорхуіјѕАСЕОРХУІЈЅВНКМТ"
_TO_CYRILLIC = str.maketrans(_LATIN, _CYRILLIC)
_TO_LATIN = str.maketrans(_CYRILLIC, _LATIN)
_LATIN_ALIKE = frozenset(_LATIN)
_CYRILLIC_ALIKE = frozenset(_CYRILLIC)

_ORDINARY = re.compile(r"[\x00-\x5f\x61-\x7fА-Яа-яЁё«»—–„“”]*")
_MIXED = re.compile(r"[A-Za-z][\u0400-\u04FF]|[\u0400-\u04FF][A-Za-z]")
_LETTER_RUN = re.compile(r"[^\W\d_]+")
_HAS_LATIN = re.compile(r"[A-Za-z]")
_HAS_CYRILLIC = re.compile(r"[\u0400-\u04FF]")
_STRESS = re.compile(r"(?<=[\u0400-\u04FF])[\u0300\u0301]+")
_C_FAMILY = re.compile(r"(?<!\w)[Сс](?=\+\+|#)")
_ACCENTED = re.compile(r"[\u00c0-\u024f\u1e00-\u1eff]")
_LATIN_MARKS = re.compile(r"([A-Za-z])[\u0300-\u036f]+")

# Decimals stay whole; `c++` and `c#` keep their sign; an apostrophe inside a word is part of it.
_WORD = re.compile(r"\d+(?:[.,]\d+)+|(?<!\w)[a-z](?:\+\+|#)|[^\W_]+(?:'[^\W_]+)*")


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit in it: without one nothing can be found by it."""
    # Signs such as ㎏ become letters only when they are folded.
    return any(map(str.isalnum, text)) or bool(words(text))


def fold(text: str) -> str:
    """The search copy: NFKC, lower case, `ё` as `е`, no stress marks, invisible signs or accents, white space single.

    Look-alike letters are replaced only inside words of mixed script (`Сocна` typed with a Latin `c` and `o`), by
    whichever script makes the word one. Folding twice changes nothing.
    """
    if text.isascii():
        return " ".join(text.replace("`", "'").lower().split())
    ordinary = _ORDINARY.fullmatch(text) is not None
    if ordinary:  # nine texts of ten; what follows would leave them as they are
        text = text.replace("ё", "е").replace("Ё", "Е")
    else:
        text = _without_marks(unicodedata.normalize("NFKC", text.translate(_BEFORE)).translate(_BEFORE))
    if "++" in text or "#" in text:
        text = _C_FAMILY.sub("C", text)
    if _MIXED.search(text):
        text = _LETTER_RUN.sub(_one_script, text)
    text = text.casefold()
    if not ordinary:
        text = _without_marks(unicodedata.normalize("NFKC", text).translate(_BEFORE))
        if _MIXED.search(text):  # lower case opens `ß` and its like: a word may have become foldable
            text = _LETTER_RUN.sub(_one_script, text)
    return " ".join(text.split())


def words(text: str) -> list[str]:
    """The words of a text's search copy, in order: letters and digits, `3,5` as `3.5`, `c++` whole, `x86-64` in two."""
    return words_of_folded(fold(text))


def words_of_folded(folded: str) -> list[str]:
    """The words of what `fold` returned."""
    found: list[str] = _WORD.findall(folded)
    return [word.replace(",", ".") for word in found] if "," in folded else found


def is_cyrillic(word: str) -> bool:
    """Whether a word has a Cyrillic letter."""
    return _HAS_CYRILLIC.search(word) is not None


def is_latin(word: str) -> bool:
    """Whether a word has a letter of the basic Latin alphabet."""
    return _HAS_LATIN.search(word) is not None


def _one_script(match: re.Match[str]) -> str:
    word = match.group()
    latin = [letter for letter in word if letter.isascii()]
    cyrillic = [letter for letter in word if "\u0400" <= letter <= "\u04ff"]
    if not latin or not cyrillic:
        return word
    to_cyrillic = _LATIN_ALIKE.issuperset(latin)
    to_latin = _CYRILLIC_ALIKE.issuperset(cyrillic)
    if to_cyrillic and to_latin:
        even = len(latin) == len(cyrillic)
        to_latin = word[0].isascii() if even else len(latin) > len(cyrillic)
        to_cyrillic = not to_latin
    if to_cyrillic:
        return word.translate(_TO_CYRILLIC)
    return word.translate(_TO_LATIN) if to_latin else word


def _without_marks(text: str) -> str:
    """Latin letters without accents, Cyrillic ones without stress, `ё` as `е`; `й`, `ї` and other scripts keep theirs."""
    text = _STRESS.sub("", text.translate(_PLAIN))
    if _ACCENTED.search(text):
        text = _ACCENTED.sub(_plain_letter, text)
    return _LATIN_MARKS.sub(r"\1", text)


def _plain_letter(match: re.Match[str]) -> str:
    parts = unicodedata.normalize("NFD", match.group())
    return parts if parts[0].isascii() else match.group()


def legible(text: str) -> str:
    """The text without what the eye does not see, letters and case kept: no invisible signs, no stress marks.

    Apostrophes and hyphens are of one kind each.
    """
    keep = {key: value for key, value in _BEFORE.items() if key != ord("№")}
    return _STRESS.sub("", unicodedata.normalize("NFC", text).translate(keep))
