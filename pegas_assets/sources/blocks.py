"""What a text is made of: headings, paragraphs, lists, quotes, tables, code, each with its span, and where its pages begin."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from operator import itemgetter

from pegas_assets.model import BlockKind, Locator, Turn


@dataclass(frozen=True)
class SourceBlock:
    """One block of a document's text: `text[start:end]`, whole lines, without blank lines around.

    `info` is the language of a code block. `level` (1 to 6) and `title` (without markup) belong to headings, 0 and
    empty elsewhere.
    """

    kind: BlockKind
    start: int
    end: int
    info: str = ""
    level: int = 0
    title: str = ""


@dataclass(frozen=True)
class Marks:
    """Where in a text the pages, paragraphs, rows, cells or moments of its source begin.

    `unit` is one of `model.UNITS`; `places` are pairs of offset and value, in order of their offsets.
    """

    unit: str
    places: tuple[tuple[int, float], ...]

    def locate(self, locator: Locator) -> Locator:
        """A place in the text with its page (row, …), and those that it reaches into."""
        assert locator.start is not None
        assert locator.end is not None
        at = bisect_right(self.places, locator.start, key=itemgetter(0))
        if not self.places or at == 0:
            return locator
        value = self.places[at - 1][1]
        turns = []
        for start, next_value in self.places[at:]:
            if start >= locator.end:
                break
            turns.append(Turn(start=start, value=next_value))
        placed = {self.unit: value if self.unit == "time" else int(value), "turns": tuple(turns)}
        return locator.model_copy(update=placed)
