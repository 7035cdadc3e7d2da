"""Makes buckets of a projection match PostgreSQL: rebuild, repair and drift check are this one mechanism."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace

from pegas_assets.errors import InvalidInput
from pegas_assets.identity import BUCKETS
from pegas_assets.projection.targets import Drift, Reconciled, Target
from pegas_assets.stores.locks import bucket_lock
from pegas_assets.stores.outbox import settle_done, unsettled_ids
from pegas_assets.stores.postgres import Database
from pegas_assets.stores.soundness import keys_under_way

ALL_BUCKETS = tuple(range(BUCKETS))


def checked_buckets(wanted: Sequence[int]) -> tuple[int, ...]:
    """The buckets, each once.

    Raises:
        InvalidInput: a number that is none.
    """
    for number in wanted:
        if number not in ALL_BUCKETS:
            raise InvalidInput(f"{number} is no bucket.", hint=f"Use 0 to {BUCKETS - 1}.", item=str(number))
    return tuple(dict.fromkeys(wanted))


def reconcile(
    database: Database,
    target: Target,
    buckets: Sequence[int] = ALL_BUCKETS,
    *,
    verify: bool = True,
    progress: Callable[[Reconciled], None] | None = None,
) -> list[Reconciled]:
    """Write what is missing or different, remove what is too much; returns what each bucket took, in order.

    Nodes of all buckets come before edges, since an edge needs both its ends. Outbox rows that were pending, backing
    off or dead when a bucket was read are settled by it. With `verify`, the comparison is made once more at the end.

    Raises:
        EngineUnavailable: the store does not answer. What was done stays; the rest is done by the next call.
    """
    target.prepare()
    results: dict[int, Reconciled] = {}
    answered: dict[int, list[int]] = {}
    with database.session() as session:
        for bucket in buckets:
            with bucket_lock(session, target.lock, bucket):
                answered[bucket] = unsettled_ids(session, target.statements, bucket)
                results[bucket] = target.reconcile_nodes(bucket)
        for bucket in buckets:
            with bucket_lock(session, target.lock, bucket):
                edges = target.reconcile_edges(bucket)
                nodes = results[bucket]
                left = target.compare(bucket) if verify else None
                if not edges.waiting:
                    settle_done(session, target.statements, answered[bucket])
            results[bucket] = replace(
                nodes,
                upserted=nodes.upserted + edges.upserted,
                deleted=nodes.deleted + edges.deleted,
                waiting=edges.waiting,
                seconds=nodes.seconds + edges.seconds,
                left=left,
            )
            if progress is not None:
                progress(results[bucket])
    return [results[bucket] for bucket in buckets]


def empty(database: Database, target: Target) -> None:
    """Drop what a projection holds. Whoever else writes to it waits, and finds it empty but whole.

    Raises:
        EngineUnavailable: the store does not answer, or another run held a bucket all the time.
    """
    with database.session() as session, ExitStack() as held:
        for bucket in ALL_BUCKETS:
            held.enter_context(bucket_lock(session, target.lock, bucket))
        target.empty()


def drift(
    database: Database,
    target: Target,
    buckets: Sequence[int] = ALL_BUCKETS,
    *,
    settle_s: float = 0.0,
) -> list[Drift]:
    """Compare buckets with PostgreSQL, changing nothing.

    Each bucket is compared under its lock, so no consumer is half-way. A change that is committed and not drained yet is
    drift too, named in `late`; `settle_s` gives the drain that long to catch up before it is reported.
    """
    target.prepare()
    found: list[Drift] = []
    deadline = time.monotonic() + settle_s
    with database.session() as session:
        for bucket in buckets:
            while True:
                with bucket_lock(session, target.lock, bucket):
                    state = target.compare(bucket)
                    if state.total:
                        # Under the lock: nobody can settle a row between the two looks.
                        late = keys_under_way(session, target.name, state.wrong)
                        state = replace(state, late=frozenset(late))
                if state.total == 0 or time.monotonic() >= deadline:
                    break
                time.sleep(0.2)
            found.append(state)
    return found
