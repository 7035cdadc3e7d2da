"""Whatever becomes of a file, it is read, read in part, or refused in a sentence."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.is_file())
COPIES = 2000
PROCESSES = 2
HANG_S = 60.0
"""Longer than any copy of a small file may take, even on a busy machine."""
MEMORY_MB = 700

pytestmark = pytest.mark.fuzz


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.name for path in EXAMPLES])
def test_a_damaged_copy_is_read_or_refused_in_a_sentence(path: Path) -> None:
    share = COPIES // PROCESSES
    processes = [_start(path, number * share, (number + 1) * share) for number in range(PROCESSES)]
    answers: list[dict[str, Any]] = []
    try:
        with ThreadPoolExecutor(PROCESSES) as threads:
            for told in threads.map(lambda process: list(_answers(process, path)), processes):
                answers.extend(told)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert len(answers) == COPIES
    faults = [answer for answer in answers if answer["outcome"] not in ("ok", "partial", "refused")]
    assert not faults, faults[:5]
    unclear = [answer for answer in answers if not all(_is_a_sentence(told) for told in answer["sentences"])]
    assert not unclear, unclear[:5]
    hungry = [answer for answer in answers if answer["mb"] > MEMORY_MB]
    assert not hungry, hungry[:1]
    outcomes = {answer["outcome"] for answer in answers}
    assert "ok" in outcomes or "partial" in outcomes, "no copy was read at all: the damage says nothing"


def _start(path: Path, first: int, last: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.fuzz.reading", str(path), str(first), str(last)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)})


def _answers(process: subprocess.Popen[bytes], path: Path) -> Iterator[dict[str, Any]]:
    """What the process says, until it ends; a failure that names the copy where it says nothing any more."""
    assert process.stdout is not None
    begun: object = None
    waiting = b""
    descriptor = process.stdout.fileno()
    while True:
        ready, _, _ = select.select([descriptor], [], [], HANG_S)
        if not ready:
            pytest.fail(f"{path.name}: the copy of seed {begun} is still being read after {HANG_S:.0f} s.")
        some = os.read(descriptor, 1 << 16)
        if not some:
            break
        *lines, waiting = (waiting + some).split(b"\n")
        for line in lines:
            answer = json.loads(line)
            if "begins" in answer:
                begun = answer["begins"]
            else:
                begun = None
                yield answer
    if process.wait() != 0 or begun is not None:
        pytest.fail(f"{path.name}: the process ended with {process.returncode} on the copy of seed {begun}.")


def _is_a_sentence(told: str) -> bool:
    return (
        (told[:1].isupper() or told[:1].isdigit())
        and told.endswith((".", "?"))
        and "\n" not in told
        and "Traceback" not in told
        and len(told) < 500
    )
