"""Reads EPUB books: chapters in the book's order, with its titles, its printed pages and its notes."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pegas_assets.errors import Refused
from pegas_assets.model import ParsedDocument
from pegas_assets.sources.archive import Archive, BrokenMember, Caps, open_archive, shown_name
from pegas_assets.sources.book_markup import MAX_PARTS, TooManyParts, decode_markup, page_tree
from pegas_assets.sources.book_text import BookText, letters_in, named_book, written_blocks
from pegas_assets.sources.book_tree import make_readable, types_of
from pegas_assets.sources.epub_headings import has_heading, set_headings
from pegas_assets.sources.epub_lock import refuse_locked
from pegas_assets.sources.epub_package import Item, Package, read_package
from pegas_assets.sources.epub_toc import Contents, Entry, read_contents
from pegas_assets.sources.page_text import PageBlock, page_body
from pegas_assets.sources.reading import Reading

if TYPE_CHECKING:
    from lxml.html import HtmlElement

READER = "epub/1"

_CAPS = Caps(member_bytes=16_000_000, total_bytes=150_000_000)
_AROUND = {"toc": 100_000, "lot": 100_000, "loi": 100_000, "landmarks": 100_000, "page-list": 100_000,
           "cover": 300, "copyright-page": 4_000, "copyright": 4_000}  # fmt: skip
"""Pages around the text, by what the book calls them, and how many letters such a page has at most."""

_COPYRIGHT = re.compile(r"©|\(c\)|\bcopyright\b|\bISBN\b|all rights reserved|все права защищены", re.IGNORECASE)
_RIGHTS_CHARS = 1_500
_LETTERS_ON_A_PICTURE = 20
_CONTENTS_TITLE = re.compile(
    r"(?:table of )?contents|содержание|оглавление|inhalt(?:sverzeichnis)?|зміст", re.IGNORECASE
)


@dataclass(frozen=True)
class _Page:
    """A page as it was read: its blocks with their Markdown, its pictures, and whether it stands around the text."""

    blocks: list[tuple[PageBlock, str]]
    letters: int
    pictures: int
    around: bool


def read_epub(body: bytes, reading: Reading) -> ParsedDocument:
    """A document from the bytes of an EPUB 2 or 3.

    The spine gives the order, what stands outside it (`linear="no"`) comes last; headings get the depth of the table
    of contents, which also gives titles to what has none. Contents, cover and copyright pages are no chapters. Printed
    pages, where the book marks them, are the locators' pages. What is missing or damaged in it is a warning.

    Raises:
        Refused: locked, damaged as a whole, too large, or without text; `needs_ocr` where it is made of pictures.
    """
    shown = named_book(reading.name)
    archive = open_archive(body, shown=shown, caps=_CAPS)
    package = read_package(archive)
    refuse_locked(
        archive, {item.path for item in package.items.values() if item.is_page or item.path == package.ncx}, shown=shown
    )
    contents = read_contents(archive, package)
    read = _Pages(archive, package, contents, shown, reading.default_encoding)
    text = BookText(shown, reading.max_chars)
    pages: list[_Page] = []
    for item in [*package.order, *package.apart]:
        page = read.page(item, apart=item in package.apart)
        if page is None:
            continue
        pages.append(page)
        if not page.around:
            text.add(page.blocks)
    kept = [page for page in pages if not page.around]
    if not any(page.letters for page in kept):
        # A book that is nothing but a cover, or calls its text one.
        kept = pages
        for page in pages:
            if page.around:
                text.add(page.blocks)
    _require_text(kept, read, shown)
    return text.document(
        package.facts,
        reader=READER,
        reading=reading,
        encoding=read.encodings.most_common(1)[0][0] if read.encodings else "",
        confidence=read.confidence,
        warnings=[*archive.warnings, *package.warnings, *read.warnings],
    )


class _Pages:
    """Reads one page after another; levels of headings go on from page to page."""

    def __init__(self, archive: Archive, package: Package, contents: Contents, shown: str, default: str) -> None:
        self._archive = archive
        self._package = package
        self._contents = contents
        self._shown = shown
        self._default = default
        self._shift = 0
        self._navs = {item.path for item in package.items.values() if "nav" in item.properties}
        self.warnings: list[str] = []
        self.encodings: Counter[str] = Counter()
        self.confidence = 1.0
        self.pictures = 0

    def page(self, item: Item, *, apart: bool) -> _Page | None:
        """A page of the book; None, with a warning where one is due, if it cannot be read or is none."""
        if item.path in self._navs:
            return None
        if not item.path:
            self.warnings.append(f"The file {shown_name(item.href)} of the book is missing.")
            return None
        if item.is_picture and not item.is_page:
            self.pictures += 1
            return None
        if not item.is_page:
            self.warnings.append(
                f"The file {shown_name(item.path)} of the book is no page that is read ({item.media_type[:80]})."
            )
            return None
        body = self._body(item.path)
        root = self._tree(item.path, body) if body else None
        return self._read(item, root, apart) if root is not None else None

    def _body(self, path: str) -> bytes:
        try:
            body = self._archive.read(path)
        except BrokenMember as error:
            body = error.body
            rest = "what could be read of it is kept" if body.strip() else "nothing of it could be read"
            self.warnings.append(f"The file {shown_name(path)} of the book is damaged: {error}; {rest}.")
        return body

    def _tree(self, path: str, body: bytes) -> HtmlElement | None:
        if body.startswith((b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF-")):
            self.warnings.append(f"The file {shown_name(path)} of the book is no page: its bytes are of another kind.")
            return None
        decoded = decode_markup(body, default=self._default)
        usual = self.encodings.most_common(1)
        if decoded.confidence < 0.5 and usual and usual[0][0] != decoded.encoding:
            # What no encoding fits is damaged, in the encoding of the rest.
            text = body.decode(usual[0][0], "replace")
            lost = f"What is damaged stands as U+FFFD ({usual[0][0]})."
            decoded = replace(decoded, text=text, encoding=usual[0][0], warnings=(lost,))
        self.encodings[decoded.encoding] += len(body)
        self.confidence = min(self.confidence, decoded.confidence)
        self.warnings.extend(
            f"In {shown_name(path)}: {warning[:1].lower()}{warning[1:]}" for warning in decoded.warnings
        )
        text = decoded.text
        if path.lower().endswith(".txt") and "<p" not in text[:10_000].lower():
            text = "".join(
                f"<p>{part.replace('&', '&amp;').replace('<', '&lt;')}</p>" for part in re.split(r"\n\s*\n", text)
            )
        try:
            return page_tree(text)
        except TooManyParts:
            raise Refused(
                f"{self._shown} is too large: its file {shown_name(path)} has over {MAX_PARTS:,} elements.",
                hint="Split the file.",
                item=self._shown,
            ) from None

    def _read(self, item: Item, root: HtmlElement, apart: bool) -> _Page:
        path = item.path
        pictures = make_readable(root, self._contents.pages.get(path, {}))
        body = page_body(root)
        is_around = self._is_around(path, body)
        entries: Sequence[Entry] = self._contents.entries.get(path, ())
        if apart and not entries:
            self._shift = 0
        letters = sum(map(str.isalpha, body.text_content()))
        if not is_around and letters:
            sure = bool(self._contents.entries)
            self._shift = set_headings(body, entries if sure else self._own_title(root, body), self._shift, sure=sure)
        blocks = written_blocks(root)
        return _Page(blocks, min(letters, letters_in(blocks)), pictures, is_around)

    def _own_title(self, root: HtmlElement, body: HtmlElement) -> Sequence[Entry]:
        """What a page calls itself in its head, where the book has no contents and the page no heading."""
        if has_heading(body):
            return ()
        title = next((" ".join((element.text or "").split()) for element in root.iter("title")), "")
        return (Entry(title[:500], 1, ""),) if title else ()

    def _is_around(self, path: str, body: HtmlElement) -> bool:
        """Whether a page is contents, cover or copyright: by the book's word for it, else by what is in it."""
        text = " ".join(body.text_content().split())
        said = {self._package.guide.get(path, ""), self._contents.landmarks.get(path, "")}
        said |= types_of(body)
        sections = [element for element in body if isinstance(element.tag, str)]
        if len(sections) == 1:
            said |= types_of(sections[0])
        words = {word for kind in said for word in kind.split()}
        if any(len(text) <= most for word, most in _AROUND.items() if word in words):
            return True
        if len(text) <= _RIGHTS_CHARS and len(set(map(str.lower, _COPYRIGHT.findall(text)))) >= 2:
            return not has_heading(body) or len(text) < _RIGHTS_CHARS // 3
        return self._is_contents(path, body, text)

    def _is_contents(self, path: str, body: HtmlElement, text: str) -> bool:
        links = [link for link in body.iter("a") if (link.get("href") or "").strip()]
        if len(links) < 3:
            return False
        linked = sum(len(" ".join(link.text_content().split())) for link in links)
        outward = {posixpath.basename((link.get("href") or "").partition("#")[0]) for link in links}
        outward -= {"", posixpath.basename(path)}
        titled = bool(_CONTENTS_TITLE.match(text))
        return len(outward) >= (2 if titled else 3) and linked >= (0.5 if titled else 0.8) * len(text)


def _require_text(pages: list[_Page], reading: _Pages, shown: str) -> None:
    letters = sum(page.letters for page in pages)
    pictured = [page for page in pages if page.pictures]
    few = len(pictured) == len(pages) and letters < _LETTERS_ON_A_PICTURE * len(pages)
    if letters and not few:
        return
    if pictured or reading.pictures:
        refused = Refused(
            f"{shown} has no text: its pages are pictures.",
            hint="Give a copy with text, or run OCR on it first.",
            item=shown,
        )
        refused.needs_ocr = True
        raise refused
    why = "; ".join(_few(reading.warnings))
    raise Refused(
        f"{shown} has no text in any of its pages{f' ({why})' if why else ''}.",
        hint="Open it in a reader: if there is text, get the book again from its source.",
        item=shown,
    )


def _few(warnings: Sequence[str]) -> Iterator[str]:
    for warning in warnings[:2]:
        yield warning.rstrip(".")
