"""Reads feeds (RSS 0.9 to 2.0, Atom): each post under its own heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pegas_assets.errors import Refused
from pegas_assets.model import DocumentKind, ParsedDocument
from pegas_assets.sources.chunking import CHUNKER
from pegas_assets.sources.markdown_blocks import markdown_blocks
from pegas_assets.sources.reading import Reading
from pegas_assets.sources.web import fragment_markdown
from pegas_assets.text.cleaning import clean_text
from pegas_assets.text.language import detect_language

if TYPE_CHECKING:
    from lxml.etree import _Element

READER = "feed/1"

_ENCODING = re.compile(rb"\A[\s\xef\xbb\xbf]*<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)")
_PROLOGUE = re.compile(r"\A\s*<\?xml[^>]*\?>")
_POSTS = ("item", "entry")
_BODIES = ("encoded", "content", "description", "summary")
"""Where a post has its text, the fullest first."""


def read_feed(body: bytes, reading: Reading) -> ParsedDocument:
    """A document of a feed's posts: title, address and text of each, in the feed's order.

    Raises:
        Refused: no post in it has a word, or it is longer than `max_chars`.
    """
    from lxml import etree

    own = [match.group(1).decode("ascii", "replace") for match in (_ENCODING.match(body[:400]),) if match]
    decoded = reading.decoded(body, own=own)
    source = clean_text(_PROLOGUE.sub("", decoded.text))
    if len(source) > reading.max_chars:
        raise Refused(
            f"The feed {reading.name} has {len(source):,} characters; at most {reading.max_chars:,} are read.",
            item=reading.name,
        )
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, recover=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(source.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    posts = list(_posts(root)) if root is not None else []
    if not posts:
        raise Refused(
            f"The feed {reading.name} has no post with a text.".replace("  ", " "),
            hint="Give one that has.",
            item=reading.name,
        )
    title = _title(root)
    text = clean_text("\n\n".join(([f"# {title}"] if title else []) + posts)).strip()
    blocks = markdown_blocks(text)
    language = detect_language(text)
    return ParsedDocument(
        kind=DocumentKind.WEB,
        text=text,
        chunks=reading.cut(text, blocks, language=language),
        title=title,
        language=language,
        encoding=decoded.encoding,
        encoding_confidence=decoded.confidence,
        warnings=decoded.warnings,
        reader=f"{READER}+{CHUNKER}",
    )


def _posts(root: _Element) -> Iterator[str]:
    for post in root.iter():
        if _name(post) not in _POSTS:
            continue
        title, link, bodies = "", "", dict.fromkeys(_BODIES, "")
        for part in post:
            name = _name(part)
            if name == "title":
                title = title or _line(fragment_markdown(_markup(part)))
            elif name == "link" and (part.get("rel") or "alternate") == "alternate":
                link = link or (part.get("href") or part.text or "").strip()
            elif name in bodies:
                bodies[name] = bodies[name] or fragment_markdown(_markup(part))
        text = next((bodies[name] for name in _BODIES if bodies[name].strip()), "")
        if title or text:
            parts = (f"## {title}" if title else "", link if link.startswith("http") else "", text)
            yield "\n\n".join(part for part in parts if part)


def _title(root: _Element) -> str:
    """The feed's own title, not a post's or an image's."""
    for holder in (root, *root):
        if _name(holder) in ("rss", "rdf", "feed", "channel"):
            for part in holder:
                if _name(part) == "title":
                    return _line(fragment_markdown(_markup(part)))
    return ""


def _markup(part: _Element) -> str:
    """The markup inside an element: escaped in most feeds, real elements in XHTML of Atom."""
    from lxml import etree

    if len(part):
        return "".join([part.text or "", *(etree.tostring(child, encoding="unicode") for child in part)])
    text = part.text or ""
    if part.get("type") == "text" or not re.search(r"[<&]", text):
        return text.replace("&", "&amp;").replace("<", "&lt;")
    return text


def _line(markdown: str) -> str:
    return " ".join(markdown.replace("*", "").split())


def _name(element: _Element) -> str:
    return element.tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(element.tag, str) else ""
