"""Drains the outbox: each target by itself, bucket by bucket, under the buckets' locks."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from pegas_assets.errors import EngineUnavailable, FingerprintMismatch, PegasError
from pegas_assets.projection.targets import Applied, Target
from pegas_assets.stores.locks import release_buckets, try_buckets
from pegas_assets.stores.outbox import WAITING_S, OutboxRow, pending_buckets, read_rows, settle_done, settle_failed
from pegas_assets.stores.postgres import Connection, Database, first_line

BATCH = 2000
PAUSE_S = 0.02
"""Between two looks at what another consumer holds or is about to write."""


@dataclass
class Drained:
    """What a drain did for one target. `by_bucket` counts rows; `waiting` are edges that lack an end to the last;
    `unavailable` says why it stopped early."""

    target: str
    done: int = 0
    waiting: int = 0
    failed: int = 0
    by_bucket: Counter[int] = field(default_factory=Counter)
    busy_buckets: tuple[int, ...] = ()
    unavailable: str = ""
    seconds: float = 0.0


def drain(
    database: Database,
    targets: Sequence[Target],
    *,
    max_attempts: int = 8,
    keys: Sequence[str] | None = None,
    wait_s: float = 0.0,
    max_rows: int | None = None,
    progress: Callable[[Drained], None] | None = None,
) -> list[Drained]:
    """Make each target show what changed; returns what was done for each, in order.

    Targets are drained side by side, each in a thread; `progress` is called by one at a time. With `keys`, only the
    rows of these entities. `wait_s` bounds the wait for buckets that another consumer holds, and for nodes that an
    edge needs; what stays busy is that consumer's to finish. A target that does not answer holds up no other.
    """
    telling = threading.Lock()

    def tell(state: Drained) -> None:
        if progress is not None:
            with telling:
                progress(state)

    with ThreadPoolExecutor(max(1, len(targets)), "drain") as pool:
        return list(
            pool.map(
                lambda target: _drain_target(database, target, max_attempts, keys, wait_s, max_rows, tell), targets
            )
        )


def _drain_target(
    database: Database,
    target: Target,
    max_attempts: int,
    keys: Sequence[str] | None,
    wait_s: float,
    max_rows: int | None,
    progress: Callable[[Drained], None],
) -> Drained:
    result = Drained(target.name)
    started = time.perf_counter()
    deadline = started + wait_s
    with database.session() as session:
        while True:
            result.waiting = 0
            wanted = pending_buckets(session, target.statements, keys)
            held = try_buckets(session, target.lock, wanted)
            result.busy_buckets = tuple(sorted(wanted.keys() - set(held)))
            try:
                if held:
                    target.prepare()
                    _drain_buckets(session, target, held, max_attempts, keys, max_rows, result, progress)
            except (EngineUnavailable, FingerprintMismatch) as error:
                result.unavailable = str(error)
                break
            finally:
                if held and not session.closed:
                    release_buckets(session, target.lock, held)
            left = deadline - time.perf_counter()
            if left <= 0 or not pending_buckets(session, target.statements, keys, within_s=left):
                break
            time.sleep(PAUSE_S)
    result.seconds = time.perf_counter() - started
    return result


def _drain_buckets(
    session: Connection,
    target: Target,
    buckets: Sequence[int],
    max_attempts: int,
    keys: Sequence[str] | None,
    max_rows: int | None,
    result: Drained,
    progress: Callable[[Drained], None],
) -> None:
    for kinds in target.entity_kinds:
        while max_rows is None or result.done < max_rows:
            rows = read_rows(session, target.statements, buckets, kinds, BATCH, keys)
            if not rows:
                break
            _apply(session, target, rows, max_attempts, result)
            progress(result)
            if len(rows) < BATCH:
                break


def _apply(session: Connection, target: Target, rows: Sequence[OutboxRow], max_attempts: int, result: Drained) -> None:
    """Apply rows together; where that fails for a reason of theirs, by halves, down to the row that is at fault."""
    try:
        applied: Applied = target.apply(rows)
    except EngineUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a row causes is that row's, and blocks no other
        if len(rows) == 1:
            reason = str(error) if isinstance(error, PegasError) else f"{type(error).__name__}: {first_line(error)}"
            settle_failed(session, target.statements, [rows[0].id], reason, max_attempts)
            result.failed += 1
            return
        middle = len(rows) // 2
        _apply(session, target, rows[:middle], max_attempts, result)
        _apply(session, target, rows[middle:], max_attempts, result)
        return
    settle_done(session, target.statements, applied.done)
    if applied.waiting:
        settle_failed(
            session, target.statements, applied.waiting, "A node at an end is missing.", max_attempts, WAITING_S
        )
    done = set(applied.done)
    result.done += len(done)
    result.waiting += len(applied.waiting)
    result.by_bucket.update(row.bucket for row in rows if row.id in done)
