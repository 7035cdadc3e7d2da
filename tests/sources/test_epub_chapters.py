"""What becomes of a book's pages: titles and their depth, printed pages, notes, tables, formulas, pictures."""

from __future__ import annotations

import pytest

from pegas_assets.model import BlockKind
from tests.sources.book_maker import FIRST, SECOND, Book, one_page, page, sections

NCX = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
NAV = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'


def ncx(*points: str, pages: str = "") -> dict[str, str]:
    return {
        "OEBPS/toc.ncx": '<?xml version="1.0"?><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>'
        f"{''.join(points)}</navMap>{pages}</ncx>"
    }


def point(title: str, src: str, *inner: str) -> str:
    return f'<navPoint><navLabel><text>{title}</text></navLabel><content src="{src}"/>{"".join(inner)}</navPoint>'


def nav(body: str, more: str = "") -> dict[str, str]:
    return {"OEBPS/nav.xhtml": page(f'<nav epub:type="toc"><h1>Contents</h1>{body}</nav>{more}')}


def test_nested_contents_give_the_path_of_sections() -> None:
    book = Book(
        {
            "p1.xhtml": "<h1>Part One</h1>",
            "c1.xhtml": FIRST,
            "c2.xhtml": SECOND + "<h2>Silver</h2><p>It was heavy.</p>",
        },
        more_manifest=NCX,
        spine_attributes='toc="ncx"',
        files=ncx(point("Part One", "p1.xhtml", point("First", "c1.xhtml"), point("Second", "c2.xhtml"))),
    )

    assert sections(book.read()) == [("Part One", "First"), ("Part One", "Second"), ("Part One", "Second", "Silver")]


def test_a_part_without_a_page_of_its_own_still_heads_its_chapters() -> None:
    body = (
        '<ol><li><span>Part One</span><ol><li><a href="c1.xhtml">First</a></li><li><a href="c2.xhtml">Second</a></li></ol>'
        "</li></ol>"
    )

    document = Book(more_manifest=NAV, files=nav(body)).read()

    assert sections(document) == [("Part One", "First"), ("Part One", "Second")]
    assert document.text.startswith("# Part One\n\n## First\n\nThe caravan")
    assert "Contents" not in document.text


@pytest.mark.parametrize("empty", ["", "<navMap/>", point("", ""), "<navPoint/>", point("Gone", "gone.xhtml")])
def test_contents_that_say_nothing_leave_the_headings_alone(empty: str) -> None:
    book = Book(more_manifest=NCX, spine_attributes='toc="ncx"', files=ncx(empty))

    assert sections(book.read()) == [("First",), ("Second",)]


def test_chapters_without_headings_get_titles_from_the_contents() -> None:
    book = Book(
        {
            "c1.xhtml": "<p>Forty camels left.</p>",
            "c2.xhtml": '<p class="t">Chapter 2</p><p class="t">The Market</p><p>Salt was weighed.</p>'
            '<p id="x">Silver was weighed too.</p>',
            "c3.xhtml": "<p>It went on.</p>",
        },
        more_manifest=NCX,
        files=ncx(point("The Caravan", "c1.xhtml"), point("The Market", "c2.xhtml", point("Of Silver", "c2.xhtml#x"))),
    )

    document = book.read()

    assert sections(document) == [("The Caravan",), ("The Market",), ("The Market", "Of Silver")]
    assert document.text.count("The Market") == 1
    assert "It went on." in document.chunks[-1].content


def test_a_heading_with_other_words_than_the_contents_stays_one_heading() -> None:
    book = Book(
        {"c1.xhtml": "<h2>Chapter 1</h2><h3>The Ford</h3><p>Dry in summer.</p><h4>Winter</h4><p>It freezes.</p>"},
        more_manifest=NCX,
        files=ncx(point("Chapter 1. The Ford", "c1.xhtml")),
    )

    assert sections(book.read()) == [("Chapter 1", "The Ford"), ("Chapter 1", "The Ford", "Winter")]


def test_what_calls_itself_in_its_head_only_makes_a_line_a_heading() -> None:
    pages = {
        "c1.xhtml": page('<p class="title">The Caravan</p><p>Forty camels left.</p>', "<title>The Caravan</title>"),
        "c2.xhtml": page("<p>Salt was weighed.</p>", "<title>chapter0002</title>"),
    }

    assert Book(pages).read().text == "# The Caravan\n\nForty camels left.\n\nSalt was weighed."


