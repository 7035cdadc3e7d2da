"""The text of a Word paragraph as it is shown: insertions, not deletions; links, fields, formulas; notes apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docx.document import Document

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_LEFT_OUT = frozenset(
    (f"{W}del", f"{W}moveFrom", f"{W}instrText", f"{W}delText", f"{W}pPr", f"{W}rPr", f"{W}txbxContent", f"{W}rt", f"{_MC}Fallback")
)  # fmt: skip


def first(element: Any, name: str) -> Any:
    return element.find(f"{W}{name}")


def children(element: Any, name: str) -> Iterator[Any]:
    """The rows of a table, the cells of a row, those inside content controls and insertions too."""
    for child in element:
        if child.tag == f"{W}{name}":
            yield child
        elif child.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}customXml"):
            yield from children(child, name)


class WordText:
    """Reads paragraphs and remembers the notes and comments that they refer to. `at` is the paragraph's number."""

    def __init__(self, document: Document) -> None:
        self.at = 0
        self._document = document
        self._noted: list[tuple[str, str, int]] = []
        self._parts: dict[str, dict[str, Any]] = {}

    def of(self, paragraph: Any, *, code: bool = False) -> str:
        pieces: list[str] = []
        self._walk(paragraph, pieces, code=code)
        text = "".join(pieces)
        if code:
            return text.rstrip()
        return "\n".join(" ".join(line.split()) for line in text.split("\n")).strip("\n")

    def boxes_of(self, paragraph: Any) -> list[Any]:
        """The text boxes that hang on a paragraph; of a box that is there in two forms, the first."""
        return [
            box
            for box in paragraph.iter(f"{W}txbxContent")
            if not any(around.tag == f"{_MC}Fallback" for around in box.iterancestors())
            and next((around for around in box.iterancestors() if around.tag == f"{W}p"), None) is paragraph
        ]

    def notes(self) -> Iterator[tuple[str, int]]:
        """Notes in the order of their marks, then comments, each with the number of the paragraph that refers to it."""
        for number, (kind, key, at) in enumerate(self._noted, 1):
            note = self._part(kind).get(key)
            if note is not None and (text := self._inner(note)):
                yield f"[^{number}]: {text}", at
        for comment in self._part("comments").values():
            text = self._inner(comment)
            if text:
                author = (comment.get(f"{W}author") or "").strip()
                yield f"Comment by {author}: {text}" if author else f"Comment: {text}", 0

    def _inner(self, note: Any) -> str:
        noted = len(self._noted)
        text = " ".join(part for part in (self.of(paragraph) for paragraph in note.iter(f"{W}p")) if part)
        del self._noted[noted:]
        return text

    def _part(self, kind: str) -> dict[str, Any]:
        """The notes of a kind by id; footnotes, endnotes, comments."""
        if kind not in self._parts:
            from lxml import etree

            found: dict[str, Any] = {}
            for relation in self._document.part.rels.values():
                if not relation.is_external and relation.reltype.endswith(f"/{kind}"):
                    root = etree.fromstring(
                        relation.target_part.blob,
                        etree.XMLParser(resolve_entities=False, no_network=True, recover=True),
                    )
                    for note in root if root is not None else ():
                        if note.get(f"{W}type") in (None, "normal"):
                            found[note.get(f"{W}id") or ""] = note
            self._parts[kind] = found
        return self._parts[kind]

    def _walk(self, element: Any, pieces: list[str], *, code: bool) -> None:
        for child in element:
            tag = child.tag
            if tag in _LEFT_OUT or not isinstance(tag, str):
                continue
            if tag == f"{W}r" and _is_hidden(child):
                continue
            if tag in (f"{W}t", f"{_M}t"):
                pieces.append(child.text or "")
            elif tag == f"{W}tab":
                pieces.append("    " if code else " ")
            elif tag in (f"{W}br", f"{W}cr"):
                pieces.append("\n" if child.get(f"{W}type") in (None, "textWrapping") else " ")
            elif tag == f"{W}noBreakHyphen":
                pieces.append("-")
            elif tag == f"{W}sym":
                pieces.append(_symbol(child))
            elif tag in (f"{W}footnoteReference", f"{W}endnoteReference"):
                self._noted.append(
                    (f"{tag.removeprefix(W).removesuffix('Reference')}s", child.get(f"{W}id") or "", self.at)
                )
                pieces.append(f"[^{len(self._noted)}]")
            else:
                self._walk(child, pieces, code=code)


def _is_hidden(run: Any) -> bool:
    properties = first(run, "rPr")
    hidden = first(properties, "vanish") if properties is not None else None
    return hidden is not None and hidden.get(f"{W}val") not in ("0", "false")


def _symbol(element: Any) -> str:
    """A character of a symbol font: a bullet where it has no meaning of its own."""
    try:
        code = int(element.get(f"{W}char") or "", 16)
    except ValueError:
        return ""
    return "•" if 0xF000 <= code <= 0xF0FF else chr(code) if 0x20 <= code <= 0x10FFFF else ""
