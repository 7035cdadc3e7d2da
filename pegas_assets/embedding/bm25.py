"""BM25 as sparse vectors: term frequencies here, the inverse document frequency in the engine."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from hashlib import blake2b

from pegas_assets.stores.vectors import SparseVector
from pegas_assets.text.folding import words
from pegas_assets.text.stemming import stem
from pegas_assets.text.stopwords import STOP_WORDS

K = 1.2
B = 0.75
AVERAGE_WORDS = 256
"""The length that counts as ordinary, in words that are no stop words: the default of Qdrant's own encoder. Fixed, so that a
vector depends on its text alone."""

RULE = f"bm25/1:fold,snowball-ru-en,stop-ru-en,k={K},b={B},avg={AVERAGE_WORDS},blake2b32"
"""All that decides a sparse vector. It is named in the fingerprint of a collection."""

_CAMEL_WORD = re.compile(r"\b(?:[A-Za-z0-9]*[a-z][A-Z]|[A-Z]{2,}[a-z]{2})[A-Za-z0-9]*")
_SHAPE = bytes(97 if chr(byte).islower() else 65 if chr(byte).isupper() else 32 for byte in range(128)) + b" " * 128
"""Letters as `a` and `A`: what no camel case can be in is told by this in a twentieth of the time."""
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def encode_document(text: str) -> SparseVector:
    """The sparse vector of an indexed text; empty where it has no word that counts.

    A term's weight is tf·(k+1) / (tf + k·(1 − b + b·n/avg)), n the number of terms: Robertson and Zaragoza, "The
    Probabilistic Relevance Framework: BM25 and Beyond" (2009), without the IDF, which the engine multiplies in.
    """
    counts = Counter(terms(text))
    norm = K * (1 - B + B * counts.total() / AVERAGE_WORDS)
    weights = {count: count * (K + 1) / (count + norm) for count in set(counts.values())}
    ids = sorted(counts)
    return SparseVector(tuple(ids), tuple([weights[counts[term]] for term in ids]))


def encode_query(text: str) -> SparseVector:
    """The sparse vector of a query: weight 1 for each of its terms."""
    ids = sorted(set(terms(text)))
    return SparseVector(tuple(ids), (1.0,) * len(ids))


def terms(text: str) -> list[int]:
    """The ids of a text's terms, repeated as they occur: folded, stop words out, stemmed by script.

    A name in camel case counts whole and by its parts, so that `user name` finds `getUserName`.
    """
    found = list(map(term_id, words(text)))
    shape = text.encode("ascii", "replace").translate(_SHAPE)
    if b"aA" in shape or b"AAaa" in shape:
        for name in _CAMEL_WORD.findall(text):
            found += [term_id(part.lower()) for part in _HUMP.findall(name)]
    return [term for term in found if term >= 0]


@lru_cache(maxsize=200_000)
def term_id(word: str) -> int:
    """The id of a folded word: the first 32 bits of BLAKE2b of its stem, little-endian; −1 for a stop word."""
    if word in STOP_WORDS:
        return -1
    return int.from_bytes(blake2b(stem(word).encode(errors="replace"), digest_size=4).digest(), "little")
