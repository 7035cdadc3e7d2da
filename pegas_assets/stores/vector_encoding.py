"""Points and filters as the embedded vector engine takes them.

The engine reads whole numbers from Python several times faster than text, so the fields that are only compared are
stored as 63-bit hashes. `key` and `h`, the only fields that are read back, stay text.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from pegas_assets.embedding.base import Vector, Vectors
from pegas_assets.errors import BadEmbedding, InvalidInput
from pegas_assets.identity import bucket_of, point_id
from pegas_assets.stores.vectors import (
    FLOAT_FIELDS,
    INTEGER_FIELDS,
    KEYWORD_FIELDS,
    Point,
    SparseVector,
    VectorFilter,
)

Frame = tuple[dict[str, Any], bytes]
"""The object of a frame, without operation and collection, and its blob."""

_HASHED_FIELDS = tuple(field for field in KEYWORD_FIELDS if field != "key")
_RANGE_FIELDS = ("created_at",)
_INT64 = 2**63

INDEXES: dict[str, str] = {
    "key": "keyword",
    **dict.fromkeys(_HASHED_FIELDS, "match"),
    **{field: "range" if field in _RANGE_FIELDS else "match" for field in INTEGER_FIELDS},
    **dict.fromkeys(FLOAT_FIELDS, "float"),
}
"""The payload indexes of a collection: field → kind."""


@lru_cache(maxsize=65_536)
def _hashed(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "big") >> 1


def encode_points(points: Sequence[Point], frame_points: int) -> Iterator[Frame]:
    """Upsert frames of up to `frame_points` points. All points are checked before this returns.

    Raises:
        BadEmbedding: a vector has another size than the rest, or a value that is not finite, or term ids that do not
            ascend.
        InvalidInput: a key is empty, or a payload field is of the wrong type.
    """
    payloads = [_payload(point) for point in points]
    dense = _dense_rows(points)
    terms, weights = _sparse_terms(points)
    return _frames(points, payloads, dense, terms, weights, frame_points)


def ids_of(keys: Sequence[str]) -> list[str]:
    """The engine's ids of keys."""
    try:
        return [point_id(key) for key in keys]
    except UnicodeEncodeError:
        raise InvalidInput("A key holds half of a surrogate pair.", component="vectors") from None


def encode_query(dense: Vector | None, sparse: SparseVector | None) -> Frame:
    """The vectors of a search: the blob is the dense one, `sparse` the other, null where there is none."""
    blob = b""
    if dense is not None:
        row = np.asarray(dense, np.float32)
        if row.ndim != 1 or not row.size or not np.isfinite(row).all():
            raise BadEmbedding("The query vector has a value that is not finite, or none.", component="vectors")
        blob = row.astype("<f4").tobytes()
    if sparse is None or not sparse.indices:
        return {"sparse": None}, blob
    _sparse_terms([Point("the query", None, sparse, {})])
    return {"sparse": [list(sparse.indices), list(sparse.values)]}, blob


def conditions(wanted: VectorFilter) -> dict[str, Any]:
    """A filter as field → whole numbers of which any will do, or field → bounds, both included."""
    found: dict[str, Any] = {
        field: [_hashed(value) for value in values]
        for field, values in (
            ("kind", wanted.kinds),
            ("type", wanted.types),
            ("status", wanted.statuses),
            ("sources", wanted.sources),
            ("documents", wanted.documents),
            ("language", wanted.languages),
        )
        if values
    }
    if wanted.buckets:
        found["bucket"] = list(wanted.buckets)
    if wanted.min_confidence is not None:
        found["confidence"] = {"gte": wanted.min_confidence}
    times = {"gte": wanted.created_from, "lte": wanted.created_until}
    if given := {bound: value for bound, value in times.items() if value is not None}:
        found["created_at"] = given
    return found


