"""What the sensors decide, without Dagster and without a store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegas_assets.defs.decisions import (
    FIRST_WAIT_S,
    LONGEST_WAIT_S,
    MAX_ASKS,
    EarlierRun,
    OwnedRun,
    decide_drain,
    decide_ingest,
    decide_lost,
    outbox_state,
    source_state,
)
from pegas_assets.stores.waiting import WaitingRows, WaitingSource

NOW = 1_000_000.0
THEN = datetime(2026, 1, 1, tzinfo=UTC)
BEES = WaitingSource("text:bees", documents=2, attempts=0, changed=THEN)
STONES = WaitingSource("text:stones", documents=1, attempts=3, changed=THEN)
ROWS = [WaitingRows("vectors", 5, 12, 0), WaitingRows("graph", 7, 12, 0)]


def ended(state: str, ago: float, partition: str = "text:bees") -> EarlierRun:
    return EarlierRun(state, partition, NOW - ago)


def test_each_source_with_work_gets_one_run() -> None:
    asks = decide_ingest([BEES, STONES], [], NOW)
    assert [ask.partition for ask in asks] == ["text:bees", "text:stones"]
    assert len({ask.run_key for ask in asks}) == 2


def test_a_duplicate_tick_asks_with_the_same_key() -> None:
    assert decide_ingest([BEES], [], NOW) == decide_ingest([BEES], [], NOW + 5)
    assert decide_drain(ROWS, [], NOW) == decide_drain(ROWS, [], NOW + 5)


def test_a_failed_run_is_asked_for_again_under_another_key() -> None:
    state = source_state(BEES)
    first = decide_ingest([BEES], [], NOW)[0]
    again = decide_ingest([BEES], [ended(state, FIRST_WAIT_S)], NOW)[0]
    assert again.state == first.state
    assert again.run_key != first.run_key


def test_a_run_that_changed_nothing_is_followed_by_a_growing_wait() -> None:
    state = outbox_state(ROWS)
    assert decide_drain(ROWS, [ended(state, FIRST_WAIT_S - 1)], NOW) is None
    two = [ended(state, 100), ended(state, FIRST_WAIT_S * 2 - 1)]
    assert decide_drain(ROWS, two, NOW) is None
    assert decide_drain(ROWS, [ended(state, 100), ended(state, FIRST_WAIT_S * 2)], NOW) is not None


def test_the_wait_does_not_grow_for_ever() -> None:
    state = outbox_state(ROWS)
    many = [ended(state, LONGEST_WAIT_S + number) for number in range(500)]
    assert decide_drain(ROWS, many, NOW) is not None


def test_a_source_with_a_run_in_flight_is_left_alone() -> None:
    in_flight = EarlierRun("another state", "text:bees", None)
    assert [ask.partition for ask in decide_ingest([BEES, STONES], [in_flight], NOW)] == ["text:stones"]


def test_there_is_never_a_second_drain_beside_the_first() -> None:
    assert decide_drain(ROWS, [EarlierRun("", "", None)], NOW) is None


def test_an_empty_outbox_asks_for_nothing() -> None:
    assert decide_drain([], [], NOW) is None


@pytest.mark.parametrize(
    "other",
    [
        WaitingSource("text:bees", 3, 0, THEN),
        WaitingSource("text:bees", 2, 1, THEN),
        WaitingSource("text:bees", 2, 0, THEN + timedelta(microseconds=1)),
        WaitingSource("text:wasps", 2, 0, THEN),
    ],
)
def test_whatever_changes_is_another_state(other: WaitingSource) -> None:
    assert source_state(other) != source_state(BEES)


def test_a_document_that_is_reopened_is_not_taken_for_one_answered_before() -> None:
    """Its count and attempts are what they were when it first came: only the time tells."""
    later = WaitingSource("text:bees", 2, 0, THEN + timedelta(days=1))
    asks = decide_ingest([later], [ended(source_state(BEES), 1)], NOW)
    assert [ask.partition for ask in asks] == ["text:bees"]


def test_a_tick_asks_for_a_bounded_number_of_runs() -> None:
    many = [WaitingSource(f"text:{number}", 1, 0, THEN) for number in range(MAX_ASKS * 3)]
    assert len(decide_ingest(many, [], NOW)) == MAX_ASKS


def test_a_run_is_lost_when_its_process_is_gone_or_is_another_now() -> None:
    living = {10: 111, 11: 222}
    runs = [
        OwnedRun("works", "here", 10, 111),
        OwnedRun("pid recycled", "here", 11, 221),
        OwnedRun("gone", "here", 12, 333),
        OwnedRun("elsewhere", "there", 12, 333),
    ]
    assert decide_lost(runs, "here", living.get) == ["pid recycled", "gone"]


sources = st.builds(
    WaitingSource,
    source=st.sampled_from(["text:a", "text:b", "web:c"]),
    documents=st.integers(1, 5),
    attempts=st.integers(0, 5),
    changed=st.datetimes(timezones=st.just(UTC)),
)
runs = st.builds(
    EarlierRun,
    state=st.just(""),
    partition=st.sampled_from(["text:a", "text:b", "web:c"]),
    ended_at=st.none() | st.floats(0, NOW),
)


@given(st.lists(sources, unique_by=lambda source: source.source), st.lists(runs))
def test_no_source_is_asked_for_twice_or_beside_its_own_run(
    waiting: list[WaitingSource], earlier: list[EarlierRun]
) -> None:
    asked = [ask.partition for ask in decide_ingest(waiting, earlier, NOW)]
    assert len(asked) == len(set(asked))
    assert not set(asked) & {run.partition for run in earlier if run.ended_at is None}


@given(st.lists(sources, unique_by=lambda source: source.source), st.integers(1, 12))
def test_a_state_that_is_never_answered_is_asked_for_under_a_new_key_each_time(
    waiting: list[WaitingSource], times: int
) -> None:
    earlier: list[EarlierRun] = []
    keys: list[str] = []
    now = NOW
    for _ in range(times):
        now += LONGEST_WAIT_S
        asks = decide_ingest(waiting, earlier, now)
        assert len(asks) == len(waiting), "a missed or failed answer loses nothing"
        keys += [ask.run_key for ask in asks]
        earlier += [EarlierRun(ask.state, ask.partition, now) for ask in asks]
    assert len(keys) == len(set(keys))