AROUND = {
    "cover.xhtml": '<div epub:type="cover"><img src="a.jpg" alt="The Salt Road, a novel"/></div>',
    "rights.xhtml": "<p>Copyright © 1998 Anna Kim. All rights reserved.</p><p>ISBN 978-0-00-000000-2</p>",
    "toc.xhtml": '<h1>Contents</h1><p><a href="c1.xhtml">First</a></p><p><a href="c2.xhtml">Second</a></p>'
    '<p><a href="notes.xhtml#n">Notes</a></p>',
    "c1.xhtml": FIRST,
    "c2.xhtml": SECOND + "<p>The scribe wrote © on no page.</p>",
}


def test_cover_contents_and_copyright_are_no_chapters() -> None:
    document = Book(AROUND).read()

    assert sections(document) == [("First",), ("Second",)]
    assert "ISBN" not in document.text
    assert "wrote © on" in document.text


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ('<guide><reference type="copyright-page" href="c0.xhtml"/></guide>', False),
        ('<guide><reference type="cover" href="c0.xhtml"/></guide>', False),
        ('<guide><reference type="text" href="c0.xhtml"/></guide>', True),
        ("", True),
    ],
)
def test_the_guide_says_what_stands_around(said: str, kept: bool) -> None:
    book = Book({"c0.xhtml": "<p>Printed at the Lighthouse Press.</p>", "c1.xhtml": FIRST}, after_spine=said)

    assert ("Lighthouse Press" in book.read().text) is kept


def test_the_landmarks_say_it_too() -> None:
    more = '<nav epub:type="landmarks"><ol><li><a epub:type="copyright-page" href="c1.xhtml">Rights</a></li></ol></nav>'

    assert "camels" not in Book(more_manifest=NAV, files=nav("", more)).read().text


def test_a_book_that_calls_all_its_text_a_cover_is_still_read() -> None:
    assert "camels" in one_page(f'<section epub:type="cover">{FIRST}</section>').read().text


def test_a_chapter_with_links_is_no_contents() -> None:
    body = "<h1>Places</h1>" + "".join(
        f'<p>On the road to <a href="c{n}.xhtml">town {n}</a> is a well.</p>' for n in range(9)
    )

    assert "is a well" in one_page(body).read().text


@pytest.mark.parametrize(
    "mark",
    [
        '<span epub:type="pagebreak" id="p12" title="12"/>',
        '<span role="doc-pagebreak" id="p12" aria-label=" Page 12. "></span>',
        '<a epub:type="pagebreak" id="page_012"/>',
        '<span class="pagenum">[12]</span>',
        '<span epub:type="pagebreak">12</span>',
    ],
)
def test_printed_pages_are_the_locators_pages(mark: str) -> None:
    body = (
        '<hr epub:type="pagebreak" title="стр. 11"/><h1>First</h1><p>Before it.</p>'
        f'<p>One sentence {mark}over the page.</p><div epub:type="pagebreak" title="13"/><p>Last.</p>'
    )
    document = one_page(body).read()
    (chunk,) = document.chunks

    assert document.text == "# First\n\nBefore it.\n\nOne sentence over the page.\n\nLast."
    pages = {
        words: chunk.locator.within(at := document.text.index(words), at + len(words)).page
        for words in ("Before it.", "over the page.", "Last.")
    }
    assert pages == {"Before it.": 11, "over the page.": 12, "Last.": 13}


def test_a_chunk_says_its_pages() -> None:
    body = '<span epub:type="pagebreak" title="7"/><h1>First</h1><p>On seven. <a epub:type="pagebreak" title="8"/>On eight.</p>'
    document = one_page(body).read()
    (chunk,) = document.chunks

    assert (chunk.locator.page, [turn.value for turn in chunk.locator.turns]) == (7, [8])
    assert document.text == "# First\n\nOn seven. On eight."
    at = document.text.index("On eight")
    assert chunk.locator.within(at, at + 8).page == 8


@pytest.mark.parametrize(
    ("more", "files"),
    [
        (NAV, nav("", '<nav epub:type="page-list"><ol><li><a href="c1.xhtml#x">7</a></li></ol></nav>')),
        (NCX, ncx(pages='<pageList><pageTarget value="7"><navLabel><text>7</text></navLabel><content src="c1.xhtml#x"/>'
                        "</pageTarget></pageList>")),
    ],
)  # fmt: skip
def test_the_list_of_pages_marks_them_too(more: str, files: dict[str, str]) -> None:
    document = one_page('<h1 id="x">First</h1><p>On seven.</p>', more_manifest=more, files=files).read()

    assert document.chunks[0].locator.page == 7
    assert document.text == "# First\n\nOn seven."


