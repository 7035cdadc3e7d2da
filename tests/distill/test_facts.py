"""What states something that can be checked, and what does not."""

from __future__ import annotations

import pytest

from pegas_assets.distill.facts import fact_of
from tests.distill.sentences import distilled, sentence

STATES = [
    "The pump number 10005 moves 705 litres of water per hour.",
    "Route 7 crosses the river twice.",
    "Water boils at 100 °C at sea level.",
    "A whale is not a fish.",
    "The dam was finished in 1936.",
    "Bees see ultraviolet light.",
    "The turbine delivers 40 kW because the head is 12 metres.",
    "Copper conducts heat better than iron.",
    "The company employs 230 people in Gdansk.",
    "Anna Lind discovered the comet in 1911.",
    "Salt lowers the freezing point of water.",
    "Smoking causes lung cancer.",
    "Glass does not conduct electricity.",
    "The new law came into force on 1 July 2003.",
    "Light travels faster than sound.",
    "Iron rusts in damp air.",
    "The parser returns an empty list for an empty file.",
    "Вода кипит при 100 °C на уровне моря.",
    "Плотину достроили в 1936 году.",
    "Медь проводит тепло лучше железа.",
    "Кит не является рыбой.",
    "Завод выпускает 300 насосов в год.",
    "Соль понижает температуру замерзания воды.",
    "Река замерзает в ноябре.",
    "Стекло не проводит ток.",
    "Комету открыла Анна Линд.",
    "Город основан в 1703 году.",
    "Из-за трения температура подшипника повысилась на 15 градусов.",
    "Столица страны — Лиссабон.",
    "Курение вызывает рак лёгких.",
    "Закон вступил в силу 1 июля 2003 года.",
    "Высота башни — 34 метра.",
]
STATES_NOTHING = [
    "Why does ice float?",
    "What a view!",
    "It was built in 1936.",
    "They moved to Bergen in 1901.",
    "This makes the lamp brighter.",
    "In this case the pump stops.",
    "I think the lamp is too bright.",
    "We sell 300 pumps a year.",
    "You can change the filter in a minute.",
    "Perhaps the bridge will be rebuilt.",
    "The view from the tower is breathtaking.",
    "Mix the flour with 200 ml of water.",
    "Click the button to continue.",
    "Please switch off the engine.",
    "For best results, use cold water.",
    "First open the valve.",
    "Do not open the lid.",
    "See Figure 3 for details.",
    "All rights reserved.",
    "Read more: travel tips.",
    "Good morning everybody.",
    "A short list for new members.",
    "A pack of 12 screws and 4 hooks.",
    "Two cups of flour.",
    "Home, shop, contact.",
    "Probably the oldest bridge in the country.",
    "This website uses cookies.",
    "Subscribe to the newsletter.",
    "The following table lists the pumps:",
    "Почему лёд плавает?",
    "Какой вид!",
    "Он построен в 1936 году.",
    "Это повышает яркость лампы.",
    "В этом случае насос останавливается.",
    "Я думаю, что лампа слишком яркая.",
    "Мы продаём 300 насосов в год.",
    "Вы можете сменить фильтр за минуту.",
    "Возможно, мост восстановят.",
    "К сожалению, мост закрыт.",
    "С башни открывается потрясающий вид.",
    "Смешайте муку с 200 мл воды.",
    "Нажмите кнопку.",
    "Не открывайте крышку.",
    "Обязательно попробуйте местный сыр.",
    "Все права защищены.",
    "Читайте также: советы туристам.",
    "Доброе утро, друзья.",
    "Два стакана муки.",
    "Узнать, как работает насос.",
    "Об этом ниже.",
    "По-моему, лучший сыр делают в горах.",
    "Его книга вышла в Казани.",
]


@pytest.mark.parametrize("text", STATES)
def test_a_statement_is_a_fact(text: str) -> None:
    atom = fact_of(sentence(text))
    assert atom is not None
    assert atom.claim == text
    assert 0.4 <= atom.confidence <= 0.9


@pytest.mark.parametrize("text", STATES_NOTHING)
def test_no_fact_is_made_of_what_states_nothing(text: str) -> None:
    assert fact_of(sentence(text)) is None


def test_a_number_and_a_name_make_it_surer() -> None:
    bare = fact_of(sentence("Salt lowers the freezing point of water."))
    measured = fact_of(sentence("The dam at Orrin was finished in 1936."))
    assert bare is not None
    assert measured is not None
    assert measured.confidence > bare.confidence


def test_a_pronoun_stands_for_the_term_defined_just_before() -> None:
    atoms = distilled("A siphon is a bent tube that lifts water over an edge. It needs no pump.")
    assert [atom.claim for atom in atoms][1] == "A siphon needs no pump."


def test_a_pronoun_is_left_out_when_another_sentence_came_between() -> None:
    atoms = distilled("A siphon is a bent tube that lifts water. The pump weighs 3 kg. It needs no oil.")
    assert not any("oil" in atom.claim for atom in atoms)


def test_he_and_she_stand_for_the_person_that_the_document_is_about() -> None:
    english = distilled("She built the dam in 1936.", title="Edith Marlow")
    russian = distilled("Он построил плотину в 1936 году.", title="Пётр Лукин")
    assert english[0].claim == "Edith Marlow built the dam in 1936."
    assert russian[0].claim == "Пётр Лукин построил плотину в 1936 году."


def test_a_connective_is_left_out_of_the_claim_but_not_of_the_quotation() -> None:
    atom = fact_of(sentence("However, the dam holds 3 million cubic metres."))
    assert atom is not None
    assert atom.claim == "The dam holds 3 million cubic metres."
    assert atom.quotation.startswith("However")


def test_a_property_in_a_list_is_said_of_the_document() -> None:
    atom = fact_of(sentence("Weight: 3.2 kg", in_list=True, title="Pump A"))
    assert atom is not None
    assert atom.claim == "Pump A — weight: 3.2 kg"


def test_a_long_sentence_makes_a_claim_of_at_most_two_hundred_characters() -> None:
    long = (
        "The survey of 1911 counted " + ", ".join(f"{n} houses in the parish of Saint {n}" for n in range(3, 12)) + "."
    )
    atom = fact_of(sentence(long))
    assert atom is not None
    assert len(atom.claim) <= 200
    assert atom.quotation == long
