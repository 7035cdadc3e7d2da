"""Reads sitemaps and feeds: which pages a site names, and when each changed last (sitemaps.org, RSS, Atom)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from pegas_assets.errors import Refused
from pegas_assets.settings import public_address
from pegas_assets.sources.inflate import BrokenEncoding, TooLarge, inflate
from pegas_assets.sources.partition import registered_domain
from pegas_assets.text.decoding import decode, looks_binary

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_BYTES = 60_000_000
"""A sitemap may have 50 MB, unpacked."""
MAX_ENTRIES = 200_000

_NAMED = re.compile(r"sitemap|^(?:rss|atom|feeds?)(?:\.xml|\.php)?$|\.(?:rss|atom)$", re.IGNORECASE)
_PAGE_NAME = re.compile(r"\.(?:html?|md|pdf)$", re.IGNORECASE)
_SITEMAP_MARK = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<\?.*?\?>\s*|<!--.*?-->\s*)*<(?:\w+:)?(?:urlset|sitemapindex)[\s>]",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Listed:
    """An address that a sitemap names, and when it says that this changed last."""

    url: str
    changed_at: datetime | None = None


@dataclass(frozen=True)
class Sitemap:
    """What one file names: pages, and in an index further sitemaps."""

    pages: tuple[Listed, ...]
    sitemaps: tuple[Listed, ...] = ()


def named_like_sitemap(url: str) -> bool:
    """Whether an address has the name that sitemaps or feeds have; only its content tells."""
    try:
        name = urlsplit(url).path.rstrip("/").rpartition("/")[2]
    except ValueError:
        return False
    return bool(_NAMED.search(name)) and not _PAGE_NAME.search(name)


def is_sitemap(body: bytes) -> bool:
    """Whether bytes are a sitemap in XML, or an index of such."""
    return bool(_SITEMAP_MARK.match(body[:4096]))


def parse_sitemap(body: bytes, url: str) -> Sitemap:
    """What a sitemap names: XML, an index, plain text with an address on each line, RSS or Atom; packed with gzip or not.

    Raises:
        Refused: it is none of these, or too large.
    """
    shown = public_address(url)
    if body.startswith(b"\x1f\x8b"):
        body = _unpacked(body, shown)
    head = body[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    found = (
        _of_xml(body, url) if head.startswith(b"<") or b"<\x00" in head[:8] or b"\x00<" in head[:8] else _of_lines(body)
    )
    if found is None:
        raise Refused(
            f"{shown} is no sitemap and no feed.",
            hint="Give the address of one, or ingest it as a page.",
            item=shown,
            code="no_sitemap",
        )
    return found


def same_site(one: str, other: str) -> bool:
    """Whether two addresses belong to one site: the same registered domain and port."""
    return registered_domain(one) == registered_domain(other) and _port(one) == _port(other)


def newest_first(listed: tuple[Listed, ...] | list[Listed]) -> list[Listed]:
    """Those that changed last first; those without a date after them, in their own order."""
    dated = sorted((item for item in listed if item.changed_at is not None), key=_moment, reverse=True)
    return dated + [item for item in listed if item.changed_at is None]


def moment_of(text: str) -> datetime | None:
    """A date of a sitemap (W3C) or a feed (RFC 822); a day alone is its end, since a page may have changed all day."""
    text = text.strip()[:60]
    try:
        if re.fullmatch(r"\d{4}(-\d{2}){0,2}", text):
            start = datetime.fromisoformat((text + "-01-01")[:10] if len(text) < 10 else text).replace(tzinfo=UTC)
            return start + timedelta(days=1, seconds=-1) if len(text) == 10 else start
        found = datetime.fromisoformat(text)
    except ValueError:
        try:
            found = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError):
            return None
    try:
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (OverflowError, ValueError):
        return None


def _moment(item: Listed) -> datetime:
    assert item.changed_at is not None
    return item.changed_at


def _port(url: str) -> int | None:
    """The port that is written; http and https of one host are one site."""
    try:
        return urlsplit(url).port
    except ValueError:
        return -1


def _unpacked(body: bytes, shown: str) -> bytes:
    try:
        return b"".join(inflate([body], "gzip", max_bytes=MAX_BYTES))
    except (TooLarge, BrokenEncoding) as error:
        raise Refused(f"The sitemap {shown} cannot be unpacked: {error}.", item=shown) from None


def _of_lines(body: bytes) -> Sitemap | None:
    if looks_binary(body):
        return None
    lines = [line.strip() for line in decode(body).text.splitlines()[:MAX_ENTRIES]]
    lines = [line for line in lines if line and not line.startswith("#")]
    if not lines or not all(re.match(r"https?://\S+$", line, re.IGNORECASE) for line in lines):
        return None
    return Sitemap(_once(Listed(line) for line in lines))


def _of_xml(body: bytes, url: str) -> Sitemap | None:
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, recover=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    if root is None:
        return None
    kind = _name(root)
    if kind == "urlset":
        return Sitemap(_once(_entries(root, "url", url)))
    if kind == "sitemapindex":
        return Sitemap((), _once(_entries(root, "sitemap", url)))
    if kind in ("rss", "rdf", "feed"):
        return Sitemap(_once(_posts(root, url)))
    return None


def _entries(root: _Element, tag: str, url: str) -> Iterator[Listed]:
    for entry in root:
        if _name(entry) == tag:
            parts = {_name(part): (part.text or "").strip() for part in reversed(entry)}
            if parts.get("loc"):
                yield Listed(urljoin(url, parts["loc"]), moment_of(parts.get("lastmod", "")))


def _posts(root: _Element, url: str) -> Iterator[Listed]:
    """The items of an RSS feed (0.9 to 2.0) or the entries of an Atom feed."""
    for entry in root.iter():
        if _name(entry) not in ("item", "entry"):
            continue
        link, permalink, changed = "", "", ""
        for part in entry:
            name, text = _name(part), (part.text or "").strip()
            if name == "link" and (part.get("rel") or "alternate") == "alternate":
                link = link or part.get("href") or text
            elif name == "guid" and (part.get("isPermaLink") or "true") == "true" and text.startswith("http"):
                permalink = text
            elif name in ("updated", "pubdate", "date", "published", "modified") and (not changed or name == "updated"):
                changed = text
        if link or permalink:
            yield Listed(urljoin(url, link or permalink), moment_of(changed))


def _name(element: _Element) -> str:
    """A tag without its namespace, in lower case."""
    return element.tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(element.tag, str) else ""


def _once(listed: Iterator[Listed]) -> tuple[Listed, ...]:
    found: dict[str, Listed] = {}
    for item in listed:
        if len(found) >= MAX_ENTRIES:
            break
        if item.url.lower().startswith(("http://", "https://")):
            found.setdefault(item.url, item)
    return tuple(found.values())
