"""A statement's text as raw tokens: words, numbers, signs, in the case they were written in."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from pegas_assets.identity import canonical_text
from pegas_assets.text.folding import fold, legible

_SUPERSCRIPTS = {ord(sign): f"^{digit}" for sign, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)}
_SUBSCRIPTS = {ord(sign): digit for sign, digit in zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)}
_FRACTIONS = {ord("½"): " 1/2", ord("¼"): " 1/4", ord("¾"): " 3/4", ord("⅓"): " 1/3", ord("⅔"): " 2/3"}
_TABLE: dict[int, str] = {**_SUPERSCRIPTS, **_SUBSCRIPTS, **_FRACTIONS}

_TOKEN = re.compile(
    r"""
    (?P<date>\d{4}-\d{2}-\d{2}(?!\d)|\d{1,2}\.\d{1,2}\.\d{4}(?!\d))
  | (?P<time>(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d))
  | (?P<fraction>(?<![\d/])\d{1,3}/\d{1,3}(?![\d/]))
  | (?P<number>(?<![\d.,])\d{1,3}(?:[ ]\d{3})+(?![\d])|\d+(?:[.,]\d+)*)
  | (?P<word>(?<!\w)[A-Za-z](?:\+\+|\#)|[^\W\d_][^\W_]*(?:'[^\W_]+)*)
  | (?P<comma>[,;:()\n])
  | (?P<dash>(?<=\s)[-–—]+(?=\s)|[–—])
  | (?P<hyphen>-)
  | (?P<end>[?])
  | (?P<sign>[%‰°^/<>=+*&@~$€£₽¥№]|[^\w\s.!…"'«»„“”‘’`\[\]{}|\\])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Raw:
    """One token as written. `glued` says that no white space stands before it; `initial` that it opens a sentence."""

    kind: str
    text: str
    folded: str
    glued: bool
    initial: bool

    @property
    def capitalised(self) -> bool:
        return self.kind == "word" and self.text[:1].isupper()

    @property
    def acronym(self) -> bool:
        return self.kind == "word" and len(self.text) > 1 and self.text.isupper()


def raw_tokens(text: str) -> list[Raw]:
    """The tokens of a text. Superscripts become `^2`, so that 10² stays apart from 102; a minus belongs to its number."""
    text = legible(canonical_text(text).translate(_TABLE))
    shouted = text.isupper()
    found: list[Raw] = []
    initial = True
    last_end = 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "sign"
        piece = match.group()
        gap = text[last_end : match.start()]
        initial = initial or any(mark in gap for mark in ".!…")
        glued = bool(found) and match.start() == last_end
        last_end = match.end()
        if kind == "hyphen":
            if (before := text[: match.start()][-1:]).isspace() or not before or before in "(±<>=":
                kind = "minus"
            elif not before.isdigit():
                continue
            else:
                kind = "dash"
        if kind in ("number", "fraction") and found and found[-1].kind == "minus" and glued:
            piece = f"-{piece}"
            found.pop()
        if kind == "word" and shouted:
            piece = piece.lower()
        folded = fold(piece) if kind == "word" else unicodedata.normalize("NFC", piece)
        if not folded:
            continue
        found.append(Raw(kind, piece, folded, glued, initial and kind == "word"))
        if kind in ("word", "number", "date", "time", "fraction"):
            initial = False
    return found
