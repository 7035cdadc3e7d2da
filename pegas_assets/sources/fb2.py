"""Reads FictionBook (FB2), also packed: the other format in which books in Russian are passed on."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pegas_assets.errors import Refused
from pegas_assets.model import ParsedDocument
from pegas_assets.sources.archive import BrokenMember, Caps, open_archive, shown_name
from pegas_assets.sources.book_markup import (
    MAX_PARTS,
    TooManyParts,
    attribute,
    decode_markup,
    local_name,
    page_tree,
    xml_tree,
)
from pegas_assets.sources.book_text import BookFacts, BookText, letters_in, named_book, written_blocks
from pegas_assets.sources.book_tree import make_readable
from pegas_assets.sources.page_text import page_body
from pegas_assets.sources.reading import Reading

if TYPE_CHECKING:
    from lxml.etree import _Element
    from lxml.html import HtmlElement

READER = "fb2/1"

_MAX_CHARS = 16_000_000
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)(?=[\s/>])")
_AS_HTML = {
    "FictionBook": "div", "title": "booktitle", "subtitle": "h6", "epigraph": "blockquote", "cite": "blockquote",
    "poem": "div", "stanza": "div", "v": "p", "text-author": "p", "date": "p", "emphasis": "i", "strikethrough": "s",
    "style": "span", "image": "img", "annotation": "div", "empty-line": "hr", "body": "div", "head": "div",
}  # fmt: skip
_BODY = re.compile(r"<body\b([^<>]*)>")
_NOTES = re.compile(r"\bname\s*=\s*[\"'](?:notes|comments|footnotes|примечания)", re.IGNORECASE)
_NUMBER = re.compile(r"\W*(\d{1,5}|\*{1,3})\W*")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_fb2(body: bytes, reading: Reading) -> ParsedDocument:
    """A document from the bytes of an FB2, or of a ZIP that holds one: its bodies in order, the notes last.

    Raises:
        Refused: damaged as a whole, too large, or without text.
    """
    shown = named_book(reading.name)
    warnings: list[str] = []
    if body.startswith(b"PK"):
        body = _unpacked(body, shown, warnings)
    decoded = decode_markup(body, default=reading.default_encoding)
    whole = _without_binaries(decoded.text)
    if len(whole) > _MAX_CHARS:
        raise _too_large(shown, f"it has over {_MAX_CHARS:,} characters")
    text = BookText(shown, reading.max_chars)
    letters = 0
    try:
        facts = _facts(whole)
        for part, is_notes in _bodies(whole):
            root = page_tree(f"<html><body>{_TAG.sub(_as_html, part)}</body></html>")
            if root is None:
                continue
            _set_titles(page_body(root), is_notes=is_notes, named=bool(facts.title))
            make_readable(root, {})
            blocks = written_blocks(root)
            letters += letters_in(blocks)
            text.add(blocks)
    except TooManyParts:
        raise _too_large(shown, f"it has over {MAX_PARTS:,} elements") from None
    if not letters:
        raise Refused(f"{shown} has no text in it.", hint="Get it again from its source.", item=shown)
    return text.document(
        facts,
        reader=READER,
        reading=replace(reading, name=reading.name.removesuffix(".zip")),
        encoding=decoded.encoding,
        confidence=decoded.confidence,
        warnings=[*warnings, *decoded.warnings],
    )


def _unpacked(body: bytes, shown: str, warnings: list[str]) -> bytes:
    archive = open_archive(body, shown=shown, caps=Caps(total_bytes=60_000_000))
    warnings.extend(archive.warnings)
    member = next((found for found in archive.names if found.lower().endswith(".fb2")), archive.names[0])
    try:
        return archive.read(member)
    except BrokenMember as error:
        warnings.append(
            f"The file {shown_name(member)} of the book is damaged: {error}; what could be read of it is kept."
        )
        return error.body


def _without_binaries(text: str) -> str:
    """The book without its pictures, which stand in it as letters."""
    head, *rest = text.split("<binary")
    return "".join([head, *(part.partition("</binary>")[2] for part in rest)])


def _bodies(text: str) -> list[tuple[str, bool]]:
    """The bodies, each with whether it holds the notes; those come last."""
    starts = list(_BODY.finditer(text))[:100]
    bodies = []
    for at, match in enumerate(starts):
        end = starts[at + 1].start() if at + 1 < len(starts) else len(text)
        part = text[match.end() : end].partition("</body>")[0]
        bodies.append((part, bool(_NOTES.search(match.group(1)))))
    return sorted(bodies, key=lambda body: body[1])


def _as_html(match: re.Match[str]) -> str:
    return f"<{match.group(1)}{_AS_HTML.get(match.group(2), match.group(2))}"


def _set_titles(body: HtmlElement, *, is_notes: bool, named: bool) -> None:
    """Titles become headings by how many sections they stand in. The number of a note opens its text."""
    for title in list(body.iter("booktitle")):
        depth = sum(1 for around in title.iterancestors() if around.tag == "section")
        lines = [" ".join(line.text_content().split()) for line in title.iter("p")] or [title.text_content()]
        words = ". ".join(line.rstrip(".") for line in lines if line)
        number = _NUMBER.fullmatch(words)
        first = next((line for line in title.itersiblings() if line.tag == "p"), None)
        for child in list(title):
            title.remove(child)
        title.text = None
        if is_notes and depth and number and first is not None:
            first.text = f"[{number.group(1)}] {first.text or ''}"
        elif (depth or is_notes or not named) and words:
            # The title of the whole is the book's own, which stands above the text already.
            title.tag, title.text = f"h{min(max(depth + is_notes, 1), 6)}", words
    for subtitle in body.iter("h6"):
        depth = sum(1 for around in subtitle.iterancestors() if around.tag == "section")
        if subtitle.text_content().strip(" \n*•—–-"):
            subtitle.tag = f"h{min(depth + 1, 6)}"
        else:
            subtitle.tag = "p"


def _facts(text: str) -> BookFacts:
    start, end = text.find("<description"), text.find("</description>")
    root = xml_tree(text[start : end + 14].encode()) if 0 <= start < end else None
    if root is None:
        return BookFacts()
    info = _first(root, "title-info")
    info = root if info is None else info
    title = _words(_first(info, "book-title"))
    authors = [_person(element) for element in info if local_name(element) == "author"]
    date = _first(info, "date")
    published = _ISO_DATE.match(attribute(date, "value") or _words(date)) if date is not None else None
    language = _words(_first(info, "lang")).split("-")[0].lower()
    meta = {
        key: words[:1000]
        for key, part in (("publisher", "publisher"), ("isbn", "isbn"), ("year", "year"), ("description", "annotation"))
        if (words := _words(_first(root, part)))
    }
    sequence = _first(info, "sequence")
    if sequence is not None and (series := attribute(sequence, "name")):
        meta["series"] = series[:300]
    return BookFacts(
        title=title,
        author=", ".join(dict.fromkeys(author for author in authors if author))[:300],
        published=published.group() if published else "",
        language=language if re.fullmatch("[a-z]{2}", language) else "",
        meta=dict(meta),
    )


def _person(element: _Element) -> str:
    parts = [_words(_first(element, part)) for part in ("first-name", "middle-name", "last-name")]
    return " ".join(part for part in parts if part) or _words(_first(element, "nickname"))


def _first(element: _Element, name: str) -> _Element | None:
    return next((part for part in element.iter() if local_name(part) == name), None)


def _words(element: _Element | None) -> str:
    return " ".join("".join(str(part) for part in element.itertext()).split()) if element is not None else ""


def _too_large(shown: str, why: str) -> Refused:
    return Refused(f"{shown} is too large: {why}.", hint="Split it.", item=shown)
