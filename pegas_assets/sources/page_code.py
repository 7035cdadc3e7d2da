"""Code in a page: its lines, its language, and the ways in which pages set line numbers beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pegas_assets.sources.page_tables import table_rows

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:(?:language|lang|highlight-source|highlight)-|brush:\s*|sourceCode\s+)([A-Za-z][\w+#.-]*)"
)
_NOT_A_LANGUAGE = frozenset(("text", "none", "plain", "plaintext", "highlight", "source", "notranslate", "default"))
_NUMBERING = re.compile(
    r"(?:^|[\s_-])(?:linenos?|line-?numbers?|lineno|ln-num|gutter|blob-num)(?:$|[\s_-])", re.IGNORECASE
)
_BLOCK_LINE = ("div", "p", "li", "tr")
_PROSE_PRE_CHARS = 1500
_CODE_SIGNS = re.compile(r"[{}();=<>\[\]|&$]")


def code_text(pre: HtmlElement) -> str:
    """The code of a `pre`, line by line as it is shown, without numbering and buttons."""
    lines: list[str] = []

    def walk(element: HtmlElement) -> None:
        if not isinstance(element.tag, str) or _NUMBERING.search(element.get("class") or ""):
            return
        if element.tag == "br":
            lines.append("\n")
        if element.tag in _BLOCK_LINE and lines and not lines[-1].endswith("\n"):
            lines.append("\n")
        lines.append(element.text or "")
        for child in element:
            walk(child)
            lines.append(child.tail or "")
        if element.tag in _BLOCK_LINE and not "".join(lines[-2:]).endswith("\n"):
            lines.append("\n")

    walk(pre)
    code = "".join(lines).replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ")
    return "\n".join(line.rstrip() for line in code.split("\n")).strip("\n")


def fenced(code: str, language: str = "") -> str:
    """A fenced block whose fence is longer than any run of backticks inside."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
    return f"{fence}{language}\n{code}\n{fence}"


def code_language(element: HtmlElement) -> str:
    """The language that a class or attribute of the element, its `code`, or the two around it name."""
    near = [element, *element.iter("code"), *list(element.iterancestors())[:2]]
    for place in near:
        for attribute in ("data-lang", "data-language", "lang-name"):
            if value := (place.get(attribute) or "").strip().lower():
                return value[:40]
        for match in _LANGUAGE_CLASS.finditer(place.get("class") or ""):
            if match.group(1).lower() not in _NOT_A_LANGUAGE:
                return match.group(1).lower().rstrip(";")[:40]
    return ""


def is_prose(code: str) -> bool:
    """Whether a `pre` holds running text: old mail archives and RFCs set whole pages in `pre`."""
    return len(code) > _PROSE_PRE_CHARS and len(_CODE_SIGNS.findall(code)) < 0.01 * len(code)


def code_of_table(table: HtmlElement) -> str | None:
    """The code of a table that sets line numbers beside it, else None."""
    rows = table_rows(table)
    if not rows or any(inner is not table for inner in table.iter("table")):
        return None
    listings = list(table.iter("pre"))
    if listings:
        codes = [pre for pre in listings if not _is_numbers(pre.text_content()) and not _is_numbering(pre, table)]
        numbered = len(codes) < len(listings) or any(
            _is_numbering(cell, table) or _is_numbers(cell.text_content()) for row in rows for cell in row
        )
        return code_text(codes[0]) if numbered and len(codes) == 1 else None
    if len(rows) < 2 or any(len(row) != 2 for row in rows):
        return None
    numbers = [cell.get("data-line-number") or cell.text_content().strip() for cell, _ in rows]
    if not all(number.isdecimal() for number in numbers) or not any(_is_numbering(cell, table) for cell, _ in rows):
        return None
    return "\n".join(code_text(code) for _, code in rows)


def _is_numbering(element: HtmlElement, table: HtmlElement) -> bool:
    place: HtmlElement | None = element
    while place is not None and place is not table:
        if _NUMBERING.search(place.get("class") or ""):
            return True
        place = place.getparent()
    return False


def _is_numbers(text: str) -> bool:
    words = text.split()
    return bool(words) and all(word.isdecimal() for word in words) and words[:1] != words[1:2]
