from __future__ import annotations

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from pegas_assets.text.cleaning import clean_json, clean_text


def test_controls_go_and_line_ends_become_one_kind() -> None:
    dirty = "Pump\x00 one\x01 runs.\r\nPump two\rstops.\u2028Pump three\x85waits.\u2029End\x0cpage"
    assert clean_text(dirty) == "Pump one runs.\nPump two\nstops.\nPump three\nwaits.\nEnd\npage"


def test_ansi_sequences_go_whole() -> None:
    assert clean_text("\x1b[31mred\x1b[0m \x1b]0;window title\x07text \x9b1mbold \x1b(Bplain") == "red text bold plain"


def test_an_ansi_sequence_without_an_end_swallows_nothing() -> None:
    assert clean_text("before \x1b]0;no end here\nafter") == "before 0;no end here\nafter"


def test_noncharacters_and_byte_order_marks_go() -> None:
    assert clean_text("\ufeffa\ufffeb\uffffc\ufdd0d\U0001fffee\ufefff") == "abcdef"


def test_a_lone_surrogate_becomes_the_replacement_character_and_a_pair_is_joined() -> None:
    assert clean_text("x\ud800y \ud83d\udc69") == "x\ufffdy \U0001f469"


def test_joiners_marks_and_soft_hyphens_stay() -> None:
    text = "👩‍🌾 می‌خواهم про\u00adвод за\u0301мок \u200f(שלום)\tтаб\u00a0"
    assert clean_text(text) == text


def test_json_is_cleaned_in_keys_and_values_and_no_key_is_lost() -> None:
    assert clean_json({"a\x00": "x\x00", "a": [math.nan, ("\x1b[1mb",)], "n": 1, "t": True}) == {
        "a": "x",
        "a_2": [None, ["b"]],
        "n": 1,
        "t": True,
    }


def test_json_as_deep_as_one_likes_is_cleaned() -> None:
    deep: object = "x\x00"
    for _ in range(50_000):
        deep = [deep]
    cleaned = clean_json(deep)
    for _ in range(50_000):
        assert isinstance(cleaned, list)
        cleaned = cleaned[0]
    assert cleaned == "x"


_ANY = st.text(st.characters(codec=None), max_size=200) | st.text(
    "\x1b\x9b[]0m;\x07\\ab\r\n\ud83d\udc69\x00", max_size=40
)


@given(_ANY)
def test_cleaning_twice_is_cleaning_once_and_the_result_can_be_stored(text: str) -> None:
    once = clean_text(text)
    assert clean_text(once) == once
    once.encode("utf-8")
    assert not set(once) & {"\x00", "\x1b", "\r", "\ufeff", "\u2028"}
    assert "\n" not in json.dumps(once, ensure_ascii=False)