def _payload(point: Point) -> dict[str, Any]:
    key, given = point.key, point.payload
    if not isinstance(key, str) or not key:
        raise InvalidInput("A point needs a key that is not empty.", component="vectors")
    h = given.get("h", "")
    if not isinstance(h, str):
        raise _wrong_field(point, "h", "text")
    try:
        (key + h).encode()
    except UnicodeEncodeError:
        raise InvalidInput("A point's key holds half of a surrogate pair.", component="vectors") from None
    bucket = given.get("bucket")
    payload: dict[str, Any] = {
        "key": key,
        "h": h,
        "bucket": bucket_of(key) if bucket is None else bucket,
    }
    for field in _HASHED_FIELDS:
        value = given.get(field)
        if isinstance(value, str):
            payload[field] = _hashed(value)
        elif isinstance(value, list | tuple | set | frozenset) and all(isinstance(each, str) for each in value):
            if value:
                hashes = [_hashed(each) for each in value]
                payload[field] = hashes if len(hashes) > 1 else hashes[0]
        elif value is not None:
            raise _wrong_field(point, field, "text or a list of texts")
    for field in INTEGER_FIELDS:
        value = payload.get(field, given.get(field))
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or not -_INT64 <= value < _INT64:
            raise _wrong_field(point, field, "a whole number")
        payload[field] = int(value)
    for field in FLOAT_FIELDS:
        value = given.get(field)
        if value is None:
            continue
        if not isinstance(value, float | int) or not math.isfinite(value):
            raise _wrong_field(point, field, "a finite number")
        payload[field] = float(value)
    return payload


def _dense_rows(points: Sequence[Point]) -> Vectors:
    """The dense vectors of those points that have one, shape (n, dimension); (0, 0) where none has."""
    given = [point for point in points if point.dense is not None]
    if not given:
        return np.empty((0, 0), np.float32)
    try:
        with np.errstate(over="ignore"):
            rows = np.asarray([point.dense for point in given], np.float32)
    except (ValueError, TypeError):
        rows = np.empty(0, np.float32)
    if rows.ndim != 2 or not rows.shape[1]:
        raise BadEmbedding("The vectors of one batch have different sizes, or none.", component="vectors")
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        key = given[int(np.argmin(finite))].key
        raise BadEmbedding(
            f"The vector of {key[:80]} has a value that is not finite.",
            hint="Nothing of the batch was written; embed it again.",
            item=key[:80],
            component="vectors",
        )
    return rows


def _sparse_terms(points: Sequence[Point]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Term ids (int64) and weights (float32) of all points, one after another."""
    given = [(point.key, point.sparse) for point in points if point.sparse is not None]
    for key, sparse in given:
        if len(sparse.indices) != len(sparse.values):
            raise _wrong_terms(key)
    count = sum(len(sparse.indices) for _, sparse in given)
    try:
        terms = np.fromiter(chain.from_iterable(sparse.indices for _, sparse in given), np.int64, count)
        with np.errstate(over="ignore"):
            weights = np.fromiter(chain.from_iterable(sparse.values for _, sparse in given), np.float32, count)
    except (OverflowError, ValueError, TypeError):
        raise _wrong_terms(given[0][0]) from None
    owner = np.repeat(np.arange(len(given)), [len(sparse.indices) for _, sparse in given])
    wrong = (terms < 0) | (terms >= 2**32) | ~np.isfinite(weights)
    wrong[1:] |= (terms[1:] <= terms[:-1]) & (owner[1:] == owner[:-1])
    if wrong.any():
        raise _wrong_terms(given[int(owner[int(np.argmax(wrong))])][0])
    return terms, weights


def _frames(
    points: Sequence[Point],
    payloads: list[dict[str, Any]],
    dense: Vectors,
    terms: np.ndarray[Any, Any],
    weights: np.ndarray[Any, Any],
    frame_points: int,
) -> Iterator[Frame]:
    row = term = 0
    for start in range(0, len(points), frame_points):
        part = points[start : start + frame_points]
        flags = [int(point.dense is not None) for point in part]
        lengths = [len(point.sparse.indices) if point.sparse is not None else 0 for point in part]
        rows, count = sum(flags), sum(lengths)
        message = {
            "ids": [point_id(point.key) for point in part],
            "payloads": payloads[start : start + frame_points],
            "dimension": dense.shape[1],
            "dense": None if rows == len(part) else flags,
            "sparse": lengths,
        }
        blob = b"".join(
            (
                dense[row : row + rows].astype("<f4", copy=False).tobytes(),
                terms[term : term + count].astype("<u4").tobytes(),
                weights[term : term + count].astype("<f4", copy=False).tobytes(),
            )
        )
        yield message, blob
        row, term = row + rows, term + count


def _wrong_field(point: Point, field: str, wanted: str) -> InvalidInput:
    return InvalidInput(
        f"The field {field} of {point.key[:80]} must be {wanted}.",
        hint="Nothing of the batch was written.",
        item=point.key[:80],
        component="vectors",
    )


def _wrong_terms(key: str) -> BadEmbedding:
    return BadEmbedding(
        f"The BM25 vector of {key[:80]} needs ascending term ids, each with a finite weight.",
        hint="Nothing of the batch was written.",
        item=key[:80],
        component="vectors",
    )
