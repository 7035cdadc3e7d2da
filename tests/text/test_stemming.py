"""Stems: by script, and the same from the compiled stemmer as from the plain one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegas_assets.text.folding import is_cyrillic, is_latin, words
from pegas_assets.text.stemming import pure_stemmer, stem, stems

ROOT = Path(__file__).parents[2]


def test_each_word_is_stemmed_by_its_script() -> None:
    assert stems("Ульи стояли beside running x86 3.5") == ["ул", "стоя", "besid", "run", "x86", "3.5"]


def test_a_word_too_long_to_be_one_is_left_alone() -> None:
    assert stem("running" * 12) == "running" * 12


@pytest.mark.parametrize(("language", "wanted"), [("english", is_latin), ("russian", is_cyrillic)])
def test_the_compiled_stemmer_gives_the_stems_of_the_plain_one(language: str, wanted: object) -> None:
    """What one process indexed is looked up by another, which may have only one of them."""
    compiled = pytest.importorskip("Stemmer", reason="the compiled stemmer is optional").Stemmer(language, 0)
    plain = pure_stemmer(language)
    texts = [path.read_text("utf-8") for folder in ("examples", "docs", "tests/gold") for path in _texts(ROOT / folder)]
    vocabulary = {word for text in texts for word in words(text) if len(word) <= 64 and wanted(word)}  # type: ignore[operator]
    assert len(vocabulary) > 500
    assert [word for word in sorted(vocabulary) if compiled.stemWord(word) != plain.stemWord(word)] == []


def _texts(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.suffix in (".md", ".txt")]
