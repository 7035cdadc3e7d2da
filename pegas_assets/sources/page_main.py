"""Tells the main text of a page from what stands around it: menus, notices, comments, links to other pages.

An extractor finds where the text is, but drops short items, repeated paragraphs and headings on the way. So it only
points: what stands between what it took is kept, in the page's own order and form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pegas_assets.sources.page_text import PageBlock, main_element, page_blocks

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_WORDS = re.compile(r"[\W_]+")
_SURE_CHARS = 20
"""Letters from which on a text that is found again in another is no accident."""
_MOST = 0.8
_LONG_CHARS = 200
_NOTE_CHARS = 160
_AROUND_NAME = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|igation)?|menu|sidebar|breadcrumbs?|footer|cookies?|consent|newsletter|subscri(?:be|ption)"
    r"|shar(?:e|ing)|social|comments?|disqus|related|recommend(?:ed|ations?)|popular|trending|promo|advert(?:isement)?|ads?"
    r"|banner|sponsor(?:ed)?|pagination|pager|widget|login|signup|toolbar|topbar|skip)(?:$|[\s_-])",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"all rights reserved|все права защищены|^(?:©|copyright\b)|\buse cookies\b|файлы cookie|^share (?:this|on|via)\b"
    r"|^(?:subscribe|sign up)\b|подпи(?:шитесь|сывайтесь) на|^поделиться\b|^advertisement$|^реклама$",
    re.IGNORECASE,
)


def main_blocks(root: HtmlElement, taken: str) -> list[PageBlock]:
    """The blocks of the page's text, in order. `taken` is what an extractor took for it, or nothing.

    Kept is what was taken, and what stands beside it in the same part of the page, but for what is named as something
    around a text, is made of links, or is one of the notes that pages carry.
    """
    body = main_element(root)
    blocks = page_blocks(body)
    found = _folded(taken)
    sure = [block for block in blocks if len(text := _words(block)) >= _SURE_CHARS and text in found]
    part = _part_of(body, sure or blocks)
    inside = {id(block) for block in blocks if _is_within(block.element, part)}
    first, last = _extent(blocks, sure) if part is body else (0, len(blocks))
    named = _named(blocks, sure or blocks, part if inside else body)
    taken_ones = {id(block) for block in sure}
    holders = {block.element.getparent() for block in sure}
    kept = []
    for place, block in enumerate(blocks):
        was_taken = id(block) in taken_ones
        if id(block) in named and not (was_taken and len(block.markdown) > _LONG_CHARS):
            continue
        # A list or a table that ends the text stands in the same element as the paragraphs before it.
        beside = id(block) in inside and (first <= place < last or block.element.getparent() in holders)
        if was_taken or (beside and not _is_links(block) and not _is_note(block)):
            kept.append(place)
    return [blocks[place] for place in _without_bare_headings(blocks, kept)]


def _words(block: PageBlock) -> str:
    """The letters of a block, without the numbers that Markdown gives the items of a list."""
    return _folded(block.element.text_content() if block.element.tag == "ol" else block.markdown)


def _folded(text: str) -> str:
    return _WORDS.sub("", text).lower()


def _part_of(body: HtmlElement, sure: Sequence[PageBlock]) -> HtmlElement:
    """The innermost element that holds most of the text."""
    weight: Counter[HtmlElement] = Counter()
    for block in sure:
        size = len(_words(block))
        weight[block.element] += size
        for around in block.element.iterancestors():
            weight[around] += size
    part = body
    while True:
        inner = max((child for child in part if weight[child]), key=lambda child: weight[child], default=None)
        if inner is None or weight[inner] < _MOST * weight[body] or _is_one_block(inner):
            return part
        part = inner


def _is_one_block(element: HtmlElement) -> bool:
    return element.tag in ("p", "ul", "ol", "dl", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "pre")


def _is_within(element: HtmlElement, part: HtmlElement) -> bool:
    return element is part or any(around is part for around in element.iterancestors())


def _extent(blocks: Sequence[PageBlock], sure: Sequence[PageBlock]) -> tuple[int, int]:
    """From the title before the first that was taken to the last; all where nothing was."""
    taken = {id(block) for block in sure}
    places = [place for place, block in enumerate(blocks) if id(block) in taken]
    if not places:
        return 0, len(blocks)
    first = places[0]
    titles = [place for place in range(first) if blocks[place].element.tag == "h1"]
    return (titles[-1] if titles else first), places[-1] + 1


def _named(blocks: Sequence[PageBlock], sure: Sequence[PageBlock], part: HtmlElement) -> set[int]:
    """Blocks inside something that is named as standing around, unless the text itself is in such things."""
    named = {id(block) for block in blocks if _in_named(block.element, part)}
    total = sum(len(_words(block)) for block in sure)
    share = sum(len(_words(block)) for block in sure if id(block) in named)
    return named if share < 0.5 * total else set()


def _in_named(element: HtmlElement, part: HtmlElement) -> bool:
    while element is not None and element is not part and element.tag not in ("body", "html"):
        if _AROUND_NAME.search(f"{element.get('class') or ''} {element.get('id') or ''}"):
            return True
        element = element.getparent()
    return False


def _is_links(block: PageBlock) -> bool:
    """A list of links to elsewhere, or a line of them; a sentence with a link in it is none."""
    if block.element.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
        return False
    text = _folded(block.element.text_content())
    links = list(block.element.iter("a"))
    linked = sum(len(_folded(link.text_content())) for link in links)
    return bool(text) and linked >= 0.7 * len(text) and (len(links) > 1 or len(text) < _NOTE_CHARS)


def _is_note(block: PageBlock) -> bool:
    return len(block.markdown) <= _NOTE_CHARS and bool(_NOTE.search(block.markdown))


def _without_bare_headings(blocks: Sequence[PageBlock], kept: Sequence[int]) -> list[int]:
    """What is kept but for headings of which nothing is left: that of a list of links went with the list."""
    left: list[int] = []
    for at, place in enumerate(kept):
        level = _level(blocks[place])
        following = place + 1
        gone = following < len(blocks) and not _level(blocks[following]) and following not in kept[at + 1 : at + 2]
        ends = at + 1 == len(kept) or (0 < _level(blocks[kept[at + 1]]) <= level)
        if not (level and gone and ends):
            left.append(place)
    return left


def _level(block: PageBlock) -> int:
    tag = block.element.tag
    return int(tag[1]) if isinstance(tag, str) and re.fullmatch("h[1-6]", tag) else 0
