"""When two statements are one: what the rule promises for every text, and case by case."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegas_assets.dedup.rule import compare, signature
from pegas_assets.dedup.statement import Statement, Verdict, VerdictKind
from pegas_assets.model import AtomType
from tests.dedup.measured import shipped

WORDS = """
the pump not насос не 3 12 три kg кг % 1904 году May мая from to and или , — - is это у has Anna Анна ? « ½ 10² I use чем
"""
PIECES = st.sampled_from(WORDS.split())
SENTENCES = st.one_of(st.lists(PIECES, max_size=12).map(" ".join), st.text(max_size=40))
TYPES = st.sampled_from(list(AtomType))
LANGUAGES = st.sampled_from(["ru", "en", "de", "und"])


def fact(text: str, language: str = "und") -> Statement:
    return Statement(AtomType.FACT, text, language)


def verdict(a: str, b: str, cosine: float = 0.97) -> Verdict:
    return compare(fact(a), fact(b), cosine, shipped())


@settings(max_examples=300, deadline=None)
@given(SENTENCES, SENTENCES, TYPES, TYPES, LANGUAGES, LANGUAGES, st.floats(-1, 1))
def test_compare_is_symmetric(
    a: str, b: str, a_type: AtomType, b_type: AtomType, a_language: str, b_language: str, cosine: float
) -> None:
    one, other = Statement(a_type, a, a_language), Statement(b_type, b, b_language)
    assert compare(one, other, cosine, shipped()) == compare(other, one, cosine, shipped())


@settings(deadline=None)
@given(SENTENCES, TYPES, LANGUAGES)
def test_a_statement_is_a_duplicate_of_itself(text: str, type_: AtomType, language: str) -> None:
    statement = Statement(type_, text, language)
    assert compare(statement, statement, 1.0, shipped()).is_duplicate


@settings(max_examples=200, deadline=None)
@given(SENTENCES, SENTENCES, LANGUAGES)
def test_duplicates_whose_words_agree_have_one_signature(a: str, b: str, language: str) -> None:
    one, other = fact(a, language), fact(b, language)
    if compare(one, other, 1.0, shipped()).reason == "same words":
        assert signature(one) == signature(other)


NUMBERED = ["The pump moves {} litres an hour.", "Насос перекачивает {} литров в час.", "It was founded in {}."]


@settings(deadline=None)
@given(st.sampled_from(NUMBERED), st.integers(0, 10**7), st.integers(0, 10**7))
def test_another_number_is_another_statement(sentence: str, one: int, other: int) -> None:
    assert verdict(sentence.format(one), sentence.format(other), 0.999).is_duplicate == (one == other)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The lantern weighs 2 kg.", "the  lantern weighs 2 kg"),
        ("«Маяк построен в 1842 г.»", "Маяк построен в 1842 г"),
        ("Ёлки растут на склоне.", "Елки растут на склоне"),
        ("Сocнa растёт у моста.", "Сосна растёт у моста."),
        ("ВОДА КИПИТ ПРИ 100 °C", "Вода кипит при 100 °C."),
    ],
)
def test_case_punctuation_and_look_alikes_make_no_difference(a: str, b: str) -> None:
    assert verdict(a, b).is_duplicate


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("Lions sleep 16 hours a day.", "Lions sleep 12 hours a day.", "numbers: 12 hours / 16 hours"),
        ("The ferry runs in winter.", "The ferry does not run in winter.", "negation"),
        ("Смотритель всегда спит ночью.", "Смотритель никогда не спит ночью.", "negation"),
        ("The lantern weighs 2 kg.", "The lantern weighs 2 pounds.", "units: 2 kg / 2 pounds"),
        ("Мост открыли до наводнения.", "Мост открыли после наводнения.", "opposites: до / после"),
        ("Соляной путь вёл в Казань.", "Соляной путь вёл в Рязань.", "names: казань / рязань"),
        ("Copper is harder than tin.", "Tin is harder than copper.", "sides of a comparison"),
        ("The museum opened on 3 May 1904.", "The museum opened on 3 June 1904.", "numbers: 1904-05-03 / 1904-06-03"),
    ],
)
def test_a_clash_says_what_clashes(a: str, b: str, reason: str) -> None:
    found = verdict(a, b)
    assert found.kind is VerdictKind.CONTRADICTION_CANDIDATE
    assert found.reason in (
        reason,
        f"{reason[: reason.find(':')]}: {' / '.join(reason.split(': ')[-1].split(' / ')[::-1])}",
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Room 12 seats 40 people.", "Room 13 seats 40 people."),
        ("In 2019 the yield was 5 tonnes.", "In 2020 the yield was 7 tonnes."),
        ("The left valve drains the tank.", "The right valve drains the tank."),
        ("Масса: 310 кг", "Масса: 4,2 кг"),
        ("| НВ-10 | 40 | 25 | 370 |", "| НВ-20 | 75 | 32 | 750 |"),
        ("Visitors may enter the vault.", "Visitors must enter the vault."),
        ("Is the lighthouse automatic?", "The lighthouse is automatic."),
        ("Marlow hired Lukin.", "Lukin hired Marlow."),
    ],
)
def test_another_subject_time_or_mood_does_not_contradict(a: str, b: str) -> None:
    assert verdict(a, b).kind is VerdictKind.RELATED


def test_a_low_cosine_forbids_what_the_words_allow() -> None:
    a, b = "The bank of the river is steep.", "A bank of the river is steep."
    assert verdict(a, b, 0.97).is_duplicate
    assert not verdict(a, b, 0.6).is_duplicate


def test_nothing_in_common_is_different() -> None:
    assert verdict("Kvass is made from rye bread.", "The ferry runs in winter.", 0.79).kind is VerdictKind.DIFFERENT


@pytest.mark.parametrize("type_", [AtomType.CODE, AtomType.TABLE])
def test_code_and_tables_are_the_same_letter_for_letter_only(type_: AtomType) -> None:
    one = Statement(type_, "x = 1\ny = 2")
    assert compare(one, Statement(type_, "x = 1  \r\ny = 2"), 1.0, shipped()).is_duplicate
    assert not compare(one, Statement(type_, "x = 1\n\ny = 2"), 1.0, shipped()).is_duplicate
    assert not compare(one, Statement(type_, "X = 1\ny = 2"), 1.0, shipped()).is_duplicate


def test_two_types_are_never_one_atom() -> None:
    text = "A geofence is a virtual boundary."
    other = Statement(AtomType.DEFINITION, text)
    assert compare(fact(text), other, 1.0, shipped()).kind is VerdictKind.RELATED
    assert not compare(fact(text), Statement(AtomType.CODE, text), 1.0, shipped()).is_duplicate


PARAGRAPH = "The library was founded in 1904. It holds three hundred maps. In winter the reading room is heated."


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("In 1904 the library was founded. It holds 300 maps. The reading room is heated in winter.", True),
        ("The library was founded in 1904. It holds 3000 maps. In winter the reading room is heated.", False),
        ("The library was founded in 1904. It holds three hundred maps.", False),
        ("It holds three hundred maps. The library was founded in 1904. In winter the reading room is heated.", False),
    ],
)
def test_a_paragraph_is_one_with_another_where_every_sentence_is(other: str, same: bool) -> None:
    one, second = Statement(AtomType.TEXT, PARAGRAPH, "en"), Statement(AtomType.TEXT, other, "en")
    assert compare(one, second, 0.98, shipped()).is_duplicate is same


def test_a_long_paragraph_is_one_with_another_by_its_text_only() -> None:
    sentences = [f"Room {i} has {i + 2} windows." for i in range(20)]
    one = Statement(AtomType.TEXT, " ".join(sentences), "en")
    other = Statement(AtomType.TEXT, " ".join(["The room 0 has 2 windows.", *sentences[1:]]), "en")
    assert compare(one, Statement(AtomType.TEXT, "  ".join(sentences), "en"), 1.0, shipped()).is_duplicate
    assert not compare(one, other, 0.99, shipped()).is_duplicate


@pytest.mark.parametrize(
    ("russian", "may_merge"),
    [
        ("Гагарин полетел в космос 12 апреля 1961 года.", True),
        ("Человек полетел в космос 12 апреля 1961 года.", False),
        ("Титов полетел в космос 12 апреля 1961 года.", False),
        ("Гагарин полетел в космос 12 апреля 1962 года.", False),
        ("Гагарин не полетел в космос 12 апреля 1961 года.", False),
        ("Если Гагарин полетел в космос, то 12 апреля 1961 года.", False),
    ],
)
def test_across_languages_numbers_names_and_negation_must_agree(russian: str, may_merge: bool) -> None:
    english = Statement(AtomType.FACT, "Gagarin flew into space on 12 April 1961.", "en")
    translated = Statement(AtomType.FACT, russian, "ru")
    assert compare(english, translated, 0.99, shipped()).is_duplicate is may_merge


def test_across_languages_an_ordinary_cosine_is_not_enough() -> None:
    english = Statement(AtomType.FACT, "Rye bread takes twelve hours to rise.", "en")
    russian = Statement(AtomType.FACT, "Пшеничный хлеб поднимается двенадцать часов.", "ru")
    assert compare(english, russian, 0.93, shipped()).kind is VerdictKind.RELATED


def test_other_languages_keep_their_words() -> None:
    one = Statement(AtomType.FACT, "Die Brücke ist 120 Meter lang.", "de")
    assert compare(one, Statement(AtomType.FACT, "die Brücke ist 120 Meter lang", "de"), 0.99, shipped()).is_duplicate
    assert not compare(
        one, Statement(AtomType.FACT, "Die Brücke ist 130 Meter lang.", "de"), 0.99, shipped()
    ).is_duplicate
    assert not compare(
        one, Statement(AtomType.FACT, "Der Turm ist 120 Meter lang.", "de"), 0.99, shipped()
    ).is_duplicate
