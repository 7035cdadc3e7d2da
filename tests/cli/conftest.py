"""Fixtures of the command line.

| fixture   | scope    | what it is                                                                          |
|-----------|----------|-------------------------------------------------------------------------------------|
| `library` | module   | a base of this module, for commands that share what was taken in                    |
| `pegas`   | function | runs a command in this process on a base of the test alone                          |
| `shared`  | function | the same on `library`                                                               |
| `program` | function | runs the real program as a child process                                            |
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pegas_assets.cli.main import main
from pegas_assets.runtime import Runtime
from pegas_assets.settings import Settings
from tests.conftest import fresh_base

PROGRAM = Path(sys.executable).absolute().parent / "pegas"


@dataclass(frozen=True)
class Outcome:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def refused(self, *words: str) -> None:
        """It ended in one or two lines on stderr that hold these words, and nothing else happened."""
        assert self.code in (1, 2), self
        assert "Traceback" not in self.out + self.err
        last = [line for line in self.err.splitlines() if not line.endswith("…") and ": done" not in line]
        told = " ".join(last)
        assert 0 < len(last) <= 2, self.err
        assert last[0].rstrip().endswith((".", "!", "?")), last[0]
        for word in words:
            assert word.lower() in told.lower(), told


@dataclass(frozen=True)
class Commands:
    """Runs commands on a base."""

    settings: Settings
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Outcome:
        for name, value in environment_of(self.settings).items():
            self.monkeypatch.setenv(name, value)
        self.capsys.readouterr()
        code = main(arguments)
        captured = self.capsys.readouterr()
        return Outcome(code, captured.out, captured.err)


def environment_of(settings: Settings) -> dict[str, str]:
    return {"PEGAS_HOME": str(settings.home), "PEGAS_BASE": settings.base}


@pytest.fixture(scope="module")
def library(home: Path) -> Iterator[Runtime]:
    with fresh_base(home) as made:
        yield made


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Not in the checkout: whoever works there may have a .env."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pegas(
    base: Runtime, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Commands:
    return Commands(base.settings, monkeypatch, capsys)


@pytest.fixture
def shared(
    library: Runtime, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Commands:
    return Commands(library.settings, monkeypatch, capsys)


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Outcome]:
    def run(settings: Settings, *arguments: str, stdin: str = "", **variables: str) -> Outcome:
        ended = subprocess.run(
            [str(PROGRAM), *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tmp_path,
            env={**os.environ, **environment_of(settings), **variables},
            timeout=180,
        )
        return Outcome(ended.returncode, ended.stdout, ended.stderr)

    return run
