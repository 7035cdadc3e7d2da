"""The text of an atom that a model embeds, and the one that BM25 encodes."""

from __future__ import annotations

from pegas_assets.embedding.base import Embedder

WHOLE = ("text", "code", "table")
"""Atom types that are found by their whole content; the others by their claim."""


def passage_of(atom_type: str, claim: str, content: str, context: str) -> str:
    """What is embedded for an atom: its content under its headings, or its claim."""
    if atom_type in WHOLE or not claim.strip():
        return f"{context}\n{content}" if context else content
    return claim


def lexical_text(atom_type: str, claim: str, content: str, context: str) -> str:
    """What BM25 reads of an atom: as above, with the full statement beside a claim."""
    if atom_type in WHOLE or not claim.strip():
        return f"{context}\n{content}" if context else content
    return claim if content.strip() == claim.strip() else f"{claim}\n{content}"


def fitted(embedder: Embedder, passage: str) -> str:
    """The passage, or as many whole words of it as the model takes.

    Chunks are cut to fit; only an atom stored by hand can be longer. The cut is here, in the open, because some models
    cut without a word.
    """
    limit = embedder.max_tokens
    # A token is at least one byte, so a text of so few bytes fits whatever it says.
    if len(passage) * 4 < limit or embedder.count_tokens(passage) <= limit:
        return passage
    words = passage.split(" ")
    low, high = 1, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if embedder.count_tokens(" ".join(words[:middle])) <= limit:
            low = middle
        else:
            high = middle - 1
    cut = " ".join(words[:low])
    while embedder.count_tokens(cut) > limit:
        cut = cut[: max(1, len(cut) * 3 // 4)]
    return cut
