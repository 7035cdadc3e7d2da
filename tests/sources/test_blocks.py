from __future__ import annotations

from pegas_assets.model import BlockKind
from pegas_assets.sources.blocks import SourceBlock
from pegas_assets.sources.markdown_blocks import heading_title, markdown_blocks
from pegas_assets.sources.plain_blocks import looks_like_markdown, plain_blocks


def seen(text: str, blocks: list[SourceBlock]) -> list[tuple[str, str]]:
    return [(str(block.kind), text[block.start : block.end]) for block in blocks]


def test_markdown_has_headings_lists_quotes_tables_and_code() -> None:
    text = (
        "Weir\n====\n\nA line\nand another.\n\n- a\n  - b\n- c\n\n> said\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "~~~Python title=x\nx = 1\n\ny = 2\n~~~\n\n    indented\n\n## Gates ##\nend\n"
    )
    blocks = markdown_blocks(text)
    assert seen(text, blocks) == [
        ("heading", "Weir\n===="),
        ("paragraph", "A line\nand another."),
        ("list", "- a\n  - b\n- c"),
        ("quote", "> said"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("code", "~~~Python title=x\nx = 1\n\ny = 2\n~~~"),
        ("code", "    indented"),
        ("heading", "## Gates ##"),
        ("paragraph", "end"),
    ]
    assert [(block.level, block.title) for block in blocks if block.kind is BlockKind.HEADING] == [
        (1, "Weir"),
        (2, "Gates"),
    ]
    assert blocks[5].info == "python"


def test_code_inside_a_list_is_a_block_of_its_own() -> None:
    text = "1. Run it:\n\n   ```sh\n   make\n   ```\n\n2. Look."
    assert [kind for kind, _ in seen(text, markdown_blocks(text))] == ["list", "code", "list"]


def test_a_heading_is_shown_without_its_marks() -> None:
    assert heading_title("## The **nine** `gates` of [Larch](http://example.org/a_(b)) ##") == "The nine gates of Larch"
    assert heading_title("# snake_case_name \\* C#") == "snake_case_name * C#"


def test_plain_paragraphs_by_blank_lines_by_indent_and_by_long_lines() -> None:
    wrapped = "One line\nwrapped here.\n\nTwo."
    assert [part for _, part in seen(wrapped, plain_blocks(wrapped))] == ["One line\nwrapped here.", "Two."]
    set_in = "   First begins\nand goes on.\n   Second begins\nand ends."
    assert len(plain_blocks(set_in)) == 2
    unwrapped = "\n".join(["A long line that nobody wrapped, as a word processor writes it. " * 3] * 3)
    assert len(plain_blocks(unwrapped)) == 3


def test_plain_lists_are_lists_and_a_dash_alone_is_speech() -> None:
    text = "Take:\n- bread\n- salt\n\n— Куда? — спросил он.\n— Туда.\n"
    assert [kind for kind, _ in seen(text, plain_blocks(text))] == ["paragraph", "list", "paragraph", "paragraph"]


def test_markdown_is_recognised_without_a_name() -> None:
    assert looks_like_markdown("# Weir\n\nText.")
    assert looks_like_markdown("Weir\n====\n\nText.")
    assert looks_like_markdown("a\n```\nx\n```\n")
    assert looks_like_markdown("| a | b |\n|---|---|\n| 1 | 2 |")
    assert not looks_like_markdown("Dear all,\n\n#1 is done.\n--\nLarch")
