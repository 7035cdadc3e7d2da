"""Stems: a Cyrillic word by the Russian Snowball stemmer, a Latin word by the English one."""

from __future__ import annotations

import threading
from functools import cache, lru_cache
from importlib import import_module
from typing import Protocol

from pegas_assets.text.folding import is_cyrillic, is_latin, words


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


_LOCK = threading.Lock()


@cache
def _stemmer(language: str) -> _Stemmer:
    # Snowball in C, where it is installed: the same stems (tests compare them), fifty times as fast.
    try:
        compiled: _Stemmer = import_module("Stemmer").Stemmer(language, 0)
    except ImportError:
        return pure_stemmer(language)
    return compiled


def pure_stemmer(language: str) -> _Stemmer:
    """The stemmer in plain Python: the class itself, since the package's own factory may take another."""
    module = import_module(f"snowballstemmer.{language}_stemmer")
    stemmer: _Stemmer = getattr(module, f"{language.capitalize()}Stemmer")()
    return stemmer


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
        return _stemmer(language).stemWord(word)


def stems(text: str) -> list[str]:
    """The stems of a text's words, in order."""
    return [stem(word) for word in words(text)]
