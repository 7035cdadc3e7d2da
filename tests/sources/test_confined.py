"""A parser that crashes, hangs or swells costs its own process and says so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pegas_assets.errors import Refused
from pegas_assets.sources import confined as module
from pegas_assets.sources.confined import confined

HOSTILE = "tests.sources.hostile"


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    yield
    module._end_kept()


def test_values_go_there_and_back_whatever_the_library_prints() -> None:
    value = {"text": "Насос\x00" * 100_000, "pages": [1, 2]}
    assert confined(f"{HOSTILE}:echo", value, item="a.pdf") == value


def test_the_process_is_another_and_serves_the_next_file_too() -> None:
    first = confined(f"{HOSTILE}:process", item="a.pdf")
    assert first not in (os.getpid(), None)
    assert confined(f"{HOSTILE}:process", item="b.pdf") == first


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("swell", "too large"),
        ("hang", "still being read after 1 s"),
        ("crash", "crashed"),
        ("fail", "damaged: bad xref"),
    ],
)
def test_a_hostile_file_is_refused_in_a_sentence_and_the_next_is_read(what: str, says: str) -> None:
    with pytest.raises(Refused, match=says) as raised:
        confined(f"{HOSTILE}:{what}", item="bad.pdf", limit_s=1.0 if what == "hang" else 60.0)
    assert raised.value.item == "bad.pdf"
    assert confined(f"{HOSTILE}:echo", 1, item="good.pdf") == 1


def test_a_refusal_comes_back_as_it_was_said() -> None:
    with pytest.raises(Refused) as raised:
        confined(f"{HOSTILE}:refuse", item="a.pdf")
    assert (raised.value.message, raised.value.hint, raised.value.needs_ocr) == ("It has no text.", "Run OCR.", True)


def test_threads_take_turns() -> None:
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda number: confined(f"{HOSTILE}:echo", number, item="a.pdf"), range(20)))
    assert answers == list(range(20))


def test_a_process_that_ended_meanwhile_is_not_missed() -> None:
    os.kill(confined(f"{HOSTILE}:process", item="a.pdf"), 9)
    assert confined(f"{HOSTILE}:echo", 1, item="a.pdf") == 1
