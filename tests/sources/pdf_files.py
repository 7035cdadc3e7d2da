"""Small PDFs, made as the tests need them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Draw = Callable[[Any], None]


def pdf(
    *pages: Draw, outline: Sequence[tuple[int, str, int]] = (), metadata: dict[str, str] | None = None, **saving: Any
) -> bytes:
    """A PDF whose pages (A4) are drawn by functions that get a `pymupdf.Page`."""
    import pymupdf

    document = pymupdf.open()
    for draw in pages:
        draw(document.new_page())
    if outline:
        document.set_toc([list(entry) for entry in outline])
    if metadata:
        document.set_metadata(metadata)
    return bytes(document.tobytes(no_new_id=True, **saving))


def lines(*texts: str, x: float = 72, y: float = 90, size: float = 11, leading: float = 14, font: str = "helv") -> Draw:
    """Draws lines under each other from a place on."""

    def draw(page: Any) -> None:
        for number, text in enumerate(texts):
            page.insert_text((x, y + number * leading), text, fontsize=size, fontname=font)

    return draw


def together(*draws: Draw) -> Draw:
    """Draws several things on one page, in this order."""

    def draw(page: Any) -> None:
        for one in draws:
            one(page)

    return draw
