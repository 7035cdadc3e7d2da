"""What is a definition, and what only looks like one."""

from __future__ import annotations

import pytest

from pegas_assets.distill.definitions import definition_of
from tests.distill.sentences import sentence

DEFINES = [
    ("A sextant is an instrument that measures the angle between two objects.", "sextant"),
    ("An estuary is the part of a river where fresh water meets the sea.", "estuary"),
    ("Royal jelly is a secretion of young bees that feeds the larvae of queens.", "Royal jelly"),
    ("Photosynthesis is the process by which plants make sugar from light.", "Photosynthesis"),
    ("Lichens are organisms that consist of a fungus and an alga.", "Lichens"),
    ("Tannins are bitter substances found in bark and leaves.", "Tannins"),
    ("In electronics, a diode is a component that lets current pass in one direction.", "diode"),
    ("The term drawdown means the fall of the water level in a well.", "drawdown"),
    ("Ullage refers to the empty space above the wine in a cask.", "Ullage"),
    ("ETA stands for estimated time of arrival.", "ETA"),
    ("Latency is defined as the delay between a request and its reply.", "Latency"),
    ("A group of whales that swims together is called a pod.", "pod"),
    ("Animals that feed on plants alone are called herbivores.", "herbivores"),
    ("The upper edge of a dam is known as the crest.", "crest"),
    ("Kaolin, a kind of white clay, is used for porcelain.", "Kaolin"),
    ("**Burr**: a rough edge left on metal after cutting.", "Burr"),
    ("**Penstock** — the pipe that leads water to a turbine.", "Penstock"),
    ("By head we mean the height through which the water falls.", "head"),
    ("Маятник — это тело, подвешенное на нити и колеблющееся около положения равновесия.", "Маятник"),
    ("Створ — линия, соединяющая два береговых знака.", "Створ"),
    ("Шлюз – сооружение для перевода судов из одного бьефа в другой.", "Шлюз"),
    ("Прополис является смолистым веществом, которым пчёлы заделывают щели.", "Прополис"),
    ("Диоптрия является единицей оптической силы линзы.", "Диоптрия"),
    ("Бьефом называют часть реки, примыкающую к плотине.", "Бьефом"),
    ("Растения, которые живут один год, называются однолетними.", "однолетними"),
    ("Под твёрдостью понимают способность материала сопротивляться вдавливанию.", "твёрдость"),
    ("Каустик (от греч. kaustikos) — огибающая отражённых лучей.", "Каустик"),
    ("Дымарь представляет собой жестяной цилиндр с мехами.", "Дымарь"),
    ("Сокращение КПД означает коэффициент полезного действия.", "КПД"),
    ("**Кюнель** — короб, по которому вода идёт на колесо.", "Кюнель"),
    ("Пасечником считается человек, который держит не менее десяти ульев.", "Пасечником"),
    ("Стапель — часть верфи, на которой строят корпус судна.", "Стапель"),
    ("Крутизна — разность высот на единицу длины.", "Крутизна"),
    ("НИВЕЛИР, прибор для измерения разности высот двух точек.", "НИВЕЛИР"),
]
DEFINES_NOTHING = [
    "It is raining.",
    "This is great.",
    "She is a doctor who lives in Oslo.",
    "There is a lamp that never goes out.",
    "Section 3 is below.",
    "A whale is not a fish.",
    "The result is a mess.",
    "The best part is the view that opens from the top.",
    "Our bakery is a place that you will love.",
    "What you see is a tower that leans.",
    "The bridge is 300 metres long.",
    "Tickets are available at the office.",
    "The files are stored in a folder that is hidden.",
    "The hotel is a ten minute walk from the station.",
    "Is a sextant an instrument that measures angles?",
    "Higher pressure means more leaks.",
    "Anna is the best cook in the village.",
    "That is a reason to stay.",
    "Note: a gentle warning for all readers.",
    "**Author:** A. Lind and two friends.",
    "Он — наш лучший друг.",
    "Книга — лучший подарок.",
    "Это — наша лодка.",
    "Главное — это терпение и труд.",
    "Москва — самый большой город страны.",
    "Билет — 650 рублей.",
    "Улов — не причина для гордости.",
    "Причиной аварии является износ подшипника.",
    "Дом является самым старым в деревне.",
    "Её называют королевой ветров.",
    "Книга называется «Три реки».",
    "Вход — со двора.",
    "Мы называем это удачей.",
    "Кит — не рыба.",
    "Цель — построить мост, который простоит век.",
    "Работа — терпеть и ждать парохода, который не придёт.",
    "Примечание: число указано без налога.",
]


@pytest.mark.parametrize(("text", "term"), DEFINES)
def test_a_definition_gives_its_term(text: str, term: str) -> None:
    atom = definition_of(sentence(text))
    assert atom is not None
    assert atom.metadata["term"] == term
    assert atom.metadata["genus"]
    assert atom.quotation == text


@pytest.mark.parametrize("text", DEFINES_NOTHING)
def test_what_only_looks_like_a_definition_is_none(text: str) -> None:
    assert definition_of(sentence(text)) is None


def test_a_claim_has_no_marks() -> None:
    atom = definition_of(sentence("**Penstock** — the [pipe](x.html) that leads water to a `turbine`."))
    assert atom is not None
    assert atom.claim == "Penstock — the pipe that leads water to a turbine."


@pytest.mark.parametrize(
    ("text", "section"), [("Weir: low wall across a stream", "Glossary"), ("Запань: преграда из брёвен", "Словарь")]
)
def test_a_plain_line_with_a_colon_defines_only_in_a_glossary(text: str, section: str) -> None:
    assert definition_of(sentence(text, in_list=True, section=(section,))) is not None
    assert definition_of(sentence(text, in_list=True, section=("Delivery",))) is None


def test_a_line_with_an_article_after_the_colon_defines_anywhere() -> None:
    assert definition_of(sentence("Weir: a low wall across a stream.", in_list=True)) is not None
