"""Stores one atom that an agent or a person states: a manual document, so that it has chunk and quotation like any other."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegas_assets.errors import InvalidInput, PegasError
from pegas_assets.identity import atom_hash
from pegas_assets.model import AtomType, DocumentKind
from pegas_assets.pipeline.accept import accept_text
from pegas_assets.pipeline.ingest import ingest_source
from pegas_assets.pipeline.parts import IngestParts
from pegas_assets.projection.drain import Drained, drain
from pegas_assets.projection.targets import Target
from pegas_assets.stores import documents
from pegas_assets.stores.atoms import ids_by_hash
from pegas_assets.stores.hits import contradiction_candidates
from pegas_assets.stores.stated import StatedAtom, atom_stated_by, survivor, workable
from pegas_assets.text.cleaning import clean_text

MAX_CLAIM = 500
MAX_CONTENT = 20_000
"""More is no statement but a document."""
DRAIN_WAIT_S = 0.1
INGEST_WAIT_S = 5.0
"""How long a store waits for another worker that is at the same document."""


@dataclass(frozen=True)
class Stored:
    """What became of a stated atom. `duplicate` when one that says the same was there: it gained a citation.

    `may_contradict` are atoms of one subject whose number, negation, unit or name differs.
    """

    key: str
    atom_id: int
    document_id: int
    duplicate: bool
    projected: bool
    operation_id: str
    may_contradict: tuple[tuple[str, str, str], ...] = ()
    """(key, claim, reason)"""
    drained: list[Drained] = field(default_factory=list)


def store_atom(
    parts: IngestParts,
    targets: Sequence[Target],
    *,
    type: AtomType,
    content: str,
    claim: str = "",
    title: str = "",
    client: str = "",
    confidence: float | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Stored:
    """Write one atom and have both projections show it; `projected` tells whether they do.

    It is committed as a document before anything else, so it is done by the sensor if this process dies.

    Raises:
        InvalidInput: empty or over-long content, a claim that is too long, a confidence out of range.
        EngineUnavailable: PostgreSQL or the embedding model does not answer.
    """
    content, claim = clean_text(content), " ".join(clean_text(claim).split())
    # The first line of code and tables may begin with blanks that mean something.
    content = content.strip("\n") if type in (AtomType.CODE, AtomType.TABLE) and content.strip() else content.strip()
    if len(claim) > MAX_CLAIM:
        raise InvalidInput(
            f"The claim has {len(claim)} characters; it may have {MAX_CLAIM}.",
            hint="Put the rest into content.",
            item="claim",
        )
    if len(content) > MAX_CONTENT:
        raise InvalidInput(
            f"The content has {len(content):,} characters; a statement may have {MAX_CONTENT:,}.",
            hint="Ingest it as a document instead: memory_ingest with text.",
            item="content",
        )
    if confidence is not None and not 0 <= confidence <= 1:
        raise InvalidInput(f"confidence is {confidence}; it must be 0 to 1.", hint="0.5 is unsure.", item="confidence")
    content = content or claim
    stated = StatedAtom(
        type=type,
        claim=claim,
        content=content,
        confidence=0.5 if confidence is None else confidence,
        metadata=dict(metadata or {}),
    )
    database = parts.database
    accepted = accept_text(
        database, parts.settings, content, title=title, client=client, kind=DocumentKind.MANUAL, stated=stated
    )
    content_hash = atom_hash(type, content)
    with database.connection() as connection:
        known = ids_by_hash(connection, [content_hash]).get(content_hash)
    document_id = _ingested(parts, accepted.operation_id)
    with database.connection() as connection:
        atom_id = atom_stated_by(connection, document_id, content_hash, type, content)
        against = contradiction_candidates(connection, atom_id)
        keys = documents.keys_of(connection, document_id)
        made_here = ids_by_hash(connection, [content_hash]).get(content_hash) == atom_id and known is None
    drained = drain(database, targets, keys=keys, wait_s=DRAIN_WAIT_S, max_attempts=parts.settings.outbox_max_attempts)
    projected = all(not (item.unavailable or item.busy_buckets or item.waiting or item.failed) for item in drained)
    return Stored(
        key=f"atom:{atom_id}",
        atom_id=atom_id,
        document_id=document_id,
        duplicate=not made_here,
        projected=projected,
        operation_id=accepted.operation_id,
        may_contradict=tuple((f"atom:{other}", text, reason) for other, text, reason in against),
        drained=drained,
    )


def _ingested(parts: IngestParts, operation_id: str) -> int:
    """Do the stages of the document that a request is about; returns the one that it ended at.

    Where another worker holds the document, it is waited for.
    """
    deadline = time.monotonic() + INGEST_WAIT_S
    while True:
        with parts.database.connection() as connection:
            document_id = survivor(connection, operation_id)
            if document_id is None:
                raise PegasError(
                    "The document of this statement was forgotten while it was stored.",
                    hint="Store it again if it should stay.",
                    code="gone",
                    retryable=True,
                )
            open_ = workable(connection, document_id)
            source = documents.source_of(connection, document_id)
        if not open_ or time.monotonic() > deadline:
            return document_id
        if any(report.skipped["another worker has it"] for report in ingest_source(parts, source, only=[document_id])):
            time.sleep(0.05)
