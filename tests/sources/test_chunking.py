from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegas_assets.model import BlockKind, ParsedChunk
from pegas_assets.sources.chunking import cut
from pegas_assets.sources.markdown_blocks import markdown_blocks
from pegas_assets.sources.plain_blocks import plain_blocks


def words(text: str) -> int:
    """A model whose tokens are words of at most eight characters, with two specials."""
    return 2 + sum((len(word) + 7) // 8 for word in text.split())


def chunks_of(text: str, *, max_tokens: int = 64, target: int = 32, plain: bool = False) -> tuple[ParsedChunk, ...]:
    blocks = plain_blocks(text) if plain else markdown_blocks(text)
    return cut(text, blocks, count_tokens=words, max_tokens=max_tokens, target_tokens=target)


def sentence(number: int, length: int = 8) -> str:
    return f"Gate {number} " + " ".join(["lifts"] * (length - 2)) + "."


def test_a_paragraph_that_fits_is_one_chunk() -> None:
    text = " ".join(sentence(n) for n in range(7))
    (chunk,) = chunks_of(text)
    assert chunk.content == text
    assert chunk.context == ""


def test_blocks_are_packed_under_their_heading_and_never_over_the_next() -> None:
    text = "# Weir\n\nIt has nine gates.\n\nEach lifts alone.\n\n## Repair\n\nIt was rebuilt in 1954.\n"
    first, second = chunks_of(text)
    assert first.content == "# Weir\n\nIt has nine gates.\n\nEach lifts alone."
    assert first.context == "Weir"
    assert second.content == "## Repair\n\nIt was rebuilt in 1954."
    assert second.locator.section == ("Weir", "Repair")
    assert [block.kind for block in first.blocks] == [BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.PARAGRAPH]


def test_a_heading_with_nothing_under_it_opens_the_next_chunk_and_the_last_one_stays() -> None:
    text = "# Guide\n\n## Pumps\n\nPump one runs.\n\n## To do\n"
    first, last = chunks_of(text)
    assert first.content.startswith("# Guide\n\n## Pumps\n\nPump")
    assert first.locator.section == ("Guide", "Pumps")
    assert last.content == "## To do"


def test_a_large_paragraph_is_cut_between_sentences() -> None:
    text = " ".join(sentence(n) for n in range(40))
    pieces = chunks_of(text)
    assert len(pieces) > 1
    assert all(chunk.content.endswith(".") and chunk.content.startswith("Gate") for chunk in pieces)


def test_a_table_is_whole_where_it_fits_and_cut_between_rows_where_not() -> None:
    header = "| gate | width |\n|---|---|\n"
    small = header + "\n".join(f"| {n} | 5 m |" for n in range(4))
    (chunk,) = chunks_of("Gates:\n\n" + small)
    assert small in chunk.content
    rows = [f"| {n} | {n} m |" for n in range(60)]
    pieces = chunks_of(header + "\n".join(rows))
    assert len(pieces) > 2
    assert [line for chunk in pieces for line in chunk.content.split("\n")][2:] == rows
    assert pieces[0].content.startswith(header + "| 0 ")
    assert all(chunk.blocks[0].info == "| gate | width |" for chunk in pieces[1:])


def test_a_long_list_is_cut_between_items() -> None:
    text = "\n".join(f"- Item {n}. It has a second sentence.\n  - and a part" for n in range(20))
    pieces = chunks_of(text)
    assert len(pieces) > 2
    assert all(chunk.content.startswith("- Item") and chunk.content.endswith("part") for chunk in pieces)


def test_code_is_cut_between_lines_and_keeps_its_language_and_indentation() -> None:
    body = "\n\n".join(f"def area_{n}(r):\n    return 3.14 * r * r" for n in range(30))
    text = f"Intro.\n\n```python\n{body}\n```\n"
    pieces = chunks_of(text)
    assert len(pieces) > 2
    code = [chunk for chunk in pieces if any(block.kind is BlockKind.CODE for block in chunk.blocks)]
    assert all(block.info == "python" for chunk in code for block in chunk.blocks if block.kind is BlockKind.CODE)
    for chunk in code:
        assert chunk.content.count("def ") == chunk.content.count("    return")


def test_code_with_blank_lines_that_fits_is_one_chunk() -> None:
    text = "# Setup\n\n```sh\npython pond.py\n\necho done\n```"
    (chunk,) = chunks_of(text)
    assert chunk.content == text
    assert chunk.blocks[-1].info == "sh"


@pytest.mark.parametrize("plain", [True, False])
def test_a_word_without_end_is_cut_between_characters(plain: bool) -> None:
    text = "x" * 5000
    pieces = chunks_of(text, plain=plain)
    assert "".join(chunk.content for chunk in pieces) == text
    assert len(pieces) < 30


def test_no_character_is_parted_from_its_marks() -> None:
    text = "и\u0306👩\u200d🌾" * 400
    assert all(
        not re.match("[\u0306\u200d]", chunk.content) and not chunk.content.endswith("\u200d")
        for chunk in chunks_of(text)
    )


def test_a_long_heading_path_leaves_room_for_the_text() -> None:
    headings = "\n\n".join("#" * level + " " + " ".join(["very long heading"] * 12) for level in range(1, 7))
    text = headings + "\n\n" + " ".join(sentence(n) for n in range(20))
    pieces = chunks_of(text)
    assert all(words(f"{chunk.context}\n{chunk.content}") <= 64 for chunk in pieces)
    assert words(pieces[-1].context) <= 18


def test_the_language_is_told_for_each_chunk() -> None:
    text = "# Мост\n\nМост открывается в полдень, и паром ждёт.\n\n# Bridge\n\nThe bridge opens at noon and the ferry waits."
    assert [chunk.language for chunk in chunks_of(text)] == ["ru", "en"]


_MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# Weir", "## Gates", "### *Nine* gates", "Title\n=====", "It has nine gates. Each lifts alone.", "слово " * 30,
            "- one\n- two\n  - three", "> quoted\n> twice", "| a | b |\n|---|---|\n| 1 | 2 |", "```python\nx = 1\n\ny\n```",
            "    code\n\n    more", "<div>\nhtml\n</div>", "[ref]: http://example.org", "***", "x" * 300, "1. one\n\n   ```\n   in\n   ```\n2. two",
            "```\nnever closed", "---", "\u00a0", "", "текст\nв две строки", "桥在中午开放。" * 20,
        ]
    ),
    max_size=14,
)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(_MARKDOWN | st.lists(st.text("# ab.\n|-`>*1 я\t", max_size=60), max_size=6), st.integers(12, 80), st.booleans())
def test_chunks_hold_every_visible_character_once_and_fit(parts: list[str], max_tokens: int, plain: bool) -> None:
    text = "\n\n".join(parts)
    pieces = chunks_of(text, max_tokens=max_tokens, target=max_tokens // 2, plain=plain)
    assert "".join("".join(chunk.content.split()) for chunk in pieces) == "".join(text.split())
    end = 0
    for number, chunk in enumerate(pieces):
        start = chunk.locator.start
        assert start is not None
        assert chunk.locator.end is not None
        assert start >= end
        end = chunk.locator.end
        assert chunk.seq == number
        assert chunk.content == text[start:end]
        assert chunk.content.strip()
        assert words(f"{chunk.context}\n{chunk.content}" if chunk.context else chunk.content) <= max_tokens
        assert all(0 <= block.start < block.end <= len(chunk.content) for block in chunk.blocks)
    assert pieces == chunks_of(text, max_tokens=max_tokens, target=max_tokens // 2, plain=plain)
