"""The package of an EPUB: what the book says of itself, which files it has, and in which order they are read."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pegas_assets.sources.archive import Archive, BrokenMember, shown_name
from pegas_assets.sources.book_markup import TooManyParts, attribute, local_name, xml_tree
from pegas_assets.sources.book_text import BookFacts

if TYPE_CHECKING:
    from lxml.etree import _Element

_PACKAGE_BYTES = 16_000_000
_PAGES = (".xhtml", ".html", ".htm", ".xht", ".xml", ".svg", ".txt")
_PICTURES = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff")
_PAGE_TYPES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/x-dtbook+xml", "image/svg+xml",
               "text/plain", "application/xml", "text/xml")  # fmt: skip
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_GENERIC_AUTHORS = frozenset(("unknown", "неизвестно", "неизвестный", "неизвестный автор", "автор неизвестен"))


@dataclass(frozen=True)
class Item:
    """A file of the manifest. `path` is its name in the archive, empty where it is not there."""

    id: str
    href: str
    path: str
    media_type: str
    properties: frozenset[str] = frozenset()
    fallback: str = ""

    @property
    def is_page(self) -> bool:
        """Whether it is something to read, by its name where the declared type is none of a page."""
        name = (self.path or self.href).lower()
        if name.endswith(_PICTURES) or self.media_type == "application/x-dtbncx+xml" or name.endswith(".ncx"):
            return False
        return self.media_type in _PAGE_TYPES or name.endswith(_PAGES)

    @property
    def is_picture(self) -> bool:
        return self.media_type.startswith("image/") or (self.path or self.href).lower().endswith(_PICTURES)


@dataclass
class Package:
    """What the package says. `order` are the pages by their place in the book; `apart` those that stand outside it."""

    facts: BookFacts
    base: str = ""
    items: dict[str, Item] = field(default_factory=dict)
    order: list[Item] = field(default_factory=list)
    apart: list[Item] = field(default_factory=list)
    guide: dict[str, str] = field(default_factory=dict)
    ncx: str = ""
    warnings: list[str] = field(default_factory=list)


def read_package(archive: Archive) -> Package:
    """The package that `META-INF/container.xml` names, else the first `.opf`, else the pages by their names."""
    warnings: list[str] = []
    for path in _package_paths(archive, warnings):
        root = read_xml(archive, path, warnings)
        if root is not None and any(local_name(element) == "manifest" for element in root.iter()):
            return _package(archive, path, root, warnings)
        warnings.append(f"The package {shown_name(path)} of the book cannot be read.")
    warnings.append("The book has no package that says its order: its pages stand in the order of their names.")
    pages = [_item_of(path) for path in sorted(archive.names, key=_natural)]
    order = [page for page in pages if page.is_page and not page.path.lower().startswith(("meta-inf/", "__macosx/"))]
    return Package(BookFacts(), items={page.path: page for page in order}, order=order, warnings=warnings)


def read_xml(archive: Archive, path: str, warnings: list[str]) -> _Element | None:
    """The tree of a small XML file of the book, with a warning where it is damaged."""
    try:
        return xml_tree(archive.read(path, max_bytes=_PACKAGE_BYTES))
    except BrokenMember as error:
        warnings.append(f"The file {shown_name(path)} of the book is damaged: {error}.")
        return xml_tree(error.body)
    except TooManyParts:
        warnings.append(f"The file {shown_name(path)} of the book is too large to be read.")
        return None


def resolve(archive: Archive, base: str, href: str) -> str:
    """The archive's name of the file that a reference means, seen from a folder; empty where there is none."""
    href = href.strip().partition("#")[0].partition("?")[0].replace("\\", "/")
    if not href or _SCHEME.match(href):
        return ""
    for spelling in dict.fromkeys((unquote(href), href)):
        for place in (posixpath.join(base, spelling), spelling):
            if (found := archive.find(place)) is not None:
                return found
    return ""


def _package_paths(archive: Archive, warnings: list[str]) -> Iterator[str]:
    container = archive.find("META-INF/container.xml") or next(
        (name for name in archive.names if name.lower().endswith("/meta-inf/container.xml")), None
    )
    seen: set[str] = set()
    if container is not None:
        root = read_xml(archive, container, warnings)
        # A folder that was packed whole has everything one step down.
        base = posixpath.dirname(posixpath.dirname(container))
        for rootfile in root.iter() if root is not None else ():
            if local_name(rootfile) == "rootfile" and (named := attribute(rootfile, "full-path")):
                path = resolve(archive, base, named)
                if path and path not in seen:
                    seen.add(path)
                    yield path
    for name in archive.names:
        if name.lower().endswith(".opf") and name not in seen and not name.startswith("__MACOSX/"):
            yield name


def _package(archive: Archive, path: str, root: _Element, warnings: list[str]) -> Package:
    package = Package(_facts(root), base=posixpath.dirname(path), warnings=warnings)
    spine: _Element | None = None
    for element in root.iter():
        name = local_name(element)
        if name == "item" and (href := attribute(element, "href")):
            item = Item(
                attribute(element, "id") or href,
                href,
                resolve(archive, package.base, href),
                attribute(element, "media-type").lower(),
                frozenset(attribute(element, "properties").lower().split()),
                attribute(element, "fallback"),
            )
            package.items.setdefault(item.id, item)
        elif name == "spine" and spine is None:
            spine = element
        elif name == "reference" and (href := attribute(element, "href")) and "#" not in href:
            package.guide.setdefault(resolve(archive, package.base, href), attribute(element, "type").lower())
    _set_order(package, spine)
    named = attribute(spine, "toc") if spine is not None else ""
    package.ncx = _ncx(package, named)
    return package


