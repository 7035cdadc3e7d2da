"""Takes out of a page what its software puts beside the words (permalinks, edit links, note marks), and writes raised and
lowered letters and lists of definitions as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pegas_assets.sources.page_hidden import drop

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary", "caption", "figcaption", "legend", "p", "li")
_PERMALINK_CLASS = re.compile(
    r"(?:^|\s)(?:headerlink|header-anchor|heading-anchor|heading-link|hash-link|anchor|anchorjs-link|permalink|anchor-link"
    r"|headeranchor-link|toclink|section-link|self-link|deep-link|direct-link)(?:\s|$)",
    re.IGNORECASE,
)
_PERMALINK_TEXT = re.compile(
    r"^(?:[\s\u200b\ufeff]|[¶#§🔗⚓∞]|\ufe0f|\[?link\]?|permalink|permanent link)*$", re.IGNORECASE
)
_MACHINERY_CLASS = re.compile(
    r"(?:^|\s)(?:mw-editsection|mw-cite-backlink|mw-jump-link|mw-empty-elt|mw-indicators|catlinks|navbox|navbox-styles|noprint"
    r"|viewcode-link|viewcode-back|printfooter|metadata|ambox|vector-toc|toc|clipboard-copy|zeroclipboard-container"
    r"|post-menu|js-vote-count|comment-form|share-buttons?|social-share|skip-link)(?:\s|$)"
)
_MACHINERY_ID = frozenset(("toc", "catlinks", "siteSub", "contentSub", "jump-to-nav", "mw-navigation"))
_NOTE_MARK = re.compile(
    r"^\s*\[?\s*(?:(?:note|nb|lower-alpha|прим\.?)\s*)?(?:\d{1,4}|[a-z*†‡]{1,2})\s*\]?\s*$", re.IGNORECASE
)
_RAISED = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_ALL_RAISED = re.compile(r"[0-9+\-−=()ni]+")
_ALL_LOWERED = re.compile(r"[0-9+\-−=()]+")
_ORDINAL = re.compile(r"(?:th|st|nd|rd|e|er|ère|re|o|a|º|ª|me|ème|tm|®|™|sm|mo|й|я|е|го|му)\.?", re.IGNORECASE)
_BRACKETED = re.compile(r"\[\w{1,4}\]")
_SIMPLE = frozenset(("p", "br", "a", "abbr", "b", "cite", "code", "em", "i", "kbd", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "tt", "u", "var", "dfn", "time", "mark", "img"))  # fmt: skip


def tidy_furniture(root: HtmlElement) -> None:
    """Changes the tree in place. Code is left alone."""
    for element in list(root.iter()):
        if not isinstance(element.tag, str) or element.getparent() is None:
            continue
        if (element.tag == "a" and _is_permalink(element)) or (
            element.tag not in ("body", "html", "main", "article") and _is_machinery(element)
        ):
            drop(element)
    for element in list(root.iter("sup", "sub")):
        if element.getparent() is not None and not _in_code(element):
            _level(element)
    for summary in list(root.iter("summary")):
        summary.tag = "p"
        _embolden(summary)
    for details in list(root.iter("details")):
        details.tag = "div"
    for terms in reversed(list(root.iter("dl"))):
        if terms.getparent() is not None and not _in_code(terms):
            _definitions(terms)


def _is_permalink(link: HtmlElement) -> bool:
    parent = link.getparent()
    text = "".join(link.text_content().split())
    if not _PERMALINK_TEXT.match(text) or next(link.iter("img"), None) is not None:
        return False
    if _PERMALINK_CLASS.search(link.get("class") or ""):
        return True
    near = parent is not None and parent.tag in _HEADINGS
    return near and bool(text) and (link.get("href") or "").startswith("#") and text not in ("link",)


def _is_machinery(element: HtmlElement) -> bool:
    if element.get("id") in _MACHINERY_ID and element.tag in ("div", "table", "ul", "nav"):
        return True
    classes = element.get("class") or ""
    if not classes or not _MACHINERY_CLASS.search(classes):
        return False
    # A class that a theme uses otherwise does not take half the page with it.
    return len(element.text_content()) < 20_000


def _level(element: HtmlElement) -> None:
    """A raised or lowered text as letters of its own where there are such, else after ^ or _; note marks go."""
    text = " ".join(element.text_content().split())
    raised = element.tag == "sup"
    around = element.getparent()
    links = [link.get("href") or "" for link in (*element.iter("a"), *([around] if around is not None else []))]
    if raised and (
        (any("#" in href for href in links) and (_NOTE_MARK.match(text) or "reference" in (element.get("class") or "")))
        or "reference" in (element.get("class") or "").split()
    ):
        drop(element)
        return
    if not text:
        drop(element)
        return
    if raised and _ALL_RAISED.fullmatch(text):
        written = text.translate(_RAISED)
    elif not raised and _ALL_LOWERED.fullmatch(text):
        written = text.translate(_LOWERED)
    elif raised and (_ORDINAL.fullmatch(text) or _BRACKETED.fullmatch(text)):
        written = text
    elif not _follows_a_letter(element) or len(text) > 40:
        written = f" {text}" if len(text) > 40 else text
    else:
        written = ("^" if raised else "_") + (text if re.fullmatch(r"\w+", text) else f"({text})")
    for child in list(element):
        element.remove(child)
    element.text = written
    element.drop_tag()


def _follows_a_letter(element: HtmlElement) -> bool:
    before = element.getprevious()
    parent = element.getparent()
    text = (before.tail or before.text_content()) if before is not None else (parent.text if parent is not None else "")
    return bool(text) and not (text or "")[-1:].isspace()


def _definitions(terms: HtmlElement) -> None:
    """A list of definitions as paragraphs: the term, a colon, what it is. A signature of a program stands as code."""
    from lxml.html import Element

    parts = []
    for child in list(terms):
        parts += list(child) if child.tag == "div" and any(part.tag in ("dt", "dd") for part in child) else [child]
    made: list[HtmlElement] = []
    names: list[HtmlElement] = []
    for part in parts:
        if part.tag == "dt":
            if names and names[-1].get("done"):
                names = []
            names.append(part)
        elif part.tag == "dd" and names and not names[-1].get("done"):
            names[-1].set("done", "1")
            simple = all(
                inner is part or not isinstance(inner.tag, str) or inner.tag in _SIMPLE for inner in part.iter()
            )
            simple = simple and sum(1 for _ in part.iter("p")) <= 1
            paragraph = _term(names)
            made.append(paragraph)
            if simple:
                for inner in list(part.iter("p")):
                    inner.drop_tag()
                paragraph[-1].tail = (": " if not _told(paragraph).endswith(":") else " ") + (part.text or "").lstrip()
                paragraph.extend(list(part))
            else:
                part.tag, part.tail = "div", None
                made.append(part)
        elif isinstance(part.tag, str):
            if part.tag == "dd":
                part.tag = (
                    "p"
                    if all(
                        not isinstance(inner.tag, str) or inner is part or inner.tag in _SIMPLE - {"p"}
                        for inner in part.iter()
                    )
                    else "div"
                )
            part.tail = None
            made.append(part)
    if names and not names[-1].get("done"):
        made.append(_term(names))
    holder = Element("div")
    holder.extend(made)
    holder.tail = terms.tail
    parent = terms.getparent()
    parent.replace(terms, holder)


def _term(names: list[HtmlElement]) -> HtmlElement:
    from lxml.html import Element

    paragraph = Element("p")
    for number, name in enumerate(names):
        signature = "sig" in (name.get("class") or "").split()
        mark = Element("code" if signature else "strong")
        mark.text = (
            " ".join(name.text_content().split()).rstrip(" :")
            if not signature
            else " ".join(name.text_content().split())
        )
        paragraph.append(mark)
        if number < len(names) - 1:
            mark.tail = ", "
    return paragraph


def _told(paragraph: HtmlElement) -> str:
    return str(paragraph.text_content()).rstrip()


def _embolden(element: HtmlElement) -> None:
    from lxml.html import Element

    strong = Element("strong")
    strong.text = " ".join(element.text_content().split())
    for child in list(element):
        element.remove(child)
    element.text = None
    if strong.text:
        element.append(strong)


def _in_code(element: HtmlElement) -> bool:
    return any(around.tag in ("pre", "code", "kbd", "samp", "math") for around in element.iterancestors())
