"""Takes out of a page what a browser does not show: text that only a machine would read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pegas_assets.sources.page_colours import WHITE, Colour, alike, colour_of
from pegas_assets.sources.page_style import Sheets, Style

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_NEVER_TEXT = (
    "script", "style", "template", "noscript", "iframe", "object", "embed", "svg", "canvas", "audio", "video", "map",
    "select", "textarea", "button", "input", "dialog", "frameset", "applet",
)  # fmt: skip
_LENGTH = re.compile(r"^(?:calc\()?\s*(-?\d*\.?\d+)\s*(px|pt|em|rem|ex|ch|vw|vh|vmin|vmax|cm|mm|in|pc|%)?\s*\)?$")
_PX = {"": 1.0, "px": 1.0, "pt": 1.3, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "vw": 12.0, "vh": 8.0, "vmin": 8.0,
       "vmax": 12.0, "cm": 38.0, "mm": 3.8, "in": 96.0, "pc": 16.0}  # fmt: skip
_FAR_PX = 900.0
_FAINT = 0.1
"""Less opaque than this is not read."""
_MOVED = re.compile(r"translate(?:x|y|3d)?\(([^)]*)\)")
_NO_CLIP = re.compile(
    r"^rect\((?:\s*[01](?:px)?[\s,]*){4}\)$|^(?:inset\(\s*(?:[5-9]\d|100)%|circle\(\s*0|ellipse\(\s*0)|^polygon\(\s*(?:0(?:px|%)?[\s,]*)+\)$"
)
_HIDDEN_CLASS = re.compile(
    r"(?:^|\s)(?:visually-?hidden|sr-only|screen-reader(?:-text|-only)?|d-none|hidden|invisible|a11y-hidden|offscreen|off-screen"
    r"|assistive-text|element-invisible|u-hidden|is-hidden|vh)(?:\s|$)"
)
_SHOWN_CLASS = re.compile(
    r"(?:^|\s)(?:(?:sm|md|lg|xl|2xl):(?:!?)(?:block|flex|grid|inline|inline-block|inline-flex|table|contents|visible|not-sr-only)"
    r"|d-(?:sm|md|lg|xl|xxl)-(?:block|flex|grid|inline|inline-block|inline-flex|table))(?:\s|$)"
)
_NOTICE = re.compile(r"cookie|consent|gdpr|newsletter-(?:popup|modal)", re.IGNORECASE)


def drop_hidden(root: HtmlElement) -> None:
    """Takes out comments, scripts and their like, hidden elements and consent notices, in place.

    Hidden is: the attribute, `display: none` and its kin in the element or in a rule of the page's sheets, no size, off
    the screen, transparent, or of the colour that it stands on.
    """
    from lxml import etree

    sheets = Sheets(root)
    for node in list(root.iter()):
        if isinstance(node, (etree._Comment, etree._ProcessingInstruction, etree._Entity)):
            drop(node)
    for element in list(root.iter()):
        if element.getparent() is None or not isinstance(element.tag, str) or element.tag in ("body", "head", "html"):
            continue
        if element.tag in _NEVER_TEXT:
            # JSON-LD in the head feeds the metadata and is never text.
            if not (element.tag == "script" and "ld+json" in (element.get("type") or "")):
                drop(element)
        elif _is_hidden(element, sheets) or _is_notice(element):
            drop(element)


def _is_hidden(element: HtmlElement, sheets: Sheets) -> bool:
    if element.get("hidden") is not None:
        return (element.get("hidden") or "").lower() != "until-found"
    if element.get("popover") is not None:
        return True
    if (element.get("aria-hidden") or "").lower() == "true" and not _holds_code(element):
        return True
    classes = element.get("class") or ""
    if _HIDDEN_CLASS.search(classes) and not _SHOWN_CLASS.search(classes):
        return True
    style = sheets.of(element)
    if style and (_not_shown(style) or _no_size(style) or _off_screen(style)):
        return True
    shade = style.get("-webkit-text-fill-color") or style.get("color")
    if shade is None and element.tag == "font":
        shade = element.get("color")
    if shade is None or (colour := colour_of(shade)) is None:
        return False
    if colour[3] < _FAINT:
        return True
    ground = _ground(element, style, sheets)
    return ground is not None and alike(colour, ground)


def _not_shown(style: Style) -> bool:
    if style.get("display") == "none" or style.get("visibility") in ("hidden", "collapse"):
        return True
    if style.get("content-visibility") == "hidden":
        return True
    if _share(style.get("opacity", "1")) < _FAINT:
        return True
    filtered = re.search(r"opacity\(\s*([\d.]+%?)", style.get("filter", ""))
    if filtered and _share(filtered.group(1)) < _FAINT:
        return True
    return bool(_NO_CLIP.match(style.get("clip", "").strip()) or _NO_CLIP.match(style.get("clip-path", "").strip()))


def _no_size(style: Style) -> bool:
    size = style.get("font-size") or style.get("font", "").partition("/")[0].split(" ")[-1]
    length = _px(size)
    # Of what is around it, not of the screen: 1em is as large as the text.
    if length is not None and 0 <= length <= 1.3:
        return True
    if size.endswith("%") and _share(size) < 0.1:
        return True
    if any(style.get(name) in ("hidden", "clip") for name in ("overflow", "overflow-x", "overflow-y")):
        for name in ("width", "height", "max-width", "max-height", "line-height"):
            length = _px(style.get(name, ""))
            if length is not None and length <= 1.0:
                return name != "line-height" or style[name] in ("0", "0px")
    return (
        re.search(r"scale(?:x|y|3d)?\(\s*0(?:\.0+)?\s*[,)]", style.get("transform", "")) is not None
        or style.get("scale") == "0"
    )


def _off_screen(style: Style) -> bool:
    placed = style.get("position") in ("absolute", "fixed")
    for name in ("left", "top", "right", "bottom", "margin-left", "margin-top", "text-indent"):
        length = _px(style.get(name, ""))
        if (
            length is not None
            and length <= -_FAR_PX
            and (placed or name in ("text-indent", "margin-left", "margin-top", "left", "top"))
        ):
            return True
    moved = _MOVED.search(style.get("transform", ""))
    if moved:
        return any(abs(_px(part.strip()) or 0.0) >= _FAR_PX for part in moved.group(1).split(","))
    return False


def _ground(element: HtmlElement, style: Style, sheets: Sheets) -> Colour | None:
    """The colour that an element stands on; None where that is not known: an image, or a class of a sheet elsewhere."""
    place: HtmlElement | None = element
    while place is not None and isinstance(place.tag, str):
        here = style if place is element else sheets.of(place)
        if "background-image" in here and here["background-image"] != "none":
            return None
        painted = here.get("background-color") or here.get("background") or place.get("bgcolor")
        if painted and painted not in ("none", "inherit", "initial"):
            if "gradient" in painted:
                return None
            words = re.findall(r"[\w-]+\([^)]*\)|#?[\w-]+", painted)
            colours = [colour for colour in map(colour_of, words) if colour is not None]
            if "url(" in painted and not colours:
                return None
            if colours and colours[0][3] > 0.5:
                return colours[0]
        # What a style sheet elsewhere paints is not known here: a class may.
        if (
            place is not element
            and place.get("class")
            and not painted
            and place.tag not in ("body", "html", "article", "main")
        ):
            return None
        place = place.getparent()
    return WHITE


def _holds_code(element: HtmlElement) -> bool:
    """Some themes hide a listing from screen readers and show it to everybody else."""
    return element.tag in ("pre", "code", "table") and next(element.iter("span"), None) is not None


def _px(text: str) -> float | None:
    """A length in pixels, roughly; None for what is none. A share of something is none."""
    match = _LENGTH.match(text.strip())
    if match is None or match.group(2) == "%":
        return None
    return float(match.group(1)) * _PX[match.group(2) or ""]


def _share(text: str) -> float:
    try:
        return float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        return 1.0


def _is_notice(element: HtmlElement) -> bool:
    named = f"{element.get('id') or ''} {element.get('class') or ''}"
    if element.tag not in ("div", "section", "aside", "form", "p") or not _NOTICE.search(named):
        return False
    return len(element.text_content()) < 1500


def drop(element: HtmlElement) -> None:
    """Takes an element out of its tree and leaves the text after it in place."""
    parent = element.getparent()
    if parent is None:
        return
    tail = element.tail or ""
    if tail:
        before = element.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + tail
        else:
            parent.text = (parent.text or "") + tail
    parent.remove(element)
