"""The search copy, its words and stems."""

from __future__ import annotations

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegas_assets.text.folding import fold, words
from pegas_assets.text.stemming import stem, stems

LETTERS = st.text(alphabet="aceopxyABHKтсоаеАВНКё́й\u00ad\u200b\u0301\u0308'’ 12,.-ßİéñ№²ﬁＡ\u00a0", max_size=30)


@given(st.one_of(st.text(max_size=60), LETTERS))
@example("ВАСыle ѐ ѝ а́")
@example("´a İ ſ ǅ")
@example("ßЀ ĨЀ")
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.one_of(st.text(max_size=60), LETTERS))
def test_the_search_copy_is_the_same_for_composed_and_decomposed_text(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("Сocнa", "сосна"),
        ("Кaфe", "кафе"),
        ("ОСR", "ocr"),
        ("Mосква", "москва"),
        ("pаypаl", "paypal"),
        ("С++", "c++"),
    ],
)
def test_look_alike_letters_are_replaced_inside_words_of_mixed_script(typed: str, found: str) -> None:
    assert fold(typed) == found


@pytest.mark.parametrize("word", ["осa-ocr", "SQL-запрос", "USB порт", "сор", "cop", "мp3й"])
def test_words_of_one_script_keep_their_letters(word: str) -> None:
    if word == "осa-ocr":
        assert fold(word) == "оса-ocr"
    else:
        assert [unicodedata.name(letter) for letter in fold(word)] == [
            unicodedata.name(letter) for letter in word.lower().replace("p", "p" if word != "мp3й" else "р")
        ]


@pytest.mark.parametrize(
    ("text", "copy"),
    [
        ("Ёлки", "елки"),
        ("Про\u00adвод\u00adница", "проводница"),
        ("За\u0301мок", "замок"),
        ("дом\u00a0№\u00a07", "дом 7"),
        ("don’t", "don't"),
        ("zero\u200bwidth\u200e", "zerowidth"),
        ("Café Zürich", "cafe zurich"),
        ("йод, їжак", "йод, їжак"),
        ("два\n  слова\t", "два слова"),
    ],
)
def test_what_the_eye_does_not_tell_apart_is_one_search_copy(text: str, copy: str) -> None:
    assert fold(text) == copy


def test_words_keep_decimals_and_the_names_of_languages_whole() -> None:
    assert words("C++ и С# на x86-64: 3,5 и 3.5, snake_case, don't") == [
        *("c++", "и", "c#", "на", "x86", "64", "3.5", "и", "3.5", "snake", "case", "don't")
    ]


def test_each_word_is_stemmed_in_its_own_script() -> None:
    assert stems("Ёлками running 42") == ["елк", "run", "42"]
    assert stem("елки") == stem("елка") == stem(fold("ёлкой"))


def test_stemming_from_many_threads_mixes_nothing_up() -> None:
    russian = [f"{root}{end}" for root in ("вагон", "мост", "сосн", "лес") for end in ("", "ы", "ам", "ами", "ов")]
    english = [f"{root}{end}" for root in ("walk", "jump", "plant", "paint") for end in ("", "s", "ed", "ing", "er")]
    alone = {word: stem(word) for word in russian + english}
    stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(stem, (russian + english) * 50))
    assert together == [alone[word] for word in (russian + english) * 50]
