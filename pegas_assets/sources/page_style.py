"""What a page's styles say of an element, as far as hiding goes: its own, and those of the page's sheets."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

Style = dict[str, str]
"""Property to value, in lower case, without `!important`."""

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_AT_BLOCK = re.compile(r"@(?!media\s+(?:screen|all)\s*\{)[\w-]+[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", re.IGNORECASE)
_MEDIA_OPEN = re.compile(r"@media\s+(?:screen|all)\s*\{", re.IGNORECASE)
_COMPOUND = re.compile(r"^(\*|[a-z][a-z0-9-]*)?((?:[.#][\w-]+)*)$", re.IGNORECASE)
_PART = re.compile(r"[.#][\w-]+")
_MAX_SHEET = 400_000
_MAX_RULES = 3000
_MAX_COMPARED = 2_000_000
"""Rules compared with elements in one page; past this only the elements' own styles count."""
_TELLING = frozenset(
    (
        "display", "visibility", "content-visibility", "opacity", "filter", "color", "-webkit-text-fill-color", "background",
        "background-color", "background-image", "font", "font-size", "text-indent", "left", "top", "right", "bottom",
        "margin-left", "margin-top", "position", "clip", "clip-path", "width", "height", "max-width", "max-height",
        "overflow", "overflow-x", "overflow-y", "line-height", "transform", "scale", "z-index",
    )
)  # fmt: skip


def declarations(text: str) -> Style:
    """The declarations of a style attribute or a rule that can hide."""
    found: Style = {}
    for part in _COMMENT.sub("", text).split(";"):
        name, _, value = part.partition(":")
        name = name.strip().lower()
        if name in _TELLING and value:
            found[name] = re.sub(r"\s*!\s*important\s*$", "", value.strip().lower())
    return found


@dataclass(frozen=True)
class _Rule:
    """A selector of parts that stand inside one another, each a tag and some classes and ids."""

    parts: tuple[tuple[str, frozenset[str]], ...]
    style: Style
    weight: tuple[int, int, int, int]


class Sheets:
    """The style sheets inside a page. Rules for narrow screens or print say nothing of what a reader sees."""

    def __init__(self, root: HtmlElement) -> None:
        self._by_name: dict[str, list[_Rule]] = defaultdict(list)
        self._left = _MAX_COMPARED
        count = 0
        for sheet in root.iter("style"):
            if (sheet.get("media") or "all").strip().lower() not in ("all", "screen", ""):
                continue
            source = _COMMENT.sub("", sheet.text or "")[:_MAX_SHEET]
            source = _MEDIA_OPEN.sub("", _AT_BLOCK.sub("", source))
            for selectors, body in _RULE.findall(source):
                style = declarations(body)
                if not style or count >= _MAX_RULES:
                    continue
                for selector in selectors.split(","):
                    count += self._add(selector.strip("} \t\r\n"), style, count)

    def of(self, element: HtmlElement) -> Style:
        """What the sheets and the element's own style say of it."""
        names = _names(element) if self._by_name else frozenset()
        matching = []
        for name in (*names, element.tag) if self._by_name else ():
            for rule in self._by_name.get(name, ()):
                self._left -= 1 if len(rule.parts) == 1 else 10
                if self._left > 0 and _matches(rule, element, names):
                    matching.append(rule)
        style: Style = {}
        for rule in sorted(matching, key=lambda rule: rule.weight):
            style.update(rule.style)
        own = element.get("style")
        if own:
            style.update(declarations(own))
        return style

    def _add(self, selector: str, style: Style, place: int) -> bool:
        parts = []
        for compound in re.split(r"\s*>\s*|\s+", selector):
            match = _COMPOUND.match(compound)
            if match is None or not compound:
                return False
            tag = (match.group(1) or "").lower()
            parts.append(("" if tag == "*" else tag, frozenset(_PART.findall(match.group(2)))))
        tag, names = parts[-1]
        if tag in ("body", "html") or not (tag or names):
            return False
        ids = sum(name.startswith("#") for _, each in parts for name in each)
        classes = sum(name.startswith(".") for _, each in parts for name in each)
        weight = (ids, classes, sum(bool(each) for each, _ in parts), place)
        self._by_name[min(names) if names else tag].append(_Rule(tuple(parts), style, weight))
        return True


def _names(element: HtmlElement) -> frozenset[str]:
    names = {f".{name}" for name in (element.get("class") or "").split()}
    if element.get("id"):
        names.add(f"#{element.get('id')}")
    return frozenset(names)


def _matches(rule: _Rule, element: HtmlElement, names: frozenset[str]) -> bool:
    tag, wanted = rule.parts[-1]
    if (tag and element.tag != tag) or not wanted <= names:
        return False
    left = list(rule.parts[:-1])
    if not left:
        return True
    for around in element.iterancestors():
        tag, wanted = left[-1]
        if (not tag or around.tag == tag) and wanted <= _names(around):
            left.pop()
            if not left:
                return True
    return False