def test_page_turns_in_lists_tables_and_code_leave_no_trace() -> None:
    turn = '<span epub:type="pagebreak" title="{}"/>'
    body = (
        f"{turn.format(1)}<ul><li>Salt</li>{turn.format(2)}<li>Silver</li></ul><table><tr><th>Good</th><th>Price</th></tr>"
        f"{turn.format(3)}<tr><td>Salt</td><td>4{turn.format(4)}0</td></tr></table><pre>a = {turn.format(5)}1\n  b</pre>"
        f"{turn.format('xii')}"
    )
    document = one_page(body).read()

    assert document.text == "- Salt\n- Silver\n\n| Good | Price |\n|---|---|\n| Salt | 40 |\n\n```\na = 1\n  b\n```"
    (chunk,) = document.chunks
    assert [chunk.locator.page, *(turn.value for turn in chunk.locator.turns)] == [1, 2, 3, 4, 5]
    assert chunk.locator.within(document.text.index("Silver"), document.text.index("Silver") + 6).page == 2


@pytest.mark.parametrize(
    ("mark", "note"),
    [
        ('<a epub:type="noteref" href="#n1">1</a>', '<aside epub:type="footnote" id="n1"><p>A camel carries 200 kg.</p></aside>'),
        ('<sup><a href="#n1">1</a></sup>', '<div id="n1" class="note"><p><a href="#r">↩</a> A camel carries 200 kg.</p></div>'),
        ('<a href="#n1"><sup>[1]</sup></a>', '<p id="n1">A camel carries 200 kg. <a role="doc-backlink" href="#r">1</a></p>'),
        ('<a role="doc-noteref" href="#n1">1</a>', '<aside role="doc-footnote" id="n1" hidden="hidden">A camel carries 200 kg.</aside>'),
        ('<a class="footnote-ref" href="#n1">1</a>', '<aside epub:type="rearnote" style="display:none"><p>A camel carries 200 kg.</p></aside>'),
    ],
)  # fmt: skip
def test_notes_are_kept_once_and_their_marks_stand_apart(mark: str, note: str) -> None:
    text = one_page(f"<h1>First</h1><p>Forty camels{mark} left.</p>{note}<p>They came back.</p>").read().text

    assert "Forty camels[1] left." in text
    assert text.count("A camel carries 200 kg.") == 1
    assert "↩" not in text


@pytest.mark.parametrize("said", ["", "1. ", "[1] "])
def test_a_note_has_its_number_once(said: str) -> None:
    note = f'<aside epub:type="footnote" id="n1"><p>{said}A camel carries 200 kg.</p></aside>'
    text = one_page(f'<p>Camels<a epub:type="noteref" href="#n1">1</a> left.</p>{note}').read().text

    assert text == f"Camels[1] left.\n\n{said or '[1] '}A camel carries 200 kg."


def test_notes_outside_the_order_come_last_and_under_no_part() -> None:
    book = Book(
        {"n.xhtml": "<h1>Notes</h1><p>A camel carries 200 kg.</p>", "p.xhtml": "<h1>Part</h1>", "c1.xhtml": FIRST},
        spine='<itemref idref="p0" linear="no"/><itemref idref="p1"/><itemref idref="p2"/>',
        more_manifest=NCX,
        files=ncx(point("Part", "p.xhtml", point("First", "c1.xhtml"))),
    )

    assert sections(book.read()) == [("Part", "First"), ("Notes",)]


def test_emphasis_and_drop_caps_part_no_words() -> None:
    text = (
        one_page("<p><b>F</b>orty <i>camels</i>, <span><big>s</big></span>alt<sup>2</sup> and 10<sup>-3</sup> g.</p>")
        .read()
        .text
    )

    assert text == "Forty camels, salt² and 10⁻³ g."


def test_what_stands_around_a_web_page_is_text_in_a_book() -> None:
    body = (
        '<header><h1>First</h1></header><div class="cookie"><p>Cookies: sugar.</p></div><aside><p>A side text.</p></aside>'
        '<div role="complementary"><p>A box.</p></div><form><p>A form.</p></form><footer><p>The end.</p></footer>'
    )

    assert one_page(body).read().text == "# First\n\nCookies: sugar.\n\nA side text.\n\nA box.\n\nA form.\n\nThe end."


