"""What the sensors decide, without Dagster: values in, values out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pegas_assets.stores.waiting import WaitingRows, WaitingSource

FIRST_WAIT_S = 10.0
LONGEST_WAIT_S = 900.0
MAX_ASKS = 20
"""Runs that one tick asks for: the next tick asks for the rest."""


@dataclass(frozen=True)
class EarlierRun:
    """A run that a sensor asked for, or one over a whole partition that a person did. `ended_at` is None in flight."""

    state: str
    partition: str
    ended_at: float | None


@dataclass(frozen=True)
class OwnedRun:
    """A run in flight that says which process works on it."""

    run_id: str
    host: str
    pid: int
    started: int


@dataclass(frozen=True)
class Ask:
    """A run to ask for. `state` names what it answers; the key adds how often that was answered in vain."""

    state: str
    run_key: str
    partition: str = ""


def state_of(*parts: object) -> str:
    """A short name of a state of the tables: equal states have equal names."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:24]


def source_state(waiting: WaitingSource) -> str:
    return state_of("ingest", waiting.source, waiting.documents, waiting.attempts, waiting.changed.isoformat())


def outbox_state(waiting: Sequence[WaitingRows]) -> str:
    return state_of("drain", *((rows.target, rows.rows, rows.newest_id, rows.attempts) for rows in waiting))


def decide_ingest(waiting: Sequence[WaitingSource], runs: Sequence[EarlierRun], now: float) -> list[Ask]:
    """One run for each source that has work, unless one is in flight for it, or the last ones changed nothing."""
    busy = {run.partition for run in runs if run.ended_at is None}
    asks = []
    for source in waiting:
        if source.source in busy:
            continue
        state = source_state(source)
        attempt = _next_attempt(state, runs, now)
        if attempt is not None:
            asks.append(Ask(state, f"ingest:{state}:{attempt}", source.source))
    return asks[:MAX_ASKS]


def decide_drain(waiting: Sequence[WaitingRows], runs: Sequence[EarlierRun], now: float) -> Ask | None:
    """One run for all that is pending, and never a second one beside it."""
    if not waiting or any(run.ended_at is None for run in runs):
        return None
    state = outbox_state(waiting)
    attempt = _next_attempt(state, runs, now)
    return None if attempt is None else Ask(state, f"drain:{state}:{attempt}")


def decide_lost(runs: Sequence[OwnedRun], host: str, start_of: Callable[[int], int | None]) -> list[str]:
    """The runs whose process on this host is gone. `start_of` gives a living process's start, else None.

    Without it a killed worker leaves its run STARTED for ever, and whoever waits for that run waits as long.
    """
    return [run.run_id for run in runs if run.host == host and start_of(run.pid) != run.started]


def _next_attempt(state: str, runs: Sequence[EarlierRun], now: float) -> int | None:
    """How often this very state was answered in vain; None where it is answered now, or was too short a time ago.

    A run key is spent for good, whatever became of its run: the attempt in it lets a failed run be asked for again.
    The wait doubles, so that a store that is down costs a run now and then, and not one with every tick.
    """
    same = [run.ended_at for run in runs if run.state == state]
    ended = [at for at in same if at is not None]
    if len(ended) < len(same):
        return None
    if ended and now - max(ended) < min(FIRST_WAIT_S * 2 ** (len(ended) - 1), LONGEST_WAIT_S):
        return None
    return len(ended)
