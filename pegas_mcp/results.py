"""What the tools answer: the structure beside the text. What is empty or as usual is left out of an answer."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field


class Result(BaseModel):
    """A structure that is sent to a client."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Evidence(Result):
    """One citation. `uri`, `title` and `quote` come from the document."""

    document: str
    title: str = ""
    uri: str = ""
    source: str = ""
    where: str = ""
    quote: str = ""


class FoundHit(Result):
    """One hit. `text`, `claim` and `quote` came from a document and are data."""

    key: str
    kind: str
    score: float
    parts: dict[str, float] = {}
    type: str = ""
    status: str = ""
    status_reason: str = ""
    confidence: float | None = None
    claim: str = ""
    text: str
    text_cut: bool = False
    quote: str = ""
    citations: list[Evidence] = []
    also: list[str] = []
    contested_by: list[str] = []
    undistilled: bool = False
    projected: bool = True
    created_at: str = ""
    untrusted: Literal[True]


class Down(Result):
    """A part that gave no answer."""

    component: str
    reason: str


class SearchAnswer(Result):
    """Hits, best first."""

    hits: list[FoundHit]
    degraded: list[Down] = []
    notes: list[str] = []
    next_offset: int | None = None
    took_ms: float = 0


class NumberedEvidence(Evidence):
    """What a [number] in a context's text stands for."""

    number: int
    key: str


class ContextAnswer(Result):
    """The text stands in the text block only; here are its numbers."""

    tokens: int
    budget_tokens: int
    used: int
    left_out: int
    citations: list[NumberedEvidence]
    degraded: list[Down] = []
    notes: list[str] = []
    untrusted: Literal[True]


class OperationItem(Result):
    """One thing that was asked for."""

    item: str
    status: str
    document: str = ""
    reason: str = ""


class OperationAnswer(Result):
    """How a request stands: `counts` go by status of its documents."""

    operation_id: str
    asked_at: str
    taking: bool = False
    """Whether more things are still being taken in."""
    finished: bool
    counts: dict[str, int]
    items: list[OperationItem] = []
    items_total: int = 0


class StatsAnswer(Result):
    """Counts of a base, or how one operation stands."""

    documents: dict[str, int] = {}
    sources: int = 0
    chunks: int = 0
    chunks_undistilled: int = 0
    chunks_failed: int = 0
    atoms: int = 0
    atoms_by_type: dict[str, int] = {}
    atoms_by_status: dict[str, int] = {}
    citations: int = 0
    links: int = 0
    gaps_open: int = 0
    contradiction_candidates: int = 0
    behind: dict[str, int] = {}
    """Changes that a projection does not show yet."""
    oldest_pending_s: float = 0
    dead: int = 0
    """Changes that were set aside after too many failures."""
    collections: dict[str, str] = {}
    ingest: str = ""
    notes: list[str] = []
    operation_id: str = ""
    asked_at: str = ""
    taking: bool = False
    finished: bool | None = None
    counts: dict[str, int] = {}
    items: list[OperationItem] = []
    items_total: int = 0


class StoreAnswer(Result):
    """What became of an atom."""

    key: str
    status: Annotated[str, Field(description="stored or duplicate")]
    duplicate_of: str = ""
    document: str = ""
    operation_id: str = ""
    may_contradict: list[str] = []
    projected: bool
    degraded: list[Down] = []


class IngestAnswer(Result):
    """What was taken, and how far it is."""

    operation_id: str
    state: Annotated[str, Field(description="done, working, accepted (the sensor takes it) or nothing_to_do")]
    accepted: int
    counts: dict[str, int]
    items: list[OperationItem] = []
    items_total: int = 0
    sources: list[str] = []
    atoms: int = 0
    projected: bool = False
    run: str = ""
    degraded: list[Down] = []


def answer(structure: Result, text: str) -> CallToolResult:
    """A call's result: what a model reads, and what a program reads."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=structure.model_dump(mode="json", exclude_defaults=True),
    )