def test_tables_code_lists_and_quotes_are_blocks_of_their_kind() -> None:
    document = one_page(
        "<p>Prices:</p><table><tr><th>Good</th><th>Price</th></tr><tr><td>Salt</td><td>4</td></tr></table>"
        '<pre><code class="language-python">def f():\n    return 1</code></pre><ol><li>Salt<ul><li>white</li></ul></li>'
        "<li>Silver</li></ol><blockquote><p>Weigh it.</p><p>Twice.</p></blockquote>"
    ).read()
    blocks = {block.kind: chunk.content[block.start : block.end] for chunk in document.chunks for block in chunk.blocks}

    assert blocks[BlockKind.TABLE] == "| Good | Price |\n|---|---|\n| Salt | 4 |"
    assert blocks[BlockKind.CODE] == "```python\ndef f():\n    return 1\n```"
    assert blocks[BlockKind.LIST] == "1. Salt\n  - white\n2. Silver"
    assert blocks[BlockKind.QUOTE] == "> Weigh it.\n>\n> Twice."


def test_words_of_a_book_that_look_like_markdown_are_paragraphs() -> None:
    document = one_page(
        "<h1>One</h1><p># no heading</p><p>```</p><p>&lt;!-- no comment</p><p>[1]: x</p><h1>Two</h1><p>End.</p>"
    ).read()

    assert sections(document) == [("One",), ("Two",)]
    assert "# no heading" in document.text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p><ruby>塩<rp>(</rp><rt>しお</rt><rp>)</rp></ruby>の道</p>", "塩(しお)の道"),
        ('<p>Then <math alttext="x^2+1"><mi>x</mi></math> holds.</p>', "Then x^2+1 holds."),
        (
            "<p>Then <math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac><mo>=</mo>"
            "<msqrt><msup><mi>x</mi><mn>2</mn></msup></msqrt></math> holds.</p>",
            "Then (a + b)/2 = √(x^2) holds.",
        ),
        (
            '<p><m:math xmlns:m="http://www.w3.org/1998/Math/MathML"><m:semantics><m:mi>y</m:mi>'
            '<m:annotation encoding="application/x-tex">\\bar y</m:annotation></m:semantics></m:math> rises.</p>',
            "\\bar y rises.",
        ),
        ('<p>See</p><svg xmlns="http://www.w3.org/2000/svg"><title>t</title><text>North gate</text></svg>', "See\n\nNorth gate"),
        ('<p>See <img src="a.png" alt="A map of the road"/> here.</p>', "See [A map of the road] here."),
        ('<p>See <img src="a.png" alt="img_001.png"/>here.</p>', "See here."),
        ('<h1><img src="a.png" alt="The Caravan"/></h1><p>Left.</p>', "# The Caravan\n\nLeft."),
        ("<p>He said <q>salt</q>.</p>", "He said “salt”."),
        ("<p>Verse one<br/>verse two</p>", "Verse one\nverse two"),
        ("<ul>Goods<li>Salt</li><ul><li>white</li></ul><p>Silver</p></ul>", "- Goods\n- Salt\n  - white\n- Silver"),
        (
            '<switch xmlns="http://www.idpf.org/2007/ops"><case><p>For few.</p></case><default><p>For all.</p></default></switch>',
            "For all.",
        ),
        ('<p epub:type="bridgehead">Aside</p><p>Text.</p>', "## Aside\n\nText."),
        ('<p style="display:none">Not shown.</p><p>Shown.</p>', "Shown."),
        ("<p>co\u00adop and нет\u00a0ли</p>", "co\u00adop and нет\u00a0ли"),
    ],
)  # fmt: skip
def test_a_form_of_text_is_written_out(body: str, text: str) -> None:
    assert (
        one_page(f"{body}<p>And so on with the rest of it.</p>").read().text
        == f"{text}\n\nAnd so on with the rest of it."
    )


def test_a_long_book_is_read_in_order() -> None:
    pages = {f"c{n}.xhtml": f"<h1>Chapter {n}</h1>" + f"<p>Words of chapter {n}.</p>" * 40 for n in range(120)}
    document = Book(pages).read()

    assert sections(document) == [(f"Chapter {n}",) for n in range(120)]
    assert document.text.count("Words of chapter 7.") == 40
