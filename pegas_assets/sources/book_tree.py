"""Makes the tree of a book's page ready to be read: all of it is text, unlike a page of the web."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pegas_assets.sources.book_formula import formula_text
from pegas_assets.sources.book_markup import PAGE_MARK, attribute
from pegas_assets.sources.page_hidden import drop

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_PLAIN = frozenset(("em", "i", "b", "strong", "big", "font", "nobr", "tt", "trigger"))
_ROOM = frozenset(("header", "footer", "aside", "form", "menu", "dialog", "fieldset", "case", "default", "switch"))
"""On a web page these stand around the text; in a book they hold titles, notes and side texts."""

_NOTES = frozenset(("footnote", "footnotes", "endnote", "endnotes", "rearnote", "rearnotes", "note", "notes"))
_NOTE_MARK = re.compile(r"[\[({]?\s*(\d{1,4}|[*†‡§]{1,3}|[a-zа-я]|[ivxlc]{1,6})\s*[\])}.]?", re.IGNORECASE)
_BACK = re.compile(
    r"[\s\[(]*(?:[↩↑⤴←⏎^\ufe0e\ufe0f]+|back|return|назад|вернуться|наверх|обратно)[\s\])]*", re.IGNORECASE
)
_NOTE_NAME = re.compile(r"(?:^|[\s_-])(?:noteref|footnote-?ref|fn-?ref|endnote-?ref)(?:$|[\s_-])", re.IGNORECASE)
_PAGE_NAME = re.compile(r"(?:^|[\s_-])(?:pagebreak|page-?num(?:ber)?|pagestart)(?:$|[\s_-])", re.IGNORECASE)
_PAGE_ID = re.compile(r"(?:page|pg|p|стр)[\s._-]*0*(\d{1,6})", re.IGNORECASE)
_PAGE_LABEL = re.compile(r"\D*?(\d{1,6})\W*")
_NOTICE = re.compile(r"cookie|consent|gdpr|newsletter", re.IGNORECASE)
_SUPERSCRIPT = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_SAYS_NOTHING = re.compile(
    r"(?:\W|\d|_|cover|image|img|picture|figure|fig|illustration|photo|logo|icon|page|scan|untitled|unknown|ornament|divider"
    r"|обложка|рисунок|рис|изображение|картинка|иллюстрация|фото|страница|стр)*(?:\.(?:jpe?g|png|gif|svg|webp|bmp|tiff?))?"
    r"|\S+\.(?:jpe?g|png|gif|svg|webp|bmp|tiff?)",
    re.IGNORECASE,
)
_ITEMS = frozenset(("ul", "ol", "dl", "table", "thead", "tbody", "tfoot", "tr", "colgroup"))
_PLACES = ("li", "dt", "dd", "td", "th", "caption")
_STYLE_CHARS = 20_000
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


def types_of(element: HtmlElement) -> frozenset[str]:
    """What the book says an element is (`epub:type`, and `role` without its prefix), in lower case."""
    said = f"{attribute(element, 'type')} {(element.get('role') or '').replace('doc-', '')}"
    return frozenset(said.lower().split())


def page_number(label: str) -> int | None:
    """The number in a page's label; None for a Roman one, which is no number that pages are counted by."""
    match = _PAGE_LABEL.fullmatch(label.strip())
    return int(match.group(1)) if match and int(match.group(1)) else None


