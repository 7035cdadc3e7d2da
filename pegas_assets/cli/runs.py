"""Runs the ingest job in this process, as a real run of Dagster, and watches the tables for progress meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pegas_assets.cli.output import Advance
from pegas_assets.errors import PegasError

if TYPE_CHECKING:
    from pegas_assets.runtime import Runtime

RUN_DOCUMENTS = 1000
"""Documents of one run: their numbers are in its config."""
LOOK_EVERY_S = 0.4
INTERRUPTED = "DagsterExecutionInterruptedError"
WAIT_FOR_BUCKETS_S = 10.0


@dataclass
class Ran:
    """The runs that were made, and a sentence for each thing that did not go well."""

    runs: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def ingest_through_dagster(
    runtime: Runtime, work: Mapping[str, Sequence[int]], *, force: bool, advance: Advance
) -> Ran:
    """Documents → chunks → atoms for each source, narrowed to the documents named; then both projections follow.

    Raises:
        EngineUnavailable: Dagster's storage does not answer. The documents are kept, and the next run takes them.
    """
    from pegas_assets.defs.instance import close_instance, open_inprocess_instance
    from pegas_assets.defs.launch import run_ingest_inprocess

    ran = Ran()
    if not work:
        return ran
    advance("opening Dagster", 0, 1)
    instance = open_inprocess_instance(runtime.settings)
    advance("opening Dagster", 1, 1)
    try:
        with _watched(lambda: _distilled(runtime), advance), _watched(lambda: _settled(runtime, work), advance):
            for source, documents in work.items():
                for start in range(0, len(documents), RUN_DOCUMENTS):
                    part = documents[start : start + RUN_DOCUMENTS]
                    tags = {"pegas/source": "cli"}
                    result = run_ingest_inprocess(instance, runtime, source, part, force=force, tags=tags)
                    ran.runs.append(result.run_id)
                    if INTERRUPTED in result.error:
                        # Dagster takes the signal, ends the run in order and goes on: the one who pressed it means us.
                        raise KeyboardInterrupt
                    if result.error:
                        ran.problems.append(f"{source}: {result.error}")
    finally:
        close_instance(instance)
    ran.problems += follow(runtime, advance)
    return ran


def follow(runtime: Runtime, advance: Advance) -> list[str]:
    """Drain the outbox into both projections; a sentence for each that could not follow."""
    from pegas_assets.projection.drain import drain

    advance("projecting", 0, 1)
    drained = drain(
        runtime.database,
        runtime.targets,
        max_attempts=runtime.settings.outbox_max_attempts,
        wait_s=WAIT_FOR_BUCKETS_S,
    )
    advance("projecting", 1, 1)
    return [
        f"{state.target} will follow when it is back: {state.unavailable}" for state in drained if state.unavailable
    ]


Look = Callable[[], tuple[str, int, int]]
"""What is counted, how much of it is done, how much there is."""


@contextmanager
def _watched(look: Look, advance: Advance) -> Iterator[None]:
    """Show what `look` counts, again and again, until the work is over."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_EVERY_S):
            try:
                advance(*look())
            except PegasError:
                return

    watcher = threading.Thread(target=watch, name="progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join(timeout=2)
    advance(*look())


def _settled(runtime: Runtime, work: Mapping[str, Sequence[int]]) -> tuple[str, int, int]:
    from pegas_assets.stores.documents import OPEN
    from pegas_assets.stores.source_counts import documents_by_status

    total = sum(len(documents) for documents in work.values())
    with runtime.database.connection() as connection:
        counted = [documents_by_status(connection, source) for source in work]
    still = sum(counts.get(status, 0) for counts in counted for status in OPEN)
    return "documents", max(0, total - still), total


def _distilled(runtime: Runtime) -> tuple[str, int, int]:
    from pegas_assets.stats import stats

    found = stats(runtime.database)
    return "chunks in memory", found.chunks - found.chunks_undistilled, found.chunks
