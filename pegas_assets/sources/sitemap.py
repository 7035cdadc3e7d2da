"""Reads lists of pages: sitemaps and indexes of them, plain lists, RSS and Atom feeds."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from pegas_assets.errors import InvalidInput
from pegas_assets.sources.inflate import BrokenEncoding, TooLarge, inflate
from pegas_assets.text.decoding import decode

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_BYTES = 50_000_000
_MAX_PAGES = 50_000
_NAME = re.compile(r"sitemap[\w.-]*\.(?:xml|txt)(?:\.gz)?|[\w-]*sitemap\.(?:xml|txt)(?:\.gz)?", re.IGNORECASE)


@dataclass
class PageList:
    """Pages, each with the time of its last change where the list says it, and further lists to read."""

    pages: list[tuple[str, datetime | None]] = field(default_factory=list)
    lists: list[tuple[str, datetime | None]] = field(default_factory=list)


def looks_like_sitemap(url: str) -> bool:
    """Whether an address is that of a sitemap, by its last step."""
    try:
        return bool(_NAME.fullmatch(PurePosixPath(urlsplit(url).path).name))
    except ValueError:
        return False


def read_page_list(body: bytes, url: str) -> PageList:
    """The pages that a sitemap, an index, a feed or a plain list names, at most 50,000, as whole addresses.

    Raises:
        InvalidInput: it is none of these.
    """
    if body.startswith(b"\x1f\x8b"):
        try:
            body = b"".join(inflate([body], "gzip", max_bytes=MAX_BYTES))
        except (TooLarge, BrokenEncoding) as error:
            raise _none(url, str(error)) from None
    text = decode(body, declared=["utf-8"]).text.lstrip("\ufeff \t\r\n")
    if not text.startswith("<"):
        lines = [line.strip() for line in text.split("\n")]
        found = [line for line in lines if re.match(r"https?://\S+$", line, re.IGNORECASE)]
        if not found or len(found) < len([line for line in lines if line and not line.startswith("#")]) / 2:
            raise _none(url, "it holds no addresses")
        return PageList([(address, None) for address in found[:_MAX_PAGES]])
    root = _parsed(body)
    if root is None:
        raise _none(url, "it is no XML")
    listed = PageList()
    name = _local(root)
    if name in ("sitemapindex", "urlset"):
        target = listed.lists if name == "sitemapindex" else listed.pages
        for entry in root:
            address = _text(entry, "loc")
            if address and len(target) < _MAX_PAGES:
                target.append((urljoin(url, address), _when(_text(entry, "lastmod"))))
    elif name in ("rss", "rdf", "feed"):
        for entry in root.iter():
            if _local(entry) in ("item", "entry") and len(listed.pages) < _MAX_PAGES:
                address = _link(entry)
                told = (
                    _text(entry, "updated")
                    or _text(entry, "pubdate")
                    or _text(entry, "published")
                    or _text(entry, "date")
                )
                if address:
                    listed.pages.append((urljoin(url, address), _when(told)))
    else:
        raise _none(url, f"its outermost element is <{name}>")
    return listed


def _parsed(body: bytes) -> _Element | None:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, huge_tree=False, load_dtd=False)
    try:
        return etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _local(element: _Element) -> str:
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def _text(entry: _Element, name: str) -> str:
    return next(((part.text or "").strip() for part in entry if _local(part) == name), "")


def _link(entry: _Element) -> str:
    """The page of a feed's entry: the text of a link, or where its alternate one leads."""
    links = [part for part in entry if _local(part) == "link"]
    for link in links:
        if link.get("href") and link.get("rel") in (None, "alternate"):
            return str(link.get("href")).strip()
    return next(((link.text or "").strip() for link in links if (link.text or "").strip()), "")


def _when(told: str) -> datetime | None:
    """A time as sitemaps (W3C) and feeds (RFC 822) write it; a day alone is its end, since it may have changed till then."""
    if not told:
        return None
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", told):
            return datetime.fromisoformat(f"{told}T23:59:59+00:00")
        when = datetime.fromisoformat(told.replace("Z", "+00:00"))
    except ValueError:
        try:
            when = parsedate_to_datetime(told)
        except (ValueError, TypeError):
            return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _none(url: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"{url} is no sitemap, feed or list of pages: {why}.",
        hint="Give the address of one, or of the page itself without --sitemap.",
        item=url,
    )
