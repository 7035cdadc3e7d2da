"""The `chunks` stage: reads the bytes of a source's documents and cuts them."""

from __future__ import annotations

from collections.abc import Sequence

from pegas_assets.distill.quotations import span_of
from pegas_assets.embedding.base import Embedder
from pegas_assets.errors import Refused
from pegas_assets.model import DocumentStatus
from pegas_assets.pipeline.report import Progress, StageReport
from pegas_assets.pipeline.same_text import same_text_hash
from pegas_assets.pipeline.work import each_document
from pegas_assets.settings import Settings
from pegas_assets.sources.registry import parse
from pegas_assets.stores import chunks as chunk_store
from pegas_assets.stores import documents
from pegas_assets.stores.documents import PendingDocument
from pegas_assets.stores.locks import lock_dedup
from pegas_assets.stores.postgres import Connection, Database
from pegas_assets.text.folding import has_words


def chunk_pending(
    database: Database,
    settings: Settings,
    embedder: Embedder,
    source: str,
    *,
    only: Sequence[int] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> StageReport:
    """Read and cut what has no chunks for its current bytes; with `force`, whatever of the source has bytes."""
    report = StageReport("chunks", source)
    with database.connection() as connection:
        if force:
            ids = documents.ids_with_body(connection, source, only)
        else:
            ids = documents.pending_ids(connection, source, ["accepted", "fetching"], only)

    def wanted(document: PendingDocument) -> bool:
        if not document.has_body or document.to_fetch:
            report.skipped["no bytes yet"] += 1
            return False
        return force or document.status in (DocumentStatus.ACCEPTED, DocumentStatus.FETCHING)

    def work(document: PendingDocument) -> None:
        with database.connection() as connection:
            body = documents.read_body(connection, document.id)
        assert body is not None
        parsed = parse(
            body.bytes,
            media_type=body.media_type,
            name=body.name,
            uri=document.uri,
            charset=body.charset,
            kind=document.kind,
            count_tokens=embedder.count_tokens,
            max_tokens=embedder.max_tokens,
            max_chars=settings.max_text_chars,
            default_encoding=settings.default_encoding,
        )
        if not parsed.chunks or not has_words(parsed.text):
            raise Refused("The document has no text.", hint="Give one with at least one word.", item=document.uri)
        content_hash = same_text_hash(parsed)

        def write(connection: Connection) -> str:
            # Two copies that are read at the same moment must see each other: the lock is the one dedup uses.
            lock_dedup(connection)
            if not documents.still_has(connection, document.id, body.bytes):
                return "newer bytes came meanwhile"
            twin = documents.find_by_content(connection, content_hash, document.id)
            if (
                twin is not None
                and document.status is not DocumentStatus.DONE
                and not documents.has_chunks(connection, document.id)
            ):
                documents.merge_into(connection, document.id, twin)
                return "duplicate"
            replaced = chunk_store.replace_chunks(connection, document.id, parsed.chunks, span_of)
            documents.record_parse(connection, document.id, parsed, content_hash)
            if parsed.canonical_uri:
                documents.add_uri(connection, document.id, parsed.canonical_uri)
            report.counts["chunks kept"] += replaced.kept
            report.counts["chunks removed"] += replaced.removed
            report.counts["citations gone"] += replaced.citations_gone
            return ""

        left = database.transaction(write)
        if not left:
            report.produced += len(parsed.chunks)
            report.counts["characters"] += len(parsed.text)
            for warning in parsed.warnings:
                report.counts[f"warning: {warning[:80]}"] += 1
        else:
            report.skipped[left] += 1

    each_document(database, ids, report, work, wanted, progress)
    return report.ended()
