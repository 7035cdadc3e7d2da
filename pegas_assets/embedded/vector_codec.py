"""From frames to what the embedded vector engine understands: points, filters, payload indexes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pegas_assets.errors import BadEmbedding

if TYPE_CHECKING:
    import qdrant_edge

DENSE = "dense"
SPARSE = "bm25"

SLICE = 50
"""Points in one operation: about 2 ms in which the engine lets no other thread run. Larger ones are no faster."""

FEW_VALUES = 8

Write = tuple["qdrant_edge.UpdateOperation", Sequence[str]]
"""An operation and the ids that it touches."""


def upserts(message: Mapping[str, Any], blob: bytes | bytearray, dimension: int) -> Iterator[Write]:
    """The points of an upsert frame, in slices.

    `ids` are UUIDs, `payloads` objects, `sparse` the number of terms of each point (0 for none), `dense` a flag for
    each, or null where all have one. The blob holds the dense rows (float32), then all term ids (uint32), then all
    weights (float32).

    Raises:
        BadEmbedding: the rows are of another dimension; raised before the first operation.
    """
    if message["dimension"] not in (0, dimension):
        raise BadEmbedding(
            f"The vectors have {message['dimension']} numbers, the collection takes {dimension}.",
            hint="The embedding model differs from the one that the collection was made for.",
            component="vectors",
        )
    ids, payloads, lengths = message["ids"], message["payloads"], message["sparse"]
    flags = message["dense"] or [1] * len(ids)
    rows, terms = sum(flags), sum(lengths)
    dense = np.frombuffer(blob, "<f4", rows * dimension).reshape(rows, dimension)
    indices = np.frombuffer(blob, "<u4", terms, dense.nbytes)
    weights = np.frombuffer(blob, "<f4", terms, dense.nbytes + indices.nbytes)
    return _operations(ids, payloads, lengths, flags, dense, indices, weights)


def _operations(
    ids: list[str],
    payloads: list[dict[str, Any]],
    lengths: list[int],
    flags: list[int],
    dense: np.ndarray[Any, np.dtype[np.float32]],
    indices: np.ndarray[Any, np.dtype[np.uint32]],
    weights: np.ndarray[Any, np.dtype[np.float32]],
) -> Iterator[Write]:
    from qdrant_edge import Point, SparseVector, UpdateOperation

    row = term = 0
    for start in range(0, len(ids), SLICE):
        part = slice(start, start + SLICE)
        vectors = dense[row : row + sum(flags[part])].tolist()
        count = sum(lengths[part])
        names, values = indices[term : term + count].tolist(), weights[term : term + count].tolist()
        row, term = row + len(vectors), term + count
        at = taken = 0
        points = []
        for key, payload, length, flag in zip(ids[part], payloads[part], lengths[part], flags[part], strict=True):
            vector: dict[str, Any] = {}
            if flag:
                vector[DENSE] = vectors[taken]
                taken += 1
            if length:
                vector[SPARSE] = SparseVector(names[at : at + length], values[at : at + length])
                at += length
            points.append(Point(key, vector, payload))
        yield UpdateOperation.upsert_points(points), ids[part]


def deletes(ids: Sequence[str]) -> Iterator[Write]:
    """The operations that remove points."""
    from qdrant_edge import UpdateOperation

    for start in range(0, len(ids), SLICE):
        part = ids[start : start + SLICE]
        yield UpdateOperation.delete_points([*part]), part


def filter_of(conditions: Mapping[str, Any]) -> qdrant_edge.Filter | None:
    """A filter from field → list of whole numbers (any of them), or field → {"gte": …, "lte": …}; None for none."""
    from qdrant_edge import FieldCondition, Filter, RangeFloat

    must: list[Any] = [
        FieldCondition(field, range=RangeFloat(gte=wanted.get("gte"), lte=wanted.get("lte")))
        if isinstance(wanted, dict)
        else _any_of(field, wanted)
        for field, wanted in conditions.items()
    ]
    return Filter(must=must) if must else None


def _any_of(field: str, wanted: Sequence[int]) -> Any:
    """A few values are asked for one by one: a scan then takes a fifth less time than with the engine's own `any`."""
    from qdrant_edge import FieldCondition, Filter, MatchAny, MatchValue

    if len(wanted) > FEW_VALUES:
        return FieldCondition(field, match=MatchAny([*wanted]))
    single: list[Any] = [FieldCondition(field, match=MatchValue(value)) for value in wanted]
    return single[0] if len(single) == 1 else Filter(should=single)


def missing_indexes(shard: qdrant_edge.EdgeShard, wanted: Mapping[str, str]) -> Iterator[qdrant_edge.UpdateOperation]:
    """The operations that make the payload indexes a shard lacks; `wanted` is field → keyword, match, range or float.

    None of them adds edges to the vector graph: that takes the build four times as long, and the engine scans what a
    narrow filter leaves anyway.
    """
    import qdrant_edge as qe

    makers: dict[str, Any] = {
        "keyword": lambda: qe.KeywordIndexParams(enable_hnsw=False),
        "match": lambda: qe.IntegerIndexParams(lookup=True, range=False, enable_hnsw=False),
        "range": lambda: qe.IntegerIndexParams(lookup=False, range=True, enable_hnsw=False),
        "float": lambda: qe.FloatIndexParams(enable_hnsw=False),
    }
    present = set(shard.info().payload_schema)
    for field, kind in wanted.items():
        if field not in present:
            yield qe.UpdateOperation.create_field_index(field, makers[kind]())
