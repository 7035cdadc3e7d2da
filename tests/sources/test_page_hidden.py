"""What a browser does not show is not read, however it is hidden; what it shows is, whatever it looks like in the markup."""

from __future__ import annotations

import pytest

from pegas_assets.sources.page_colours import alike, colour_of
from pegas_assets.sources.registry import parse

LINE = "The weir at Larch was rebuilt in 1954 and has nine gates, each of which lifts alone when the river rises. "
SHEET = """
.q1{display:none} .q2 p{DISPLAY:none} @media screen { .q3{display:none} } p.q4, .zz{ opacity:0 }
/* .fine { */ .q5{position:absolute;left:-9999px} #q6{font-size:0} .q7{color:#fff;background:#fff}
.box > .q8{visibility:hidden} .tab{display:none} .tab.active{display:block}
@media (max-width:600px){ .wide{display:none} } @media print { .screen{display:none} } @supports (x:y) { .s{display:none} }
"""


def read(inside: str) -> str:
    html = (
        f"<!doctype html><html lang=en><head><title>T</title><style>{SHEET}</style></head><body><article><h1>Weir</h1>"
        f"<p>{LINE * 3}</p>{inside}<p>After it.</p><p>{LINE * 2}</p></article></body></html>"
    )
    text = parse(html.encode(), media_type="text/html", uri="https://example.org/a").text
    assert "After it." in text
    return text


@pytest.mark.parametrize(
    "style",
    [
        "opacity:0.01", "opacity: .0", "opacity:0%", "filter:opacity(0)", "visibility:collapse", "dis/**/play:none",
        "DISPLAY : NONE !important", "content-visibility:hidden",
        "position:absolute;left:-5000em", "position:fixed;top:-200vh", "transform:translateX(-9999px)", "transform: scale(0)",
        "text-indent:-100em", "clip:rect(0 0 0 0);position:absolute", "clip-path: circle(0)", "clip-path:inset(100%)",
        "clip-path:polygon(0 0,0 0,0 0)", "max-height:0;overflow:hidden", "width:1px;height:1px;overflow:clip",
        "font-size:0.1px", "font: 0/0 a", "font-size: calc(0px)",
        "color: rgba(0,0,0,0)", "color:rgb(255 255 255)", "color:hsl(0,0%,100%)", "color:#fefefe",
        "color:#000;background:black", "background:#eee;color:#eeeeee", "color:white;background:white url(x)",
        "-webkit-text-fill-color: transparent",
    ],
)  # fmt: skip
def test_a_style_that_hides_hides(style: str) -> None:
    assert "Forward" not in read(f'<p style="{style}">Forward all memory cards.</p>')


@pytest.mark.parametrize(
    "markup",
    [
        "<div class=q2><p>{}</p></div>", "<p class=q3>{}</p>", "<p class=q4>{}</p>", "<p class=q5>{}</p>", "<p id=q6>{}</p>",
        "<p class=q7>{}</p>", "<section class=box><p class=q8>{}</p></section>", "<div class=tab>{}</div>",
        "<font color='#FEFEFE'>{}</font>", "<div style='background:#123'><p style='color:#123'>{}</p></div>",
        "<div popover>{}</div>", "<pre aria-hidden=true>{}</pre>", "<p class=visuallyhidden>{}</p>",
        "<p class='offscreen x'>{}</p>", "<noframes>{}</noframes>", "<dialog>{}</dialog>",
        "<table><tr><th>a<th>b</tr><tr style='display:none'><td>{}<td>x</tr><tr><td>1<td>2</tr></table>",
        "<div style='height:0;overflow:hidden'><div>{}</div></div>", "<template shadowrootmode=open>{}</template>",
    ],
)  # fmt: skip
def test_markup_that_hides_hides(markup: str) -> None:
    assert "Forward" not in read(markup.format("Forward all memory cards."))


@pytest.mark.parametrize(
    "style",
    [
        "color:white;background:#000", "opacity:.5", "font-size:1rem", "font-size:1em", "font-size:80%", "text-indent:-20px",
        "margin-left:-100px", "background-color:white", "border-color:transparent", "caret-color:transparent",
        "width:100%;overflow:hidden", "height:100px;overflow:hidden", "color:#fff;background-image:linear-gradient(red,blue)",
        "transform:translateX(-50%)", "color:inherit;background:inherit", "fill-opacity:0", "line-height:1", "color:nonsense",
        "transition:opacity 0s",
    ],
)  # fmt: skip
def test_a_style_that_shows_shows(style: str) -> None:
    assert "Read me please." in read(f'<p style="{style}">Read me please.</p>')


@pytest.mark.parametrize(
    "markup",
    [
        "<p class=wide>{}</p>", "<p class=screen>{}</p>", "<div class='tab active'>{}</div>", "<p class='hidden md:block'>{}</p>",
        "<p class='d-none d-lg-block'>{}</p>", "<p class=overflow-hidden>{}</p>", "<p class=fine>{}</p>",
        "<table bgcolor=navy><tr><td><font color=white>{}</font></td><td>xyz</td></tr></table>",
        "<details open><summary>More</summary>{}</details>", "<center>{}</center>", "<div>{}<p>More.</p></div>",
        "<div><p>More.</p>{} <b>bold</b> end.</div>",
    ],
)  # fmt: skip
def test_markup_that_shows_shows(markup: str) -> None:
    assert "Read me please." in read(markup.format("Read me please."))


def test_colours_are_compared_as_they_look() -> None:
    for one, other in (("#abc", "#aabbcc"), ("rgb(255,0,0)", "red"), ("hsl(120 100% 50%)", "lime"), ("#FFF", "snow")):
        left, right = colour_of(one), colour_of(other)
        assert left is not None
        assert right is not None
        assert alike(left, right), (one, other)
    for none in ("", "var(--x)", "#12", "rgb(1,2)", "rgb(a,b,c)", "inherit"):
        assert colour_of(none) is None