def make_readable(root: HtmlElement, pages: Mapping[str, int]) -> int:
    """Changes the tree in place, and returns how many pictures it has.

    Marks of notes become `[1]`, links back go; ruby stands in parentheses; formulas and the text of drawings are
    written out, pictures by what is said of them; emphasis goes, as it parts words (a drop cap). Page turns become
    `PAGE_MARK`, at elements of type `pagebreak` and at the ids of `pages`.
    """
    _unwrap_switches(root)
    _mark_pages(root, pages)
    pictures = 0
    marks: dict[str, str] = {}
    for element in list(root.iter()):
        tag = element.tag
        if not isinstance(tag, str) or (element.getparent() is None and element is not root):
            continue
        types = types_of(element)
        if tag == "style":
            rules = element.text or ""
            if len(rules) > _STYLE_CHARS or rules.count("@media") > 20 or rules.count("/*") > 200:
                # So many rules are not worth the time that it takes to find what they hide.
                drop(element)
        elif tag == "a":
            _link(element, types, marks)
        elif tag == "ruby":
            _ruby(element)
        elif tag == "math":
            _as_text(element, formula_text(element))
        elif tag == "svg":
            pictures += sum(1 for _ in element.iter("image", "img"))
            _as_text(element, " ".join(" ".join(part.text_content().split()) for part in element.iter("text")))
        elif tag in ("img", "image"):
            pictures += 1
            _as_text(element, _said_of(element))
        elif tag == "q":
            _quoted(element)
        elif tag == "sup":
            _raised(element)
        elif tag in _ROOM:
            element.tag = "div"
        elif tag in _PLAIN or ":" in tag:
            element.tag = "span"
        elif tag in ("ul", "ol"):
            _only_items(element)
        if types & _NOTES:
            # A reading system shows them on a tap; here they stand where they are.
            for name in ("hidden", "style", "class", "aria-hidden"):
                element.attrib.pop(name, None)
        if _NOTICE.search(f"{element.get('class') or ''} {element.get('id') or ''}"):
            # A page of the web says so of its consent notes; a book says so of its recipes.
            element.attrib.pop("class", None)
            element.attrib.pop("id", None)
        if element.tag != "nav":
            level = element.get("aria-level") or "2"
            if tag in ("p", "div") and ("bridgehead" in types or "heading" in types) and len(level) == 1:
                element.tag = f"h{level}" if level in "123456" else "h6"
            element.attrib.pop("role", None)
    _number_notes(root, marks)
    return pictures


def _unwrap_switches(root: HtmlElement) -> None:
    """Of the cases of a switch only the default, where it has one."""
    for switch in list(root.iter("switch")):
        if next(switch.iter("default"), None) is not None:
            for case in list(switch.iter("case")):
                drop(case)


def _mark_pages(root: HtmlElement, pages: Mapping[str, int]) -> None:
    left = dict(pages)
    turns: list[tuple[HtmlElement, int, bool]] = []
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        own = element.get("id") or element.get("name") or ""
        listed = left.pop(own, None)
        is_turn = "pagebreak" in types_of(element) or (
            element.tag in ("span", "a", "div") and bool(_PAGE_NAME.search(element.get("class") or ""))
        )
        if is_turn or listed is not None:
            is_empty = is_turn or not element.text_content().strip()
            number = _number_of(element, own) if is_turn else None
            turns.append((element, listed or number or 0, is_empty))
    for element, number, is_empty in turns:
        mark = PAGE_MARK.format(number) if number else ""
        if not is_empty:
            _put_before(element, mark)
        elif len(element.text_content()) < 40 and next(element.iter("p", "img", "table"), None) is None:
            for child in list(element):
                element.remove(child)
            element.attrib.clear()
            element.tag, element.text = "span", mark
            _into_item(element)
        else:
            _put_before(element, mark)


def _number_of(element: HtmlElement, own: str) -> int | None:
    for label in (element.get("title"), element.get("aria-label"), element.text_content()):
        if label and label.strip():
            return page_number(label)
    match = _PAGE_ID.fullmatch(own)
    return int(match.group(1)) or None if match else None


def _into_item(element: HtmlElement) -> None:
    """A page turn between the items of a list or the rows of a table stands at the start of the next one."""
    parent = element.getparent()
    if parent is None or parent.tag not in _ITEMS:
        return
    for place in element.itersiblings():
        target = place if place.tag in _PLACES else next(place.iter(*_PLACES), None)
        if target is not None:
            target.text = (element.text or "") + (target.text or "")
            break
    element.text = None
    drop(element)


