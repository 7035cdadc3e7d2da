"""HTML to a tree, however deep it is nested."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_PROLOGUE = re.compile(r"\A\s*<\?xml[^>]*\?>", re.IGNORECASE)
_LONG_TAG = re.compile(r"<([A-Za-z][\w:-]*)\s[^<>]{20000,}>")
"""The parser compares each attribute of a tag with each."""
_PRE = re.compile(r"<(/?)(pre|textarea|script)\b", re.IGNORECASE)
_TWO_BREAKS = re.compile(r"(?:<br\s*/?>(?:\s|&nbsp;)*){2,}", re.IGNORECASE)
_WRAPPER = re.compile(
    r"<(/?)(?:(div|section|article|main|center|blockquote|ul|ol)|span|font|small|big|strong|em|b|i|u)\b[^>]*>",
    re.IGNORECASE,
)
_WRAPPERS = 100
"""Of so many around it a text keeps the outer ones: the parser gives up at 256, and drops all that follows too."""

_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*)[^<>]*>")
_KEPT_TAGS = frozenset(("html", "head", "title", "body", "p", "br", "hr", "img", "script", "style"))
_HEADING_TAG = re.compile("h[1-6]", re.IGNORECASE)
_BLOCK_TAGS = frozenset(
    ("div", "section", "article", "main", "center", "blockquote", "ul", "ol", "li", "dl", "dt", "dd", "table", "tr", "td",
     "th", "pre", "aside", "figure", "header", "footer")
)  # fmt: skip


def parse_page(html: str) -> HtmlElement | None:
    """The tree of a page; None where there is none. What is nested deeper than the parser goes is laid flat."""
    from lxml import etree

    html = _with_paragraphs(_LONG_TAG.sub(r"<\1>", _PROLOGUE.sub("", html)))
    if not html.strip():
        return None
    try:
        root, whole = _parsed(html)
        if not whole:
            root, whole = _parsed(_shallow(html))
        return root if whole else _parsed(_flat(html))[0]
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return None


def _parsed(html: str) -> tuple[HtmlElement, bool]:
    from lxml.html import HTMLParser, document_fromstring

    parser = HTMLParser(encoding=None, remove_pis=True)
    root = document_fromstring(html, parser=parser)
    return root, not any(error.type_name == "ERR_RESOURCE_LIMIT" for error in parser.error_log)


def _with_paragraphs(html: str) -> str:
    """Two line breaks, which are how pages without paragraphs part them, as a paragraph's begin; not within code."""
    parts: list[str] = []
    at, inside = 0, ""
    for match in _PRE.finditer(html):
        closes, tag = match.group(1), match.group(2).lower()
        if not inside and not closes:
            parts.append(_TWO_BREAKS.sub("<p>", html[at : match.start()]))
            at, inside = match.start(), tag
        elif inside == tag and closes:
            parts.append(html[at : match.start()])
            at, inside = match.start(), ""
    rest = html[at:]
    return "".join([*parts, rest if inside else _TWO_BREAKS.sub("<p>", rest)])


def _shallow(html: str) -> str:
    """The page with its wrappers inside a hundred others as bare paragraphs."""
    depth = 0

    def level(match: re.Match[str]) -> str:
        nonlocal depth
        closes, block = match.group(1, 2)
        here = depth if closes else depth + 1
        depth = max(0, depth - 1) if closes else here
        if here <= _WRAPPERS:
            return match.group()
        return "<p>" if block else ""

    return _WRAPPER.sub(level, html)


def _flat(html: str) -> str:
    """The page as headings and paragraphs only: nothing of it can be nested."""

    def bare(match: re.Match[str]) -> str:
        tag = match.group(2).lower()
        if _HEADING_TAG.fullmatch(tag):
            return f"</{tag}>" if match.group(1) else f"<p></p><{tag}>"
        if tag in _KEPT_TAGS:
            return match.group()
        return "<p>" if tag in _BLOCK_TAGS else ""

    return _TAG.sub(bare, html)
