"""Where the sentences of a text begin and end."""

from __future__ import annotations

import re

_CLOSING = "\"'»”’“)\\]}*_`」』】）》"
_END = re.compile(
    rf"(?:[.!?…]+[{_CLOSING}]*(?=\s|$))|(?:[。！？｡][」』】）》”’]*)|(?:[؟।॥۔][{_CLOSING}]*(?=\s|$))|(?:\n[ \t]*\n\s*)"
    r"|(?:\n(?=[ \t]*(?:[-*+•–—]|\d{1,3}[.)])[ \t]))"
)
_OPENING = re.compile(r"[\s\"'«“”„‘(\[{*_`–—-]*")
_LAST_WORD = re.compile(r"[^\s\"'«»“”„‘(\[{]+$")

_NEVER_ENDS = {
    "ru": (
        "т.е т.к т.н т.о т.ч см ср напр др.-рус г-н г-жа гр тов проф доц акад канд д-р инж ген полк кап им св ул просп "
        "пр-т пер пл наб б-р ш корп стр кв обл р-н пос дер оз о-в о-ва рис табл гл разд п пп ст ч.1 изд ред сост вып "
        "тел факс англ нем фр лат греч рус букв прим в.п ок род ум ср.-век н.с ст.с"
    ),
    "en": (
        "mr mrs ms mx dr prof rev hon gen col lt sgt capt cmdr adm gov sen rep pres st mt ft vs cf e.g i.e viz fig figs "
        "eq eqs sec secs ch chap vol vols pp ed eds art no nos approx ca dept univ assn bros al"
    ),
}
# They may close a sentence: the next word decides.
_MAY_END = {
    "ru": (
        "т.д т.п т.ж др пр проч г гг в вв н.э э тыс млн млрд трлн руб коп долл мин сек ч час мм см км кг мг га л м т р "
        "с д"
    ),
    "en": "etc inc ltd co corp jr sr u.s u.k u.n e.u a.m p.m ph.d m.d b.a m.a d.c jan feb mar apr jun jul aug sep sept oct nov dec min hr ft in lb oz km cm mm kg",
}
_STARTER_WORDS = (
    "the this that these those it he she we they you i in on at for from by with when while after before since if "
    "but and or so as there here its his her our their my your a an no not what who how why where however then "
    "some many most each every all both one two another later"
)
_STARTERS = frozenset(_STARTER_WORDS.split())
_NEVER = {language: frozenset(words.split()) for language, words in _NEVER_ENDS.items()}
_MAY = {language: frozenset(words.split()) for language, words in _MAY_END.items()}
# "В 1703 г. Пётр" has no sentence before the name.
_RUSSIAN_PREPOSITIONS = frozenset(("в", "с", "к", "до", "по", "около", "после", "на"))
_ROMAN = re.compile(r"[IVXLC]+$")
_NUMBERED = re.compile(r"\s*[-*+•]?\s*(?:\d{1,3}|[a-zа-я])$")


def split_sentences(text: str, language: str = "und") -> list[tuple[int, int]]:
    """The sentences of a text as half-open spans, in order, without the white space around them.

    Together the spans hold every character that is not white space. Russian and English abbreviations, initials,
    decimals, list numbers and direct speech do not end a sentence; a blank line and the start of a list item do. Other
    languages go by punctuation, among it 。！？ without a space, ؟ and ।.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if match.group()[0] in ".!?…" and not _is_end(text, start, match.start(), end, language):
            continue
        _add(spans, text, start, end)
        start = end
    _add(spans, text, start, len(text))
    return spans


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    kept = piece.strip()
    if kept:
        left = start + len(piece) - len(piece.lstrip())
        spans.append((left, left + len(kept)))


def _is_end(text: str, start: int, mark: int, end: int, language: str) -> bool:
    opening = _OPENING.match(text, end)
    following = opening.end() if opening else end
    if following >= len(text):
        return True
    if "\n\n" in text[end:following]:
        return True
    after = text[following]
    # "— Куда? — спросил он." goes on; so does whatever is followed by a small letter.
    if after.islower():
        return False
    if text[mark] != "." or text[mark : mark + 2] == "..":
        return True
    return not _is_abbreviation(text, start, mark, following, language)


def _is_abbreviation(text: str, start: int, mark: int, following: int, language: str) -> bool:
    """Whether the point at `mark` belongs to the word before it, when the next word has no small initial."""
    found = _LAST_WORD.search(text, max(start, mark - 40), mark)
    if not found:
        return False
    word = found.group()
    before = text[start : found.start()].rstrip()
    if _NUMBERED.match(text[start:mark]):
        return True
    if len(word) == 1 and word.isalpha() and word.isupper():
        return not _ROMAN.match(word) or not before or before[-1] == "." or before[-1:].islower() is False
    kinds = (language,) if language in _NEVER else (("ru",) if "\u0400" <= word[0] <= "\u04ff" else ("en",))
    low = word.lower()
    # "т. д." and "т. е." are written with and without the space.
    if len(low) <= 2 and before.endswith(".") and (previous := re.search(r"(\w{1,2})\.$", before)):
        joined = f"{previous.group(1).lower()}.{low}"
        if any(joined in _NEVER[kind] for kind in kinds):
            return True
        if any(joined in _MAY[kind] for kind in kinds):
            return False
    next_is_digit = text[following].isdigit()
    for kind in kinds:
        if low in _MAY[kind]:
            if next_is_digit:
                return True
            if kind == "en":
                next_word = re.match(r"\w+", text[following:])
                return not (next_word and next_word.group().lower() in _STARTERS)
            # "в 1954 г. Мост" ends, "г. Москва" does not; "XIX в. Город" ends.
            words = before.split()
            previous_word = words[-1] if words else ""
            if len(words) <= 2 and words and words[0].lower() in _RUSSIAN_PREPOSITIONS:
                return True
            return not (previous_word[-1:].isdigit() or bool(_ROMAN.match(previous_word)) or len(low) > 2)
        if low in _NEVER[kind]:
            return low != "no" or next_is_digit
    # "Ж.-Б. Ламарк", "J.R.R. Tolkien", "А.С. Пушкин"
    return (
        bool(re.fullmatch(r"(?:[^\W\d_]\.?-?)+", word))
        and bool(re.search(r"(?:^|[.-])[A-ZА-ЯЁ]$", word))
        and len(word) > 1
    )
