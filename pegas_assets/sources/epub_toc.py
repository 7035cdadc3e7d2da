"""The table of contents of an EPUB: which title stands where, how deep, and which printed page begins where."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pegas_assets.sources.archive import Archive
from pegas_assets.sources.book_markup import attribute, local_name
from pegas_assets.sources.book_tree import page_number
from pegas_assets.sources.epub_package import Package, read_xml, resolve

if TYPE_CHECKING:
    from lxml.etree import _Element

_MOST_ENTRIES = 20_000
_DEEPEST = 6


@dataclass(frozen=True)
class Entry:
    """A title at a place of a file. `depth` counts from 1; an empty `fragment` is the file's beginning."""

    title: str
    depth: int
    fragment: str


@dataclass
class Contents:
    """Entries and numbers of printed pages by the file that they stand in, and what the book calls its files."""

    entries: dict[str, list[Entry]] = field(default_factory=dict)
    pages: dict[str, dict[str, int]] = field(default_factory=dict)
    landmarks: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Node:
    title: str
    target: str
    depth: int


def read_contents(archive: Archive, package: Package) -> Contents:
    """The contents as the navigation document has them, else as the NCX has."""
    contents = Contents()
    nav = next((item.path for item in package.items.values() if "nav" in item.properties and item.path), "")
    if nav and (root := read_xml(archive, nav, package.warnings)) is not None:
        _from_nav(archive, nav, root, contents)
    if package.ncx and (root := read_xml(archive, package.ncx, package.warnings)) is not None:
        _from_ncx(archive, package.ncx, root, contents, entries=not contents.entries)
    return contents


def _from_nav(archive: Archive, path: str, root: _Element, contents: Contents) -> None:
    for nav in (element for element in root.iter() if local_name(element) == "nav"):
        kind = attribute(nav, "type").lower().split()
        if "page-list" in kind:
            for link in (element for element in nav.iter() if local_name(element) == "a"):
                _add_page(archive, path, attribute(link, "href"), _text(link), contents)
        elif "landmarks" in kind:
            for link in (element for element in nav.iter() if local_name(element) == "a"):
                href = attribute(link, "href")
                if "#" not in href and (found := resolve(archive, posixpath.dirname(path), href)):
                    contents.landmarks.setdefault(found, attribute(link, "type").lower())
        elif "toc" in kind or (not kind and not contents.entries):
            _add_entries(archive, path, list(_nav_nodes(nav, 0)), contents)


def _nav_nodes(element: _Element, depth: int) -> Iterator[_Node]:
    """The items of the lists below an element, each before those inside it."""
    for child in element:
        name = local_name(child)
        if name in ("ol", "ul"):
            for item in child:
                if local_name(item) == "li":
                    label = next((part for part in item if local_name(part) in ("a", "span", "p", "div")), None)
                    link = next((part for part in item.iter() if local_name(part) == "a"), None)
                    if (
                        label is not None
                        and local_name(label) != "a"
                        and link is not None
                        and label not in link.iterancestors()
                    ):
                        link = None
                    if label is not None:
                        yield _Node(_text(label), attribute(link, "href") if link is not None else "", depth + 1)
                    if depth < 50:
                        yield from _nav_nodes(item, depth + 1)
        elif name not in ("a", "span", "h1", "h2", "h3", "h4", "h5", "h6", "") and depth < 50:
            yield from _nav_nodes(child, depth)


def _from_ncx(archive: Archive, path: str, root: _Element, contents: Contents, *, entries: bool) -> None:
    for element in root.iter():
        name = local_name(element)
        if name == "navmap" and entries:
            _add_entries(archive, path, list(_ncx_nodes(element, 0)), contents)
        elif name == "pagetarget":
            node = _ncx_node(element, 1)
            _add_page(archive, path, node.target, attribute(element, "value") or node.title, contents)


def _ncx_nodes(element: _Element, depth: int) -> Iterator[_Node]:
    for child in element:
        if local_name(child) == "navpoint":
            yield _ncx_node(child, depth + 1)
            if depth < 50:
                yield from _ncx_nodes(child, depth + 1)


def _ncx_node(point: _Element, depth: int) -> _Node:
    title = next((_text(part) for part in point if local_name(part) == "navlabel"), "")
    target = next((attribute(part, "src") for part in point if local_name(part) == "content"), "")
    return _Node(title, target, depth)


def _add_entries(archive: Archive, path: str, nodes: list[_Node], contents: Contents) -> None:
    """A title without a place of its own stands where the first one inside it does."""
    base = posixpath.dirname(path)
    nodes = nodes[:_MOST_ENTRIES]
    places: list[tuple[str, str]] = []
    for node in nodes:
        found = resolve(archive, base, node.target) or (path if node.target.startswith("#") else "")
        places.append((found, unquote(node.target.partition("#")[2])))
    for at in reversed(range(len(nodes))):
        inner = at + 1
        while not places[at][0] and inner < len(nodes) and nodes[inner].depth > nodes[at].depth:
            places[at] = places[inner]
            inner += 1
    for node, (file, fragment) in zip(nodes, places, strict=True):
        if file and node.title:
            contents.entries.setdefault(file, []).append(Entry(node.title[:500], min(node.depth, _DEEPEST), fragment))


def _add_page(archive: Archive, path: str, target: str, label: str, contents: Contents) -> None:
    file = resolve(archive, posixpath.dirname(path), target)
    fragment = unquote(target.partition("#")[2])
    if file and (number := page_number(label)) is not None:
        contents.pages.setdefault(file, {})[fragment] = number


def _text(element: _Element) -> str:
    return " ".join("".join(str(part) for part in element.itertext()).split())
