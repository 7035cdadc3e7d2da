"""Takes out of a page what a browser does not show: text that only a machine would read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_NEVER_TEXT = (
    "script", "style", "template", "noscript", "iframe", "object", "embed", "svg", "canvas", "audio", "video", "map",
    "select", "textarea", "button", "input", "dialog", "frameset", "applet",
)  # fmt: skip
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    r"|opacity\s*:\s*0?(?:\.0+)?\s*(?:%\s*)?(?:;|!|$)|font-size\s*:\s*(?:0(?:\.\d+)?|1|1\.0)\s*(?:px|pt|em|rem|%)?\s*(?:;|!|$)"
    r"|(?:text-indent|left|top|right|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?\s*\)|clip-path\s*:\s*inset\(\s*(?:50|100)%"
    r"|color\s*:\s*transparent",
    re.IGNORECASE,
)
_ZERO_SIZE = re.compile(r"(?:^|;)\s*(?:max-)?(?:width|height)\s*:\s*[01](?:px)?\s*(?:;|!|$)", re.IGNORECASE)
_NO_OVERFLOW = re.compile(r"overflow\s*:\s*(?:hidden|clip)", re.IGNORECASE)
_COLOUR = re.compile(r"(?:^|;)\s*color\s*:\s*([^;!]+)", re.IGNORECASE)
_BACKGROUND = re.compile(r"(?:^|;)\s*background(?:-color)?\s*:\s*([^;!]+)", re.IGNORECASE)
_WHITE = re.compile(r"^(?:#fff(?:fff)?|white|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\))$", re.IGNORECASE)
_HIDDEN_CLASS = re.compile(r"(?:^|\s)(?:visually-hidden|sr-only|screen-reader-text|d-none|hidden|invisible)(?:\s|$)")
_PERMALINK = re.compile(r"^[¶§#🔗⚓]$|^(?:permalink|link to this (?:heading|section))$", re.IGNORECASE)
_EDIT_LINK = re.compile(r"(?:^|\s)(?:mw-editsection|headerlink|header-anchor|anchorjs-link)(?:\s|$)")
_NOTICE = re.compile(r"cookie|consent|gdpr|newsletter-(?:popup|modal)", re.IGNORECASE)
_HIDING_RULE = re.compile(r"([^{}@]+)\{([^{}]*)\}")
_SIMPLE_SELECTOR = re.compile(r"^(?:[a-z][a-z0-9]*)?([.#])([\w-]+)$", re.IGNORECASE)


def drop_hidden(root: HtmlElement) -> None:
    """Takes out comments, scripts and their like, hidden elements and consent notices, in place.

    Hidden is: the attribute, `display: none` and its kin in the element or in a rule of the page for one class or id,
    no size, off the screen, transparent, or white on white.
    """
    from lxml import etree

    hidden_names = _hidden_by_rules(root)
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
        elif _is_hidden(element, hidden_names) or _is_notice(element) or _is_tool_of_heading(element):
            drop(element)


def _is_hidden(element: HtmlElement, hidden_names: frozenset[str]) -> bool:
    if element.get("hidden") is not None:
        return (element.get("hidden") or "").lower() != "until-found"
    if (element.get("aria-hidden") or "").lower() == "true" and element.tag not in ("pre", "code", "table"):
        return True
    classes = element.get("class") or ""
    if _HIDDEN_CLASS.search(classes):
        return True
    if hidden_names and not hidden_names.isdisjoint(
        {f".{name}" for name in classes.split()} | {f"#{element.get('id')}"}
    ):
        return True
    style = element.get("style") or ""
    if style:
        if _HIDDEN_STYLE.search(style) or (_ZERO_SIZE.search(style) and _NO_OVERFLOW.search(style)):
            return True
        colour, background = _COLOUR.search(style), _BACKGROUND.search(style)
        if colour:
            shade = colour.group(1).strip().lower()
            if background and shade == background.group(1).strip().lower():
                return True
            return bool(_WHITE.match(shade)) and not background and not _on_a_background(element)
    return element.tag == "font" and bool(_WHITE.match(element.get("color") or "")) and not _on_a_background(element)


def _on_a_background(element: HtmlElement) -> bool:
    """Whether something around it paints a background of its own, on which white text is read."""
    for around in element.iterancestors():
        if around.get("bgcolor") and not _WHITE.match(around.get("bgcolor") or ""):
            return True
        found = _BACKGROUND.search(around.get("style") or "")
        if found:
            return not _WHITE.match(found.group(1).strip())
        # What a style sheet paints is not known here: a class may.
        if around.get("class") and around.tag not in ("body", "html", "article", "main"):
            return True
    return False


def _hidden_by_rules(root: HtmlElement) -> frozenset[str]:
    """Classes and ids that the page's own style sheet hides, as `.name` and `#name`."""
    names = set()
    for sheet in root.iter("style"):
        source = re.sub(
            r"/\*.*?\*/|@media[^{]*print[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", sheet.text or "", flags=re.DOTALL
        )
        for selectors, body in _HIDING_RULE.findall(source[:200_000]):
            if re.search(
                r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:px)?\s*(?:;|$)", body, re.IGNORECASE
            ):
                for selector in selectors.split(","):
                    if match := _SIMPLE_SELECTOR.match(selector.strip()):
                        names.add(match.group(1) + match.group(2))
    return frozenset(names)


def _is_tool_of_heading(element: HtmlElement) -> bool:
    """A mark beside a heading that links to it or edits it."""
    if _EDIT_LINK.search(element.get("class") or ""):
        return True
    return element.tag == "a" and bool(_PERMALINK.match(element.text_content().strip()))


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
