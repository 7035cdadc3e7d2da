"""Chunks: written with a document's reading, kept where a new reading has them too, read by the distiller."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pegas_assets.model import Block, ChunkToDistil, DocumentKind, Locator, ParsedChunk
from pegas_assets.stores.atoms import locator_json, retire_unsupported, revive

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection


@dataclass(frozen=True)
class StoredChunk:
    """A chunk that waits for a distiller."""

    id: int
    document_id: int
    content: str
    locator: Locator
    blocks: tuple[Block, ...]
    language: str
    document_title: str
    document_kind: DocumentKind
    reading: str
    """What the chunk was distilled by before, empty for never."""

    @property
    def context(self) -> str:
        return " › ".join(self.locator.section)

    def to_distil(self) -> ChunkToDistil:
        return ChunkToDistil(
            content=self.content,
            language=self.language,
            section=self.locator.section,
            blocks=self.blocks,
            document_title=self.document_title,
            document_kind=self.document_kind,
        )


SpanOf = Callable[[str, str], tuple[int, int] | None]
"""Where a quotation stands in a text, as offsets, half open; None where it does not."""


@dataclass(frozen=True)
class Replaced:
    """What a new reading changed."""

    kept: int
    added: int
    removed: int
    citations_gone: int


def replace_chunks(
    connection: Connection,
    document_id: int,
    chunks: Sequence[ParsedChunk],
    span_of: SpanOf,
) -> Replaced:
    """Make a document's chunks be these. A chunk whose text was there before stays, with what was distilled from it.

    A citation whose quotation stands in the new text moves with it; any other keeps its row and is marked gone, and an
    atom that no living citation supports becomes stale, with the reason.
    """
    old = connection.execute(
        "SELECT id, content_hash, locator, blocks, seq FROM pm_chunk WHERE doc_id = %s ORDER BY seq", [document_id]
    ).fetchall()
    if not old:
        _insert(connection, document_id, chunks)
        return Replaced(0, len(chunks), 0, 0)
    from hashlib import sha256

    by_hash: dict[bytes, deque[int]] = defaultdict(deque)
    before: dict[int, Locator] = {}
    for chunk_id, content_hash, locator, *_ in old:
        by_hash[bytes(content_hash)].append(chunk_id)
        before[chunk_id] = Locator.model_validate(locator)
    kept: list[tuple[int, ParsedChunk]] = []
    added: list[ParsedChunk] = []
    for chunk in chunks:
        same = by_hash.get(sha256(chunk.content.encode()).digest())
        if same:
            kept.append((same.popleft(), chunk))
        else:
            added.append(chunk)
    removed = [chunk_id for left in by_hash.values() for chunk_id in left]
    connection.execute("DELETE FROM pm_chunk WHERE id = ANY(%s)", [removed])
    # Two steps, since the places of two chunks may be exchanged and each place is unique.
    connection.execute("UPDATE pm_chunk SET seq = -seq - 1 WHERE doc_id = %s", [document_id])
    connection.execute(
        """
        UPDATE pm_chunk SET seq = moved.seq, locator = moved.locator, blocks = moved.blocks
        FROM unnest(%s::bigint[], %s::int[], %s::jsonb[], %s::jsonb[]) AS moved (id, seq, locator, blocks)
        WHERE pm_chunk.id = moved.id
        """,
        [
            [chunk_id for chunk_id, _ in kept],
            [chunk.seq for _, chunk in kept],
            [locator_json(chunk.locator) for _, chunk in kept],
            [_blocks_json(chunk) for _, chunk in kept],
        ],
    )
    _shift_citations(
        connection,
        document_id,
        {id_: (before[id_], chunk.locator) for id_, chunk in kept if before[id_] != chunk.locator},
    )
    _insert(connection, document_id, added)
    gone = _settle_citations(connection, document_id, span_of)
    return Replaced(len(kept), len(added), len(removed), gone)


def _blocks_json(chunk: ParsedChunk) -> str:
    return json.dumps([block.model_dump(mode="json", exclude_defaults=True) for block in chunk.blocks])


def _insert(connection: Connection, document_id: int, chunks: Sequence[ParsedChunk]) -> None:
    with (
        connection.cursor() as cursor,
        cursor.copy("COPY pm_chunk (doc_id, seq, content, locator, blocks, language) FROM STDIN") as copy,
    ):
        for chunk in chunks:
            copy.write_row(
                (
                    document_id,
                    chunk.seq,
                    chunk.content,
                    locator_json(chunk.locator),
                    _blocks_json(chunk),
                    chunk.language,
                )
            )


def _shift_citations(connection: Connection, document_id: int, moved: Mapping[int, tuple[Locator, Locator]]) -> None:
    """Have the citations of chunks that stayed say where they now stand: chunk → its locator before and after."""
    placed = []
    for citation_id, chunk_id, stored in connection.execute(
        "SELECT id, chunk_id, locator FROM pm_citation WHERE chunk_id = ANY(%s)", [list(moved)]
    ).fetchall():
        before, after = moved[chunk_id]
        locator = Locator.model_validate(stored)
        start, end = locator.start, locator.end
        if start is not None and end is not None and before.start is not None and after.start is not None:
            start, end = start + after.start - before.start, end + after.start - before.start
        placed.append((citation_id, chunk_id, after.within(start, end)))
    _place_citations(connection, document_id, placed)


def _settle_citations(connection: Connection, document_id: int, span_of: SpanOf) -> int:
    """Give each citation without a chunk its new chunk and place, or mark it gone; returns how many are gone.

    One that was gone and whose quotation is back lives again, and with it the status that its atom had.
    """
    loose = connection.execute(
        "SELECT id, quoted_text, gone_at IS NOT NULL FROM pm_citation WHERE doc_id = %s AND chunk_id IS NULL",
        [document_id],
    ).fetchall()
    if not loose:
        return 0
    chunks = [
        (chunk_id, content, " ".join(content.split()), Locator.model_validate(locator))
        for chunk_id, content, locator in connection.execute(
            "SELECT id, content, locator FROM pm_chunk WHERE doc_id = %s ORDER BY seq", [document_id]
        ).fetchall()
    ]
    placed: list[tuple[int, int, Locator]] = []
    gone: list[int] = []
    back: list[int] = []
    for citation_id, quotation, was_gone in loose:
        folded = " ".join(quotation.split())
        held = next((chunk for chunk in chunks if folded in chunk[2]), None)
        span = span_of(quotation, held[1]) if held is not None else None
        if held is None or span is None:
            if not was_gone:
                gone.append(citation_id)
            continue
        if was_gone:
            back.append(citation_id)
        chunk_id, _, _, locator = held
        first = locator.start or 0
        placed.append((citation_id, chunk_id, locator.within(first + span[0], first + span[1])))
    _place_citations(connection, document_id, placed)
    atoms = connection.execute(
        "UPDATE pm_citation SET gone_at = now() WHERE id = ANY(%s) RETURNING atom_id", [gone]
    ).fetchall()
    retire_unsupported(connection, [row[0] for row in atoms])
    returned = connection.execute(
        "UPDATE pm_citation SET gone_at = NULL WHERE id = ANY(%s) RETURNING atom_id", [back]
    ).fetchall()
    revive(connection, [row[0] for row in returned])
    return len(gone)


def _place_citations(connection: Connection, document_id: int, placed: Sequence[tuple[int, int, Locator]]) -> None:
    """Write where citations stand, and with them the atoms that belong to the document."""
    if not placed:
        return
    atoms = connection.execute(
        """
        UPDATE pm_citation SET chunk_id = moved.chunk, locator = moved.locator
        FROM unnest(%s::bigint[], %s::bigint[], %s::jsonb[]) AS moved (id, chunk, locator)
        WHERE pm_citation.id = moved.id RETURNING atom_id
        """,
        [
            [citation for citation, _, _ in placed],
            [chunk for _, chunk, _ in placed],
            [locator_json(locator) for _, _, locator in placed],
        ],
    ).fetchall()
    connection.execute(
        """
        UPDATE pm_atom SET updated_at = now(), locator = (
            SELECT locator FROM pm_citation WHERE atom_id = pm_atom.id AND doc_id = %(document)s
            ORDER BY gone_at NULLS FIRST, id LIMIT 1)
        WHERE doc_id = %(document)s AND id = ANY(%(atoms)s)
        """,
        {"document": document_id, "atoms": [row[0] for row in atoms]},
    )


def undistilled_chunks(
    connection: Connection, document_id: int, distiller: str, limit: int, *, after_seq: int = -1, again: bool = False
) -> list[tuple[int, StoredChunk]]:
    """Chunks of a document that this distiller has not read, in order, with their place; all of them when `again`."""
    rows = connection.execute(
        """
        SELECT chunk.seq, chunk.id, chunk.content, chunk.locator, chunk.blocks, chunk.language,
               coalesce(document.title, ''), document.kind, coalesce(chunk.distilled_by, '')
        FROM pm_chunk AS chunk JOIN pm_document AS document ON document.id = chunk.doc_id
        WHERE chunk.doc_id = %s AND chunk.seq > %s AND (%s OR chunk.distilled_by IS DISTINCT FROM %s)
        ORDER BY chunk.seq LIMIT %s
        """,
        [document_id, after_seq, again, distiller, limit],
    ).fetchall()
    return [
        (
            seq,
            StoredChunk(
                id=chunk_id,
                document_id=document_id,
                content=content,
                locator=Locator.model_validate(locator),
                blocks=tuple(Block.model_validate(block) for block in blocks),
                language=language,
                document_title=title,
                document_kind=DocumentKind(kind),
                reading=reading,
            ),
        )
        for seq, chunk_id, content, locator, blocks, language, title, kind, reading in rows
    ]


def outdated_documents(connection: Connection, source: str, distiller: str) -> list[int]:
    """Documents of a source with a chunk that this distiller has not read."""
    rows = connection.execute(
        """
        SELECT id FROM pm_document
        WHERE source = %s AND status IN ('parsed', 'done') AND kind <> 'manual'
          AND EXISTS (SELECT FROM pm_chunk WHERE doc_id = pm_document.id AND distilled_by IS DISTINCT FROM %s)
        ORDER BY id
        """,
        [source, distiller],
    ).fetchall()
    return [row[0] for row in rows]


def mark_distilled(connection: Connection, marks: Sequence[tuple[int, int | None, str, str]], distiller: str) -> None:
    """Note what came of chunks: (chunk id, its text atom, state, error)."""
    connection.execute(
        """
        UPDATE pm_chunk SET distilled_by = %s, text_atom_id = mark.atom, distil_state = mark.state,
               distil_error = nullif(mark.error, '')
        FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[]) AS mark (id, atom, state, error)
        WHERE pm_chunk.id = mark.id
        """,
        [distiller, *(list(column) for column in zip(*marks, strict=True))] if marks else [distiller, [], [], [], []],
    )
