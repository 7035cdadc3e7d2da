"""Cuts a document's blocks into chunks that an embedding model reads whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pegas_assets.model import Block, BlockKind, Locator, ParsedChunk
from pegas_assets.sources.blocks import Marks, SourceBlock
from pegas_assets.sources.pieces import Piece, split_block
from pegas_assets.text.language import detect_language

CHUNKER = "chunk/1"
"""Name and version of the rules below: another one makes other chunks of the same bytes."""

TARGET_TOKENS = 300
"""Blocks under one heading are packed up to here; a block that is larger and fits the model stays whole."""

_SMALL_SHARE = 0.2
"""A pack under this share of the target takes its neighbour with it, up to the limit."""

_TITLE_CHARS = 120
_CONTEXT_SHARE = 0.25

CountTokens = Callable[[str], int]


def cut(
    text: str,
    blocks: Sequence[SourceBlock],
    *,
    count_tokens: CountTokens,
    max_tokens: int,
    target_tokens: int = TARGET_TOKENS,
    language: str = "und",
    marks: Marks | None = None,
) -> tuple[ParsedChunk, ...]:
    """The chunks of a text. For each, `content == text[start:end]` and `context + "\\n" + content` fits `max_tokens`.

    Structure decides: a chunk never reaches over a heading, except one with nothing under it, which opens the next
    chunk. Blocks are packed up to `target_tokens`. A paragraph that is too large is cut between sentences, a table
    between rows, code between lines, a sentence between words, a word between characters, each only where it must be.
    Every character that is not white space is in exactly one chunk. The same text gives the same chunks.

    Args:
        text: the document's text.
        blocks: its blocks, in order, not overlapping, with all its visible characters.
        count_tokens: tokens of a passage in the embedding model, prefix and specials included.
        max_tokens: the most it reads.
        target_tokens: how large a chunk of several blocks grows.
        language: of the document, for stretches too short to tell.
        marks: where the source's pages (rows, cells, …) begin; each chunk's locator then says its own.
    """
    base = count_tokens("")
    chunks: list[ParsedChunk] = []
    for section, group in _sections(blocks):
        path = fit_path(section, count_tokens=count_tokens, max_tokens=max(8, int(max_tokens * _CONTEXT_SHARE)))
        context = " › ".join(path)
        room = max_tokens - (count_tokens(context + "\n") if context else base)
        packer = _Packer(text, count_tokens, base, room, max(1, min(target_tokens, room)), language)
        for pieces in packer.packs(group):
            for fitting in _fitting(text, pieces, context, count_tokens, max_tokens):
                chunks.append(_chunk(text, fitting, len(chunks), path, language, marks))
    return tuple(chunks)


def fit_path(section: tuple[str, ...], *, count_tokens: CountTokens, max_tokens: int) -> tuple[str, ...]:
    """A heading path that takes at most `max_tokens` as context: long titles cut, then the outer levels left out."""
    limit = _TITLE_CHARS
    path = tuple(_shortened(title, limit) for title in section if title)
    while path and count_tokens(" › ".join(path)) > max_tokens:
        if limit > 40:
            limit //= 2
            path = tuple(_shortened(title, limit) for title in path)
        elif len(path) > 1:
            path = path[1:]
        elif limit > 4:
            limit //= 2
            path = (_shortened(path[0], limit),)
        else:
            return ()
    return path


def _shortened(title: str, limit: int) -> str:
    if len(title) <= limit:
        return title
    head = title[: limit - 1]
    at = head.rfind(" ", limit // 2)
    return (head[:at] if at > 0 else head).rstrip(" ,;:.–—-") + "…"


def _sections(blocks: Sequence[SourceBlock]) -> Iterator[tuple[tuple[str, ...], list[SourceBlock]]]:
    """The blocks under one heading, with the heading path; headings with nothing under them join the next group."""
    path: list[tuple[int, str]] = []
    group: list[SourceBlock] = []
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            if any(member.kind is not BlockKind.HEADING for member in group):
                yield tuple(title for _, title in path), group
                group = []
            level = block.level or 1
            path = [entry for entry in path if entry[0] < level]
            path.append((level, block.title))
        group.append(block)
    if group:
        yield tuple(title for _, title in path), group


@dataclass(frozen=True)
class _Packer:
    """Packs one section's blocks. Token figures are without the model's own prefix and specials (`base`)."""

    text: str
    count: CountTokens
    base: int
    room: int
    target: int
    language: str

    def packs(self, blocks: Sequence[SourceBlock]) -> Iterator[list[Piece]]:
        small = self.target * _SMALL_SHARE
        pack: list[Piece] = []
        size = 0
        waiting: list[Piece] = []
        for piece in self._pieces(blocks):
            only_headings = all(member.kind is BlockKind.HEADING for member in pack)
            fits = size + piece.tokens <= self.target
            if not fits and (only_headings or size < small or piece.tokens < small * 0.5):
                fits = size + piece.tokens <= self.room
            if pack and (not fits or (piece.kind is BlockKind.HEADING and not only_headings)):
                if waiting:
                    yield waiting
                waiting, pack, size = pack, [], 0
            pack.append(piece)
            size += piece.tokens
        if waiting and size < small and sum(member.tokens for member in waiting) + size <= self.room:
            waiting, pack = [*waiting, *pack], []
        if waiting:
            yield waiting
        if pack:
            yield pack

    def _pieces(self, blocks: Sequence[SourceBlock]) -> Iterator[Piece]:
        headings = 0
        for block in blocks:
            tokens = self._tokens(block)
            # A heading stays with what it opens: a paragraph gives way, a table or code block does not.
            room = self.room - (headings if block.kind in (BlockKind.PARAGRAPH, BlockKind.LIST) else 0)
            if tokens is not None and tokens <= max(room, 1):
                yield Piece(block.kind, block.start, block.end, tokens, block.info)
            else:
                yield from split_block(
                    self.text, block, count=self._count, room=min(self.target, self.room), language=self.language
                )
            headings = headings + (tokens or 0) if block.kind is BlockKind.HEADING else 0

    def _tokens(self, block: SourceBlock) -> int | None:
        """Tokens of a block, None where it is surely too large to be worth counting."""
        if block.end - block.start > 40 * self.room:
            return None
        return self._count(self.text[block.start : block.end])

    def _count(self, piece: str) -> int:
        return max(1, self.count(piece) - self.base)


def _fitting(
    text: str, pieces: list[Piece], context: str, count_tokens: CountTokens, max_tokens: int
) -> Iterator[list[Piece]]:
    """The pack, halved as long as the whole takes more tokens than its parts did.

    Tokens of parts add up where they are cut at white space, nearly; this makes the limit certain.
    """
    content = text[pieces[0].start : pieces[-1].end]
    if count_tokens(f"{context}\n{content}" if context else content) <= max_tokens:
        yield pieces
        return
    if len(pieces) > 1:
        middle = len(pieces) // 2
        halves = [pieces[:middle], pieces[middle:]]
    else:
        piece = pieces[0]
        at = _middle(text, piece.start, piece.end)
        if at is None:
            # One character: nothing is left to cut.
            yield pieces
            return
        left_end = piece.start + len(text[piece.start : at].rstrip())
        right_start = piece.end - len(text[at : piece.end].lstrip())
        halves = [
            [Piece(piece.kind, piece.start, left_end, 0, piece.info)],
            [Piece(piece.kind, right_start, piece.end, 0, piece.info)],
        ]
    for half in halves:
        yield from _fitting(text, half, context, count_tokens, max_tokens)


def _middle(text: str, start: int, end: int) -> int | None:
    """A place to cut a span in two: at the white space nearest before its middle, else in the middle."""
    if end - start < 2:
        return None
    half = (start + end) // 2
    at = max(text.rfind(" ", start + 1, half), text.rfind("\n", start + 1, half))
    return at if at > start else half


def _chunk(
    text: str, pieces: list[Piece], seq: int, path: tuple[str, ...], language: str, marks: Marks | None
) -> ParsedChunk:
    start, end = pieces[0].start, pieces[-1].end
    blocks: list[Block] = []
    for piece in pieces:
        left, right = piece.start - start, piece.end - start
        last = blocks[-1] if blocks else None
        if last and piece.continues and last.kind is piece.kind:
            blocks[-1] = Block(kind=last.kind, start=last.start, end=right, info=last.info)
        else:
            blocks.append(Block(kind=piece.kind, start=left, end=right, info=piece.info))
    content = text[start:end]
    prose = " ".join(content[block.start : block.end] for block in blocks if block.kind is not BlockKind.CODE)
    locator = Locator(section=path, start=start, end=end)
    return ParsedChunk(
        seq=seq,
        content=content,
        locator=marks.locate(locator) if marks is not None else locator,
        blocks=tuple(blocks),
        language=detect_language(prose, hint=language) if prose else _language_of_code(content),
    )


def _language_of_code(content: str) -> str:
    """Code says its own language only by another script, in its comments."""
    found = detect_language(content)
    return found if not content.isascii() and found not in ("en", "und") else "und"
