"""Notebooks: text, code and what it printed, each at its cell."""

from __future__ import annotations

import json

import pytest

from pegas_assets.errors import Refused
from pegas_assets.model import BlockKind
from pegas_assets.sources.registry import parse

CELLS = [
    {"cell_type": "markdown", "source": ["# Domes\n", "\n", "Some *text*.\n", "![x](attachment:a.png)"]},
    {
        "cell_type": "code",
        "source": "print(1)",
        "outputs": [
            {"output_type": "stream", "text": ["1\n"]},
            {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": ["<Figure with 1 Axes>"]}},
            {"output_type": "execute_result", "data": {"text/html": "<b>no</b>", "text/plain": "  a\n0 1"}},
            {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["long", "trace"]},
        ],
    },
    {"cell_type": "code", "source": "%%bash\nls", "outputs": []},
    {"cell_type": "raw", "source": "Raw words."},
]
FOUR = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"language_info": {"name": "python"}}, "cells": CELLS}


@pytest.mark.parametrize("name", ["a.ipynb", "noname", "a.json.txt"])
def test_cells_in_order_with_their_number(name: str) -> None:
    document = parse(json.dumps(FOUR).encode(), name=name)
    assert document.text == (
        "# Domes\n\nSome *text*.\n\n```python\nprint(1)\n```\n\n```output\n1\n```\n\n```output\n  a\n0 1\n```\n\n"
        "```output\nValueError: bad\n```\n\n```bash\n%%bash\nls\n```\n\nRaw words."
    )
    assert document.title == "Domes"
    (chunk,) = document.chunks
    assert chunk.locator.cell == 1
    assert [turn.value for turn in chunk.locator.turns] == [2, 3, 4]
    assert next(block.info for block in chunk.blocks if block.kind is BlockKind.CODE) == "python"


def test_the_third_format_has_sheets_and_headings() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Old"},
        {"cell_type": "code", "input": "x = 1", "language": "julia"},
    ]
    document = parse(json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode(), name="a.ipynb")
    assert document.text == "## Old\n\n```julia\nx = 1\n```"


def test_long_output_is_cut_and_a_damaged_file_refused() -> None:
    output = [{"output_type": "stream", "text": "\n".join(f"line {number}" for number in range(500))}]
    cell = {"cell_type": "code", "source": "go()", "outputs": output}
    document = parse(json.dumps({"nbformat": 4, "cells": [cell]}).encode(), name="a.ipynb")
    assert "line 19\n… (480 more lines)" in document.text
    for bad in (b'{"nbformat": 4, "cells": [', b'{"nbformat": 4, "cells": [null, 7]}', b"[]"):
        with pytest.raises(Refused):
            parse(bad, name="a.ipynb")
