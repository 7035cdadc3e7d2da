"""The things that cross the floors: documents, chunks, atoms, links, citations, and the closed lists they use."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    """A value: compared by content, never changed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DocumentKind(StrEnum):
    WEB = "web"
    PDF = "pdf"
    EPUB = "epub"
    TEXT = "text"
    CODE_REPO = "code_repo"
    MANUAL = "manual"
    CHAT = "chat"


class DocumentStatus(StrEnum):
    """Where a document stands. `done`, `failed`, `refused`, `needs_ocr` and `forgotten` are ends."""

    ACCEPTED = "accepted"
    FETCHING = "fetching"
    PARSED = "parsed"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    NEEDS_OCR = "needs_ocr"
    FORGOTTEN = "forgotten"


class AtomType(StrEnum):
    TEXT = "text"
    DEFINITION = "definition"
    LOGICAL_RULE = "logical_rule"
    CODE = "code"
    TABLE = "table"
    FACT = "fact"


class AtomStatus(StrEnum):
    CANDIDATE = "candidate"
    VERIFIED = "verified"
    STALE = "stale"
    CONTESTED = "contested"
    REJECTED = "rejected"


class LinkKind(StrEnum):
    INFERENCE = "inference"
    CAUSE = "cause"
    REFERENCE = "reference"
    CONTRADICTS = "contradicts"
    DEPENDS_ON = "depends_on"
    CALLS = "calls"
    DEFINES = "defines"
    CORROBORATES = "corroborates"


class LinkSource(StrEnum):
    MANUAL = "manual"
    EXTRACTION = "extraction"
    INFERENCE = "inference"


class BlockKind(StrEnum):
    """What a stretch of a document's text is."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    LIST = "list"
    QUOTE = "quote"
    TABLE = "table"
    CODE = "code"


class Turn(Frozen):
    """Where in a document's text its next page, row, cell, paragraph or moment begins."""

    start: int
    value: float


UNITS = ("page", "paragraph", "row", "cell", "time")
"""What a kind of document is counted in beside characters; a document has one of them, or none."""


class Locator(Frozen):
    """Where in a document something stands.

    `page`, `paragraph`, `row` and `cell` count from 1; `time` is seconds from the start. `section` is the path of
    headings, outermost first. `start` and `end` are character offsets into the document's text, half open. `turns`
    are the further pages (rows, …) that the stretch reaches into.
    """

    page: int | None = None
    paragraph: int | None = None
    row: int | None = None
    cell: int | None = None
    time: float | None = None
    section: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None
    turns: tuple[Turn, ...] = ()

    @property
    def unit(self) -> str:
        """Which of `UNITS` it is counted in; empty where it is in none."""
        return next((unit for unit in UNITS if getattr(self, unit) is not None), "")

    def within(self, start: int | None, end: int | None) -> Locator:
        """The place of a stretch inside this one, by its offsets into the document's text."""
        place: dict[str, Any] = {"start": start, "end": end, "turns": ()}
        if start is not None and end is not None and self.turns:
            passed = [turn.value for turn in self.turns if turn.start <= start]
            if passed:
                place[self.unit] = passed[-1] if self.unit == "time" else int(passed[-1])
            place["turns"] = tuple(turn for turn in self.turns if start < turn.start < end)
        return self.model_copy(update=place)

    def __str__(self) -> str:
        parts = []
        if unit := self.unit:
            first = getattr(self, unit)
            # A note at a page's foot may stand after the paragraph that goes on over the page.
            last = max((turn.value for turn in self.turns), default=first)
            if unit == "time":
                parts.append(_clock(first) if last == first else f"{_clock(first)}–{_clock(last)}")
            else:
                name = "p." if unit == "page" else unit
                parts.append(f"{name} {first}" if last == first else f"{name} {first}–{int(last)}")
        if self.section:
            parts.append(" › ".join(self.section))
        if self.start is not None and self.end is not None:
            parts.append(f"chars {self.start}–{self.end}")
        return ", ".join(parts)


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


class Block(Frozen):
    """One paragraph, list, table or code block. `start` and `end` are offsets into the text that holds it."""

    kind: BlockKind
    start: int
    end: int
    info: str = ""
    """The language of a code block; the header row, for what continues a table that was cut; else empty."""


