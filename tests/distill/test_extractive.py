"""Whatever a text says, the extractive distiller survives it and quotes it truly."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegas_assets.distill.extractive import ExtractiveDistiller
from pegas_assets.distill.factory import open_distiller
from pegas_assets.distill.quotations import occurs
from pegas_assets.model import AtomType, Block, BlockKind, ChunkToDistil, DistilState
from pegas_assets.settings import Settings
from tests.distill.sentences import distilled

PIECES = st.sampled_from(
    [
        "A weir is a low wall that holds back water.", "If it rains, the gate opens.", "Маяк — это башня, которая светит.",
        "Если идёт дождь, то затвор открывается.", "# Heading\n", "\n\n", "\n", "```", "```python\n", "~~~", "| a | b |\n",
        "|---|---|\n", "| 1 | 2 |\n", "- item ", "> ", "**Term** — a thing that glows.", '{"if": "a", "then": "b"}', '{"if": [',
        "def f(x):\n    return x\n", "Температура 25 °C. ", "1. ", "\x00", "\ufeff", "\u00ad", "🜁", "http://a.b/c ", "—", ":", "…",
        "«", "»", "(", "[x](y)", "`code`", "ё", "It is. ", "\u2028", "\r\n", "\t",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=30).map("".join))
SPANS = st.lists(
    st.tuples(
        st.sampled_from(list(BlockKind)),
        st.integers(-5, 400),
        st.integers(-5, 400),
        st.sampled_from(["", "python", "| a | b |"]),
    ),
    max_size=4,
)


@given(TEXTS, st.sampled_from(["en", "ru", "und", "de"]), SPANS)
@settings(max_examples=400, deadline=None)
def test_any_text_is_survived_and_every_quotation_occurs(
    text: str, language: str, spans: list[tuple[BlockKind, int, int, str]]
) -> None:
    blocks = tuple(Block(kind=kind, start=start, end=end, info=info) for kind, start, end, info in spans)
    chunk = ChunkToDistil(
        content=text, language=language, section=("A › b", text[:20]), blocks=blocks, document_title=text[:30]
    )
    first, second = ExtractiveDistiller().distil(chunk), ExtractiveDistiller().distil(chunk)
    assert first == second
    assert first.state is (DistilState.FACTS if first.atoms else DistilState.NO_FACTS)
    for atom in first.atoms:
        assert occurs(atom.quotation, text)
        assert text[atom.start : atom.end] == atom.quotation
        assert atom.type is not AtomType.TEXT
        assert 0 <= atom.confidence <= 1
        assert atom.claim.strip()
        assert len(atom.claim) <= 200
        assert atom.content.strip()


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "word " * 200_000,
        "The lamp at Orrin burns 3 litres a day. " * 25_000,
        "если " * 100_000,
        "**" * 200_000,
        "[" * 300_000,
        "(" * 300_000 + ")",
        "| a " * 100_000 + "|\n" + "|---" * 100_000 + "|\n" + "| 1 " * 100_000 + "|",
        "```\n" * 50_000,
        "- " * 200_000,
        '{"if": ' * 50_000,
        "# " * 200_000,
        "\n" * 300_000,
        "5 mm. A" * 50_000,
        "x — " * 100_000,
        "_a" * 200_000,
        "<a" * 200_000,
    ],
    ids=lambda text: text[:6].strip(),
)
def test_a_megabyte_of_one_thing_is_survived_in_bounded_time(text: str) -> None:
    outcome = ExtractiveDistiller().distil(ChunkToDistil(content=text, language="en"))
    assert all(occurs(atom.quotation, text) for atom in outcome.atoms)


def test_binary_remains_give_no_facts() -> None:
    noise = bytes(range(256)).decode("latin-1") * 20
    assert ExtractiveDistiller().distil(ChunkToDistil(content=noise)).state is DistilState.NO_FACTS


def test_a_wrapped_paragraph_is_read_across_its_lines() -> None:
    atoms = distilled(
        "The lighthouse of Orrin was built\nin 1867 by two brothers from Bergen, and\nits lamp burns oil."
    )
    assert [atom.claim for atom in atoms] == [
        "The lighthouse of Orrin was built in 1867 by two brothers from Bergen, and its lamp burns oil."
    ]


def test_a_caption_in_plain_text_is_not_part_of_the_sentence_below_it() -> None:
    atoms = distilled("Storage\nThe tablets keep for 36 months in the sealed blister and must not be frozen.")
    assert [atom.quotation[:12] for atom in atoms] == ["The tablets "]


def test_a_quotation_may_carry_marks_and_the_claim_does_not() -> None:
    (atom,) = distilled("The lamp of **Orrin** burns [3 litres](oil.html) of `oil` a day.")
    assert atom.claim == "The lamp of Orrin burns 3 litres of oil a day."
    assert "**Orrin**" in atom.quotation


def test_lines_of_a_quote_are_read_without_their_marks() -> None:
    (atom,) = distilled("> The lamp of Orrin burns\n> 3 litres of oil a day.")
    assert atom.claim == "The lamp of Orrin burns 3 litres of oil a day."


def test_the_settings_without_a_model_give_the_extractive_distiller() -> None:
    assert open_distiller(Settings()).name == "extractive/1"
