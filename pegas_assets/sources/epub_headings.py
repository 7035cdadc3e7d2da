"""Gives the headings of a chapter the depth that the table of contents gives them, and headings to what has none."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pegas_assets.sources.book_markup import PAGE_MARKS
from pegas_assets.sources.epub_toc import Entry

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_LINES = frozenset((*_HEADINGS, "p", "div", "li", "td", "th", "dt", "dd", "blockquote", "pre", "section", "center"))
_NEAR = 4
"""A title is looked for in so many lines from its place on: above it stand ornaments and numbers."""

_NO_LETTERS = re.compile(r"[\W_]+")


def set_headings(body: HtmlElement, entries: Sequence[Entry], shift: int, *, sure: bool = True) -> int:
    """Changes the tree in place; `shift` is what was added to levels before, and what is to be added next is returned.

    At each entry's place: headings that stand there get its depth; a line that says the title becomes a heading; else
    the title is put in, unless the entries are not `sure`. Headings between the entries keep their distance to the one
    above.
    """
    lines = _lines(body)
    order = [place for place, _ in lines]
    elements = [element for _, element in lines]
    wanted: dict[int, int] = {}
    starts: list[tuple[int, int]] = []
    put_in: list[tuple[HtmlElement, Entry]] = []
    targets = _targets(body, entries)
    firsts = [bisect_left(order, place) for place in targets]
    for at, entry in enumerate(entries):
        first = firsts[at]
        end = min([first + _NEAR, *(other for other in firsts[at + 1 :][:50] if other > first)])
        near = elements[first:end]
        title = _folded(entry.title)
        # Of several titles at one place only the last may have a heading of other words.
        group = _group(near, title, words_differ=first not in firsts[at + 1 : at + 50])
        if group:
            level = min(int(element.tag[1]) for element in group)
            starts.append((first, entry.depth - level))
        elif (
            line := next((element for element in near[:3] if _same(_folded(_own(element)), title)), None)
        ) is not None:
            line.tag = "h1"
            wanted[id(line)] = entry.depth
        elif sure:
            put_in.append((elements[first] if first < len(elements) else body, entry))
    starts.sort(key=lambda start: start[0])
    for at, element in enumerate(elements):
        while starts and starts[0][0] <= at:
            shift = starts.pop(0)[1]
        if element.tag in _HEADINGS:
            level = wanted.get(id(element), int(element.tag[1]) + shift)
            element.tag = f"h{min(max(level, 1), 6)}"
    for element, entry in put_in:
        _put_in(body, element, entry)
    return shift


def has_heading(body: HtmlElement) -> bool:
    return any(element.text_content().strip() for element in body.iter(*_HEADINGS))


def _lines(body: HtmlElement) -> list[tuple[int, HtmlElement]]:
    """The innermost blocks that have a text of their own, with the place where each ends in the order of the tree."""
    found = []
    last = 0
    places = {element: place for place, element in enumerate(body.iter())}
    for element, place in places.items():
        if element.tag in _HEADINGS or (element.tag in _LINES and _own(element)):
            last = place + sum(1 for _ in element.iter()) - 1 if element.tag in (*_HEADINGS, "p") else place
            found.append((last, element))
    return found


def _own(element: HtmlElement) -> str:
    """The text of a block without that of the blocks inside it."""
    if not isinstance(element.tag, str):
        return ""
    parts = [element.text or ""]
    for child in element:
        if (
            isinstance(child.tag, str)
            and child.tag not in _LINES
            and child.tag not in ("table", "ul", "ol", "dl", "nav")
        ):
            parts.append(child.text_content())
        parts.append(child.tail or "")
    return " ".join(PAGE_MARKS.sub("", "".join(parts)).split())


def _targets(body: HtmlElement, entries: Sequence[Entry]) -> list[int]:
    """The place of each entry in the order of the tree: of its fragment, else the beginning."""
    wanted = {entry.fragment for entry in entries if entry.fragment}
    places: dict[str, int] = {}
    if wanted:
        for place, element in enumerate(body.iter()):
            if isinstance(element.tag, str):
                for name in (element.get("id"), element.get("name") if element.tag == "a" else None):
                    if name in wanted:
                        places.setdefault(name, place)
    return [places.get(entry.fragment, 0) for entry in entries]


def _group(near: Sequence[HtmlElement], title: str, *, words_differ: bool) -> list[HtmlElement]:
    """The headings that stand together at an entry's place: at once, or a little below if one says the title."""
    group: list[HtmlElement] = []
    for element in near:
        if element.tag not in _HEADINGS or not _folded(element.text_content()):
            if group:
                break
            continue
        says_it = _same(_folded(element.text_content()), title)
        if not group and not says_it and not (words_differ and element is near[0]):
            continue
        group.append(element)
    return group


def _same(text: str, title: str) -> bool:
    """Whether a line is a title: alike, or one a good part of the other, as in “Chapter 1” and “Chapter 1. The Ford”."""
    if not text or not title:
        return False
    if text == title:
        return True
    short, long = sorted((text, title), key=len)
    return len(short) >= 4 and short in long and len(long) < len(short) + 80


def _folded(text: str) -> str:
    return _NO_LETTERS.sub("", PAGE_MARKS.sub("", text)).casefold()


def _put_in(body: HtmlElement, element: HtmlElement, entry: Entry) -> None:
    from lxml.html import Element

    heading = Element(f"h{entry.depth}")
    heading.text = entry.title
    while (
        element is not body
        and element.getparent() is not None
        and element.getparent().tag in _LINES | {"tr", "ul", "ol"}
    ):
        if element.getparent() is body or element.getprevious() is not None or (element.getparent().text or "").strip():
            break
        element = element.getparent()
    while element is not body and element.getparent().tag in ("tr", "tbody", "thead", "table", "ul", "ol", "dl"):
        element = element.getparent()
    if element is body or element.getparent() is None:
        heading.tail, body.text = body.text, None
        body.insert(0, heading)
    else:
        element.addprevious(heading)
