"""The `atoms` stage: distils chunks, embeds, deduplicates and cites, a few chunks at a time, each batch whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pegas_assets.dedup.rule import signature
from pegas_assets.distill.base import Distiller
from pegas_assets.distill.causes import Said, causes
from pegas_assets.distill.quotations import occurs
from pegas_assets.identity import atom_hash
from pegas_assets.model import (
    AtomType,
    ChunkToDistil,
    Distillation,
    DistilledAtom,
    DistilState,
    DocumentKind,
    DocumentStatus,
    LinkKind,
)
from pegas_assets.pipeline.dedup_lookup import MEANT, Proposal, Surroundings, decide, look_around, statement_of
from pegas_assets.pipeline.parts import IngestParts
from pegas_assets.pipeline.report import Progress, StageReport
from pegas_assets.pipeline.work import each_document
from pegas_assets.stores import atoms as atom_store
from pegas_assets.stores import attempts, documents, links
from pegas_assets.stores import chunks as chunk_store
from pegas_assets.stores.atoms import NewAtom, NewCitation
from pegas_assets.stores.chunks import StoredChunk
from pegas_assets.stores.documents import PendingDocument
from pegas_assets.stores.embeddings import Embedded, drop_unused
from pegas_assets.stores.links import FoundLink
from pegas_assets.stores.locks import lock_dedup
from pegas_assets.stores.postgres import Connection
from pegas_assets.stores.stated import StatedAtom, stated_atoms
from pegas_assets.text.cleaning import clean_json, clean_text
from pegas_assets.text.sentences import split_sentences

BATCH_CHUNKS = 24
"""Chunks of one transaction: what a crash can cost, beside their embeddings, which are kept as they come."""
MAX_CLAIM = 200
LINKED = (AtomType.FACT, AtomType.DEFINITION, AtomType.LOGICAL_RULE)
"""The types of atoms that say something, and so can be a cause."""


@dataclass(frozen=True)
class Read:
    """What a distiller made of one chunk, with its proposals: the first is the chunk's own text."""

    chunk: StoredChunk
    state: DistilState
    error: str
    proposals: tuple[Proposal, ...]
    stated: tuple[StatedAtom, ...] | None
    """What was stated by hand when it was read; None where that has no place."""


