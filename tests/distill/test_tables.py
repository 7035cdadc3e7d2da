"""Tables and the statements that their rows make."""

from __future__ import annotations

import pytest

from pegas_assets.distill.extractive import ExtractiveDistiller
from pegas_assets.distill.tables import row_claim
from pegas_assets.model import AtomType, Block, BlockKind, ChunkToDistil
from tests.distill.sentences import distilled

PUMPS = "| Pump | Flow, l/min | Power (W) |\n|---|--:|:-:|\n| A | 12 | 40 |\n| **B** | 30 | – |\n"


def test_a_table_gives_one_atom_and_a_fact_for_each_row() -> None:
    atoms = distilled(PUMPS, section=("Pumps", "Ratings"))
    assert [atom.type for atom in atoms] == [AtomType.TABLE, AtomType.FACT, AtomType.FACT]
    table, first, second = atoms
    assert table.content == PUMPS.strip()
    assert table.metadata == {"header": ["Pump", "Flow, l/min", "Power (W)"], "rows": 2, "columns": 3}
    assert table.claim == "Table: Ratings; columns: Pump, Flow, l/min, Power (W)"
    assert first.claim == "A — flow: 12 l/min, power: 40 W"
    assert first.quotation == "| A | 12 | 40 |"
    assert second.claim == "B — flow: 30 l/min"


def test_a_table_of_properties_speaks_of_its_document() -> None:
    claim = row_claim(("Характеристика", "Значение"), ("Масса", "4,2 кг"), "Обогреватель")
    assert claim == "Обогреватель — масса: 4,2 кг"


def test_a_row_that_opens_with_a_number_names_what_it_counts() -> None:
    assert row_claim(("Code", "Meaning"), ("409", "the job exists"), "API") == "API: code 409 — meaning: the job exists"
    assert row_claim(("Depth, m", "Salt, g/l"), ("20", "31"), "") == "20 m — salt: 31 g/l"


@pytest.mark.parametrize("cells", [("", "1"), ("A", ""), ("A", "—"), ("A", "x" * 400), ()])
def test_a_row_that_says_nothing_gives_no_fact(cells: tuple[str, ...]) -> None:
    assert row_claim(("Name", "Count"), cells) == ""


@pytest.mark.parametrize(
    "text",
    ["| a | b |\n", "| a | b |\n|---|---|\n", "|---|---|\n| a | b |\n", "| one |\n|---|\n| 1 |\n", "|||\n|-|-|\n|||\n"],
)
def test_what_is_no_table_of_data_gives_nothing(text: str) -> None:
    assert distilled(text) == []


def test_a_piece_of_a_table_takes_the_header_it_was_cut_from() -> None:
    content = "| C | 45 |\n| D | 60 |"
    block = Block(kind=BlockKind.TABLE, start=0, end=len(content), info="| Pump | Flow |")
    atoms = ExtractiveDistiller().distil(ChunkToDistil(content=content, language="en", blocks=(block,))).atoms
    assert [atom.claim for atom in atoms if atom.type is AtomType.FACT] == ["C — flow: 45", "D — flow: 60"]


def test_a_row_that_opens_with_a_common_noun_is_said_of_its_document() -> None:
    assert row_claim(("Месяц", "Расход, л/с"), ("май", "210"), "Малая ГЭС") == "Малая ГЭС: май — расход: 210 л/с"


def test_an_escaped_bar_stays_in_its_cell() -> None:
    atoms = distilled("| Sign | Use |\n|---|---|\n| a\\|b | either of 2 |\n")
    assert atoms[1].claim == "a|b — use: either of 2"
