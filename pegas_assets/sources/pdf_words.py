"""Mends the words of a PDF: what was cut at line ends, and the forms that only a font needs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from pegas_assets.text.stopwords import STOP_WORDS

_FORMS = re.compile("[\ufb00-\ufb06\ufb1d-\ufdff\ufe70-\ufefc]")
_ALONE = re.compile("(?<!\\S)\ufffd+(?!\\S) ?")
_BULLET = re.compile("^\\s*[\ufffd\uf0b7\uf0a7\uf076\uf0d8\u25aa\u25cf\u25e6\u2023\u2022\u00b7\u25a0\u25ba]\\s+")
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_CUT = re.compile(r"(?:^|(?<=\s))(?P<whole>\S*?)(?P<left>[^\W\d_]+)(?P<hyphen>[-\u2010\u00ad])$")
_OPENING = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_COMPOUND = frozenset(
    (
        "all", "cross", "ex", "first", "full", "half", "high", "long", "low", "mid", "near", "off", "one", "post", "quasi",
        "second", "self", "semi", "short", "third", "two", "three", "four", "five", "six", "seven", "eight", "nine",
        "twenty", "thirty", "forty", "fifty", "well",
    )
)  # fmt: skip
"""Words that take a hyphen before another far more often than they open a longer word."""
_RUSSIAN_TAIL = frozenset(("то", "либо", "нибудь", "таки", "ка"))
_CJK = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


def mended(line: str) -> str:
    """One line without ligatures, presentation forms, lone unmapped glyphs and letters of private use."""
    line = _BULLET.sub("• ", line)
    line = _FORMS.sub(lambda match: unicodedata.normalize("NFKC", match.group()), line)
    line = _ALONE.sub("", _PRIVATE.sub("", line))
    return " ".join(line.split())


class Hyphens:
    """Decides what a hyphen at a line's end was, by the words that the document has elsewhere."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._words: set[str] = set()
        for line in lines:
            found = _WORD.findall(line)
            # The first and the last of a line may be half a word.
            self._words.update(word.lower().replace("\u2010", "-") for word in found[1:-1])
            self._words.update(part.lower() for word in found[1:-1] for part in re.split("[-\u2010]", word))

    def joined(self, above: str, below: str) -> str:
        """Two lines as one."""
        if not above or not below:
            return above + below
        if above.endswith("\u00ad"):
            return above[:-1] + below
        cut = _CUT.search(above)
        opening = _OPENING.match(below)
        if cut is None or opening is None:
            if re.search(r"[\w)][-\u2010]$", above) and below[0].isalnum():
                # Pages 12-14: nothing was cut.
                return above + below
            return above + ("" if _CJK.match(above[-1]) and _CJK.match(below[0]) else " ") + below
        if cut["hyphen"] != "\u00ad" and self._keeps(cut["whole"], cut["left"], opening.group()):
            return above + below
        return above[:-1] + below

    def _keeps(self, whole: str, left: str, right: str) -> bool:
        """Whether the word has a hyphen of its own there."""
        if not right[0].islower() or (whole and whole[-1] in "-\u2010"):
            return True
        low, high = left.lower(), right.lower()
        if f"{low}{high}" in self._words:
            return False
        if f"{low}-{high}" in self._words:
            return True
        if high in _RUSSIAN_TAIL or (low == "из" and high in ("за", "под")) or (low == "по" and high.endswith("ски")):
            return True
        if low in _COMPOUND and len(high) > 3:
            return True
        return low in self._words and high in self._words and len(low) > 3 and (len(high) > 3 or high in STOP_WORDS)
