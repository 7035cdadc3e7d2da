"""Makes a page's tree ready for extraction: hidden text goes, code and tables are set aside, layout is undone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pegas_assets.sources.page_code import code_language, code_of_table, code_text, drop_gutters, fenced, is_prose
from pegas_assets.sources.page_furniture import tidy_furniture
from pegas_assets.sources.page_hidden import drop, drop_hidden
from pegas_assets.sources.page_tables import TableKind, classify, table_to_markdown
from pegas_assets.sources.page_text import INLINE, has_blocks

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_WORD = re.compile(r"pegaspart\d+x\d+end")
_WITH_BLANKS = re.compile(rf"\s*(?:\n[-*+>] )?(?:[*_`|]+ ?)?({_WORD.pattern})(?: ?[*_`|]+)?\s*")


_PARTS = frozenset(
    (
        "p",
        "div",
        "ul",
        "ol",
        "table",
        "blockquote",
        "section",
        "article",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "figure",
        "main",
    )
)


@dataclass
class SetAside:
    """Code blocks and tables as Markdown, by the word that stands for each in the tree."""

    parts: dict[str, str] = field(default_factory=dict)

    def put(self, markdown: str) -> str:
        """The word for a part: letters and digits only, so that nothing escapes or splits it."""
        word = f"pegaspart{len(self.parts)}x{len(markdown)}end"
        self.parts[word] = markdown
        return word

    def back(self, text: str) -> str:
        """The text with every part in its place, on lines of its own."""
        if not self.parts:
            return text
        text = re.sub(r"\n{3,}", "\n\n", _WITH_BLANKS.sub(self._alone, text)).strip("\n")
        return _WORD.sub(lambda match: self.parts.get(match.group(), match.group()), text)

    def _alone(self, match: re.Match[str]) -> str:
        return f"\n\n{match.group(1)}\n\n" if match.group(1) in self.parts else match.group()


def prepare(root: HtmlElement) -> SetAside:
    """Changes the tree in place and returns what was set aside.

    What a browser does not show is dropped. Code keeps its lines and indentation, without line numbers. Tables of data become pipe tables; tables that hold the
    page are undone.
    """
    from lxml import etree

    drop_hidden(root)
    for element in root.iter():
        # What is left is shown; the extractor would judge by style once more, and worse.
        element.attrib.pop("style", None)
        element.attrib.pop("aria-hidden", None)
    aside = SetAside()
    _close_terms(root)
    tidy_furniture(root)
    _tables_of_code(root)
    drop_gutters(root)
    _set_code_aside(root, aside)
    _undo_layout(root)
    _set_tables_aside(root, aside)
    # Wrappers without a meaning, of which some pages have one around each word.
    etree.strip_tags(root, "span", "font", "small", "big", "u", "nobr", "wbr", "bdi", "abbr", "acronym")
    for element in root.iter():
        # One string each: what is read piece by piece later is read in the square of the pieces.
        element.text, element.tail = element.text, element.tail
    _wrap_loose_text(root)
    for figure in list(root.iter("figcaption")):
        figure.tag = "p"
    for figure in list(root.iter("figure")):
        figure.tag = "div"
    return aside


def _close_terms(root: HtmlElement) -> None:
    """Terms that nobody closed stand beside each other, as in a browser; the parser puts one into another."""
    for part in list(root.iter("dt", "dd")):
        around = part.getparent()
        if around is not None and around.tag in ("dt", "dd"):
            around.addnext(part)


def _tables_of_code(root: HtmlElement) -> None:
    """A listing beside its line numbers, which highlighters set as a table, becomes one `pre`."""
    for table in list(root.iter("table")):
        code = code_of_table(table)
        if code is None:
            continue
        language = code_language(table)
        tail = table.tail
        for child in list(table):
            table.remove(child)
        table.attrib.clear()
        table.tag, table.text, table.tail = "pre", code, tail
        table.set("data-lang", language)


def _set_code_aside(root: HtmlElement, aside: SetAside) -> None:
    for pre in list(root.iter("pre")):
        if pre.getparent() is None or any(around.tag == "pre" for around in pre.iterancestors()):
            continue
        code = code_text(pre)
        language = code_language(pre)
        tail = pre.tail
        for child in list(pre):
            pre.remove(child)
        pre.attrib.clear()
        pre.tail = tail
        if not code.strip():
            pre.tag, pre.text = "div", None
        elif not language and is_prose(code):
            _as_paragraphs(pre, code)
        else:
            pre.tag, pre.text = "p", aside.put(fenced(code, language))


def _as_paragraphs(pre: HtmlElement, text: str) -> None:
    from lxml.html import Element

    pre.tag, pre.text = "div", None
    for part in re.split(r"\n[ \t]*\n", text):
        if part.strip():
            paragraph = Element("p")
            paragraph.text = part.strip()
            pre.append(paragraph)


def _undo_layout(root: HtmlElement) -> None:
    """Cells of a table that holds the page become sections; those that hold only links go."""
    for table in list(root.iter("table")):
        if table.getparent() is None or classify(table) is not TableKind.LAYOUT:
            continue
        cells = [cell for cell in table.iter("td", "th") if _nearest_table(cell) is table]
        menus = [cell for cell in cells if _is_menu(cell)]
        parts = list(table.iter("thead", "tbody", "tfoot", "tr", "td", "th", "caption", "colgroup", "col"))
        for part in [table, *(part for part in parts if _nearest_table(part) is table)]:
            words = part.tag in ("td", "th", "caption") and not has_blocks(part) and part.text_content().strip()
            part.tag = "p" if words else "div"
            part.attrib.clear()
        if len(menus) < len(cells):
            for cell in menus:
                drop(cell)


def _wrap_loose_text(root: HtmlElement) -> None:
    """Text that stands in a division beside paragraphs becomes one too: the extractor would drop it."""
    from lxml.html import Element

    for centred in list(root.iter("center")):
        centred.tag = "div" if has_blocks(centred) else "p"
    for holder in list(root.iter("div", "section", "article", "main", "body")):
        if not any(child.tag in _PARTS for child in holder):
            continue
        run: HtmlElement | None = None
        if (holder.text or "").strip():
            run = Element("p")
            run.text, holder.text = holder.text, None
            holder.insert(0, run)
        for child in list(holder):
            if child is run:
                continue
            tail, child.tail = child.tail, None
            if child.tag in INLINE and not has_blocks(child):
                if run is None:
                    run = Element("p")
                    holder.insert(holder.index(child), run)
                run.append(child)
                child.tail = tail
                continue
            run = None
            if (tail or "").strip():
                run = Element("p")
                run.text = tail
                holder.insert(holder.index(child) + 1, run)


def _nearest_table(element: HtmlElement) -> HtmlElement | None:
    for around in element.iterancestors():
        if around.tag == "table":
            return around
    return None


def _is_menu(cell: HtmlElement) -> bool:
    text = "".join(cell.text_content().split())
    linked = sum(len("".join(link.text_content().split())) for link in cell.iter("a"))
    return 0 < len(text) < 1000 and linked >= 0.7 * len(text)


def _set_tables_aside(root: HtmlElement, aside: SetAside) -> None:
    for table in list(root.iter("table")):
        if table.getparent() is None:
            continue
        markdown = table_to_markdown(table)
        tail = table.tail
        for child in list(table):
            table.remove(child)
        table.attrib.clear()
        table.tail = tail
        if markdown:
            table.tag, table.text = "p", aside.put(markdown)
        else:
            table.tag, table.text = "div", None
