"""Figures of a bench: printed as a table, kept as JSON under `bench/results/`."""

from __future__ import annotations

import contextlib
import json
import platform
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pegas_assets.runtime import Runtime
from pegas_assets.settings import Settings
from tests.homes import stop_engines

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Figure:
    """One measured value; `floor` is what the bare engine takes for the same work, in the same unit."""

    name: str
    value: float
    unit: str
    target: str = ""
    floor: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times the floor it is: for times, above 1 is slower; for rates, the share of the bare engine's."""
        return self.value / self.floor if self.floor else None


def report(bench: str, figures: Sequence[Figure]) -> None:
    """Print the figures and keep them."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=bench, title_justify="left")
    for column in ("figure", "value", "unit", "target", "floor", "ratio"):
        table.add_column(column, justify="right" if column in ("value", "floor", "ratio") else "left")
    for figure in figures:
        table.add_row(
            figure.name,
            f"{figure.value:,.3f}" if abs(figure.value) < 100 else f"{figure.value:,.0f}",
            figure.unit,
            figure.target,
            "" if figure.floor is None else f"{figure.floor:,.3f}" if figure.floor < 100 else f"{figure.floor:,.0f}",
            "" if figure.ratio is None else f"{figure.ratio:.2f}",
        )
    Console().print(table)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{bench}.json").write_text(
        json.dumps(
            {
                "bench": bench,
                "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "python": platform.python_version(),
                "figures": [{**asdict(figure), "ratio": figure.ratio} for figure in figures],
            },
            indent=1,
            ensure_ascii=False,
        )
        + "\n",
        "utf-8",
    )


@contextlib.contextmanager
def bench_runtime(**settings: object) -> Iterator[Runtime]:
    """A fresh home with its own engines, removed at the end."""
    home = Path(tempfile.mkdtemp(prefix="pegas-bench-"))
    home.chmod(0o755)
    made = Settings(_env_file=None, home=home, **settings)  # type: ignore[call-arg, arg-type]
    try:
        with Runtime(made, application="bench") as runtime:
            runtime.ensure_schema()
            yield runtime
    finally:
        stop_engines(made)
        shutil.rmtree(home, ignore_errors=True)


def milliseconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def p50(samples: Sequence[float]) -> float:
    return statistics.median(samples)


def p95(samples: Sequence[float]) -> float:
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]


def peak_mb() -> float:
    """The most memory that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def say(text: str) -> None:
    """A line about what is going on, beside the figures."""
    print(text, file=sys.stderr, flush=True)
