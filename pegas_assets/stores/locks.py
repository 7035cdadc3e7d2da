"""Advisory locks, each on a session of its own: they end with the process that holds them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING

from pegas_assets.errors import EngineUnavailable

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection


class LockClass(IntEnum):
    """What a lock is about; the second number tells which one."""

    VECTOR_BUCKET = 0x504D01
    GRAPH_BUCKET = 0x504D02
    DEDUP = 0x504D03
    DOCUMENT = 0x504D04


def try_buckets(session: Connection, kind: LockClass, buckets: Iterable[int]) -> list[int]:
    """The buckets of a target that this session now holds, of those asked for."""
    rows = session.execute(
        "SELECT bucket FROM unnest(%s::int[]) AS bucket WHERE pg_try_advisory_lock(%s, bucket) ORDER BY bucket",
        [sorted(buckets), int(kind)],
    ).fetchall()
    return [row[0] for row in rows]


def release_buckets(session: Connection, kind: LockClass, buckets: Iterable[int]) -> None:
    session.execute(
        "SELECT pg_advisory_unlock(%s, bucket) FROM unnest(%s::int[]) AS bucket", [int(kind), sorted(buckets)]
    )


@contextmanager
def bucket_lock(session: Connection, kind: LockClass, bucket: int, wait_s: float = 120.0) -> Iterator[None]:
    """Hold a bucket of a target.

    Raises:
        EngineUnavailable: another consumer held it all the time.
    """
    deadline = time.monotonic() + wait_s
    while not try_buckets(session, kind, [bucket]):
        if time.monotonic() > deadline:
            raise EngineUnavailable(
                f"Bucket {bucket} is held by another run for more than {wait_s:.0f} s.",
                hint="Wait for that run to end, or stop it in the Dagster UI.",
                component="postgres",
                code="busy",
            )
        time.sleep(0.02)
    try:
        yield
    finally:
        if not session.closed:
            release_buckets(session, kind, [bucket])


def lock_dedup(connection: Connection) -> None:
    """Until the transaction ends, nobody else decides what is a duplicate. Short: embedding happens before it."""
    connection.execute("SELECT pg_advisory_xact_lock(%s, 0)", [int(LockClass.DEDUP)])


def try_document(session: Connection, document_id: int) -> bool:
    """Whether this session now holds a document; the lock ends with the session or `release_document`."""
    row = session.execute("SELECT pg_try_advisory_lock(%s)", [_document_key(document_id)]).fetchone()
    return bool(row and row[0])


def release_document(session: Connection, document_id: int) -> None:
    session.execute("SELECT pg_advisory_unlock(%s)", [_document_key(document_id)])


def _document_key(document_id: int) -> int:
    return (int(LockClass.DOCUMENT) << 39) | document_id
