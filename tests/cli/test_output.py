"""Progress where there is no terminal."""

from __future__ import annotations

import pytest

from pegas_assets.cli import output


def test_a_log_gets_a_line_when_a_count_has_moved_and_none_when_it_stands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(output.time, "monotonic", lambda: float(next(clock)))
    with output.progress() as advance:
        for done in (0, 0, 0, 4, 4, 9, 10, 10):
            advance("documents", done, 10)
    assert capsys.readouterr().err.splitlines() == [
        "documents …",
        "documents: 4 of 10",
        "documents: 9 of 10",
        "documents: 10 of 10",
    ]


def test_a_log_gets_no_more_than_a_line_in_some_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr(output.time, "monotonic", lambda: float(next(clock)))
    with output.progress() as advance:
        for done in range(10):
            advance("documents", done, 10)
    assert len(capsys.readouterr().err.splitlines()) < 6


def test_a_thing_that_is_not_counted_yet_has_not_ended(capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress() as advance:
        for done, total in ((0, 0), (0, 18), (18, 18)):
            advance("chunks", done, total)
    assert capsys.readouterr().err.splitlines() == ["chunks …", "chunks: 18 of 18"]
