"""Finds what stands on page after page at the same place: running heads and feet, and page numbers."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Sequence

from pegas_assets.sources.pdf_raw import RawLine, RawPage

_ZONE = 0.14
"""The share of a page's height, above and below, in which heads and feet stand."""
_OUTERMOST = 4
"""Lines from the edge that can be furniture."""
_GAP = 1.7
"""Base lines further apart than so many sizes of the letters are not of one paragraph."""
_DIGITS = re.compile(r"\d+")
_HAS_NUMBER = re.compile(r"^\W*#|#\W?$")
_COUNTED_CHARS = 90
_ROMAN = re.compile(r"\b[ivxlc]{1,7}\b", re.IGNORECASE)
_NUMBER_ONLY = re.compile(
    r"[\s\-–—·•.|/\[\](){}]*(?:(?:page|pg\.?|p\.|стр\.?|страница|с\.)\s*)?#(?:\s*(?:/|of|из|\||-)\s*#)?[\s\-–—·•.|/\[\](){}]*",
    re.IGNORECASE,
)


def without_furniture(pages: Sequence[RawPage]) -> list[list[RawLine]]:
    """The lines of each page without heads, feet and numbers. A head that repeats stays where it stands first."""
    same: dict[tuple[str, int, bool], list[tuple[int, RawLine]]] = defaultdict(list)
    counted: dict[tuple[str, int, bool], list[tuple[int, RawLine]]] = defaultdict(list)
    for number, page in enumerate(pages):
        for line, top, outermost in _edge_lines(page):
            text, place = " ".join(line.text.split()), round(line.y0 / 4)
            same[text.casefold(), place, top].append((number, line))
            shape = _shape(text)
            if outermost and _HAS_NUMBER.search(shape) and len(shape) <= _COUNTED_CHARS:
                counted[shape, place, top].append((number, line))
    dropped: set[int] = set()
    for found in same.values():
        numbers = [number for number, _ in found]
        if len(set(numbers)) >= 3 and _is_regular(numbers, len(pages)):
            dropped.update(id(line) for _, line in found[1:])
    for (shape, _, _), found in counted.items():
        if len(found) >= 2 and _counts(found):
            # A number alone says nothing; what else stands beside it is kept once.
            dropped.update(id(line) for _, line in (found if _NUMBER_ONLY.fullmatch(shape) else found[1:]))
    return [[line for line in page.lines if id(line) not in dropped] for page in pages]


def _edge_lines(page: RawPage) -> list[tuple[RawLine, bool, bool]]:
    """The lines at the edges of a page, each with whether it is at the top, and among the two outermost."""
    ordered = sorted((line for line in page.lines if line.upright), key=lambda line: line.y0)
    top = [line for line in ordered if line.y1 < _ZONE * page.height]
    bottom = [line for line in reversed(ordered) if line.y0 > (1 - _ZONE) * page.height]
    found = [(line, True, at < 2) for at, line in enumerate(_apart(top, ordered))]
    return found + [(line, False, at < 2) for at, line in enumerate(_apart(bottom, ordered[::-1]))]


def _apart(zone: Sequence[RawLine], ordered: Sequence[RawLine]) -> list[RawLine]:
    """The lines of a zone, from the edge inward, up to the gap that parts them from the text; none where there is no gap."""
    for at in range(min(len(zone), _OUTERMOST)):
        if at + 1 == len(ordered):
            return list(zone[: at + 1])
        step = abs(ordered[at + 1].y0 - ordered[at].y0)
        if step > _GAP * max(ordered[at].size, ordered[at + 1].size):
            return list(zone[: at + 1])
    return []


def _shape(text: str) -> str:
    shape = _DIGITS.sub("#", text)
    return (_ROMAN.sub("#", shape) if len(shape) < 12 else shape).casefold()


def _counts(found: Sequence[tuple[int, RawLine]]) -> bool:
    """Whether the first or the last number of the lines goes up with the pages; Roman ones are taken at their word."""
    numbers = [(page, _DIGITS.findall(line.text)) for page, line in found]
    if not any(values for _, values in numbers):
        return len(found) >= 3
    for which in (0, -1):
        steps = [int(values[which][:9]) - page for page, values in numbers if values]
        if max(steps.count(step) for step in set(steps)) >= max(2, 0.6 * len(steps)):
            return True
    return False


def _is_regular(numbers: Sequence[int], pages: int) -> bool:
    """On a good part of all pages, or on one page after another (or every other) for a chapter."""
    distinct = sorted(set(numbers))
    if len(distinct) >= 0.3 * pages:
        return True
    steps = [following - number for number, following in itertools.pairwise(distinct)]
    return sum(step <= 2 for step in steps) >= max(2, 0.7 * len(steps))
