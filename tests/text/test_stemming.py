"""Stems: by the script of each word."""

from __future__ import annotations

import pytest

from pegas_assets.text.stemming import stem, stems


def test_each_word_is_stemmed_by_its_script() -> None:
    assert stems("Ульи стояли beside running x86 3.5") == ["ул", "стоя", "besid", "run", "x86", "3.5"]


def test_a_word_too_long_to_be_one_is_left_alone() -> None:
    assert stem("running" * 12) == "running" * 12


@pytest.mark.parametrize(
    ("forms", "shared"),
    [
        (["медоносная", "медоносной", "медоносные"], "медоносн"),
        (["пчела", "пчелы", "пчелами"], "пчел"),
        (["connection", "connected", "connecting"], "connect"),
    ],
)
def test_forms_of_a_word_share_a_stem(forms: list[str], shared: str) -> None:
    assert {stem(form) for form in forms} == {shared}
