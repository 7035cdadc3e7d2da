"""Values made plain for a graph: every type has a form, and a plain value stays as it is."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegas_assets.stores.graph_values import plain, plain_properties, plain_text

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.binary()
    | st.decimals()
    | st.uuids()
    | st.datetimes()
    | st.dates()
    | st.timedeltas(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.frozensets(st.text() | st.integers() | st.none())
    ),
    max_leaves=20,
)


def is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str | int | float | bool) for item in value)
    return value is None or isinstance(value, str | int | float | bool)


@given(values)
def test_whatever_comes_the_driver_can_send_it(value: Any) -> None:
    made = plain(value)
    assert is_plain(made)
    # The driver packs text as UTF-8 and whole numbers in 64 bits.
    json.dumps(made, allow_nan=False, ensure_ascii=False).encode()
    numbers = (
        [made]
        if isinstance(made, int)
        else [one for one in made if isinstance(one, int)]
        if made and isinstance(made, list)
        else []
    )
    assert all(-(2**63) <= number < 2**63 for number in numbers)


@given(values)
def test_a_plain_value_stays_as_it_is(value: Any) -> None:
    made = plain(value)
    assert plain(made) == made


@given(st.datetimes(timezones=st.timezones()), st.datetimes(timezones=st.timezones()))
def test_times_as_text_are_in_the_order_of_time(one: datetime, other: datetime) -> None:
    try:
        first, second = one.astimezone(UTC), other.astimezone(UTC)
    except OverflowError:
        return
    assert (str(plain(one)) < str(plain(other))) == (first < second)


@given(st.text())
def test_text_without_nul_goes_through_letter_for_letter(text: str) -> None:
    assert plain_text(text) == text.replace("\0", "")


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Decimal("1.10"), 1.1),
        (2**63, "9223372036854775808"),
        (-(2**63), -(2**63)),
        (float("nan"), None),
        (float("inf"), None),
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
        (Colour.RED, "red"),
        ({"b", "a"}, ["a", "b"]),
        ((1, None, 2), [1, 2]),
        ([1, [2, {"x": None}]], [1, '[2,{"x":null}]']),
        ({"я": {1: (2, None)}}, '{"я":{"1":[2,null]}}'),
        (date(2026, 1, 5), "2026-01-05"),
        (datetime(2026, 1, 5, 8), "2026-01-05T08:00:00.000000Z"),
        (timedelta(minutes=1), 60.0),
        (b"\x00\xff", "AP8="),
        ("a\0b", "ab"),
        ("\ud83d\ude00", "😀"),
        ("\ud83d", "�"),
        ("\ude00x", "�x"),
    ],
)
def test_each_type_has_its_form(value: Any, expected: Any) -> None:
    made = plain(value)
    assert made == expected
    assert type(made) is type(expected)


def test_a_property_without_a_value_is_left_out() -> None:
    assert plain_properties({"a": 1, "b": None, "c": float("nan"), "d": ""}) == {"a": 1, "d": ""}