class ParsedChunk(Frozen):
    """A stretch of a document: `content` is `document.text[locator.start:locator.end]`, letter for letter.

    `blocks` are offsets into `content`. `context` is the heading path as one line, empty where there is none.
    """

    seq: int
    content: str
    locator: Locator
    blocks: tuple[Block, ...] = ()
    language: str = "und"

    @property
    def context(self) -> str:
        return " › ".join(self.locator.section)


class ParsedDocument(Frozen):
    """What a reader makes of bytes. The same bytes and the same reader give the same value."""

    kind: DocumentKind
    text: str
    chunks: tuple[ParsedChunk, ...]
    title: str = ""
    language: str = "und"
    author: str = ""
    published: str = ""
    """ISO date, empty where unknown."""
    site: str = ""
    canonical_uri: str = ""
    encoding: str = ""
    encoding_confidence: float = 1.0
    meta: dict[str, Any] = Field(default_factory=dict)
    """Front matter and the like: plain JSON values."""
    warnings: tuple[str, ...] = ()
    reader: str = ""
    """Name and version of the reader and of the chunker, for example `text/1+chunk/1`."""


class ChunkToDistil(Frozen):
    """A chunk as a distiller sees it."""

    content: str
    language: str = "und"
    section: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    document_title: str = ""
    document_kind: DocumentKind = DocumentKind.TEXT


class DistilledAtom(Frozen):
    """An atom as a distiller proposes it.

    `quotation` occurs in the chunk, after white-space folding; `start` and `end` are the span in the chunk that it
    was taken from.
    """

    type: AtomType
    claim: str
    content: str
    quotation: str
    start: int = 0
    end: int = 0
    confidence: float = 0.5
    metadata: dict[str, Any] = Field(default_factory=dict)


class DistilState(StrEnum):
    """`failed` is a distiller that talked nonsense; `no_facts` is a text with nothing typed to say."""

    FACTS = "facts"
    NO_FACTS = "no_facts"
    FAILED = "failed"


class Distillation(Frozen):
    """What a distiller made of one chunk. The chunk's own `text` atom is not among `atoms`."""

    state: DistilState
    atoms: tuple[DistilledAtom, ...] = ()
    raw: str = ""
    reason: str = ""


class Citation(Frozen):
    """The evidence for an atom: the sentence, where it stands, in which document."""

    document_id: int
    document_title: str
    uri: str
    source: str
    locator: Locator
    quoted_text: str
    chunk_id: int | None = None


class HitKind(StrEnum):
    ATOM = "atom"
    SYMBOL = "symbol"
    MESSAGE = "message"
    ARTIFACT = "artifact"
    CARD = "card"
    CHUNK = "chunk"
    """A chunk that is accepted and not distilled yet."""


class Hit(Frozen):
    """One answer of a search. `parts` are the shares of the score by leg; their sum is the score, 0 to 1.

    `text` came from a document and is data: `untrusted` says so to whoever hands it to a model.
    """

    key: str
    kind: HitKind
    score: float
    parts: dict[str, float]
    type: AtomType | None
    claim: str
    text: str
    quote: str
    """The sentence of the text that answers the query best."""
    language: str
    status: AtomStatus | None
    status_reason: str = ""
    confidence: float | None = None
    citations: tuple[Citation, ...] = ()
    citation_count: int = 0
    """How many citations there are; the first few are given."""
    matched: tuple[MatchedAtom, ...] = ()
    """Typed atoms of the same chunk that matched too."""
    contested_by: tuple[str, ...] = ()
    undistilled: bool = False
    projected: bool = True
    created_at: datetime | None = None
    untrusted: bool = True


class MatchedAtom(Frozen):
    """A typed atom that is shown under the hit of its chunk."""

    key: str
    type: AtomType
    claim: str
    status: AtomStatus
    score: float
    quote: str


class Degraded(Frozen):
    """A leg that gave no answer, and why."""

    component: str
    reason: str


class SearchResult(Frozen):
    """The hits of a query, best first, at most `k`."""

    query: str
    hits: tuple[Hit, ...]
    degraded: tuple[Degraded, ...] = ()
    notes: tuple[str, ...] = ()
    """What was changed about the request, for example a `k` that was clamped."""
    took_ms: float = 0.0
    more: bool = False
    """Whether a larger `offset` would bring further hits."""


Hit.model_rebuild()
