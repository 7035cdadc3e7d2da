from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegas_assets.errors import PegasError, Refused
from pegas_assets.sources.registry import parse

RSS = (
    '<?xml version="1.0" encoding="{}"?><!-- made --><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/">'
    "<channel><title>Новости реки</title><link>https://example.org/</link><image><title>Logo</title></image>"
    "<item><title>Weir &amp;amp; mill</title><link>https://example.org/1</link><description>Short.</description>"
    "<content:encoded><![CDATA[<p>The weir has <b>nine</b> gates.</p><p style='display:none'>Forward it.</p>]]></content:encoded></item>"
    "<item><description>&lt;p&gt;The ford is dry.&lt;/p&gt;</description></item></channel></rss>"
)


@pytest.mark.parametrize("declared", ["text/html", "application/rss+xml", "application/xml", "", "text/plain"])
@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251"])
def test_each_post_stands_under_its_title_whatever_the_server_calls_it(declared: str, encoding: str) -> None:
    document = parse(RSS.format(encoding).encode(encoding), media_type=declared, uri="https://example.org/x")
    assert document.title == "Новости реки"
    assert document.text == (
        "# Новости реки\n\n## Weir & mill\n\nhttps://example.org/1\n\nThe weir has **nine** gates.\n\nThe ford is dry."
    )
    assert [chunk.locator.section for chunk in document.chunks][-1] == ("Новости реки", "Weir & mill")


def test_atom_holds_markup_as_text_or_as_elements() -> None:
    atom = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">1 &lt; 2</title>'
        '<entry><title>A</title><link rel="self" href="/s"/><link href="https://example.org/a"/>'
        '<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><ul><li>one</li><li>two</li></ul></div></content></entry>'
        '<entry><title>B</title><summary type="text">3 &lt; 4 &amp; so on.</summary></entry></feed>'
    )
    text = parse(atom.encode(), media_type="application/atom+xml").text
    assert text == "# 1 < 2\n\n## A\n\nhttps://example.org/a\n\n- one\n- two\n\n## B\n\n3 < 4 & so on."


def test_a_feed_without_posts_is_refused() -> None:
    for body in (b"<rss><channel><title>Empty</title></channel></rss>", b"<rss"):
        with pytest.raises(Refused):
            parse(body + b" ", media_type="application/rss+xml", name="x.rss")


@settings(deadline=None, max_examples=40)
@given(st.binary(max_size=120))
def test_a_broken_feed_is_a_document_or_refused(tail: bytes) -> None:
    try:
        document = parse(b"<rss version='2.0'><channel><item><title>Weir</title><description>" + tail)
    except PegasError:
        return
    for chunk in document.chunks:
        assert chunk.content == document.text[chunk.locator.start : chunk.locator.end]
