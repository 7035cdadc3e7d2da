"""The same text in another form is the same; another text is not."""

from __future__ import annotations

import pytest

from pegas_assets.pipeline.same_text import same_text_hash
from pegas_assets.sources.registry import parse

MARKDOWN = """# Granite domes

Granite *domes* exfoliate when pressure **falls**. See [the survey](https://example.org/x_(y)).

- first point
- second `code` point

| a | b |
|---|---|
| 1 | 2 |

> quoted words

```python
if x:
    y = 1 - 2
```
"""
PAGE = """<html lang=en><head><title>Domes</title></head><body><h1>Granite domes</h1><p>Granite <em>domes</em> exfoliate when
pressure <b>falls</b>. See <a href="https://example.org/x">the survey</a>.</p><ul><li>first point<li>second <code>code</code>
point</ul><table><tr><th>a<th>b<tr><td>1<td>2</table><blockquote>quoted words</blockquote><pre><code class=language-python>if x:
    y = 1 - 2
</code></pre></body></html>"""
PLAIN = """Granite domes

Granite domes exfoliate when pressure falls. See the survey.

- first point
- second code point

quoted words"""


def hash_of(text: str, name: str) -> str:
    return same_text_hash(parse(text.encode(), name=name))


def test_markdown_and_a_page_say_the_same() -> None:
    assert hash_of(MARKDOWN, "a.md") == hash_of(PAGE, "a.html")


def test_marks_line_ends_and_wrapping_make_no_other_text() -> None:
    prose = MARKDOWN.split("| a")[0] + "> quoted words\n"
    assert hash_of(prose, "a.md") == hash_of(PLAIN, "a.txt")
    assert hash_of(PLAIN.replace("\n", "\r\n"), "a.txt") == hash_of(PLAIN, "a.txt")
    assert hash_of(PLAIN.replace("exfoliate when", "exfoliate\nwhen"), "a.txt") == hash_of(PLAIN, "a.txt")


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("1 - 2", "1 + 2"),
        ("    y", "y"),
        ("| 1 | 2 |", "| 2 | 1 |"),
        ("falls", "fell"),
        ("first point\n- second", "second point\n- first"),
    ],
)
def test_what_means_something_else_is_another_text(was: str, now: str) -> None:
    assert hash_of(MARKDOWN.replace(was, now), "a.md") != hash_of(MARKDOWN, "a.md")


def test_a_sign_in_a_program_is_never_a_mark() -> None:
    assert hash_of("int *a = b;\n", "a.c") != hash_of("int a = b;\n", "a.c")
