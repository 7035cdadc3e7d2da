"""Pages as the software of manuals, encyclopaedias and boards makes them; listings as highlighters set them."""

from __future__ import annotations

import pytest

from pegas_assets.sources.registry import parse

LINE = "The weir at Larch was rebuilt in 1954 and has nine gates, each of which lifts alone when the river rises. "


def read(inside: str) -> str:
    html = f"<html><head><title>T</title></head><body><article><h1>Weir</h1><p>{LINE * 3}</p>{inside}<p>{LINE * 2}</p></article></body></html>"
    text = parse(html.encode(), media_type="text/html", uri="https://example.org/a").text
    return text.split((LINE * 3).strip(), 1)[1].rsplit((LINE * 2).strip(), 1)[0].strip()


@pytest.mark.parametrize(
    "heading",
    [
        "<h2>Usage<a class=headerlink href='#u' title='Permanent link'>&para;</a></h2>",
        "<h2 class=anchor>Usage<a href='#u' class=hash-link aria-label='Direct link'>&#8203;</a></h2>",
        "<h2><a class=anchor aria-hidden=true href='#u'><svg></svg></a>Usage</h2>",
        "<h2>Usage <a href='#u'>#</a></h2>",
        "<h2><span class=mw-headline>Usage</span><span class=mw-editsection>[<a href=/e>edit</a>]</span></h2>",
        "<div class=markdown-heading><h2>Usage</h2><a class=anchor href='#u' aria-label='Permalink: Usage'><svg></svg></a></div>",
    ],
)
def test_a_heading_comes_without_its_permalink(heading: str) -> None:
    assert read(f"{heading}<p>Go on.</p>") == "## Usage\n\nGo on."


def test_an_encyclopaedia_comes_without_its_machinery() -> None:
    text = read(
        "<table class=infobox><caption>Larch</caption><tr><th>Built</th><td>1954</td></tr><tr><th>Gates</th><td>9</td></tr>"
        "</table><p><b>Larch</b> is a weir.<sup class=reference><a href='#n'>[1]</a></sup> It leaks.<sup class=noprint>"
        "[<i>citation needed</i>]</sup></p><div id=toc><ul><li>1 History</li></ul></div>"
        "<div class=reflist><ol><li id=n><span class=mw-cite-backlink><a>^</a></span> <span>Rill, <i>Weirs</i>.</span></li></ol>"
        "</div><div class=navbox><table><tr><td><a>Weir A</a></td><td><a>Weir B</a></td></tr></table></div>"
    )
    assert "| Built | 1954 |" in text
    assert "**Larch** is a weir. It leaks." in text
    assert "Rill, *Weirs*." in text
    for machinery in ("[1]", "citation", "History", "^", "Weir B"):
        assert machinery not in text


def test_raised_and_lowered_letters_stay_in_their_line() -> None:
    text = read(
        "<p>H<sub>2</sub>O boils at 10<sup>2</sup> degrees, 10<sup>-3</sup> m, x<sup>a+b</sup>, v<sub>max</sub>, the "
        "19<sup>th</sup> day<a href='#fn1'><sup>1</sup></a>.</p>"
    )
    assert text == "H₂O boils at 10² degrees, 10⁻³ m, x^(a+b), v_max, the 19th day."


def test_definitions_stand_beside_their_terms() -> None:
    text = read(
        "<dl><dt>Weir</dt><dd>A low dam.</dd><dt>Sluice:</dt><dd><p>A <em>door</em>.</p></dd><dt>Lock</dt><dt>Gate</dt>"
        "<dd><p>One.</p><p>Two.</p></dd><div><dt>Ford</dt><dd>A crossing.</dd></div><dt>Mill</dt></dl>"
    )
    assert text.split("\n\n") == [
        "**Weir**: A low dam.",
        "**Sluice**: A *door*.",
        "**Lock**, **Gate**",
        "One.",
        "Two.",
        "**Ford**: A crossing.",
        "**Mill**",
    ]


def test_a_signature_of_a_manual_is_code() -> None:
    text = read(
        "<dl class='py function'><dt class='sig sig-object py'><span>area</span>(<em>r</em>)<a class=reference href=s>"
        "<span class=viewcode-link>[source]</span></a><a class=headerlink href='#f'>¶</a></dt><dd><p>Return the area.</p>"
        "<dl class=field-list><dt>Parameters<span class=colon>:</span></dt><dd><p><strong>r</strong> – radius</p></dd></dl></dd></dl>"
    )
    assert text == "`area(r)`\n\nReturn the area.\n\n**Parameters**: **r** – radius"


CODE = "a = 1\n\n  b = 2"


@pytest.mark.parametrize(
    "markup",
    [
        "<div class=syntaxhighlighter><table><tr><td class=gutter><div class='line number1'>1</div><div class=line>2</div>"
        "<div class=line>3</div></td><td class=code><div class=container><div class=line><code>a</code> = 1</div>"
        "<div class=line>&nbsp;</div><div class=line><code>&nbsp;&nbsp;</code>b = 2</div></div></td></tr></table></div>",
        "<table class=crayon-table><tr><td class=crayon-nums><div>1</div><div>2</div><div>3</div></td><td class=crayon-code>"
        "<div><div class=crayon-line>a = 1</div><div class=crayon-line></div><div class=crayon-line>  b = 2</div></div></td></tr></table>",
        "<pre class='prettyprint linenums'><ol class=linenums><li><span>a = 1</span></li><li></li><li>  b = 2</li></ol></pre>",
        "<div class=CodeMirror-code>" + "".join(
            f"<div><div class=CodeMirror-linenumber>{number}</div><pre class=CodeMirror-line>{line}</pre></div>"
            for number, line in enumerate(CODE.split("\n"), 1)
        ) + "</div>",
        f"<div class=file><div class=line-numbers><a>1</a> <a>2</a> <a>3</a></div><pre>{CODE}</pre></div>",
        "<table class=rouge-table><tr><td class='rouge-gutter gl'><pre class=lineno>1\n2\n3</pre></td><td class=rouge-code>"
        f"<pre>{CODE}</pre></td></tr></table>",
        "<pre class=prism-code><code><span class=token-line>a = 1<br></span><span class=token-line><span></span><br></span>"
        "<span class=token-line>  b = 2<br></span></code></pre>",
    ],
)  # fmt: skip
def test_listings_keep_their_lines_and_lose_their_numbers(markup: str) -> None:
    assert read(markup) == f"```\n{CODE}\n```"


def test_markup_without_end_is_read_in_its_time() -> None:
    for markup in ("<!--" * 20_000, "<pre>" * 20_000, "<p " + " ".join(f"a{n}=1" for n in range(20_000)) + ">x"):
        assert parse(f"<p>{LINE}</p>{markup}".encode(), media_type="text/html").text.startswith(LINE.strip())
    spans = "<span class=w>word </span>" * 20_000
    assert parse(f"<article><p>{spans}</p></article>".encode(), media_type="text/html").text.count("word") == 20_000
