"""Writes a page's tree as Markdown, block by block: the form of the text, whoever judges what of it is worth reading."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_AROUND = ("nav", "header", "footer", "aside", "form", "menu", "head", "title")
_MOSTLY = 0.5
"""A form, or an aside, that holds so much of the text is the page itself."""
_AROUND_ROLES = ("navigation", "banner", "contentinfo", "search", "complementary", "dialog", "menu", "menubar")
INLINE = frozenset(
    (
        "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
        "ins", "kbd", "label", "mark", "q", "ruby", "rb", "rt", "rp", "s", "samp", "small", "span", "strike",
        "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "img", "picture", "source",
    )
)  # fmt: skip
_CALLOUT = re.compile(r"note|tip|warning|admonition|callout|important|info|hint|caution|danger|remark", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\r\n\f]+")
_MARKS = {"code": "`", "tt": "`", "kbd": "`", "samp": "`", "strong": "**", "b": "**", "em": "*", "i": "*"}


@dataclass(frozen=True)
class PageBlock:
    """A heading, paragraph, list or quote as Markdown, and the element that holds it."""

    element: HtmlElement
    markdown: str


def page_body(root: HtmlElement) -> HtmlElement:
    body = root.find("body")
    return body if body is not None else root


def main_element(root: HtmlElement) -> HtmlElement:
    """The one `article` or `main` that holds most of the page's text, else the body."""
    whole = page_body(root)
    total = len(whole.text_content())
    for tag in ("article", "main"):
        found = list(whole.iter(tag))
        if len(found) == 1 and len(found[0].text_content()) > 0.4 * total:
            return found[0]
    return whole


def page_blocks(root: HtmlElement) -> list[PageBlock]:
    """The readable text below an element: headings, paragraphs, lists and quotes, without what stands around."""
    blocks: list[PageBlock] = []
    _blocks(root, blocks, root)
    return blocks


def page_markdown(root: HtmlElement) -> str:
    """The same as one text."""
    return "\n\n".join(block.markdown for block in page_blocks(root))


def visible_text(root: HtmlElement) -> str:
    """All text of the body on one line."""
    return " ".join(page_body(root).text_content().split())


def _blocks(element: HtmlElement, blocks: list[PageBlock], top: HtmlElement) -> None:
    run: list[str] = [_flat(element.text)]

    def close() -> None:
        text = _folded("".join(run))
        if text:
            blocks.append(PageBlock(element, text))
        run.clear()

    for child in element:
        if not isinstance(child.tag, str):
            run.append(_flat(child.tail))
            continue
        if child.tag == "br":
            run.append("\n")
        elif child.tag in INLINE and not has_blocks(child):
            run.append(_inline(child))
        else:
            close()
            if not _stands_around(child, top):
                _block(child, blocks, top)
        run.append(_flat(child.tail))
    close()


def _stands_around(element: HtmlElement, top: HtmlElement) -> bool:
    if element.tag == "header" and any(around.tag in ("article", "main") for around in element.iterancestors()):
        # The header of an article holds its title.
        return False
    if element.tag == "aside" and _CALLOUT.search(element.get("class") or ""):
        return False
    if element.tag in ("form", "aside"):
        return len(element.text_content()) < _MOSTLY * len(top.text_content())
    return element.tag in _AROUND or (element.get("role") or "").lower() in _AROUND_ROLES


def _block(element: HtmlElement, blocks: list[PageBlock], top: HtmlElement) -> None:
    tag = element.tag
    if re.fullmatch("h[1-6]", tag):
        title = _folded(_inline(element)).replace("\n", " ")
        if title:
            blocks.append(PageBlock(element, f"{'#' * int(tag[1])} {title}"))
    elif tag in ("ul", "ol"):
        items = _list(element, 0)
        if items:
            blocks.append(PageBlock(element, "\n".join(items)))
    elif tag == "blockquote":
        inner: list[PageBlock] = []
        _blocks(element, inner, top)
        quoted = "\n\n".join(block.markdown for block in inner)
        if quoted:
            blocks.append(PageBlock(element, "\n".join(f"> {line}".rstrip() for line in quoted.split("\n"))))
    elif tag == "hr":
        return
    else:
        _blocks(element, blocks, top)


def _list(element: HtmlElement, depth: int) -> list[str]:
    lines: list[str] = []
    for number, item in enumerate((child for child in element if child.tag == "li"), 1):
        mark = f"{number}." if element.tag == "ol" else "-"
        own = [_flat(item.text)]
        nested: list[str] = []
        for child in item:
            if child.tag in ("ul", "ol"):
                nested.extend(_list(child, depth + 1))
            elif isinstance(child.tag, str):
                own.append(_inline(child) if child.tag in INLINE else f" {_inline(child)} ")
            own.append(_flat(child.tail))
        text = _folded("".join(own)).replace("\n", " ")
        if text:
            lines.append(f"{'  ' * depth}{mark} {text}")
        lines.extend(nested)
    return lines


def _inline(element: HtmlElement) -> str:
    if not isinstance(element.tag, str):
        return ""
    if element.tag == "br":
        return "\n"
    inner = _flat(element.text)
    for child in element:
        # Blocks inside, as in the item of a list, part words.
        gap = "" if child.tag in INLINE or child.tag == "br" or not isinstance(child.tag, str) else " "
        inner += gap + _inline(child) + gap + _flat(child.tail)
    mark = _MARKS.get(element.tag, "")
    if mark and inner.strip() and mark not in inner:
        # Blanks stand outside the marks, or they are no marks.
        lead, tail = inner[: len(inner) - len(inner.lstrip())], inner[len(inner.rstrip()) :]
        return f"{lead}{mark}{inner.strip()}{mark}{tail}"
    return inner


def has_blocks(element: HtmlElement) -> bool:
    return any(
        isinstance(child.tag, str) and child.tag not in INLINE and child.tag != "br"
        for child in element.iter()
        if child is not element
    )


def _flat(text: str | None) -> str:
    """White space as a browser shows it: line ends of the source are blanks, only `br` breaks a line."""
    return _BLANKS.sub(" ", text or "")


def _folded(text: str) -> str:
    return re.sub(r" *\n *", "\n", re.sub(" +", " ", text)).strip(" \n")
