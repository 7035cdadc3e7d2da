"""JSON of records is readable; what is a configuration stays as it was written."""

from __future__ import annotations

import json

import pytest

from pegas_assets.model import BlockKind, ParsedDocument
from pegas_assets.sources.registry import parse

LONG = "Granite domes shed sheets of rock when the pressure above them falls. " * 4


def read(value: object, name: str = "a.json") -> ParsedDocument:
    body = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    return parse(body, name=name)


def test_short_flat_records_are_rows_and_numbers_stay_as_written() -> None:
    document = read(b'[{"id": 1, "flow": 40.50, "on": true}, {"id": 12345678901234567890, "flow": null, "on": false}]')
    assert document.text == (
        "| id | flow | on |\n|---|---|---|\n| 1 | 40.50 | true |\n| 12345678901234567890 |  | false |"
    )
    assert document.chunks[0].locator.row == 1


def test_records_with_texts_are_sections_with_their_number() -> None:
    items = [
        {"title": "Dome one", "text": f"{LONG.strip()}\n\nAnd more.", "tags": ["a", "b"], "geo": {"lat": 1}},
        {"title": "Dome two", "text": "Short."},
    ]
    document = read({"title": "Survey", "year": 1998, "items": items})
    assert document.title == "Survey"
    assert document.text.startswith(
        "# Survey\n\n- year: 1998\n\n## Dome one\n\n- tags: a, b\n- geo.lat: 1\n\ntext: Granite"
    )
    assert document.text.endswith("And more.\n\n## Dome two\n\n- text: Short.")
    rows = {chunk.locator.section[-1]: chunk.locator.row for chunk in document.chunks}
    assert rows == {"Survey": 1, "Dome one": 1, "Dome two": 2}


@pytest.mark.parametrize(
    "value",
    [
        {"server": {"port": 8080, "hosts": ["a", "b"]}, "debug": True},
        [1, 2, 3],
        {"name": "pkg", "scripts": {"a": "b"}, "authors": [{"name": "x"}]},
        [{"mapping": {"a": {"message": None}}, "title": "chat"}],
        b"[" * 5000 + b"]" * 5000,
    ],
)
def test_what_holds_no_records_stays_code(value: object) -> None:
    document = read(value)
    assert {block.kind for chunk in document.chunks for block in chunk.blocks} == {BlockKind.CODE}


def test_lines_that_are_no_json_are_left_out_and_told() -> None:
    body = b'{"q": "What?", "a": "This."}\nnot json\n\n{"q": "Why?", "a": "Because."}\n'
    document = read(body, "a.jsonl")
    assert document.text.split("\n")[2:] == ["| What? | This. |", "| Why? | Because. |"]
    assert [turn.value for turn in document.chunks[0].locator.turns] == [4]
    assert any("left out: 2" in warning for warning in document.warnings)


def test_json_that_is_none_is_text() -> None:
    assert read(b'{"a": 1,}').text == '{"a": 1,}'