def _put_before(element: HtmlElement, mark: str) -> None:
    if mark:
        # Inside, at its start: before it might be between the rows of a table.
        target = next(element.iter(*_PLACES), element) if element.tag in _ITEMS else element
        target.text = mark + (target.text or "")


def _number_notes(root: HtmlElement, marks: Mapping[str, str]) -> None:
    """A note that does not say its number itself opens with its mark."""
    for note in root.iter() if marks else ():
        mark = marks.get(note.get("id") or "") if isinstance(note.tag, str) and types_of(note) & _NOTES else None
        if mark and not note.text_content().lstrip(" \r\n\t[(").startswith(mark.strip("[]")):
            first = next(note.iter("p", "li"), note)
            first.text = f"{mark} {(first.text or '').lstrip()}"


def _link(element: HtmlElement, types: frozenset[str], marks: dict[str, str]) -> None:
    text = " ".join(element.text_content().split())
    if "backlink" in types or (text and _BACK.fullmatch(text)):
        drop(element)
        return
    inside = (element.get("href") or "").find("#") >= 0
    around = element.getparent()
    raised = next(element.iter("sup"), None) is not None or (around is not None and around.tag == "sup")
    is_mark = bool({"noteref", "annoref", "note"} & types) or bool(_NOTE_NAME.search(element.get("class") or ""))
    match = _NOTE_MARK.fullmatch(text)
    if match and (is_mark or (raised and inside)):
        target = (element.get("href") or "").partition("#")[2]
        marks.setdefault(target, f"[{match.group(1)}]")
        _as_text(element, f"[{match.group(1)}]")
    else:
        element.tag = "span" if not text and not len(element) else "a"


def _ruby(element: HtmlElement) -> None:
    for part in list(element.iter("rp", "rtc")):
        drop(part)
    for reading in list(element.iter("rt")):
        text = "".join(reading.text_content().split())
        _as_text(reading, f"({text})" if text else "")


def _raised(element: HtmlElement) -> None:
    """Figures above the line as such: 10² is no 102."""
    text = element.text_content().strip()
    if (
        next(element.iter("a"), None) is None
        and 0 < len(text) <= 6
        and re.fullmatch(r"[0-9+\-−=()n]+", text)
        and re.search(r"\d|^n$", text)
    ):
        _as_text(element, text.translate(_SUPERSCRIPT))


def _quoted(element: HtmlElement) -> None:
    text = element.text_content().strip()
    if text and text[0] not in "\"'«“„‘":
        element.text = "“" + (element.text or "")
        if len(element):
            element[-1].tail = (element[-1].tail or "") + "”"
        else:
            element.text += "”"


def _said_of(element: HtmlElement) -> str:
    said = " ".join((element.get("alt") or "").split())
    if len(said) <= 2:
        # A letter that the font did not have.
        return said
    if _SAYS_NOTHING.fullmatch(said):
        return ""
    in_heading = any(around.tag in _HEADINGS for around in element.iterancestors())
    return said if in_heading else f"[{said[:1000]}]"


def _as_text(element: HtmlElement, text: str) -> None:
    tail = element.tail
    for child in list(element):
        element.remove(child)
    element.attrib.clear()
    element.tag, element.text, element.tail = "span", text or None, tail


def _only_items(element: HtmlElement) -> None:
    """What stands in a list beside its items becomes one, a list in a list part of the item before."""
    from lxml.html import Element

    if element.text and element.text.strip():
        first = Element("li")
        first.text, element.text = element.text, None
        element.insert(0, first)
    for child in list(element):
        if not isinstance(child.tag, str) or child.tag == "li":
            continue
        before = child.getprevious()
        if child.tag in ("ul", "ol") and before is not None and before.tag == "li":
            before.append(child)
            continue
        item = Element("li")
        child.addprevious(item)
        item.append(child)
