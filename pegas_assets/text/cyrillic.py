"""Tells the 8-bit Cyrillic encodings apart by which letters stand next to which."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

CANDIDATES = ("cp1251", "koi8_r", "cp866", "mac_cyrillic", "iso8859_5", "koi8_u")
"""Tried in this order; the first of equals wins."""

# First letter, then the letters that often follow it: the 250 most frequent pairs of Russian cover 91 % of a text,
# and some of Ukrainian. A wrong encoding hits a quarter of them.
_FOLLOW = (
    "абвгдежзйклмнпрстхцчшюя баеилорыуя ваеиілнорсуыія гадеилорі даевеиілнорсуья ебвгдежзйклмнпрстчшю ёднлмрт ждеинаі "
    "заавноыдмі иавгдежзийклмнорстхцчшюя йснт каеилортуі лаеиілоуьюя маеиінопуы наеиігднооуцстыяья обвгдежзийклмнпрстчшю "
    "паеилоруі раеиімностуыяь саевиіклмнопстуьяі таевеиінорсуыья угвдежзклмнпрстчшю фиоо хаиодіа цеиыіа чаеиінткуо "
    "шаеилоьк щаеиі ъея ывейлмнсхтр ьнкснюшя эткл ютщдб явзлмндтх івднійкмлрстхяч їхнвд єтюмс ґаро"
)
_PAIRS = frozenset(word[0] + follower for word in _FOLLOW.split() for follower in word[1:])

_IN_WORD = re.compile("(?=([\u0400-\u04ff]{2}))")
_BAD_CASE = re.compile("[а-яёіїєґ][А-ЯЁІЇЄҐ]")
_WITH_LATIN = re.compile("[A-Za-z][\u0400-\u04ff]|[\u0400-\u04ff][A-Za-z]")
_KNOWN = frozenset(
    "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґўАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЁІЇЄҐЎ«»—–…№“”„‘’°§©\u00a0•±·²³"
)
# A sign glued to a letter is a letter read wrong: я of cp1251 is € of MacCyrillic.
_GLUED = re.compile(
    "(?<=[\u0400-\u04ff])[^\x00-\x7f\u0400-\u04ff«»—–…№“”„‘’\u0301\u00ad\u00a0]|[ЂЃѓЉЊЌЏђљњќџ†‡¬∆≈≤≥÷](?=[а-я])"
)
_HIGH = re.compile("[^\x00-\x7f]")
_UPPER = re.compile("[А-ЯЁІЇЄ]{2}")
_BOX = re.compile("[\u2500-\u259f]")


@dataclass(frozen=True)
class CyrillicGuess:
    """The likeliest encoding, how much the text looks like Cyrillic in it, and how far the next one is behind.

    `score` is at most 1; Russian prose comes to 0.85–0.95 in its own encoding and below 0.4 in another. `confidence`
    (0 to 1) grows with the margin and with `pairs`, the number of letter pairs seen.
    """

    encoding: str
    score: float
    confidence: float
    pairs: int


def cyrillic_score(text: str) -> tuple[float, int]:
    """How much the non-ASCII part of a text reads as Cyrillic, at most 1, and from how many letter pairs."""
    high = _HIGH.findall(text)
    if not high:
        return 0.0, 0
    pairs = _IN_WORD.findall(text)
    if not pairs:
        return 0.0, 0
    usual = sum(pair.lower() in _PAIRS for pair in pairs)
    strange = sum(character not in _KNOWN for character in high)
    boxes = len(_BOX.findall(text))
    wrong = 1.5 * len(_BAD_CASE.findall(text)) / len(pairs)
    wrong += 2.0 * len(_WITH_LATIN.findall(text)) / len(high)
    wrong += (strange - 0.7 * boxes + 2.0 * len(_GLUED.findall(text))) / len(high)
    # Case tells KOI8-R from the rest, which has it the other way round: prose is not all capitals.
    wrong += 0.15 if len(_UPPER.findall(text)) > 0.5 * len(pairs) else 0.0
    return usual / len(pairs) - wrong, len(pairs)


def guess_cyrillic(sample: bytes) -> CyrillicGuess | None:
    """The best of the Cyrillic encodings for some bytes, or None where none of them makes a word."""
    scored = []
    for encoding in CANDIDATES:
        score, pairs = cyrillic_score(sample.decode(encoding, "replace"))
        if pairs:
            # Rare in life: it must win by about one pair.
            scored.append(
                (score - (0.8 / pairs if encoding in ("mac_cyrillic", "iso8859_5") else 0.0), pairs, encoding)
            )
    if not scored:
        return None
    best, pairs, encoding = max(scored, key=lambda item: item[0])
    # koi8_u is koi8_r with four more letters: a tie between the two is no doubt.
    rivals = [score for score, _, name in scored if name[:4] != encoding[:4]]
    margin = max(0.0, best - max([0.3, *rivals]))
    return CyrillicGuess(encoding, best, round(1.0 - math.exp(-margin * pairs / 4), 2), pairs)
