"""What of a page is its text, and what only stands around it."""

from __future__ import annotations

import pytest

from pegas_assets.sources.registry import parse

LONG = "Granite domes exfoliate when the pressure above them falls, as the survey of 1998 shows for the whole range."
MORE = "A sheet that has come loose slides away in the first hard frost, and the next one is laid bare below it."


def text_of(body: str) -> str:
    page = f"<html lang=en><head><title>Domes</title></head><body>{body}</body></html>"
    return parse(page.encode(), name="page.html").text


@pytest.mark.parametrize(
    ("items", "wanted"),
    [
        ("<ul><li>first point</li><li>second point here</li></ul>", ["- first point", "- second point here"]),
        ("<ul><li>second <code>code</code> point</li></ul>", ["- second `code` point"]),
        ("<ol><li>one <a href=x>link</a> two</li></ol>", ["1. one link two"]),
        ("<dl><dt>Dome</dt><dd>A rounded rock.</dd></dl>", ["**Dome**: A rounded rock."]),
        ("<dl><dt>Dome<dt>Cupola<dd>A rounded rock.<dd>A roof.</dl>", ["**Dome**, **Cupola**: A rounded rock.", "\n\nA roof."]),
        ("<p>Short.</p><p>Also.</p>", ["\n\nShort.\n\nAlso.\n\n"]),
    ],
)  # fmt: skip
def test_short_things_between_long_paragraphs_stay_in_their_place(items: str, wanted: list[str]) -> None:
    text = text_of(f"<h1>Domes</h1><p>{LONG}</p>{items}<p>{MORE}</p>")
    assert text.startswith("# Domes\n")
    for part in wanted:
        assert text.index(LONG) < text.index(part) < text.index(MORE)


def test_what_ends_a_text_is_kept() -> None:
    text = text_of(
        f"<div><a href=1>Home</a> <a href=2>News</a></div><h1>Domes</h1><p>{LONG}</p><ul><li>last point</ul>"
        "<table><tr><th>a<th>b<tr><td>1<td>2</table><blockquote>quoted</blockquote><pre><code>x = 1</code></pre>"
        "<div>Copyright 2021 Rocks Inc.</div>"
    )
    assert text == (
        f"# Domes\n\n{LONG}\n\n- last point\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n```\nx = 1\n```"
    )


def test_a_paragraph_that_is_said_twice_is_there_twice() -> None:
    assert text_of(f"<h1>Domes</h1><p>{LONG}</p><p>{MORE}</p><p>{LONG}</p>").count(LONG) == 2


def test_what_stands_around_a_text_is_left_out() -> None:
    text = text_of(
        f"""<div class=topbar><a href=/>Home</a> <a href=/a>News</a></div>
        <div id=sidebar><h3>Popular posts</h3><ul><li><a href=1>Ten rocks</a><li><a href=2>Yellow sand</a></ul></div>
        <div class=content><h1>Domes</h1><p>{LONG}</p><ul><li>first point</ul>
        <div class=newsletter>Subscribe to our newsletter for weekly rocks!</div><p>{MORE}</p><p>{LONG}</p>
        <h2>Related articles</h2><ul><li><a href=1>Basalt columns</a><li><a href=2>Salt flats</a></ul>
        <div class=share>Share on Facebook</div></div>
        <div id=comments><h3>Comments</h3><p>John: I think this is a great article, thanks for sharing it!</p></div>
        <div class=footer>Copyright 2021 Rocks Inc. All rights reserved.</div>"""
    )
    assert text == f"# Domes\n\n{LONG}\n\n- first point\n\n{MORE}\n\n{LONG}"


def test_comments_that_are_the_page_are_its_text() -> None:
    answers = [f"Answer {number}: {LONG}" for number in range(4)]
    text = text_of("".join(f"<div class=comment><p>{answer}</p></div>" for answer in answers))
    assert [answer for answer in answers if answer in text] == answers


def test_a_page_inside_one_form_is_read_and_a_form_in_a_page_is_not() -> None:
    whole = text_of(f"<form id=aspnetForm><div><h1>Domes</h1><p>{LONG}</p><p>{MORE}</p></div></form>")
    assert LONG in whole
    assert MORE in whole
    beside = text_of(f"<p>{LONG}</p><form>Your name <input> Your message</form><p>{MORE}</p>")
    assert beside == f"{LONG}\n\n{MORE}"


def test_a_callout_is_text_and_an_aside_is_not() -> None:
    text = text_of(
        f"<article><h1>Domes</h1><p>{LONG}</p><aside class=note><p>Keep the valve shut.</p></aside>"
        f"<aside><p>More by this author</p></aside><p>{MORE}</p></article>"
    )
    assert "Keep the valve shut." in text
    assert "More by this author" not in text


def test_marks_beside_a_heading_are_no_part_of_it() -> None:
    text = text_of(
        f"<main><h1>Domes<a class=headerlink href=#a>¶</a></h1><p>{LONG}</p>"
        f"<h2>Frost<span class=mw-editsection>[<a href=e>edit</a>]</span></h2><p>{MORE}</p></main>"
    )
    assert text == f"# Domes\n\n{LONG}\n\n## Frost\n\n{MORE}"


def test_an_index_of_links_is_what_it_is() -> None:
    links = "".join(f"<li><a href={number}>Chapter {number} of granite</a></li>" for number in range(4))
    assert text_of(f"<h1>Index</h1><ul>{links}</ul>").count("- Chapter") == 4


def test_code_and_a_table_inside_a_list_stand_on_lines_of_their_own() -> None:
    text = text_of(
        f"<main><h1>Domes</h1><p>{LONG}</p><ol><li><p>Get it:</p><pre><code class=language-sh>curl -O x\ntar xf x</code>"
        f"</pre><p>It unpacks.</p></li><li>Look:<table><tr><th>a<th>b<tr><td>1<td>2</table></li></ol><p>{MORE}</p></main>"
    )
    assert "1. Get it:\n\n```sh\ncurl -O x\ntar xf x\n```\n\nIt unpacks." in text
    assert "2. Look:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" in text
