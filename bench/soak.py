"""Eight processes search and write for minutes while each engine is killed once and the vector index is built.

Ends with 1 where an acknowledged write is lost, a thing is there twice, a projection differs from PostgreSQL, or a
client waited for more than 30 s.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing.process import BaseProcess
from pathlib import Path

from bench.harness import Figure, bench_runtime, p50, p95, report, say
from bench.soak_load import DRAIN, RAW, SEARCH, STORE, Answer, Written, client, drainer, notes_folder, read_notes
from bench.soak_proof import doubled, drifted, lost, settle
from bench.synthetic import fill
from pegas_assets.embedded.bolt import find_bolt
from pegas_assets.embedded.postgres import find_postgres
from pegas_assets.embedded.process import find
from pegas_assets.embedded.vector_host import vector_host
from pegas_assets.errors import PegasError
from pegas_assets.projection.drain import drain
from pegas_assets.runtime import Runtime

FROZEN_S = 30.0
AROUND_KILL_S = 15.0
"""How long after a kill its phase lasts."""
LAST_S = 20.0
"""Load that goes on after the index serves, at least."""
START_S = 60.0
STOP_S = 60.0
POSTGRES, GRAPH, VECTORS, OPTIMIZE = (
    "kill of PostgreSQL",
    "kill of the graph host",
    "kill of the vector host",
    "optimize",
)
SCHEDULE = ((0.12, POSTGRES), (0.24, GRAPH), (0.36, VECTORS), (0.48, OPTIMIZE))
"""When each happens, as a share of the time given."""


@dataclass(frozen=True)
class Phase:
    """A stretch of the soak, in monotonic seconds."""

    name: str
    start: float
    end: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--atoms", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=8)
    chosen = parser.parse_args()
    with bench_runtime() as runtime:
        say(f"filling {chosen.atoms:,} atoms and draining them into both projections")
        fill(runtime, chosen.atoms)
        drain(runtime.database, runtime.targets)
        phases = _under_load(runtime, chosen.clients, chosen.minutes * 60)
        answers, written = read_notes(runtime.settings.home)
        figures, wrong = _figures(chosen.clients, phases, answers)
        say("settling, then comparing")
        proofs, broken = _proofs(runtime, written)
    report(f"soak-{chosen.atoms}", [*figures, *proofs])
    for line in (*wrong, *broken):
        say(line)
    return 1 if wrong or broken else 0


def _under_load(runtime: Runtime, clients: int, seconds: float) -> list[Phase]:
    """Let the processes work, make trouble at the set times, and end them; the phases, in order."""
    home = runtime.settings.home
    notes_folder(home).mkdir()
    until = home / "soak.over"
    spawn = multiprocessing.get_context("spawn")
    processes: list[BaseProcess] = [
        spawn.Process(target=client, args=(home, number, until), name=f"client {number}") for number in range(clients)
    ]
    processes.append(spawn.Process(target=drainer, args=(home, clients, until), name="drainer"))
    for process in processes:
        process.start()
    try:
        _await_all(home, clients)
        return _schedule(runtime, seconds)
    finally:
        until.touch()
        _end(processes)


def _await_all(home: Path, clients: int) -> None:
    """Until every client was answered once: loading models and libraries is no part of the soak."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if len({answer.client for answer in read_notes(home)[0] if answer.work == SEARCH}) == clients:
            return
        time.sleep(0.5)
    say(f"not every client was answered within {START_S:.0f} s; going on")


def _schedule(runtime: Runtime, seconds: float) -> list[Phase]:
    started = time.monotonic()
    phases: list[Phase] = []
    begun = started
    for share, event in SCHEDULE:
        _sleep_until(started + share * seconds)
        now = time.monotonic()
        phases.append(Phase("before" if event is POSTGRES else "between", begun, now))
        say(f"{now - started:5.0f} s: {event}")
        if event is OPTIMIZE:
            _optimize(runtime, seconds)
        else:
            os.kill(_pid(runtime, event), signal.SIGKILL)
            _sleep_until(min(now + AROUND_KILL_S, now + seconds * 0.1))
        begun = time.monotonic()
        phases.append(Phase(event, now, begun))
    _sleep_until(max(started + seconds, begun + LAST_S))
    phases.append(Phase("after", begun, time.monotonic()))
    return phases


