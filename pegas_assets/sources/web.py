"""Reads web pages: the main text as Markdown, with its code and tables, and what the page says of itself."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from pegas_assets.errors import InvalidInput, Refused
from pegas_assets.model import BlockKind, DocumentKind, ParsedDocument
from pegas_assets.settings import public_address
from pegas_assets.sources.addresses import normalise_url
from pegas_assets.sources.chunking import CHUNKER
from pegas_assets.sources.markdown_blocks import markdown_blocks
from pegas_assets.sources.page_main import main_blocks
from pegas_assets.sources.page_parse import parse_page
from pegas_assets.sources.page_shell import open_noframes, why_no_text
from pegas_assets.sources.page_text import main_element, page_markdown
from pegas_assets.sources.page_tree import SetAside, prepare
from pegas_assets.sources.partition import registered_domain
from pegas_assets.sources.reading import Reading
from pegas_assets.sources.text import title_of
from pegas_assets.text.cleaning import clean_text
from pegas_assets.text.language import detect_language

if TYPE_CHECKING:
    from lxml.html import HtmlElement

READER = "web/2"

_TAGS = re.compile(rb"<(script|style)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^<>]*>", re.IGNORECASE | re.DOTALL)
_META_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\A\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)")
# A letter that no page uses stands for an invisible one while the extractor, which drops those, is at work.
_STAND_INS = range(0x10600, 0x10737)


@dataclass(frozen=True)
class _Facts:
    """What a page says of itself."""

    title: str = ""
    author: str = ""
    published: str = ""
    site: str = ""
    canonical: str = ""
    language: str = ""


def read_web(body: bytes, reading: Reading) -> ParsedDocument:
    """A document from the bytes of an HTML page.

    The charset: byte order mark, the HTTP header's (`reading.charset`) if it decodes, the page's own, then detection over the
    text without tags. Text that a browser does not show is dropped first. The main text is where
    trafilatura sees it, in the page's own order and form; `pre` keeps lines, indentation and language; tables of data become
    pipe tables. A canonical address counts only within the same registered domain.

    Raises:
        Refused: nothing readable in it (the page draws itself with scripts), or longer than `max_chars`.
    """
    own = [match.group(1).decode("ascii", "replace") for match in (_XML_ENCODING.search(body[:400]),) if match]
    own += [match.group(1).decode("ascii", "replace") for match in (_META_CHARSET.search(body[:8192]),) if match]
    decoded = reading.decoded(body, own=own, sample=_TAGS.sub(b" ", body[: 1 << 18])[: 1 << 16])
    # After redirects the address that gave the bytes is the one that its links are relative to.
    url = reading.name if reading.name.startswith(("http://", "https://")) else reading.uri
    shown = public_address(url) if url else "the page"
    html = clean_text(decoded.text)
    if len(html) > reading.max_chars:
        raise Refused(
            f"The page {shown} has {len(html):,} characters; at most {reading.max_chars:,} are read.", item=shown
        )
    html, stand_ins = _with_stand_ins(html)
    root = parse_page(html)
    if root is None:
        raise _nothing(shown, "there is no text in it")
    facts = _facts(root, url)
    open_noframes(root)
    if why := why_no_text(root, url):
        raise _nothing(shown, why)
    aside = prepare(root)
    text = clean_text(_markdown(root, aside).translate(stand_ins)).strip("\n").rstrip()
    if not text.strip():
        raise _nothing(shown, "no text is in it")
    blocks = markdown_blocks(text)
    prose = "\n".join(text[block.start : block.end] for block in blocks if block.kind is not BlockKind.CODE)
    language = detect_language(prose or text, hint=facts.language or "und")
    heading = next((block.title for block in blocks if block.kind is BlockKind.HEADING and block.level == 1), "")
    return ParsedDocument(
        kind=DocumentKind.WEB,
        text=text,
        chunks=reading.cut(text, blocks, language=language),
        title=clean_text(facts.title.translate(stand_ins)) or heading or title_of(text, blocks, {}),
        language=language,
        author=clean_text(facts.author.translate(stand_ins)),
        published=facts.published,
        site=clean_text(facts.site.translate(stand_ins)) or (urlsplit(url).hostname or ""),
        canonical_uri=facts.canonical,
        encoding=decoded.encoding,
        encoding_confidence=decoded.confidence,
        warnings=decoded.warnings,
        reader=f"{READER}+{CHUNKER}",
    )


def fragment_markdown(html: str) -> str:
    """A piece of a page as Markdown, all of it: what a browser does not show is dropped, nothing is judged."""
    root = parse_page(clean_text(html))
    if root is None:
        return ""
    aside = prepare(root)
    return aside.back(_tidy(page_markdown(main_element(root))))


def _with_stand_ins(html: str) -> tuple[str, dict[int, str]]:
    """The page with its format characters (joiners, direction marks, soft hyphens) as visible letters, and the way back.

    The extractor drops what is not printable, which breaks Persian words and emoji apart.
    """
    invisible = sorted(
        {character for character in html if not character.isascii() and unicodedata.category(character) == "Cf"}
    )
    free = (code for code in _STAND_INS if chr(code) not in html)
    there = dict(zip(invisible, free, strict=False))
    return html.translate({ord(character): chr(code) for character, code in there.items()}), {
        code: character for character, code in there.items()
    }


def _facts(root: HtmlElement, url: str) -> _Facts:
    from copy import deepcopy

    from trafilatura.metadata import extract_metadata

    language = (root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or "").split("-")[0].lower()
    language = language if re.fullmatch("[a-z]{2}", language) else ""
    title = next((" ".join((element.text_content() or "").split()) for element in root.iter("title")), "")
    try:
        found = extract_metadata(deepcopy(root), default_url=url or None)
    except (ValueError, TypeError, AttributeError, IndexError, RecursionError):
        # What a page says in its head is often broken; its text is no worse for it.
        return _Facts(title=title, canonical=_canonical(root, url), language=language)
    return _Facts(
        title=" ".join((found.title or title).split()),
        author=" ".join((found.author or "").split())[:300],
        published=found.date if found.date and re.fullmatch(r"\d{4}-\d{2}-\d{2}", found.date) else "",
        site=" ".join((found.sitename or "").split())[:300],
        canonical=_canonical(root, url),
        language=language,
    )


def _canonical(root: HtmlElement, url: str) -> str:
    """The page's own word for its address, in normal form, where it stays in the same registered domain."""
    named = [link.get("href") for link in root.iter("link") if "canonical" in (link.get("rel") or "").lower().split()]
    named += [meta.get("content") for meta in root.iter("meta") if (meta.get("property") or "").lower() == "og:url"]
    for candidate in named:
        if not candidate or not url:
            continue
        try:
            address = normalise_url(urljoin(url, candidate.strip()))
        except (InvalidInput, ValueError):
            continue
        # A whole site that calls its front page canonical would be one document.
        if registered_domain(address) == registered_domain(url) and (
            urlsplit(address).path != "/" or urlsplit(url).path in ("", "/")
        ):
            return address
    return ""


def _markdown(root: HtmlElement, aside: SetAside) -> str:
    """The main text, where an extractor sees it."""
    from copy import deepcopy

    from lxml import etree
    from trafilatura import extract

    try:
        taken = extract(deepcopy(root), include_comments=False, include_tables=True, deduplicate=False) or ""
    except (ValueError, TypeError, AttributeError, RecursionError, etree.LxmlError):
        taken = ""
    return aside.back(_tidy("\n\n".join(block.markdown for block in main_blocks(root, taken))))


def _tidy(markdown: str) -> str:
    lines = [line.rstrip() for line in markdown.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _nothing(shown: str, why: str) -> Refused:
    return Refused(
        f"There is no readable content in {shown}: {why}.",
        hint="Save the page from a browser and ingest that file, or give the text itself.",
        item=shown,
    )
