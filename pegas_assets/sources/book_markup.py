"""The markup of books, mostly XHTML and often broken, made ready for the HTML parser: one parser for all of it.

An XML parser would stop at the first bad byte or entity; the HTML parser does not, but reads `<a/>` as open, knows no
CDATA, and takes a DOCTYPE's inner part for text. So these are put into HTML's words before it sees them.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from pegas_assets.sources.page_parse import parse_page
from pegas_assets.text.cleaning import clean_text
from pegas_assets.text.decoding import Decoded, decode

if TYPE_CHECKING:
    from lxml.etree import _Element
    from lxml.html import HtmlElement

MAX_PARTS = 500_000
"""Elements and attributes of one file: each takes over 100 bytes in the tree, however short it is written."""

PAGE_MARK = "\U0010fff0{}\U0010fff1"
"""How a page turn stands in the text of a tree: the number between two letters that no book uses."""

PAGE_MARKS = re.compile("\U0010fff0(\\d+)\U0010fff1")

_XML_ENCODING = re.compile(rb"\A\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)")
_META_CHARSET = re.compile(rb"<meta[^<>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_ANY_TAG = re.compile(rb"<[^<>]*>")
_PIECES = re.compile(r"<[^<>]*>")
_INSTRUCTION = re.compile(r"<\?[^<>]*\?>")
_DOCTYPE = re.compile(r"<!DOCTYPE\b[^\[<>]*(\[.*?\]\s*)?>", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"<!ENTITY\s+([A-Za-z_][\w.-]*)\s+(SYSTEM\b|PUBLIC\b|\"[^\"]*\"|'[^']*')", re.IGNORECASE)
_REFERENCE = re.compile(r"&([A-Za-z_][\w.-]*);")
_PREFIX = re.compile(
    r"\bxmlns:([A-Za-z][\w.-]*)\s*=\s*[\"'][^\"']*(?:xhtml|mathml|svg|idpf\.org/2007/ops|fictionbook)", re.I
)
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w:.-]*)((?:\s(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)?)/>")
_VOID = ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
_CLOSED_VOID = re.compile(rf"</(?:{'|'.join(_VOID)})\s*>", re.IGNORECASE)
_EMBEDDED = re.compile(r"\s(?:xlink:|l:)?(?:src|href)\s*=\s*(?:\"data:[^\"<>]*\"|'data:[^'<>]*')", re.IGNORECASE)
_LONG_TAG = re.compile(r"<([A-Za-z][\w:.-]*)[^<>]{3000,}>")
_ENTITIES = 100
_ENTITY_CHARS = 1_000
_XML_ENTITIES = ("amp", "lt", "gt", "quot", "apos")


class TooManyParts(Exception):
    """More elements in one file than are read."""


def decode_markup(body: bytes, *, default: str = "") -> Decoded:
    """The text of an XML or HTML file: by its own word for its encoding where that decodes, else by its letters."""
    own = [match.group(1).decode("ascii", "replace") for match in (_XML_ENCODING.search(body[:400]),) if match]
    own += [match.group(1).decode("ascii", "replace") for match in (_META_CHARSET.search(body[:8192]),) if match]
    return decode(body, declared=own, default=default, sample=_ANY_TAG.sub(b" ", body[: 1 << 18])[: 1 << 16])


def page_tree(text: str) -> HtmlElement | None:
    """The tree of an XHTML or HTML text; None where nothing is in it.

    Entities that the text declares itself are put in, once and short; external ones are empty. Nothing is loaded.

    Raises:
        TooManyParts: over `MAX_PARTS` elements and attributes.
    """
    text = clean_text(text).replace("\U0010fff0", "").replace("\U0010fff1", "")
    text = _without_doctype(_INSTRUCTION.sub("", text))
    text = _without_cdata(_EMBEDDED.sub("", text))
    for prefix in dict.fromkeys(_PREFIX.findall(text[:20_000])):
        text = re.sub(rf"<(/?){re.escape(prefix)}:(?=[A-Za-z])", r"<\1", text)
    text = _CLOSED_VOID.sub("", _LONG_TAG.sub(r"<\1>", text))
    text = _SELF_CLOSED.sub(_opened_and_closed, text)
    _count_parts(text)
    return parse_page(text)


def xml_tree(body: bytes) -> _Element | None:
    """The tree of a small XML file, as much of it as can be read; None where that is nothing.

    Raises:
        TooManyParts: over `MAX_PARTS` elements and attributes.
    """
    from lxml import etree

    text = _without_doctype(_INSTRUCTION.sub("", clean_text(decode_markup(body).text)))
    text = _REFERENCE.sub(_known_entity, text).strip()
    _count_parts(text)
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(text.encode(), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def local_name(element: _Element) -> str:
    """An element's name without its namespace, in lower case; empty for what is no element."""
    return element.tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(element.tag, str) else ""


def attribute(element: _Element, name: str) -> str:
    """An attribute by its name without a namespace; empty where there is none."""
    for key, value in element.attrib.items():
        if str(key).rpartition("}")[2].rpartition(":")[2].lower() == name:
            return str(value).strip()
    return ""


def _count_parts(text: str) -> None:
    parts = 0
    for match in _PIECES.finditer(text):
        tag = match.group()
        # Twice for the element and the text after it.
        parts += 2 + max(len(tag.split()) - 1, tag.count("="))
    if max(parts, text.count("<")) > MAX_PARTS:
        raise TooManyParts


def _without_doctype(text: str) -> str:
    start = text[:1_000_000].upper().find("<!DOCTYPE")
    match = _DOCTYPE.match(text, start) if start >= 0 else None
    if match is None:
        return text
    inner = match.group(1) or ""
    rest = text[: match.start()] + text[match.end() :]
    values: dict[str, str] = {}
    for name, value in _ENTITY.findall(inner)[:_ENTITIES]:
        # One level: what an entity says of others is dropped, so that none can grow.
        known = html.unescape(value[1:-1]) if value[0] in "\"'" and len(value) <= _ENTITY_CHARS else ""
        values.setdefault(name, _REFERENCE.sub("", known).replace("<", "&lt;") if name not in _XML_ENTITIES else "")
    if not values:
        return rest
    left = 1_000_000

    def value_of(match: re.Match[str]) -> str:
        nonlocal left
        name = match.group(1)
        if name not in values or name in _XML_ENTITIES:
            return match.group()
        left -= len(values[name])
        return values[name] if left > 0 else ""

    return _REFERENCE.sub(value_of, rest)


def _without_cdata(text: str) -> str:
    head, *sections = text.split("<![CDATA[")
    parts = [head]
    for section in sections:
        inside, end, after = section.partition("]]>")
        parts.append(html.escape(inside, quote=False) + after if end else section)
    return "".join(parts)


def _opened_and_closed(match: re.Match[str]) -> str:
    tag, attributes = match.groups()
    return match.group() if tag.lower() in _VOID else f"<{tag}{attributes}></{tag}>"


def _known_entity(match: re.Match[str]) -> str:
    """An HTML entity, which XML does not know, as its character; one that nobody knows as nothing."""
    if match.group(1) in _XML_ENTITIES:
        return match.group()
    character = html.unescape(match.group())
    return "" if character == match.group() else html.escape(character)
