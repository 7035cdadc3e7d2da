"""The numbers and bullets before the paragraphs of a Word document, which stand nowhere in its text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pegas_assets.sources.word_text import W, first

if TYPE_CHECKING:
    from docx.document import Document

_PLACE = re.compile(r"%(\d)")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщэюя"
_MOST = 8


class Numbering:
    """Counts the numbered paragraphs of one document, in order."""

    def __init__(self, document: Document) -> None:
        self._levels: dict[str, dict[int, tuple[str, str, int]]] = {}
        self._lists: dict[str, str] = {}
        self._starts: dict[tuple[str, int], int] = {}
        self._counts: dict[str, list[int | None]] = {}
        self._begun: set[str] = set()
        part = next(
            (
                relation.target_part
                for relation in document.part.rels.values()
                if not relation.is_external and relation.reltype.endswith("/numbering")
            ),
            None,
        )
        root = getattr(part, "element", None)
        if root is None:
            return
        for abstract in root.iter(f"{W}abstractNum"):
            levels = {}
            for level in abstract.iter(f"{W}lvl"):
                levels[_number(level.get(f"{W}ilvl"))] = (
                    _value(level, "numFmt") or "decimal",
                    _value(level, "lvlText"),
                    _number(_value(level, "start"), 1),
                )
            self._levels[abstract.get(f"{W}abstractNumId") or ""] = levels
        for listed in root.iter(f"{W}num"):
            key = listed.get(f"{W}numId") or ""
            self._lists[key] = _value(listed, "abstractNumId")
            for override in listed.iter(f"{W}lvlOverride"):
                if start := _value(override, "startOverride"):
                    self._starts[key, _number(override.get(f"{W}ilvl"))] = _number(start, 1)

    def marker(self, paragraph: Any, style: Any) -> tuple[str, int]:
        """What stands before a paragraph, `-` for any bullet, and how deep it is; empty where nothing does."""
        key, depth = self._place(paragraph, style)
        levels = self._levels.get(self._lists.get(key, ""), {})
        if key in ("", "0") or depth not in levels:
            return "", 0
        form, pattern, start = levels[depth]
        if form == "none":
            return "", 0
        counts = self._counts.setdefault(self._lists[key], [None] * 10)
        if key not in self._begun:
            self._begun.add(key)
            if (key, depth) in self._starts:
                counts[depth] = self._starts[key, depth] - 1
        counts[depth] = start if counts[depth] is None else counts[depth] + 1  # type: ignore[operator]
        counts[depth + 1 :] = [None] * (9 - depth)
        if form == "bullet":
            return "-", depth
        text = _PLACE.sub(lambda match: self._shown(levels, counts, int(match.group(1)) - 1), pattern)
        return text.strip(), depth

    @staticmethod
    def _shown(levels: dict[int, tuple[str, str, int]], counts: list[int | None], level: int) -> str:
        form, _, start = levels.get(level, ("decimal", "", 1))
        count = counts[level] if 0 <= level < len(counts) and counts[level] is not None else start
        return _written(count or 0, form)

    @staticmethod
    def _place(paragraph: Any, style: Any) -> tuple[str, int]:
        """The list and level of a paragraph, its own or its style's."""
        properties = first(paragraph, "pPr")
        key, depth = "", -1
        seen = 0
        while seen < 12:
            own = first(properties, "numPr") if properties is not None else None
            if own is not None:
                key = key or _value(own, "numId")
                if depth < 0 and _value(own, "ilvl"):
                    depth = _number(_value(own, "ilvl"))
            if key or style is None:
                break
            properties, style, seen = first(style.element, "pPr"), style.base_style, seen + 1
        return key, max(0, min(depth, _MOST))


def _value(element: Any, name: str) -> str:
    found = first(element, name)
    return (found.get(f"{W}val") or "") if found is not None else ""


def _number(text: str | None, otherwise: int = 0) -> int:
    return int(text) if text and text.isdigit() and len(text) < 7 else otherwise


def _written(count: int, form: str) -> str:
    if form in ("lowerLetter", "upperLetter"):
        letter = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1) if 0 < count < 100 else str(count)
        return letter.upper() if form == "upperLetter" else letter
    if form in ("lowerRoman", "upperRoman") and 0 < count < 4000:
        roman = ""
        for value, letters in _ROMAN:
            roman += letters * (count // value)
            count %= value
        return roman.upper() if form == "upperRoman" else roman
    if form in ("russianLower", "russianUpper") and 0 < count <= len(_RUSSIAN):
        return _RUSSIAN[count - 1].upper() if form == "russianUpper" else _RUSSIAN[count - 1]
    return f"0{count}" if form == "decimalZero" and count < 10 else str(count)
