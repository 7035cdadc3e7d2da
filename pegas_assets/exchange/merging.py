"""The statements that merge a staged export into a base: what is known is found by what it is, the rest gets its place."""

from __future__ import annotations

from typing import LiteralString

from pegas_assets.exchange.format import BODIES

PREPARE: tuple[LiteralString, ...] = (
    # An empty base takes the numbers of the export.
    """
    CREATE TEMPORARY TABLE load_setting ON COMMIT DROP AS
    SELECT NOT EXISTS (SELECT FROM pm_document) AND NOT EXISTS (SELECT FROM pm_atom) AS own_numbers
    """,
    # A forgotten document has nothing to be known by but its number: it comes only into an empty base.
    """
    CREATE TEMPORARY TABLE load_document_place ON COMMIT DROP AS
    SELECT loaded.row->>'key' AS key,
           coalesce(known.id, CASE WHEN own_numbers THEN split_part(loaded.row->>'key', ':', 2)::bigint
                                   ELSE nextval('pm_document_id_seq') END) AS id,
           known.id IS NULL AS fresh
    FROM load_documents AS loaded CROSS JOIN load_setting
    LEFT JOIN LATERAL (
        SELECT document.id FROM pm_document AS document LEFT JOIN pm_document_body AS body ON body.doc_id = document.id
        WHERE document.status <> 'forgotten'
          AND (document.content_hash = loaded.row->>'content_hash'
               OR body.sha256 = decode(loaded.row->'body'->>'sha256', 'hex'))
        ORDER BY document.id LIMIT 1
    ) AS known ON true
    WHERE own_numbers OR loaded.row->>'status' <> 'forgotten'
    """,
    """
    CREATE TEMPORARY TABLE load_atom_place ON COMMIT DROP AS
    SELECT loaded.row->>'key' AS key,
           coalesce(known.id, CASE WHEN own_numbers THEN split_part(loaded.row->>'key', ':', 2)::bigint
                                   ELSE nextval('pm_atom_id_seq') END) AS id,
           known.id IS NULL AS fresh
    FROM load_atoms AS loaded CROSS JOIN load_setting
    LEFT JOIN pm_atom AS known ON known.content_hash = loaded.row->>'content_hash'
    """,
    "CREATE UNIQUE INDEX ON load_document_place (key)",
    "CREATE UNIQUE INDEX ON load_atom_place (key)",
    "ANALYZE load_document_place, load_atom_place",
)

