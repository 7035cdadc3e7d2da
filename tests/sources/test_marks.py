"""Pages, rows, cells and moments in locators: of chunks, and of what is quoted from them."""

from __future__ import annotations

import pytest

from pegas_assets.model import Locator, Turn
from pegas_assets.sources.blocks import Marks
from pegas_assets.sources.chunking import cut
from pegas_assets.sources.plain_blocks import plain_blocks

PAGES = ("The weir has nine gates.", "They open in spring.\n\nThe ford is dry in summer.", "A mill stands there.")
TEXT = " ".join(PAGES)
MARKS = Marks("page", ((0, 1), (25, 2), (TEXT.index("A mill"), 3)))


def test_a_chunk_says_on_which_pages_it_stands() -> None:
    (chunk,) = cut(TEXT, plain_blocks(TEXT), count_tokens=len, max_tokens=2000, target_tokens=2000, marks=MARKS)

    assert chunk.locator.page == 1
    assert [turn.value for turn in chunk.locator.turns] == [2, 3]
    assert str(chunk.locator) == f"p. 1–3, chars 0–{len(TEXT)}"


@pytest.mark.parametrize(
    ("quoted", "page"),
    [("nine gates", "p. 1"), ("They open", "p. 2"), ("ford is dry in summer.", "p. 2"), ("mill stands", "p. 3")],
)
def test_a_quotation_says_its_own_page(quoted: str, page: str) -> None:
    whole = MARKS.locate(Locator(start=0, end=len(TEXT)))
    start = TEXT.index(quoted)

    place = whole.within(start, start + len(quoted))

    assert str(place) == f"{page}, chars {start}–{start + len(quoted)}"
    assert place.turns == ()


def test_a_quotation_over_a_page_turn_says_both() -> None:
    whole = MARKS.locate(Locator(start=0, end=len(TEXT)))

    place = whole.within(10, 40)

    assert str(place) == "p. 1–2, chars 10–40"
    assert place.turns == (Turn(start=25, value=2),)


def test_a_place_before_the_first_mark_has_no_page() -> None:
    assert Marks("row", ((10, 1),)).locate(Locator(start=0, end=5)).unit == ""


def test_a_moment_is_shown_as_a_clock_shows_it() -> None:
    marks = Marks("time", ((0, 61.5), (20, 3723.25)))

    assert str(marks.locate(Locator(start=0, end=10))) == "0:01:01, chars 0–10"
    assert str(marks.locate(Locator(start=0, end=30))) == "0:01:01–1:02:03, chars 0–30"
    assert marks.locate(Locator(start=0, end=30)).within(20, 30).time == 3723.25
