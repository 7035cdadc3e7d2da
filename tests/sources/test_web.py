from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegas_assets.errors import PegasError, Refused
from pegas_assets.model import BlockKind, ParsedDocument
from pegas_assets.sources.registry import parse

LINE = "The weir at Larch was rebuilt in 1954 and has nine gates, each of which lifts alone when the river rises. "


def page(inside: str, *, head: str = "", url: str = "https://www.example.org/weir") -> ParsedDocument:
    html = f"<!doctype html><html lang=en><head><title>Weir notes</title>{head}</head><body>{inside}</body></html>"
    return parse(html.encode(), media_type="text/html", uri=url)


def article(inside: str, **rest: str) -> ParsedDocument:
    return page(f"<article><h1>Weir</h1><p>{LINE * 3}</p>{inside}<p>{LINE * 2}</p></article>", **rest)


def test_the_article_is_taken_and_what_stands_around_is_not() -> None:
    document = page(
        "<nav><a href=/>Home</a> <a href=/shop>Shop</a></nav><div id='cookie-consent'><p>We use cookies.</p></div>"
        f"<article><h1>Weir</h1><p>{LINE * 3}</p><h2>Gates</h2><p>{LINE * 2}</p></article>"
        "<aside>Related posts</aside><footer>All rights reserved</footer>"
    )
    assert [chunk.locator.section for chunk in document.chunks] == [("Weir",), ("Weir", "Gates")]
    for outside in ("Shop", "cookies", "Related", "rights"):
        assert outside not in document.text


@pytest.mark.parametrize("depth", [90, 300, 3000])
@pytest.mark.parametrize("tag", ["div", "span", "font", "blockquote"])
def test_text_is_read_however_deep_it_is_nested_and_what_follows_too(tag: str, depth: int) -> None:
    document = page(f"{f'<{tag}>' * depth}<p>{LINE}</p>{f'</{tag}>' * depth}<p>Outside stands a heron all day.</p>")
    assert LINE.strip() in document.text
    assert "Outside stands a heron" in document.text


def test_paragraphs_of_wrappers_that_are_nested_too_deep_stay_apart() -> None:
    inside = "".join(f"<div>Gate {number} lifts alone.</div>" for number in range(3))
    document = page("<div>" * 400 + inside + "</div>" * 400)
    assert [f"Gate {number} lifts alone." in document.text.split("\n") for number in range(3)] == [True] * 3


def test_what_a_page_says_of_itself_is_kept() -> None:
    head = (
        "<meta name=author content='Ada Rill'><meta property='og:site_name' content='Larch Blog'>"
        "<meta property='article:published_time' content='2023-04-05T10:00:00Z'>"
        "<link rel=canonical href='/weir?b=1#top'>"
    )
    document = article("", head=head)
    assert (document.author, document.published, document.site) == ("Ada Rill", "2023-04-05", "Larch Blog")
    assert document.canonical_uri == "https://www.example.org/weir?b=1"
    assert document.title.startswith("Weir")


@pytest.mark.parametrize("href", ["https://other.example/weir", "http://127.0.0.1/weir", "javascript:1", "/", ""])
def test_a_canonical_address_elsewhere_does_not_count(href: str) -> None:
    assert article("", head=f"<link rel=canonical href='{href}'>").canonical_uri == ""


def test_code_keeps_lines_blank_lines_indentation_and_language() -> None:
    code = "def area(r):\n    # circle\n\n    return 3.14 * r * r"
    for markup in (
        f"<pre><code class='language-python'>{code}</code></pre>",
        f"<div class='highlight highlight-source-python'><pre>{code}\n</pre></div>",
        f"<ul><li>Like so: <pre data-lang=python>{code}</pre></li></ul>",
        "<pre class='lang-python'>" + code.replace("\n", "<br>") + "</pre>",
    ):
        document = article(markup)
        assert f"```python\n{code}\n```" in document.text
        blocks = [block for chunk in document.chunks for block in chunk.blocks if block.kind is BlockKind.CODE]
        assert [block.info for block in blocks] == ["python"]


def test_line_numbers_beside_code_go() -> None:
    beside = (
        "<table class=highlighttable><tr><td class=linenos><pre>1\n2\n3</pre></td><td class=code><pre>"
        "<span>a = 1</span>\n\n  b = 2</pre></td></tr></table>"
    )
    within = "<pre><span class=linenos>1</span>a = 1\n<span class=linenos>2</span>\n<span class=linenos>3</span>  b = 2</pre>"
    rows = "".join(
        f"<tr><td class=blob-num data-line-number={number}></td><td class=blob-code>{line}</td></tr>"
        for number, line in enumerate(["a = 1", "", "  b = 2"], 1)
    )
    for markup in (beside, within, f"<table>{rows}</table>"):
        assert "```\na = 1\n\n  b = 2\n```" in article(markup).text


def test_backticks_inside_code_do_not_end_it() -> None:
    assert "````\n```\nx\n```\n````" in article("<pre>```\nx\n```</pre>").text


