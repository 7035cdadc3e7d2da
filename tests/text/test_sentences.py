from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegas_assets.text.sentences import split_sentences


def sentences(text: str, language: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, language)]


@pytest.mark.parametrize(
    "expected",
    [
        ["В 1954 г. мост перестроили.", "Он стоит в г. Москва, т. е. в центре, на ул. Садовая, д. 5."],
        ["В 1703 г. Пётр I основал город.", "Город рос."],
        ["Мост построен в 1954 г.", "Он стоит и теперь."],
        ["А. С. Пушкин, И.И. Петров и Ж.-Б. Ламарк тут не жили и т. д.", "Затем пришёл сторож."],
        ["— Куда? — спросил он.", "«Туда!»", "Он ушёл...", "Потом вернулся…", "И сел."],
        ["Цена 3.14 руб. за шт.", "См. рис. 5 и табл. 2."],
        ["Длина 5 км.", "Ширина 3 м.", "Высота 2 м."],
        ["В XIX в. город рос.", "Это было в XIX в.", "Река обмелела."],
    ],
)
def test_russian(expected: list[str]) -> None:
    assert sentences(" ".join(expected), "ru") == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["Dr. Smith paid $3.50 to J. R. R. Tolkien, e.g. for U.S. Army maps.", "He left at 5 p.m.", "The gate closed."],
        ["See Fig. 4 and No. 7.", "Is it so?", "Yes!", '"Go," she said.', '"Go."', "They went."],
        ["Visit https://example.org/c.d?x=1.", "Version 2.0.1 works.", "Use Node.js."],
        ["It cost Larch Ltd. nothing.", "The end."],
    ],
)
def test_english(expected: list[str]) -> None:
    assert sentences(" ".join(expected), "en") == expected


def test_wrapped_lines_are_one_sentence_and_list_items_are_their_own() -> None:
    assert sentences("It wraps\nover lines. And\nagain.", "en") == ["It wraps\nover lines.", "And\nagain."]
    assert sentences("1. First item\n2. Second item\n- third\n\nNext", "en") == [
        "1. First item",
        "2. Second item",
        "- third",
        "Next",
    ]


def test_scripts_without_spaces_or_points() -> None:
    assert sentences("桥在中午开放。渡船在等。“好！”他说。", "zh") == [
        "桥在中午开放。",
        "渡船在等。",
        "“好！”",
        "他说。",
    ]
    assert sentences("पुल खुला। नाव है।", "hi") == ["पुल खुला।", "नाव है।"]


@given(st.text('аб АБ.!?…\n"»1г。-', max_size=80), st.sampled_from(["ru", "en", "und"]))
def test_spans_hold_every_visible_character_once_and_in_order(text: str, language: str) -> None:
    spans = split_sentences(text, language)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(a < b for a, b in spans)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))