def distil_pending(
    parts: IngestParts,
    source: str,
    *,
    only: Sequence[int] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> StageReport:
    """Distil every chunk of a source that the current distiller has not read; with `force`, all of them again.

    A document is done when all its chunks are. Chunks that a distiller failed on keep their text atom and their error.

    Raises:
        EngineUnavailable: PostgreSQL or the embedding model does not answer.
    """
    report = StageReport("atoms", source)
    database = parts.database
    with database.connection() as connection:
        ids = documents.pending_ids(connection, source, ["parsed"], only)
        outdated = chunk_store.outdated_documents(connection, source, parts.distiller.name)
        again = documents.ids_with_body(connection, source, only) if force else []
    wanted_ids = set(only) if only else None
    more = [id_ for id_ in (*outdated, *again) if wanted_ids is None or id_ in wanted_ids]
    ids = list(dict.fromkeys([*ids, *more]))

    def wanted(document: PendingDocument) -> bool:
        return document.status in (DocumentStatus.PARSED, DocumentStatus.DONE)

    def work(document: PendingDocument) -> None:
        after = -1
        # What somebody stated by hand is all that a manual document is for: no rule reads more into it.
        distiller = StatedOnly() if document.kind is DocumentKind.MANUAL else parts.distiller
        with database.connection() as connection:
            stated = stated_atoms(connection, document.id)
        while True:
            with database.connection() as connection:
                batch = chunk_store.undistilled_chunks(
                    connection, document.id, distiller.name, BATCH_CHUNKS, after_seq=after, again=force
                )
            if not batch:
                break
            after = batch[-1][0]
            read = [_read(distiller, chunk, stated if seq == 0 else None, report) for seq, chunk in batch]
            _keep(parts, document.id, distiller.name, read, report)
            if parts.relieve is not None:
                parts.relieve()
        with database.connection() as connection:
            attempts.finish(connection, document.id)

    each_document(database, ids, report, work, wanted, progress)
    return report.ended()


class StatedOnly:
    """The distiller of manual documents: adds nothing to what was stated."""

    name = "stated/1"

    def distil(self, chunk: ChunkToDistil) -> Distillation:
        return Distillation(state=DistilState.FACTS)


def _keep(parts: IngestParts, document_id: int, distiller: str, read: Sequence[Read], report: StageReport) -> None:
    proposals = [proposal for item in read for proposal in item.proposals]
    around = look_around(parts, proposals)
    if around.degraded:
        report.counts[f"dedup without vectors: {around.degraded[:80]}"] += 1

    def write(connection: Connection) -> dict[str, int]:
        return _write(parts, connection, document_id, distiller, read, around)

    counts = parts.database.transaction(write)
    report.produced += counts.pop("atoms")
    report.counts.update(counts)
    report.counts["chunks"] += len(read)


def _read(distiller: Distiller, chunk: StoredChunk, stated: tuple[StatedAtom, ...] | None, report: StageReport) -> Read:
    """Distil a chunk and keep what can be proven from it."""
    try:
        outcome = distiller.distil(chunk.to_distil())
    except Exception as error:  # noqa: BLE001 - a distiller's trouble with one chunk is that chunk's; its text stays
        outcome = Distillation(state=DistilState.FAILED, reason=f"{type(error).__name__}: {error}"[:500])
    typed = []
    for atom in (*outcome.atoms, *(_stated(atom, chunk) for atom in stated or () if atom.type is not AtomType.TEXT)):
        if occurs(atom.quotation, chunk.content):
            typed.append(_proposal(chunk, atom, distiller.name))
        else:
            report.counts["refused: quotation not in the text"] += 1
    if outcome.state is DistilState.FAILED:
        report.note_failure("distil_failed", outcome.reason)
    text = text_atom(chunk.content, chunk.language)
    for own in stated or ():
        if own.type is AtomType.TEXT and own.content == chunk.content:
            text = text.model_copy(
                update={"claim": own.claim or text.claim, "confidence": own.confidence, "metadata": own.metadata}
            )
    return Read(chunk, outcome.state, outcome.reason, (_proposal(chunk, text, distiller.name), *typed), stated)


def text_atom(content: str, language: str) -> DistilledAtom:
    """A chunk's own atom: its whole text, under its first sentence as the claim."""
    spans = split_sentences(content, language)
    first = next((content[start:end] for start, end in spans if content[start:end].strip(" #>*-\n")), content)
    claim = " ".join(first.strip(" #>*-\n").split())
    return DistilledAtom(
        type=AtomType.TEXT,
        claim=claim if len(claim) <= MAX_CLAIM else claim[: MAX_CLAIM - 1].rstrip() + "…",
        content=content,
        quotation=content,
        start=0,
        end=len(content),
    )


def _stated(atom: StatedAtom, chunk: StoredChunk) -> DistilledAtom:
    """A stated atom; its quotation is what was said, or its beginning where that took several chunks."""
    opening = text_atom(chunk.content, chunk.language)
    whole = occurs(atom.content, chunk.content)
    return DistilledAtom(
        type=atom.type,
        claim=atom.claim or opening.claim,
        content=atom.content,
        quotation=atom.content if whole else chunk.content,
        start=0,
        end=len(chunk.content),
        confidence=atom.confidence,
        metadata=atom.metadata,
    )


def _proposal(chunk: StoredChunk, atom: DistilledAtom, distiller: str) -> Proposal:
    start = None if chunk.locator.start is None else chunk.locator.start + atom.start
    end = None if chunk.locator.start is None else chunk.locator.start + atom.end
    content = clean_text(atom.content)
    statement = statement_of(atom.type, clean_text(atom.claim), content, chunk.language)
    metadata = clean_json(atom.metadata)
    assert isinstance(metadata, dict)
    return Proposal(
        atom=NewAtom(
            type=atom.type,
            claim=clean_text(atom.claim),
            content=content,
            content_hash=atom_hash(atom.type, content),
            confidence=atom.confidence,
            document_id=chunk.document_id,
            locator=chunk.locator.within(start, end),
            language=chunk.language,
            context=chunk.context,
            metadata=metadata,
            distilled_by=distiller,
            signature=signature(statement) if atom.type in MEANT else "",
        ),
        chunk_id=chunk.id,
        quotation=clean_text(atom.quotation),
    )


def _write(
    parts: IngestParts,
    connection: Connection,
    document_id: int,
    distiller: str,
    read: Sequence[Read],
    around: Surroundings,
) -> dict[str, int]:
    lock_dedup(connection)
    proposals = [proposal for item in read for proposal in item.proposals]
    decided = decide(parts, connection, proposals, around)
    made = atom_store.insert_atoms(connection, [proposals[place].atom for place in decided.new])
    ids = [
        made[proposals[target].atom.content_hash] if isinstance(target, int) else target.id
        for target in decided.targets
    ]
    cited = atom_store.add_citations(
        connection,
        [
            NewCitation(ids[place], document_id, proposal.chunk_id, proposal.atom.locator, proposal.quotation)
            for place, proposal in enumerate(proposals)
        ],
    )
    atom_store.add_contradictions(
        connection,
        [
            (ids[place], ids[other] if isinstance(other, int) else other.id, reason, cosine)
            for place, other, reason, cosine in decided.contradictions
        ],
    )
    before = [item.chunk.id for item in read if item.chunk.reading not in ("", distiller)]
    if before:
        atom_store.retire_unfound(connection, before, ids, distiller)
    # A duplicate's own wording stays in its citation alone, which goes with its document.
    new = set(decided.new)
    drop_unused(
        connection,
        [
            Embedded(proposal.atom.type, proposal.atom.claim, proposal.atom.content, proposal.atom.context)
            for number, proposal in enumerate(proposals)
            if number not in new
        ],
    )
    linked = links.replace_links_of(connection, [item.chunk.id for item in read], list(_causes(read, ids)))
    place = 0
    marks: list[tuple[int, int | None, str, str]] = []
    for item in read:
        # What was stated since the reading began is not in it: the chunk is read again.
        if item.stated is None or item.stated == stated_atoms(connection, document_id, hold=True):
            marks.append((item.chunk.id, ids[place], item.state, clean_text(item.error)))
        place += len(item.proposals)
    chunk_store.mark_distilled(connection, marks, distiller)
    return {
        "atoms": len(decided.new),
        "citations": cited,
        "duplicates by hash": decided.exact,
        "duplicates by meaning": decided.semantic,
        "contradiction candidates": len(decided.contradictions),
        "links": linked,
    }


def _causes(read: Sequence[Read], ids: Sequence[int]) -> Iterator[FoundLink]:
    """The causes that each chunk names between its own typed atoms."""
    first = 0
    for item in read:
        chunk = item.chunk
        typed = [
            (
                Said(
                    proposal.atom.locator.start - chunk.locator.start, proposal.atom.locator.end - chunk.locator.start
                ),
                number,
            )
            for number, proposal in enumerate(item.proposals, first)
            if proposal.atom.type in LINKED
            and chunk.locator.start is not None
            and proposal.atom.locator.start is not None
            and proposal.atom.locator.end is not None
        ]
        for cause in causes(chunk.content, [said for said, _ in typed]):
            src, dst = ids[typed[cause.cause][1]], ids[typed[cause.effect][1]]
            yield FoundLink(src, dst, LinkKind.CAUSE, cause.confidence, chunk.id)
        first += len(item.proposals)
