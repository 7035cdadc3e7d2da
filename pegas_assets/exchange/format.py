"""The form of an export: a folder of JSON Lines, one file for each kind of thing, and the documents' bytes as they came.

Things name each other by key: `doc:12`, `atom:7`. A line is one JSON object; a time is ISO 8601.
"""

from __future__ import annotations

from typing import LiteralString

FORMAT = "pegas-export"
VERSION = 1
MANIFEST = "manifest.json"
BODIES = "bodies"
MARKDOWN = "markdown"

_DOCUMENTS: LiteralString = """
    SELECT json_build_object(
        'key', 'doc:' || document.id, 'kind', kind, 'title', title, 'uri', uri,
        'addresses', coalesce((SELECT json_agg(address.uri ORDER BY address.id) FROM pm_document_uri AS address
                               WHERE address.doc_id = document.id), '[]'),
        'source', source, 'authority', authority, 'status', status, 'language', language,
        'created_at', document.created_at, 'updated_at', updated_at, 'fetched_at', fetched_at, 'parsed_at', parsed_at,
        'forgotten_at', forgotten_at, 'content_hash', content_hash, 'reader', reader,
        'parsed_sha256', encode(parsed_sha256, 'hex'), 'error', error, 'error_code', error_code, 'warnings', warnings,
        'etag', etag, 'last_modified', last_modified, 'checked_at', checked_at, 'gone_at', gone_at, 'meta', meta,
        'body', CASE WHEN body.doc_id IS NOT NULL THEN json_build_object(
            'sha256', encode(body.sha256, 'hex'), 'media_type', body.media_type, 'name', body.name,
            'charset', body.charset) END)
    FROM pm_document AS document LEFT JOIN pm_document_body AS body ON body.doc_id = document.id
    ORDER BY document.id
"""
_CHUNKS: LiteralString = """
    SELECT json_build_object(
        'document', 'doc:' || doc_id, 'seq', seq, 'content', content, 'locator', locator, 'blocks', blocks,
        'language', language, 'distilled_by', distilled_by, 'distil_state', distil_state, 'distil_error', distil_error,
        'text_atom', 'atom:' || text_atom_id, 'created_at', created_at)
    FROM pm_chunk ORDER BY doc_id, seq
"""
_ATOMS: LiteralString = """
    SELECT json_build_object(
        'key', 'atom:' || id, 'type', type, 'claim', claim, 'content', content, 'status', status,
        'status_reason', status_reason, 'confidence', confidence, 'language', language, 'context', context,
        'document', 'doc:' || doc_id, 'locator', locator, 'metadata', metadata, 'superseded_by', 'atom:' || superseded_by,
        'distilled_by', distilled_by, 'content_hash', content_hash, 'signature', signature,
        'created_at', created_at, 'updated_at', updated_at,
        'history', (SELECT json_agg(json_build_object('at', at, 'status', past.status, 'confidence', past.confidence,
                                                      'reason', reason) ORDER BY at, past.id)
                    FROM pm_atom_history AS past WHERE past.atom_id = atom.id))
    FROM pm_atom AS atom ORDER BY id
"""
_CITATIONS: LiteralString = """
    SELECT json_build_object(
        'atom', 'atom:' || atom_id, 'document', 'doc:' || citation.doc_id, 'chunk', chunk.seq,
        'locator', citation.locator, 'quoted_text', quoted_text, 'created_at', citation.created_at, 'gone_at', gone_at)
    FROM pm_citation AS citation LEFT JOIN pm_chunk AS chunk ON chunk.id = citation.chunk_id
    ORDER BY atom_id, citation.doc_id, chunk.seq, quoted_text COLLATE "C"
"""
_LINKS: LiteralString = """
    SELECT json_build_object(
        'src', 'atom:' || src, 'dst', 'atom:' || dst, 'kind', kind, 'confidence', confidence, 'source', source,
        'inferred', inferred, 'created_at', created_at)
    FROM pm_atom_link ORDER BY src, dst, kind
"""
_SUPPORTS: LiteralString = """
    SELECT json_build_object(
        'src', 'atom:' || src, 'dst', 'atom:' || dst, 'kind', kind, 'document', 'doc:' || chunk.doc_id, 'chunk', chunk.seq,
        'confidence', support.confidence)
    FROM pm_link_support AS support JOIN pm_atom_link AS link ON link.id = support.link_id
    JOIN pm_chunk AS chunk ON chunk.id = support.chunk_id ORDER BY src, dst, kind, chunk.doc_id, chunk.seq
"""
_CONTRADICTIONS: LiteralString = """
    SELECT json_build_object(
        'a', 'atom:' || atom_a, 'b', 'atom:' || atom_b, 'reason', reason, 'cosine', cosine, 'created_at', created_at)
    FROM pm_contradiction_candidate ORDER BY atom_a, atom_b
"""
_REJECTIONS: LiteralString = """
    SELECT json_build_object('content_hash', content_hash, 'reason', reason, 'at', at)
    FROM pm_rejection ORDER BY content_hash
"""
_EMBEDDINGS: LiteralString = """
    SELECT json_build_object(
        'fingerprint', fingerprint, 'text_hash', encode(text_hash, 'hex'), 'vector', encode(vector, 'hex'))
    FROM pm_embedding ORDER BY fingerprint, text_hash
"""

SELECTS: dict[str, LiteralString] = {
    "documents": _DOCUMENTS,
    "chunks": _CHUNKS,
    "atoms": _ATOMS,
    "citations": _CITATIONS,
    "links": _LINKS,
    "link_supports": _SUPPORTS,
    "contradictions": _CONTRADICTIONS,
    "rejections": _REJECTIONS,
}
"""Each kind of thing, by the name of its file, with the query that makes its lines."""
EMBEDDINGS: dict[str, LiteralString] = {"embeddings": _EMBEDDINGS}
"""What a model was paid for: large, and made again where it is left out."""
