"""What a text is made of: headings, paragraphs, lists, quotes, tables, code, each with its span."""

from __future__ import annotations

from dataclasses import dataclass

from pegas_assets.model import BlockKind


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
