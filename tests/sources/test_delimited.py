"""CSV and TSV: rows that are found again, whatever delimiter, encoding and damage."""

from __future__ import annotations

import pytest

from pegas_assets.model import BlockKind, ParsedDocument
from pegas_assets.sources.registry import parse


def read(body: bytes | str, name: str = "t.csv") -> ParsedDocument:
    document = parse(body.encode() if isinstance(body, str) else body, name=name)
    for chunk in document.chunks:
        assert chunk.content == document.text[chunk.locator.start : chunk.locator.end]
    return document


@pytest.mark.parametrize(
    "body",
    [
        "имя,вес\nНасос,2\nКлапан,30\n".encode(),
        "имя;вес\nНасос;2\nКлапан;30\n".encode("cp1251"),
        "имя\tвес\r\nНасос\t2\r\nКлапан\t30\r\n".encode("utf-16"),
        "sep=|\nимя|вес\nНасос|2\nКлапан|30\n".encode(),
        b"\xef\xbb\xbf" + '"имя", "вес"\n"Насос", "2"\n"Клапан", "30"'.encode(),
    ],
)
def test_one_table_in_many_spellings(body: bytes) -> None:
    assert read(body).text == "| имя | вес |\n|---|---|\n| Насос | 2 |\n| Клапан | 30 |"


def test_numbers_stay_letter_for_letter_and_a_decimal_comma_cuts_nothing() -> None:
    assert read("name;weight, kg\nPump;1,50\nValve;002\n").text.split("\n")[2:] == [
        "| Pump | 1,50 |",
        "| Valve | 002 |",
    ]


def test_a_cell_with_line_ends_quotes_and_pipes_is_one_cell() -> None:
    assert read('a,b\n"x\ny","q ""z"" | w"\n').text.split("\n")[2] == '| x; y | q "z" \\| w |'


def test_a_row_says_its_number_and_a_blank_one_counts() -> None:
    rows = "\n".join(f"{number},word{number}" for number in range(2, 400))
    document = read(f"n,word\n{rows}\n\n400,last\n")
    assert len(document.chunks) > 2
    for chunk in document.chunks:
        for turn in chunk.locator.turns:
            number = document.text[turn.start :].split("|")[1].strip()
            assert turn.value == int(number) + (1 if number == "400" else 0)


def test_without_a_header_the_columns_are_counted_and_one_column_is_a_list() -> None:
    assert read("1,2\n3,4\n").text.startswith("| column 1 | column 2 |\n|---|---|\n| 1 | 2 |")
    document = read("first line of it\nsecond line of it\n")
    assert document.text == "first line of it\n\nsecond line of it"
    assert {block.kind for chunk in document.chunks for block in chunk.blocks} == {BlockKind.PARAGRAPH}


def test_ragged_rows_are_kept_whole_and_told() -> None:
    document = read("a,b\n1\n1,2,3\n4,5\n6,7\n")
    assert document.text.split("\n")[2:4] == ["| 1 |  |  |", "| 1 | 2 | 3 |"]
    assert any("more cells" in warning for warning in document.warnings)


def test_a_quote_that_nobody_closes_swallows_nothing() -> None:
    document = read('a,b\n"open,1\n' + "".join(f"{number},3\n" for number in range(300)))
    assert "| 299 | 3 |" in document.text
    assert any("never closed" in warning for warning in document.warnings)
