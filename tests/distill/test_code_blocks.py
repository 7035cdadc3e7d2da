"""Code blocks: language, symbols, what they are for."""

from __future__ import annotations

import pytest

from pegas_assets.distill.code_blocks import calls_of, language_of, symbols_of
from pegas_assets.model import AtomType
from tests.distill.sentences import distilled


@pytest.mark.parametrize(
    ("code", "symbols"),
    [
        ("def read(x):\n    pass\n\nclass Port:\n    async def open(self): ...", ["read", "Port", "open"]),
        ("export async function load(url) {}\nconst LIMIT = 3;", ["load", "LIMIT"]),
        ("pub fn area(w: f64) -> f64 { w }\nstruct Box;", ["area", "Box"]),
        ("func (s *Store) Put(k string) {}\ntype Store struct {}", ["Put", "Store"]),
        ("CREATE TABLE IF NOT EXISTS hive (id int);", ["hive"]),
        ("int main(void) {\n  return 0;\n}", ["main"]),
        ("public class Lamp {\n  public void blink() {}\n}", ["Lamp", "blink"]),
    ],
)
def test_the_symbols_that_code_defines_are_named(code: str, symbols: list[str]) -> None:
    assert symbols_of(code) == symbols


@pytest.mark.parametrize(
    ("code", "info", "language"),
    [
        ("x", "py", "python"),
        ("x", "js title=a", "javascript"),
        ("def f(): pass", "", "python"),
        ("SELECT a FROM b", "", "sql"),
        ("hello", "", ""),
    ],
)
def test_the_language_is_the_fences_or_what_the_code_looks_like(code: str, info: str, language: str) -> None:
    assert language_of(code, info) == language


def test_calls_are_named_where_nothing_is_defined() -> None:
    assert calls_of("if (ready()) { pump.start(3); }") == ["ready", "pump.start"]


def test_a_code_block_is_one_atom_without_its_fences() -> None:
    content = "Read a level like this:\n\n```python\ndef level():\n    return 3\n```\n"
    (atom,) = distilled(content, section=("Levels",))
    assert atom.type is AtomType.CODE
    assert atom.content == "def level():\n    return 3"
    assert content[atom.start : atom.end] == atom.quotation == atom.content
    assert atom.claim == "Python code: defines level (Levels — Read a level like this)"
    assert atom.metadata == {"language": "python", "symbols": ["level"], "lines": 2}


def test_a_code_block_in_a_russian_text_is_described_in_russian() -> None:
    atoms = distilled("Так читают уровень воды в колодце:\n\n```python\ndef level(): ...\n```\n", section=("Уровень",))
    assert atoms[0].claim == "Код на Python: определяет level (Уровень — Так читают уровень воды в колодце)"


def test_an_unclosed_fence_ends_with_its_text() -> None:
    (atom,) = distilled("```sh\npip install lamp\n")
    assert atom.content == "pip install lamp"


@pytest.mark.parametrize("text", ["```\n```", "```python\n\n\n```", "~~~\n---\n~~~"])
def test_an_empty_block_gives_nothing(text: str) -> None:
    assert distilled(text) == []
