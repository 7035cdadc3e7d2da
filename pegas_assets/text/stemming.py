"""Stems: a Cyrillic word by the Russian Snowball stemmer, a Latin word by the English one."""

from __future__ import annotations

import threading
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from pegas_assets.text.folding import is_cyrillic, is_latin, words

if TYPE_CHECKING:
    from Stemmer import Stemmer

_LOCK = threading.Lock()


@cache
def _stemmer(language: str) -> Stemmer:
    from Stemmer import Stemmer

    return Stemmer(language, 0)  # no cache of its own: ours is bounded and shared


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of one folded word; a word of another script, or of digits, is its own stem."""
    if len(word) > 64:
        return word
    if is_cyrillic(word):
        language = "russian"
    elif is_latin(word):
        language = "english"
    else:
        return word
    with _LOCK:  # a Snowball object keeps the word that it works on
        stemmed: str = _stemmer(language).stemWord(word)
    return stemmed


def stems(text: str) -> list[str]:
    """The stems of a text's words, in order."""
    return [stem(word) for word in words(text)]