_REJECTIONS: LiteralString = """
    INSERT INTO pm_rejection (content_hash, reason, at)
    SELECT row->>'content_hash', coalesce(row->>'reason', ''), (row->>'at')::timestamptz FROM load_rejections
    ON CONFLICT (content_hash) DO NOTHING
"""
_DOCUMENTS: LiteralString = """
    INSERT INTO pm_document (
        id, kind, uri, title, fetched_at, content_hash, authority, meta, created_at, source, status, language, reader,
        parsed_sha256, parsed_at, error, error_code, warnings, etag, last_modified, updated_at, forgotten_at,
        checked_at, gone_at)
    SELECT place.id, row->>'kind', row->>'uri', row->>'title', (row->>'fetched_at')::timestamptz, row->>'content_hash',
           (row->>'authority')::real, row->'meta', (row->>'created_at')::timestamptz, row->>'source', row->>'status',
           row->>'language', row->>'reader', decode(row->>'parsed_sha256', 'hex'), (row->>'parsed_at')::timestamptz,
           row->>'error', row->>'error_code', row->'warnings', row->>'etag', row->>'last_modified',
           (row->>'updated_at')::timestamptz, (row->>'forgotten_at')::timestamptz,
           (row->>'checked_at')::timestamptz, (row->>'gone_at')::timestamptz
    FROM load_documents JOIN load_document_place AS place ON place.key = row->>'key' WHERE place.fresh ORDER BY place.id
"""
_ADDRESSES: LiteralString = """
    INSERT INTO pm_document_uri (doc_id, uri)
    SELECT place.id, address.uri
    FROM load_documents JOIN load_document_place AS place ON place.key = row->>'key'
    CROSS JOIN LATERAL jsonb_array_elements_text(row->'addresses') WITH ORDINALITY AS address (uri, at)
    ORDER BY place.id, address.at
    ON CONFLICT (uri_hash) DO NOTHING
"""
_ATOMS: LiteralString = """
    INSERT INTO pm_atom (
        id, type, claim, content, content_hash, confidence, status, doc_id, locator, metadata, created_at, updated_at,
        language, context, status_reason, distilled_by, signature)
    SELECT place.id, row->>'type', row->>'claim', row->>'content', row->>'content_hash', (row->>'confidence')::real,
           row->>'status', document.id, row->'locator', row->'metadata', (row->>'created_at')::timestamptz,
           (row->>'updated_at')::timestamptz, row->>'language', row->>'context', row->>'status_reason',
           row->>'distilled_by', row->>'signature'
    FROM load_atoms JOIN load_atom_place AS place ON place.key = row->>'key'
    LEFT JOIN load_document_place AS document ON document.key = row->>'document'
    WHERE place.fresh ORDER BY place.id
"""
_SUPERSEDED: LiteralString = """
    UPDATE pm_atom SET superseded_by = newer.id
    FROM load_atoms JOIN load_atom_place AS place ON place.key = row->>'key'
    JOIN load_atom_place AS newer ON newer.key = row->>'superseded_by'
    WHERE place.fresh AND pm_atom.id = place.id
"""
# Triggers have written a first state for each: the export has it with all that followed.
_NO_HISTORY: LiteralString = """
    DELETE FROM pm_atom_history USING load_atom_place AS place WHERE place.fresh AND pm_atom_history.atom_id = place.id
"""
_HISTORY: LiteralString = """
    INSERT INTO pm_atom_history (atom_id, status, confidence, reason, at)
    SELECT place.id, past.value->>'status', (past.value->>'confidence')::real, coalesce(past.value->>'reason', ''),
           (past.value->>'at')::timestamptz
    FROM load_atoms JOIN load_atom_place AS place ON place.key = row->>'key'
    CROSS JOIN LATERAL jsonb_array_elements(
        CASE jsonb_typeof(row->'history') WHEN 'array' THEN row->'history' ELSE '[]' END
    ) WITH ORDINALITY AS past (value, at)
    WHERE place.fresh ORDER BY place.id, past.at
"""
_CHUNKS: LiteralString = """
    INSERT INTO pm_chunk (
        doc_id, seq, content, locator, blocks, language, distilled_by, distil_state, distil_error, text_atom_id,
        created_at)
    SELECT document.id, (row->>'seq')::int, row->>'content', row->'locator', row->'blocks', row->>'language',
           row->>'distilled_by', row->>'distil_state', row->>'distil_error', atom.id, (row->>'created_at')::timestamptz
    FROM load_chunks JOIN load_document_place AS document ON document.key = row->>'document'
    LEFT JOIN load_atom_place AS atom ON atom.key = row->>'text_atom'
    WHERE document.fresh ORDER BY document.id, (row->>'seq')::int
"""
_CITATIONS: LiteralString = """
    INSERT INTO pm_citation (atom_id, doc_id, chunk_id, locator, quoted_text, created_at, gone_at)
    SELECT atom.id, document.id, chunk.id, row->'locator', row->>'quoted_text', (row->>'created_at')::timestamptz,
           (row->>'gone_at')::timestamptz
    FROM load_citations
    JOIN load_atom_place AS atom ON atom.key = row->>'atom'
    JOIN load_document_place AS document ON document.key = row->>'document'
    LEFT JOIN pm_chunk AS chunk ON chunk.doc_id = document.id AND chunk.seq = (row->>'chunk')::int
    ON CONFLICT (atom_id, doc_id, pm_sha256(quoted_text)) DO NOTHING
"""
_LINKS: LiteralString = """
    INSERT INTO pm_atom_link (src, dst, kind, confidence, source, inferred, created_at)
    SELECT src.id, dst.id, row->>'kind', (row->>'confidence')::real, row->>'source', (row->>'inferred')::boolean,
           (row->>'created_at')::timestamptz
    FROM load_links
    JOIN load_atom_place AS src ON src.key = row->>'src' JOIN load_atom_place AS dst ON dst.key = row->>'dst'
    ON CONFLICT (src, dst, kind) DO NOTHING
"""
_SUPPORTS: LiteralString = """
    INSERT INTO pm_link_support (link_id, chunk_id, confidence)
    SELECT link.id, chunk.id, (row->>'confidence')::real
    FROM load_link_supports
    JOIN load_atom_place AS src ON src.key = row->>'src' JOIN load_atom_place AS dst ON dst.key = row->>'dst'
    JOIN pm_atom_link AS link ON link.src = src.id AND link.dst = dst.id AND link.kind = row->>'kind'
    JOIN load_document_place AS document ON document.key = row->>'document'
    JOIN pm_chunk AS chunk ON chunk.doc_id = document.id AND chunk.seq = (row->>'chunk')::int
    WHERE link.source = 'extraction'
    ON CONFLICT DO NOTHING
"""
_CONTRADICTIONS: LiteralString = """
    INSERT INTO pm_contradiction_candidate (atom_a, atom_b, reason, cosine, created_at)
    SELECT least(a.id, b.id), greatest(a.id, b.id), row->>'reason', (row->>'cosine')::real,
           (row->>'created_at')::timestamptz
    FROM load_contradictions
    JOIN load_atom_place AS a ON a.key = row->>'a' JOIN load_atom_place AS b ON b.key = row->>'b'
    WHERE a.id <> b.id
    ON CONFLICT DO NOTHING
"""
_EMBEDDINGS: LiteralString = """
    INSERT INTO pm_embedding (fingerprint, text_hash, vector)
    SELECT row->>'fingerprint', decode(row->>'text_hash', 'hex'), decode(row->>'vector', 'hex') FROM load_embeddings
    ON CONFLICT DO NOTHING
"""
_NUMBERS_ON: tuple[LiteralString, ...] = (
    "SELECT setval('pm_document_id_seq', greatest(1, (SELECT max(id) FROM pm_document)), EXISTS (SELECT FROM pm_document))",
    "SELECT setval('pm_atom_id_seq', greatest(1, (SELECT max(id) FROM pm_atom)), EXISTS (SELECT FROM pm_atom))",
)

MERGES: dict[str, tuple[LiteralString, ...]] = {
    "rejections": (_REJECTIONS,),
    "documents": (_DOCUMENTS,),
    BODIES: (),
    "atoms": (_ADDRESSES, _ATOMS),
    "chunks": (_SUPERSEDED, _NO_HISTORY, _HISTORY, _CHUNKS),
    "citations": (_CITATIONS,),
    "links": (_LINKS,),
    "link_supports": (_SUPPORTS,),
    "contradictions": (_CONTRADICTIONS,),
    "embeddings": (*_NUMBERS_ON, _EMBEDDINGS),
}
"""Each kind with its statements, in the order in which they need each other; the last one's rows are what was added."""
