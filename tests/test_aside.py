"""Work aside: its result, its error, and the order of what is made ahead."""

from __future__ import annotations

import threading

import pytest

from pegas_assets.aside import Aside, ahead


def test_the_result_of_work_aside_is_had_when_asked_for() -> None:
    assert Aside(lambda: 6 * 7).result() == 42


def test_what_work_aside_raises_is_raised_where_it_is_asked_for() -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        Aside(fail).result()


def test_work_aside_goes_on_beside_its_caller() -> None:
    told = threading.Event()
    begun = Aside(lambda: told.wait(10))
    told.set()
    assert begun.result()


def test_ahead_keeps_the_order_and_begins_the_next_before_it_gives_the_last() -> None:
    begun: list[int] = []
    second = threading.Event()

    def work(item: int) -> int:
        begun.append(item)
        if item == 2:
            second.set()
        return item * 10

    made = ahead(work, [1, 2, 3])

    assert next(made) == 10
    assert second.wait(10)
    assert list(made) == [20, 30]
    assert begun == [1, 2, 3]


def test_ahead_of_nothing_is_nothing() -> None:
    assert list(ahead(str, [])) == []
