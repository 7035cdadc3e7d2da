"""Code in a page: its lines, its language, and the ways in which pages set line numbers beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pegas_assets.sources.page_hidden import drop
from pegas_assets.sources.page_tables import table_rows

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:(?:language|lang|highlight-source|highlight)-|brush:\s*|sourceCode\s+)([A-Za-z][\w+#.-]*)"
)
_NOT_A_LANGUAGE = frozenset(("text", "none", "plain", "plaintext", "highlight", "source", "notranslate", "default"))
_NUMBERING = re.compile(
    r"(?:^|[\s_-])(?:linenos?|line-?numbers?|lineno|line-num|ln-num|gutter|blob-num|crayon-nums|rouge-gutter)(?:$|[\s_-])",
    re.IGNORECASE,
)
_LINES_CLASS = re.compile(r"(?:^|[\s_-])code(?:$|[\s_-])", re.IGNORECASE)
_BLOCK_LINE = ("div", "p", "li", "tr")
_PROSE_PRE_CHARS = 1500
_CODE_SIGNS = re.compile(r"[{}();=<>\[\]|&$]")


def code_text(pre: HtmlElement) -> str:
    """The code of a `pre`, line by line as it is shown, without numbering and buttons."""
    lines: list[str] = []

    def put(text: str | None) -> None:
        if text:
            lines.append(text)

    def walk(element: HtmlElement) -> None:
        if not isinstance(element.tag, str):
            return
        # A list may be called numbered as a whole; a line's number is no list.
        if element.tag not in ("pre", "ol", "ul", "code") and _NUMBERING.search(element.get("class") or ""):
            return
        block = element.tag in _BLOCK_LINE
        if element.tag == "br":
            put("\n")
        if block and lines and not lines[-1].endswith("\n"):
            put("\n")
        start = len(lines)
        put(element.text)
        for child in element:
            walk(child)
            put(child.tail)
        if block and (len(lines) == start or not lines[-1].endswith("\n")):
            put("\n")

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
    divided = _divided(rows, table)
    if divided is not None:
        return divided
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


def _divided(rows: list[list[HtmlElement]], table: HtmlElement) -> str | None:
    """The code of a table of one row: a column of line numbers, and one in which each line is a division."""
    if len(rows) != 1 or len(rows[0]) != 2 or next(table.iter("pre"), None) is not None:
        return None
    numbers, code = rows[0]
    if not _is_numbers(" ".join(part for part in numbers.itertext())) or not _LINES_CLASS.search(
        code.get("class") or ""
    ):
        return None
    count = len("\n".join(numbers.itertext()).split())
    for holder in code.iter("div", "td"):
        lines = [child for child in holder if child.tag == "div"]
        if len(lines) == count:
            return "\n".join(
                code_text(line).replace("\n", " ").rstrip() if line.text_content().strip() else "" for line in lines
            )
    return None


def drop_gutters(root: HtmlElement) -> None:
    """Takes out line numbers that stand beside a listing, and makes an editor's lines, each a `pre`, one listing."""
    for element in list(root.iter("div", "span", "td", "ol", "ul", "code")):
        if (
            element.getparent() is not None
            and _NUMBERING.search(element.get("class") or "")
            and _is_numbers(" ".join(element.itertext()))
            and element.tag not in ("td", "code")
            and not any(around.tag in ("pre", "table") for around in element.iterancestors())
        ):
            drop(element)
    for first in list(root.iter("pre")):
        if "CodeMirror-line" not in (first.get("class") or "") or first.getparent() is None:
            continue
        holder = next(
            (around for around in first.iterancestors() if "CodeMirror-code" in (around.get("class") or "")), None
        )
        if holder is None:
            continue
        code = "\n".join(code_text(line) for line in holder.iter("pre"))
        for child in list(holder):
            holder.remove(child)
        holder.attrib.clear()
        holder.tag, holder.text = "pre", code


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
