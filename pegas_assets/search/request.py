"""What is asked of a search, checked once for every face."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeVar

from pydantic import Field

from pegas_assets.errors import InvalidInput
from pegas_assets.model import AtomStatus, AtomType, Frozen, HitKind
from pegas_assets.stores.vectors import VectorFilter
from pegas_assets.text.cleaning import clean_text
from pegas_assets.text.folding import has_words

MAX_K = 100
MAX_OFFSET = 1000
MAX_QUERY_CHARS = 10_000
SHOWN = (AtomStatus.CANDIDATE, AtomStatus.VERIFIED, AtomStatus.CONTESTED)
"""What a search shows unless it is asked for more: not what is stale, never by itself what was rejected."""

E = TypeVar("E", bound=StrEnum)


class SearchRequest(Frozen):
    """A checked query with its filters; build it with `checked`."""

    query: str
    k: int = 10
    offset: int = 0
    types: tuple[AtomType, ...] = ()
    statuses: tuple[AtomStatus, ...] = SHOWN
    sources: tuple[str, ...] = ()
    documents: tuple[int, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[HitKind, ...] = (HitKind.ATOM,)
    min_confidence: float | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    notes: tuple[str, ...] = Field(default=())

    @classmethod
    def checked(
        cls,
        query: str,
        *,
        k: int = 10,
        offset: int = 0,
        types: Sequence[str] = (),
        statuses: Sequence[str] = (),
        sources: Sequence[str] = (),
        documents: Sequence[int] = (),
        languages: Sequence[str] = (),
        kinds: Sequence[str] = (),
        min_confidence: float | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        as_of: datetime | str | None = None,
        include_stale: bool = False,
    ) -> SearchRequest:
        """A request that can be answered.

        `k` over 100 is clamped, with a note. Statuses default to what is not stale and not rejected.

        Raises:
            InvalidInput: an empty or over-long query, one of punctuation only, an unknown word, a number out of range.
        """
        notes = []
        if k < 1:
            raise InvalidInput(f"k is {k}; it must be at least 1.", hint=f"Ask for 1 to {MAX_K} hits.", item="k")
        if k > MAX_K:
            notes.append(f"k was {k} and is clamped to {MAX_K}; ask for the rest with offset.")
            k = MAX_K
        if not 0 <= offset <= MAX_OFFSET:
            raise InvalidInput(
                f"offset is {offset}; it must be 0 to {MAX_OFFSET}.", hint="Narrow the query instead.", item="offset"
            )
        if min_confidence is not None and not 0 <= min_confidence <= 1:
            raise InvalidInput(
                f"min_confidence is {min_confidence}; it must be 0 to 1.",
                hint="Leave it out for any.",
                item="min_confidence",
            )
        wanted = tuple(parse_enum(AtomStatus, status, "status") for status in statuses)
        if not wanted:
            wanted = (*SHOWN, AtomStatus.STALE) if include_stale else SHOWN
        return cls(
            query=checked_query(query),
            k=k,
            offset=offset,
            types=tuple(parse_enum(AtomType, atom_type, "type") for atom_type in types),
            statuses=wanted,
            sources=tuple(sources),
            documents=tuple(documents),
            languages=tuple(languages),
            kinds=tuple(parse_enum(HitKind, kind, "kind") for kind in kinds) or (HitKind.ATOM,),
            min_confidence=min_confidence,
            since=_moment(since, "since"),
            until=_moment(until, "until"),
            as_of=_moment(as_of, "as_of"),
            notes=tuple(notes),
        )

    @property
    def latest(self) -> datetime | None:
        """After which nothing that is shown may have been made."""
        return min((moment for moment in (self.until, self.as_of) if moment is not None), default=None)

    @property
    def takes_undistilled(self) -> bool:
        """Whether text that has no atom yet, and so no type, status or confidence, may be among the hits."""
        return not self.types and self.min_confidence is None and AtomStatus.CANDIDATE in self.statuses

    def vector_filter(self) -> VectorFilter:
        """The same conditions, as far as a point's payload knows them. The status of the past is not among them."""
        until = self.latest
        return VectorFilter(
            kinds=tuple(self.kinds),
            types=tuple(self.types),
            statuses=() if self.as_of is not None else tuple(self.statuses),
            sources=self.sources,
            documents=tuple(f"doc:{document}" for document in self.documents),
            languages=self.languages,
            min_confidence=None if self.as_of is not None else self.min_confidence,
            created_from=int(self.since.timestamp()) if self.since else None,
            created_until=int(until.timestamp()) + 1 if until else None,
        )


def checked_query(query: str) -> str:
    """The query, cleaned.

    Raises:
        InvalidInput: it is empty, too long, or has no letter or digit.
    """
    cleaned = clean_text(query).strip()
    if not cleaned:
        raise InvalidInput("The query is empty.", hint="Ask with at least one word.", item="query")
    if len(cleaned) > MAX_QUERY_CHARS:
        raise InvalidInput(
            f"The query has {len(cleaned):,} characters; it may have {MAX_QUERY_CHARS:,}.",
            hint="Ask with a sentence; ingest a long text instead.",
            item="query",
        )
    if not has_words(cleaned):
        raise InvalidInput(
            "The query has no word in it, only marks.", hint="Ask with at least one letter or digit.", item="query"
        )
    return cleaned


def parse_enum(enum: type[E], value: str, what: str) -> E:
    """The member that a word names.

    Raises:
        InvalidInput: none; the hint lists them.
    """
    try:
        return enum(value)
    except ValueError:
        raise InvalidInput(
            f"{value!r} is no {what}.", hint=f"Use one of: {', '.join(member.value for member in enum)}.", item=what
        ) from None


def _moment(value: datetime | str | None, what: str) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidInput(
                f"{what} is {value!r}, which is no date.",
                hint="Write it as 2026-01-31 or 2026-01-31T12:00:00Z.",
                item=what,
            ) from None
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