def _pid(runtime: Runtime, event: str) -> int:
    settings = runtime.settings
    look: Callable[[], object] = {
        POSTGRES: lambda: find_postgres(settings),
        GRAPH: lambda: find_bolt(settings),
        VECTORS: lambda: find(vector_host(settings.home)),
    }[event]
    found = look()
    pid = getattr(found, "pid", None)
    if not isinstance(pid, int):
        raise SystemExit(f"{event}: there is nothing to kill")
    return pid


def _optimize(runtime: Runtime, seconds: float) -> None:
    """Build the index, for as long again as the soak lasts at most."""
    done = threading.Event()

    def build() -> None:
        try:
            runtime.vectors.optimize(runtime.vector_target.collection())
        except PegasError as error:
            say(f"optimize: {error}")
        finally:
            done.set()

    threading.Thread(target=build, daemon=True).start()
    if not done.wait(max(60.0, 2 * seconds)):
        say("the index was not built in time")


def _sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def _end(processes: Sequence[BaseProcess]) -> None:
    deadline = time.monotonic() + STOP_S
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
        if process.is_alive():
            say(f"{process.name} did not end and is killed")
            process.kill()
            process.join(5.0)


def _figures(clients: int, phases: Sequence[Phase], answers: Sequence[Answer]) -> tuple[list[Figure], list[str]]:
    figures: list[Figure] = []
    wrong: list[str] = []
    for name in dict.fromkeys(phase.name for phase in phases):
        spans = [phase for phase in phases if phase.name == name]
        inside = [one for one in answers if any(span.start <= one.at < span.end for span in spans)]
        figures.append(Figure(f"{name}: lasted", sum(span.end - span.start for span in spans), "s"))
        for work in (SEARCH, STORE, RAW):
            times = [one.ms for one in inside if one.work == work and not one.failed]
            if times:
                figures.append(Figure(f"{name}: {work}, p50 of {len(times):,}", p50(times), "ms"))
                figures.append(Figure(f"{name}: {work}, p95", p95(times), "ms"))
        for trouble, count in sorted(Counter((one.work, one.trouble) for one in inside if one.trouble).items()):
            figures.append(Figure(f"{name}: {trouble[0]}, {trouble[1]}", count, "times"))
    start, end = phases[0].start, phases[-1].end
    of_clients = [one for one in answers if one.work != DRAIN and start <= one.at <= end]
    for title, taken in (
        ("longest wait for an answer", of_clients),
        ("longest wait for one without error", [one for one in of_clients if not one.failed]),
    ):
        waits = {number: _longest_wait(taken, number, start, end) for number in range(clients)}
        figures.append(Figure(title, max(waits.values()), "s", f"≤ {FROZEN_S:.0f}"))
        wrong += [f"client {number}: {title} {wait:.1f} s" for number, wait in waits.items() if wait > FROZEN_S]
    return figures, wrong


def _longest_wait(answers: Sequence[Answer], number: int, start: float, end: float) -> float:
    moments = [start, *(one.at for one in answers if one.client == number), end]
    return max(later - earlier for earlier, later in pairwise(moments))


def _proofs(runtime: Runtime, written: Sequence[Written]) -> tuple[list[Figure], list[str]]:
    started = time.monotonic()
    left = settle(runtime)
    figures = [
        Figure("settled after", time.monotonic() - started, "s"),
        Figure("left to do", left, "rows", "0"),
        Figure("acknowledged writes", len(written), ""),
        Figure("lost", len(lost(runtime, written)), "writes", "0"),
    ]
    figures += [Figure(f"too many: {what}", count, "", "0") for what, count in doubled(runtime).items()]
    figures += [Figure(f"drift of {name}", count, "keys", "0") for name, count in drifted(runtime).items()]
    broken = [f"{item.name}: {item.value:.0f}" for item in figures if item.target == "0" and item.value]
    return figures, broken


if __name__ == "__main__":
    sys.exit(main())
