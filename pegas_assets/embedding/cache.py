"""Vectors kept in PostgreSQL, so that a text is embedded once under a model, whatever is rebuilt."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import psycopg

from pegas_assets.embedding.base import Embedder, Fingerprint, Vector, Vectors
from pegas_assets.errors import BadEmbedding

LOOKUP_BATCH = 5_000
EMBED_BATCH = 64
"""How many texts are embedded between two writes: what a crash can cost."""

_LOOKUP = """
SELECT text_hash, vector FROM pm_embedding WHERE fingerprint = %(fingerprint)s AND text_hash = ANY(%(hashes)b::bytea[])
"""

_KEEP = """
INSERT INTO pm_embedding (fingerprint, text_hash, vector)
SELECT %(fingerprint)s, kept.text_hash, kept.vector
FROM unnest(%(hashes)b::bytea[], %(vectors)b::bytea[]) AS kept (text_hash, vector)
ON CONFLICT (fingerprint, text_hash) DO NOTHING
"""


def text_key(text: str) -> bytes:
    """Under what a text's vector is kept: SHA-256 of the exact text that is embedded, 32 bytes."""
    return hashlib.sha256(text.encode(errors="replace")).digest()


def embed_passages_cached(
    connection: psycopg.Connection[Any],
    embedder: Embedder,
    texts: Sequence[str],
    progress: Callable[[int, int], None] | None = None,
) -> Vectors:
    """Vectors of passages, in order; only what PostgreSQL does not have yet is embedded, each text once.

    Looking up and keeping are short statements; the model works between them, in no transaction of ours: call it with
    none open. Each batch of new vectors is committed as it comes. `progress` is told how many of the missing texts are
    done, and how many there are.

    Raises:
        InvalidInput, BadEmbedding: as `Embedder.embed_passages`; the batches before are kept.
    """
    fingerprint = embedder.fingerprint
    keys = [text_key(text) for text in texts]
    known = stored_vectors(connection, fingerprint, keys)
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    done = 0
    for batch in _batches(sorted(missing), EMBED_BATCH):
        vectors = embedder.embed_passages([missing[key] for key in batch])
        # Sorted, so that two processes that keep the same texts wait for each other in one order, never in a ring.
        _keep(connection, fingerprint, batch, vectors)
        known.update(zip(batch, vectors, strict=True))
        done += len(batch)
        if progress is not None:
            progress(done, len(missing))
    if not keys:
        return np.empty((0, fingerprint.dimension), dtype=np.float32)
    return np.stack([known[key] for key in keys])


def stored_vectors(
    connection: psycopg.Connection[Any], fingerprint: Fingerprint | str, hashes: Sequence[bytes]
) -> dict[bytes, Vector]:
    """The vectors that are kept under a fingerprint, by `text_key`; what is not kept is not in the answer.

    Raises:
        BadEmbedding: a kept vector has another length than the first, or than its fingerprint says.
    """
    found: dict[bytes, Vector] = {}
    size = fingerprint.dimension * 4 if isinstance(fingerprint, Fingerprint) else None
    for batch in _batches(sorted(set(hashes)), LOOKUP_BATCH):
        with connection.transaction(), connection.cursor(binary=True) as cursor:
            cursor.execute(_LOOKUP, {"fingerprint": str(fingerprint), "hashes": batch})
            rows = cursor.fetchall()
        for key, stored in rows:
            size = size or len(stored)
            if len(stored) != size:
                raise BadEmbedding(
                    f"The vector kept for text {bytes(key).hex()[:12]} has {len(stored)} bytes, not {size}.",
                    hint="Delete its row of pm_embedding; it is embedded again when it is next needed.",
                    item=bytes(key).hex(),
                    component="postgres",
                )
            found[bytes(key)] = np.frombuffer(stored, dtype="<f4").astype(np.float32, copy=False)
    return found


def _keep(
    connection: psycopg.Connection[Any], fingerprint: Fingerprint, hashes: Sequence[bytes], vectors: Vectors
) -> None:
    rows = [vector.astype("<f4").tobytes() for vector in vectors]
    with connection.transaction():
        connection.execute(_KEEP, {"fingerprint": str(fingerprint), "hashes": list(hashes), "vectors": rows})


def _batches(keys: Sequence[bytes], size: int) -> Iterator[list[bytes]]:
    for first in range(0, len(keys), size):
        yield list(keys[first : first + size])
