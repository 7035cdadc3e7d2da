"""A sentence of a chunk: where it stands, and how it reads without its marks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

MAX_SENTENCE_CHARS = 700
"""What is longer is no sentence that a claim could be made of."""

_MARKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"!\[([^\]]{0,200})\]\([^)\s]{0,500}\)"), r"\1"),
    (re.compile(r"\[([^\]]{1,300})\]\([^)\s]{0,500}(?:\s\"[^\"]{0,200}\")?\)"), r"\1"),
    (re.compile(r"\[\^?\d{1,3}\]"), ""),
    (re.compile(r"</?[a-zA-Z][^<>]{0,200}>"), ""),
    (re.compile(r"(?m)^[ \t]*(?:>[ \t]?)+"), ""),
    (re.compile(r"\*\*|__(?=\w)|(?<=\w)__"), ""),
    (re.compile(r"(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])"), ""),
    (re.compile(r"(?<!\w)_(?=\S)|(?<=\S)_(?!\w)"), ""),
    (re.compile(r"`+"), ""),
    (re.compile(r"\\([\\`*_{}\[\]()#+.!|-])"), r"\1"),
)
_CODE_SPAN = re.compile(r"(`{1,3}[^`\n]{1,300}`{1,3})")
_ENUMERATOR = re.compile(
    r"\s*(?:[-*+•·▪–—]\s+|(?:\d{1,3}\.)+\s+|\d{1,3}\)\s+|\d{1,3}(?:\.\d{1,3})+\s+(?=[^\W\d_])|[a-zа-я]\)\s+)"
)
_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


def plain(raw: str) -> str:
    """The text without Markdown and HTML marks, white space folded."""
    parts = _CODE_SPAN.split(raw)
    for at, part in enumerate(parts):
        if at % 2:
            parts[at] = part.strip("`")
            continue
        for pattern, replacement in _MARKS:
            part = pattern.sub(replacement, part)
        parts[at] = part
    return " ".join("".join(parts).split())


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, folded to lower case, ё as е."""
    return tuple(word.casefold().replace("ё", "е") for word in _WORD.findall(text))


def enumerator_length(raw: str) -> int:
    """How many characters of bullet or numbering the text opens with."""
    found = _ENUMERATOR.match(raw)
    return found.end() if found else 0


def shortened(text: str, limit: int = 200) -> str:
    """The text cut at a word to at most `limit` characters, with an ellipsis where it was cut."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    at = max(cut.rfind("; "), cut.rfind(", "))
    if at < limit // 2:
        at = cut.rfind(" ")
    return (cut[:at] if at > 0 else cut).rstrip(" ,;:—–-") + "…"


@dataclass(frozen=True)
class Sentence:
    """One sentence. `raw` is the chunk's text from `start` to `end`, letter for letter."""

    raw: str
    start: int
    end: int
    russian: bool = False
    in_list: bool = False
    alone: bool = False
    """It is the whole of its paragraph or list item."""
    section: tuple[str, ...] = field(default=())
    title: str = ""

    @cached_property
    def text(self) -> str:
        """How it reads: without marks."""
        return plain(self.raw)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words, folded to lower case, ё as е."""
        return words_of(self.text)

    @cached_property
    def folded(self) -> str:
        """Its text in lower case, ё as е, padded with blanks so that whole words can be looked for."""
        return f" {self.text.casefold().replace('ё', 'е')} "

    @property
    def heading(self) -> str:
        """The nearest heading above it, or the document's title."""
        return self.section[-1] if self.section else self.title