def _set_order(package: Package, spine: _Element | None) -> None:
    by_href = {item.href: item for item in package.items.values()}
    seen: set[str] = set()
    unknown: list[str] = []
    for itemref in spine if spine is not None else ():
        idref = attribute(itemref, "idref")
        if local_name(itemref) != "itemref" or not idref:
            continue
        item = package.items.get(idref) or by_href.get(idref)
        if item is None:
            unknown.append(idref)
            continue
        item = _readable(package, item)
        if (item.path or item.href) not in seen:
            seen.add(item.path or item.href)
            (package.apart if attribute(itemref, "linear").lower() == "no" else package.order).append(item)
    if unknown:
        shown = ", ".join(map(shown_name, unknown[:3])) + ("…" if len(unknown) > 3 else "")
        package.warnings.append(f"The book's order names what is not in it ({shown}).")
    if not package.order:
        others = [item for item in package.items.values() if item.is_page and item.path not in seen]
        package.order = [item for item in others if "nav" not in item.properties]
        if package.order:
            package.warnings.append("The book says no order: its pages stand as they are listed.")
        else:
            package.order, package.apart = package.apart, []


def _readable(package: Package, item: Item) -> Item:
    """The item, or what the book offers in the place of one that is no page."""
    at, steps = item, 0
    while not at.is_page and at.fallback in package.items and steps < 10:
        at, steps = package.items[at.fallback], steps + 1
    return at if at.is_page else item


def _ncx(package: Package, named: str) -> str:
    item = package.items.get(named)
    if item is not None and item.path:
        return item.path
    if named:
        package.warnings.append(f"The table of contents that the book names ({shown_name(named)}) is not in it.")
    listed = (
        item.path
        for item in package.items.values()
        if item.path and (item.media_type == "application/x-dtbncx+xml" or item.path.lower().endswith(".ncx"))
    )
    return next(listed, "")


def _facts(root: _Element) -> BookFacts:
    found: dict[str, list[_Element]] = {}
    refined: dict[tuple[str, str], str] = {}
    named: dict[str, str] = {}
    for metadata in (element for element in root.iter() if local_name(element) == "metadata"):
        for element in metadata.iter():
            name = local_name(element)
            if name == "meta":
                text = _text(element) or attribute(element, "content")
                refined[attribute(element, "refines").lstrip("#"), attribute(element, "property")] = text
                named.setdefault(attribute(element, "name").lower() or attribute(element, "property").lower(), text)
            elif name and _text(element):
                found.setdefault(name, []).append(element)
    titles = found.get("title", [])
    main = [element for element in titles if refined.get((attribute(element, "id"), "title-type")) == "main"]
    title = _text((main or titles)[0]) if titles else named.get("title", "")
    languages = (_text(element).replace("_", "-").split("-")[0].lower() for element in found.get("language", []))
    return BookFacts(
        title=title,
        author=_authors(found.get("creator", []), refined),
        published=_published(found.get("date", [])),
        language=next((code for code in map(_two_letters, languages) if code), ""),
        meta=_meta(found, named),
    )


def _authors(creators: list[_Element], refined: dict[tuple[str, str], str]) -> str:
    roles = [
        (_text(element), (attribute(element, "role") or refined.get((attribute(element, "id"), "role"), "")).lower())
        for element in creators
    ]
    writers = [name for name, role in roles if role in ("aut", "")] or [name for name, _ in roles]
    known = [name for name in writers if name.lower() not in _GENERIC_AUTHORS]
    return ", ".join(dict.fromkeys(known))[:300]


def _published(dates: list[_Element]) -> str:
    """The day of publication. A year alone is no day, and the day a file was changed is no publication."""
    ranked = sorted(
        dates, key=lambda element: attribute(element, "event").lower() not in ("publication", "original-publication")
    )
    for element in ranked:
        match = _DATE.match(_text(element))
        if match and attribute(element, "event").lower() not in ("modification", "creation", "conversion"):
            return match.group() if not match.group().startswith(("0000", "0101")) else ""
    return ""


def _meta(found: dict[str, list[_Element]], named: dict[str, str]) -> dict[str, Any]:
    meta: dict[str, Any] = {}
    for name, key in (
        ("publisher", "publisher"),
        ("identifier", "identifiers"),
        ("subject", "subjects"),
        ("date", "dates"),
    ):
        values = list(dict.fromkeys(_text(element)[:300] for element in found.get(name, [])))[:20]
        if values:
            meta[key] = values[0] if key == "publisher" else values
    if series := named.get("calibre:series") or named.get("belongs-to-collection"):
        meta["series"] = series[:300]
    return meta


def _two_letters(code: str) -> str:
    three = {
        "rus": "ru",
        "eng": "en",
        "ger": "de",
        "deu": "de",
        "fra": "fr",
        "fre": "fr",
        "spa": "es",
        "ita": "it",
        "ukr": "uk",
    }
    code = three.get(code, code)
    return code if re.fullmatch("[a-z]{2}", code) else ""


def _text(element: _Element) -> str:
    return " ".join("".join(str(part) for part in element.itertext()).split())


def _item_of(path: str) -> Item:
    return Item(path, path, path, "")


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", name.lower())]
