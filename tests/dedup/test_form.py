"""What is left of a wording: numbers, dates and units in one notation, words without their endings."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pegas_assets.dedup.across import skeleton
from pegas_assets.dedup.form import form_of
from pegas_assets.dedup.inflection import english_base, russian_forms_agree
from pegas_assets.dedup.numerals import parse_number, parse_roman


def keys(text: str, language: str = "und") -> list[str]:
    return [token.key for token in form_of(text, language).tokens]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("one hundred and five nets", "105 nets"),
        ("twenty-five boats", "25 boats"),
        ("2.5 million litres", "2,500,000 litres"),
        ("40 percent of water", "40% of water"),
        ("2 kg of salt", "2000 g of salt"),
        ("90 minutes", "1.5 hours"),
        ("it costs $20", "it costs 20 dollars"),
        ("the 19th century", "the nineteenth century"),
        ("May 3, 1904", "3 May 1904"),
        ("1904-05-03", "May 3rd, 1904"),
        ("from 10 to 12 weeks", "10–12 weeks"),
        ("20 °C", "20 degrees Celsius"),
        ("тысяча девятьсот четвёртом году", "1904-м году"),
        ("двадцать пять лодок", "25 лодок"),
        ("3 мая 1904 г.", "03.05.1904"),
        ("в XIX веке", "в 19 веке"),
        ("от двух до трёх дней", "2–3 дня"),
        ("2,5 млн литров", "2500000 л"),
        ("полтора часа", "90 минут"),
        ("5 тыс. рублей", "5000 ₽"),
    ],
)
def test_a_quantity_is_one_however_it_is_written(one: str, other: str) -> None:
    assert keys(one) == keys(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("version 3.10", "version 3.1"),
        ("10² cells", "102 cells"),
        ("−5 °C", "5 °C"),
        ("x86-64", "x86-32"),
        ("5 kW", "5 kWh"),
        ("20 °C", "20 °F"),
        ("весит 2000 г", "2000 год"),
        ("1/2 cup", "1/3 cup"),
        ("C++", "C"),
        ("the US signed", "they told us"),
        ("x > 5", "x < 5"),
    ],
)
def test_what_is_another_quantity_stays_another(one: str, other: str) -> None:
    assert keys(one) != keys(other)


def test_separators_are_read_by_the_language() -> None:
    assert parse_number("1,200", "en") == Decimal(1200)
    assert parse_number("2,5", "ru") == Decimal("2.5")
    assert parse_number("1 200 000", "ru") == Decimal(1_200_000)
    assert parse_number("1.2.3", "en") is None


def test_roman_numerals_are_read_and_words_are_not() -> None:
    assert [parse_roman(text) for text in ("XIX", "IV", "XLIX", "I", "VIX", "MIXED", "xix")] == [19, 4, 49, *[None] * 4]


def test_english_bases_lose_the_plural_and_nothing_else() -> None:
    words = "octopuses houses boxes bees children leaves uses glasses berries bus news walked walking university"
    bases = "octopus house box bee child leaf use glass berry bus news walked walking university"
    assert [english_base(word) for word in words.split()] == bases.split()


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("сердца", "сердцами", True),
        ("имеет", "имеют", True),
        ("основана", "основаны", True),
        ("работает", "работал", False),
        ("родился", "родилась", False),
        ("учит", "учится", False),
        ("быстрый", "быстрее", False),
        ("основана", "основано", False),
    ],
)
def test_russian_forms_agree_unless_they_say_who_when_or_how_much(one: str, other: str, agree: bool) -> None:
    assert russian_forms_agree(one, other) is agree


@pytest.mark.parametrize(("russian", "english"), [("Гагарин", "Gagarin"), ("Москва", "Moscow"), ("Шишкин", "Shishkin")])
def test_a_name_has_one_skeleton_in_both_alphabets(russian: str, english: str) -> None:
    assert skeleton(russian) == skeleton(english)
