"""Rules in words and in JSON."""

from __future__ import annotations

import json

import pytest

from pegas_assets.distill.rules import json_rules, rule_of
from pegas_assets.model import AtomType
from tests.distill.sentences import distilled, sentence

RULES = [
    ("If the water is above 2 metres, the gate opens.", "the water is above 2 metres", "the gate opens"),
    ("If a hive has no queen, then the workers lay eggs.", "a hive has no queen", "the workers lay eggs"),
    ("Whenever the lamp fails, the spare lamp is lit.", "the lamp fails", "the spare lamp is lit"),
    ("The gate closes if the pressure falls below 2 bar.", "the pressure falls below 2 bar", "The gate closes"),
    ("When the fuse blows, the motor stops.", "the fuse blows", "the motor stops"),
    ("Visitors must wear a helmet when they enter the hall.", None, "Visitors must wear a helmet"),
    ("A record shall be kept whenever a valve is replaced.", "a valve is replaced", "A record shall be kept"),
    ("No gate may be opened unless two keepers are present.", "unless two keepers are present", None),
    ("Any member who does not pay shall lose the right to vote.", "Any member who does not pay", None),
    ("In case of fire, the doors unlock.", "fire", "the doors unlock"),
    ("Если уровень выше 2 метров, затвор открывается.", "уровень выше 2 метров", "затвор открывается"),
    ("Если в семье нет матки, то рабочие пчёлы откладывают яйца.", "в семье нет матки", None),
    ("Затвор закрывается, если давление ниже 2 бар.", "давление ниже 2 бар", "Затвор закрывается"),
    ("Всякий раз, когда гаснет лампа, включается запасная.", "гаснет лампа", "включается запасная"),
    ("При температуре ниже 10 °C следует утеплить улей.", "температуре ниже 10 °C", "следует утеплить улей"),
    ("В случае пожара двери должны открываться.", "пожара", "двери должны открываться"),
    ("Чем выше напор, тем больше мощность.", "Чем выше напор", "тем больше мощность"),
    ("Перед пуском необходимо заполнить насос водой.", "пуском", "необходимо заполнить насос водой"),
]
NO_RULES = [
    "If only the bridge were still there.",
    "What if the dam breaks?",
    "If you like the project, star it.",
    "If you have any questions, write to us.",
    "She asked if the bridge was open.",
    "When she arrived in Bristol, the mill was closed.",
    "It looks as if the lamp is lit.",
    "Even if it rains, the market opens.",
    "If I had known, I would have stayed.",
    "When was the dam built?",
    "Если честно, мост старый.",
    "Если бы мост устоял, город вырос бы.",
    "Если у вас есть вопросы, пишите нам.",
    "Когда она приехала, мост был закрыт.",
    "При 40 °C рост прекратился.",
    "Даже если идёт дождь, рынок открыт.",
    "Что если плотину прорвёт?",
]


@pytest.mark.parametrize(("text", "condition", "conclusion"), RULES)
def test_a_rule_gives_its_condition_and_conclusion(text: str, condition: str | None, conclusion: str | None) -> None:
    atom = rule_of(sentence(text))
    assert atom is not None
    assert condition is None or atom.metadata["pattern"] == condition
    assert conclusion is None or atom.metadata["conclusion"] == conclusion


@pytest.mark.parametrize("text", NO_RULES)
def test_what_only_looks_like_a_rule_is_none(text: str) -> None:
    assert rule_of(sentence(text)) is None


def test_rules_in_json_keep_their_json() -> None:
    content = 'Rules:\n\n```json\n{"if": "imports", "then": "depends_on"}\n{"if": ["a", "b"],\n "then": "c"}\n```\n'
    atoms = distilled(content)
    assert [atom.type for atom in atoms] == [AtomType.LOGICAL_RULE] * 2
    assert json.loads(atoms[0].content) == {"if": "imports", "then": "depends_on"}
    assert atoms[1].metadata == {"pattern": ["a", "b"], "conclusion": "c", "form": "json"}
    assert all(content[atom.start : atom.end] == atom.content for atom in atoms)


def test_a_rule_in_json_on_a_line_of_prose_is_found() -> None:
    atoms = distilled('{"if": ["feeds", "feeds"], "then": "feeds"}')
    assert [atom.claim for atom in atoms] == ["If feeds and feeds, then feeds"]


@pytest.mark.parametrize(
    "text", ['{"if": 3, "then": "x"}', '{"if": [], "then": "x"}', '{"if": "a", "then": ', "{" * 5000]
)
def test_json_that_is_no_rule_gives_none(text: str) -> None:
    assert list(json_rules(text, 0)) == []
