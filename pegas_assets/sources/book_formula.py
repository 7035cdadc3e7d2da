"""A formula in MathML as one line of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_BETWEEN = {"msub": "_", "msup": "^", "munder": "_", "mover": "^", "mfrac": "/"}
_AROUND = {"msqrt": "√", "menclose": ""}


def formula_text(math: HtmlElement) -> str:
    """What the author wrote for it (`alttext`, TeX), else its parts on one line: `x^2`, `(a + b)/2`, `√(x)`."""
    said = " ".join((math.get("alttext") or "").split())
    if said:
        return said
    for note in math.iter("annotation"):
        if "tex" in (note.get("encoding") or "").lower() and (text := " ".join(note.text_content().split())):
            return text
    return " ".join(_written(math).split())


def _written(element: HtmlElement) -> str:
    tag = element.tag if isinstance(element.tag, str) else ""
    if tag.startswith("annotation"):
        return ""
    parts = [_written(child) for child in element if isinstance(child.tag, str)]
    if not parts:
        text = " ".join((element.text or "").split())
        return f" {text} " if tag == "mo" and text and text not in "()[]{}|,.'" else text
    parts = [part for part in parts if part.strip()]
    if tag in _BETWEEN and len(parts) == 2:
        return f"{_grouped(parts[0])}{_BETWEEN[tag]}{_grouped(parts[1])}"
    if tag in ("msubsup", "munderover") and len(parts) == 3:
        return f"{_grouped(parts[0])}_{_grouped(parts[1])}^{_grouped(parts[2])}"
    if tag == "mroot" and len(parts) == 2:
        return f"{_grouped(parts[1])}√({parts[0].strip()})"
    joined = " ".join(parts) if tag in ("mtr", "mtable") else "".join(parts)
    if tag in _AROUND:
        return f"{_AROUND[tag]}({joined.strip()})"
    return f"({joined.strip()})" if tag == "mfenced" else joined


def _grouped(part: str) -> str:
    part = part.strip()
    return part if part.replace(".", "").isalnum() or (part[:1] == "(" and part[-1:] == ")") else f"({part})"
