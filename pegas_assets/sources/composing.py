"""Puts a document together from blocks that a reader makes one after another, each with its place in the source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from pegas_assets.errors import Refused
from pegas_assets.model import BlockKind, DocumentKind, ParsedDocument
from pegas_assets.sources.blocks import Marks, SourceBlock
from pegas_assets.sources.chunking import CHUNKER
from pegas_assets.sources.reading import Reading
from pegas_assets.text.cleaning import clean_text
from pegas_assets.text.decoding import Decoded
from pegas_assets.text.language import detect_language


class Composer:
    """The text so far, its blocks, and where the parts of the source (`unit`, one of `model.UNITS`) begin in it."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._parts: list[str] = []
        self._places: list[tuple[int, float]] = []
        self.blocks: list[SourceBlock] = []
        self.length = 0

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def marks(self) -> Marks:
        return Marks(self._unit, tuple(self._places))

    def add(
        self, kind: BlockKind, content: str, *, at: float, level: int = 0, info: str = "", tight: bool = False
    ) -> None:
        """A block that begins at a place of the source; nothing where there is nothing in it. `tight` parts it from the
        block before by a line end only."""
        content = clean_text(content).strip("\n").rstrip()
        if not content.strip():
            return
        self._gap("\n" if tight else "\n\n")
        start = self.length
        if kind is BlockKind.HEADING:
            content = " ".join(content.split())
            self._put(f"{'#' * level} ")
        self.mark(at, start)
        self._put(content)
        title = content if kind is BlockKind.HEADING else ""
        self.blocks.append(SourceBlock(kind, start, self.length, info=info, level=level, title=title))

    def add_lines(self, kind: BlockKind, lines: Sequence[tuple[float | None, str]], *, info: str = "") -> None:
        """A block of lines, each with its own place; a line without one belongs to the place before."""
        cleaned = [(at, clean_text(line).replace("\n", " ").rstrip()) for at, line in lines]
        cleaned = [(at, line) for at, line in cleaned if line]
        if not cleaned:
            return
        self._gap("\n\n")
        start = self.length
        for number, (at, line) in enumerate(cleaned):
            if number:
                self._put("\n")
            if at is not None:
                self.mark(at)
            self._put(line)
        self.blocks.append(SourceBlock(kind, start, self.length, info=info))

    def add_document(self, text: str, blocks: Sequence[SourceBlock], *, at: float) -> None:
        """A text with blocks of its own, such as a cell of Markdown."""
        if not blocks:
            return
        self._gap("\n\n")
        start = self.length
        self.mark(at, start)
        self._put(text)
        for block in blocks:
            self.blocks.append(
                SourceBlock(block.kind, block.start + start, block.end + start, block.info, block.level, block.title)
            )

    def mark(self, at: float, offset: int | None = None) -> None:
        """Here a part of the source begins."""
        if not self._places or self._places[-1][1] != at:
            self._places.append((self.length if offset is None else offset, at))

    def _gap(self, gap: str) -> None:
        if self._parts:
            self._put(gap)

    def _put(self, content: str) -> None:
        self._parts.append(content)
        self.length += len(content)


def composed(
    composer: Composer,
    reading: Reading,
    *,
    reader: str,
    kind: DocumentKind = DocumentKind.TEXT,
    title: str = "",
    author: str = "",
    published: str = "",
    language_hint: str = "und",
    decoded: Decoded | None = None,
    meta: dict[str, object] | None = None,
    warnings: Sequence[str] = (),
) -> ParsedDocument:
    """The document that was put together. Its title: as given, else its first heading, else the name of the file.

    Raises:
        Refused: there is no text in it, or more than may be read.
    """
    text, name = composer.text, reading.name
    shown = f"“{PurePosixPath(name).name}” " if name else ""
    if not text.strip():
        raise Refused(f"The document {shown}has no text.", hint="Give one with words.", item=name)
    if len(text) > reading.max_chars:
        raise Refused(
            f"The text {shown}has {len(text):,} characters; at most {reading.max_chars:,} are read.",
            hint="Split the file, or raise PEGAS_MAX_TEXT_CHARS.",
            item=name,
        )
    prose: list[str] = []
    for block in composer.blocks[:200]:
        if block.kind is not BlockKind.CODE:
            prose.append(text[block.start : min(block.end, block.start + 1000)])
    language = detect_language("\n".join(prose)[:6000] or text[:6000], hint=language_hint)
    heading = next((block.title for block in composer.blocks if block.kind is BlockKind.HEADING), "")
    first_line = text.split("\n", 1)[0]
    return ParsedDocument(
        kind=kind,
        text=text,
        chunks=reading.cut(text, composer.blocks, language=language, marks=composer.marks),
        title=" ".join(clean_text(title).split())[:300]
        or heading[:300]
        or PurePosixPath(name.replace("\\", "/")).stem[:300]
        or first_line[:80],
        language=language,
        author=" ".join(clean_text(author).split())[:300],
        published=published,
        encoding=decoded.encoding if decoded else "",
        encoding_confidence=decoded.confidence if decoded else 1.0,
        meta=meta or {},
        warnings=tuple(warnings),
        reader=f"{reader}+{CHUNKER}",
    )