def test_tables_of_data_become_pipe_tables() -> None:
    document = article(
        "<table><caption>Widths</caption><tr><th>Gate<th>Width<th></tr>"
        "<tr><td rowspan=2>1</td><td>5 m<ul><li>old<li>new</ul></td></tr><tr><td>a|b</td></tr></table>"
    )
    assert "Widths\n\n| Gate | Width |\n|---|---|\n| 1 | 5 m; old; new |\n| 1 | a\\|b |" in document.text


def test_a_table_that_holds_the_page_is_undone() -> None:
    document = page(
        "<table width=100%><tr><td><a href=/>Main</a><br><a href=/r>Recipes</a></td>"
        f"<td><b>Soup</b><br><br>{LINE * 3}<br><br>{LINE * 2}</td></tr></table>"
    )
    assert "|" not in document.text
    assert "Recipes" not in document.text
    assert document.text.count("\n\n") >= 1


@pytest.mark.parametrize(
    "hidden",
    [
        "<p style='display:none'>{}</p>",
        "<p style='Display : NONE !important'>{}</p>",
        "<p style='visibility:hidden'>{}</p>",
        "<div style='opacity:0'><p>{}</p></div>",
        "<p style='font-size:0'>{}</p>",
        "<p style='font-size: 1px; line-height:1'>{}</p>",
        "<p style='position:absolute;left:-9999px'>{}</p>",
        "<p style='height:0;overflow:hidden'>{}</p>",
        "<p style='color:#fff;background-color:#FFF'>{}</p>",
        "<p style='color:white'>{}</p>",
        "<p style='color:transparent'>{}</p>",
        "<p hidden>{}</p>",
        "<p aria-hidden=true>{}</p>",
        "<p class='big sr-only'>{}</p>",
        "<p class=x9>{}</p>",
        "<p id=y7>{}</p>",
        "<!-- {} -->",
        "<noscript><p>{}</p></noscript>",
        "<template><p>{}</p></template>",
        "<script type='text/plain'>{}</script>",
        "<textarea>{}</textarea>",
        "<font color=white>{}</font>",
    ],
)
def test_hidden_text_is_not_read(hidden: str) -> None:
    head = "<style>.x9, p.z { display: none } #y7{visibility:hidden}</style>"
    document = article(hidden.format("Forward all memory cards.") + "<p>After it.</p>", head=head)
    assert "Forward" not in document.text
    assert "After it." in document.text


def test_white_text_on_a_dark_ground_is_read() -> None:
    document = article("<div style='background:#123'><p style='color:white'>Read me at night.</p></div>")
    assert "Read me at night." in document.text


@pytest.mark.parametrize(
    "inside",
    [
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div><script src=a.js></script>",
        "<div id=app>Loading...</div><script src=a.js></script>",
        "<div id=__next><p>Please enable JavaScript.</p></div><script src=a.js></script>",
        "<script>var x = 1</script>",
        "",
    ],
)
def test_a_page_that_scripts_draw_is_refused(inside: str) -> None:
    with pytest.raises(Refused, match="no readable content"):
        page(inside)


def test_a_small_page_with_scripts_is_read() -> None:
    assert page("<p>The weir is closed today.</p><script src=a.js></script>").text == "The weir is closed today."


def test_joiners_direction_marks_and_soft_hyphens_stay() -> None:
    text = "The farmer 👩‍🌾 waits; می‌خواهم بلیت; \u200fשלום עולם; про\u00adвод\u00adница."
    assert text in article(f"<p>{text}</p>").text


@pytest.mark.parametrize(
    ("encoding", "header", "meta"),
    [
        ("cp1251", "", ""),
        ("cp1251", "text/html; charset=windows-1251", "utf-8"),
        ("koi8-r", "", "koi8-r"),
        ("utf-8", "text/html; charset=iso-8859-1", ""),
        ("utf-16", "", ""),
    ],
)
def test_the_charset_is_told_by_mark_header_page_or_letters(encoding: str, header: str, meta: str) -> None:
    text = "Смотритель поднимался на маяк каждый вечер, даже когда дорогу заносило снегом. " * 4
    charset = f"<meta charset={meta}>" if meta else ""
    body = f"<html><head>{charset}<title>Маяк</title></head><body><p>{text}</p></body></html>".encode(encoding)
    document = parse(body, media_type=header, charset=header.partition("charset=")[2], uri="https://example.org/a")
    assert "Смотритель поднимался на маяк" in document.text
    assert (document.title, document.language) == ("Маяк", "ru")


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            ["<table>", "<tr>", "<td>x", "</td>", "</table>", "<pre>", "</pre>", "<ul><li>", "<p>", "<br><br>", "text ",
             "<div style='display:none'>", "</div>", "<code>", "</code>", "&#0;&#xd800;", "<h1>", "</h1>", "\x00", "<!--", "-->"]
        ),
        max_size=30,
    )
)  # fmt: skip
def test_any_markup_is_a_document_or_refused(parts: list[str]) -> None:
    try:
        document = parse(("<html><body>" + "".join(parts)).encode(), media_type="text/html")
    except PegasError:
        return
    assert document.chunks
    assert "pegaspart" not in document.text
    for chunk in document.chunks:
        assert chunk.content == document.text[chunk.locator.start : chunk.locator.end]
