"""The text of an atom that a model embeds, and the one that BM25 encodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg

from pegas_assets.embedding.base import Embedder, Vector, Vectors
from pegas_assets.embedding.cache import embed_passages_cached, stored_vectors, text_key

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


def embed_fitted(connection: psycopg.Connection[Any], embedder: Embedder, passages: Sequence[str]) -> Vectors:
    """Vectors of passages, in order, from PostgreSQL or the model; a passage that is too long is cut first.

    What is kept under a whole passage fits, so tokens are counted for the others only: counting costs more than all else
    in a rebuild. Call it with no transaction open.

    Raises:
        BadEmbedding: as `Embedder.embed_passages`.
    """
    found = stored_fitted(connection, embedder, passages)
    missing = [place for place, vector in enumerate(found) if vector is None]
    if missing:
        made = embed_passages_cached(connection, embedder, [fitted(embedder, passages[place]) for place in missing])
        for place, vector in zip(missing, made, strict=True):
            found[place] = vector
    known = [vector for vector in found if vector is not None]
    return np.stack(known) if known else np.empty((0, embedder.fingerprint.dimension), dtype=np.float32)


def stored_fitted(
    connection: psycopg.Connection[Any], embedder: Embedder, passages: Sequence[str]
) -> list[Vector | None]:
    """The vectors of passages that PostgreSQL keeps, in order; None where it keeps none."""
    keys = [text_key(passage) for passage in passages]
    kept = stored_vectors(connection, embedder.fingerprint, keys)
    found: list[Vector | None] = [kept.get(key) for key in keys]
    cut = {
        place: text_key(shorter)
        for place, passage in enumerate(passages)
        if found[place] is None and (shorter := fitted(embedder, passage)) != passage
    }
    if cut:
        kept = stored_vectors(connection, embedder.fingerprint, list(cut.values()))
        for place, key in cut.items():
            found[place] = kept.get(key)
    return found
