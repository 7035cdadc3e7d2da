-- PostgreSQL is the source of truth. The tables of the specification, by name; further columns and tables carry the rules.
-- Long values are unique by their SHA-256: a btree row holds at most 2,704 bytes.

CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- ---------------------------------------------------------------------------------------------------------------------
-- Functions shared with Python (pegas_assets/identity.py); a test holds them equal.
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION pm_sha256(value text) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN sha256(convert_to(value, 'UTF8'));

-- The slice of a projection that owns a key: first byte of its SHA-256, modulo 16.
CREATE FUNCTION pm_bucket(key text) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN (get_byte(sha256(convert_to(key, 'UTF8')), 0) % 16)::smallint;

-- The copy of a text that full text search reads: ё as е, no soft hyphens, no stress marks.
CREATE FUNCTION pm_search_copy(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN translate(value, 'ёЁ' || chr(173) || chr(769) || chr(160), 'еЕ');

-- 'russian' stems Cyrillic words in Russian and Latin words in English: each token by its own script.
CREATE FUNCTION pm_tsvector(value text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN to_tsvector('pg_catalog.russian', pm_search_copy(value));

-- ---------------------------------------------------------------------------------------------------------------------
-- Sources
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE pm_document (
    id              bigserial PRIMARY KEY,
    kind            text NOT NULL CHECK (kind IN ('web', 'pdf', 'epub', 'text', 'code_repo', 'manual', 'chat')),
    uri             text,
    title           text,
    fetched_at      timestamptz,
    content_hash    text,                                -- of the canonical text: one text is one document
    authority       real NOT NULL DEFAULT 0.5 CHECK (authority BETWEEN 0 AND 1),
    meta            jsonb NOT NULL DEFAULT '{}',
    created_at      timestamptz NOT NULL DEFAULT now(),
    source          text NOT NULL,                       -- the partition key, fixed at acceptance
    status          text NOT NULL DEFAULT 'accepted' CHECK (status IN
                        ('accepted', 'fetching', 'parsed', 'done', 'failed', 'refused', 'needs_ocr', 'forgotten')),
    language        text NOT NULL DEFAULT 'und',
    reader          text,                                -- reader and chunker that made the chunks
    parsed_sha256   bytea,                               -- the bytes that the chunks were made from
    parsed_at       timestamptz,
    error           text,
    error_code      text,
    warnings        jsonb NOT NULL DEFAULT '[]',
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    etag            text,
    last_modified   text,
    updated_at      timestamptz NOT NULL DEFAULT now(),
    forgotten_at    timestamptz
);
CREATE INDEX pm_document_source_idx ON pm_document (source, id);
CREATE INDEX pm_document_open_idx ON pm_document (source, next_attempt_at) WHERE status IN ('accepted', 'fetching', 'parsed');
CREATE INDEX pm_document_content_idx ON pm_document (content_hash) WHERE content_hash IS NOT NULL;

-- Every address under which a document's text was met.
CREATE TABLE pm_document_uri (
    id         bigserial PRIMARY KEY,
    doc_id     bigint NOT NULL REFERENCES pm_document (id) ON DELETE CASCADE,
    uri        text NOT NULL,
    uri_hash   bytea NOT NULL GENERATED ALWAYS AS (pm_sha256(uri)) STORED,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX pm_document_uri_hash_idx ON pm_document_uri (uri_hash);
CREATE INDEX pm_document_uri_doc_idx ON pm_document_uri (doc_id);

-- The bytes as they came: chunks, atoms and citations can be made again without the network.
CREATE TABLE pm_document_body (
    doc_id     bigint PRIMARY KEY REFERENCES pm_document (id) ON DELETE CASCADE,
    media_type text NOT NULL DEFAULT '',
    name       text NOT NULL DEFAULT '',
    charset    text NOT NULL DEFAULT '',
    bytes      bytea NOT NULL,
    sha256     bytea NOT NULL GENERATED ALWAYS AS (sha256(bytes)) STORED,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX pm_document_body_sha_idx ON pm_document_body (sha256);

-- ---------------------------------------------------------------------------------------------------------------------
-- Chunks: evidence, not for retrieval
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE pm_chunk (
    id            bigserial PRIMARY KEY,
    doc_id        bigint NOT NULL REFERENCES pm_document (id) ON DELETE CASCADE,
    seq           integer NOT NULL,
    content       text NOT NULL,
    locator       jsonb NOT NULL DEFAULT '{}',
    created_at    timestamptz NOT NULL DEFAULT now(),
    content_hash  bytea NOT NULL GENERATED ALWAYS AS (pm_sha256(content)) STORED,
    blocks        jsonb NOT NULL DEFAULT '[]',
    language      text NOT NULL DEFAULT 'und',
    distilled_by  text,                                  -- NULL: not distilled yet
    distil_state  text CHECK (distil_state IN ('facts', 'no_facts', 'failed')),
    distil_error  text,
    text_atom_id  bigint                                 -- the chunk's own atom; its typed atoms meet it through pm_citation
);
CREATE UNIQUE INDEX pm_chunk_doc_idx ON pm_chunk (doc_id, seq);
CREATE INDEX pm_chunk_undistilled_idx ON pm_chunk (doc_id) WHERE distilled_by IS NULL;
CREATE INDEX pm_chunk_text_atom_idx ON pm_chunk (text_atom_id);
CREATE INDEX pm_chunk_hash_idx ON pm_chunk (content_hash);
CREATE INDEX pm_chunk_failed_idx ON pm_chunk (doc_id) WHERE distil_state = 'failed';
-- What is accepted and not distilled is found all the same.
CREATE INDEX pm_chunk_search_idx ON pm_chunk USING gin (pm_tsvector(content)) WHERE distilled_by IS NULL;

-- ---------------------------------------------------------------------------------------------------------------------
-- Atoms: the unit of retrieval
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE pm_atom (
    id            bigserial PRIMARY KEY,
    type          text NOT NULL CHECK (type IN ('text', 'definition', 'logical_rule', 'code', 'table', 'fact')),
    claim         text,
    content       text NOT NULL,
    content_hash  text NOT NULL,
    confidence    real NOT NULL DEFAULT 0.5 CHECK (confidence BETWEEN 0 AND 1),
    status        text NOT NULL DEFAULT 'candidate'
                      CHECK (status IN ('candidate', 'verified', 'stale', 'contested', 'rejected')),
    doc_id        bigint REFERENCES pm_document (id) ON DELETE SET NULL,
    locator       jsonb NOT NULL DEFAULT '{}',
    metadata      jsonb NOT NULL DEFAULT '{}',
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    bucket        smallint NOT NULL GENERATED ALWAYS AS (pm_bucket('atom:' || id)) STORED,
    language      text NOT NULL DEFAULT 'und',
    context       text NOT NULL DEFAULT '',              -- the heading path, embedded in front of the content
    status_reason text NOT NULL DEFAULT '',
    superseded_by bigint REFERENCES pm_atom (id) ON DELETE SET NULL,
    distilled_by  text NOT NULL DEFAULT '',
    signature     text                                   -- what statements that say the same have in common
);
CREATE INDEX pm_atom_signature_idx ON pm_atom (signature, id) WHERE signature IS NOT NULL;
CREATE UNIQUE INDEX pm_atom_hash_idx ON pm_atom (content_hash);
CREATE INDEX pm_atom_type_status_idx ON pm_atom (type, status);
CREATE INDEX pm_atom_claim_idx ON pm_atom USING gin (claim gin_trgm_ops);
CREATE INDEX pm_atom_claim_hash_idx ON pm_atom (pm_sha256(claim));
-- For what the vector store does not show yet, and for the days when it is down.
CREATE INDEX pm_atom_search_idx ON pm_atom USING gin (pm_tsvector(coalesce(claim, '') || ' ' || content));
CREATE INDEX pm_atom_bucket_idx ON pm_atom (bucket, id);
CREATE INDEX pm_atom_doc_idx ON pm_atom (doc_id);
CREATE INDEX pm_atom_superseded_idx ON pm_atom (superseded_by) WHERE superseded_by IS NOT NULL;
ALTER TABLE pm_chunk ADD FOREIGN KEY (text_atom_id) REFERENCES pm_atom (id) ON DELETE SET NULL;

-- What status and confidence an atom had, and why: a state of the past can be read, and one call undoes a step.
CREATE TABLE pm_atom_history (
    id         bigserial PRIMARY KEY,
    atom_id    bigint NOT NULL REFERENCES pm_atom (id) ON DELETE CASCADE,
    status     text NOT NULL,
    confidence real NOT NULL,
    reason     text NOT NULL DEFAULT '',
    at         timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX pm_atom_history_atom_idx ON pm_atom_history (atom_id, at);

-- Claims that a person or an agent rejected: they stay rejected when the same text comes again.
CREATE TABLE pm_rejection (
    content_hash text PRIMARY KEY,
    reason       text NOT NULL DEFAULT '',
    at           timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE pm_atom_link (
    id         bigserial PRIMARY KEY,
    src        bigint NOT NULL REFERENCES pm_atom (id) ON DELETE CASCADE,
    dst        bigint NOT NULL REFERENCES pm_atom (id) ON DELETE CASCADE,
    kind       text NOT NULL,
    confidence real NOT NULL DEFAULT 0.5 CHECK (confidence BETWEEN 0 AND 1),
    source     text NOT NULL DEFAULT 'manual' CHECK (source IN ('manual', 'extraction', 'inference')),
    inferred   boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (src, dst, kind),
    CHECK (CASE WHEN inferred THEN kind ~ '^[a-z][a-z0-9_]{0,62}$'
                ELSE kind IN ('inference', 'cause', 'reference', 'contradicts', 'depends_on', 'calls', 'defines', 'corroborates')
           END)
);
CREATE INDEX pm_link_src_idx ON pm_atom_link (src);
CREATE INDEX pm_link_dst_idx ON pm_atom_link (dst);

-- Pairs that dedup met and did not merge because a number, a negation, a unit or a name differs.
CREATE TABLE pm_contradiction_candidate (
    atom_a     bigint NOT NULL REFERENCES pm_atom (id) ON DELETE CASCADE,
    atom_b     bigint NOT NULL REFERENCES pm_atom (id) ON DELETE CASCADE,
    reason     text NOT NULL,
    cosine     real NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (atom_a, atom_b),
    CHECK (atom_a < atom_b)
);
CREATE INDEX pm_contradiction_b_idx ON pm_contradiction_candidate (atom_b);

CREATE TABLE pm_citation (
    id          bigserial PRIMARY KEY,
    atom_id     bigint NOT NULL REFERENCES pm_atom (id) ON DELETE CASCADE,
    doc_id      bigint NOT NULL REFERENCES pm_document (id) ON DELETE CASCADE,
    locator     jsonb NOT NULL DEFAULT '{}',
    quoted_text text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    chunk_id    bigint REFERENCES pm_chunk (id) ON DELETE SET NULL,
    gone_at     timestamptz                              -- since when the quotation is no longer in the document
);
CREATE UNIQUE INDEX pm_citation_once_idx ON pm_citation (atom_id, doc_id, pm_sha256(quoted_text));
CREATE INDEX pm_citation_atom_idx ON pm_citation (atom_id) WHERE gone_at IS NULL;
CREATE INDEX pm_citation_doc_idx ON pm_citation (doc_id);
CREATE INDEX pm_citation_chunk_idx ON pm_citation (chunk_id);

-- ---------------------------------------------------------------------------------------------------------------------
-- Code
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE pm_code_symbol (
    id          bigserial PRIMARY KEY,
    repo        text NOT NULL,
    path        text NOT NULL,
    language    text NOT NULL,
    symbol_name text NOT NULL,
    kind        text NOT NULL,
    signature   text NOT NULL DEFAULT '',
    body_hash   text,
    line_start  integer,
    line_end    integer,
    created_at  timestamptz NOT NULL DEFAULT now(),
    bucket      smallint NOT NULL GENERATED ALWAYS AS (pm_bucket('symbol:' || id)) STORED
);
CREATE INDEX pm_symbol_name_idx ON pm_code_symbol USING gin (symbol_name gin_trgm_ops);
CREATE INDEX pm_symbol_exact_idx ON pm_code_symbol (pm_sha256(symbol_name));
CREATE INDEX pm_symbol_lang_idx ON pm_code_symbol (language, kind);
CREATE INDEX pm_symbol_bucket_idx ON pm_code_symbol (bucket, id);

CREATE TABLE pm_code_dependency (
    id         bigserial PRIMARY KEY,
    repo       text NOT NULL,
    path       text NOT NULL,
    language   text NOT NULL,
    src        text NOT NULL,
    dst        text NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('calls', 'imports', 'inherits')),
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX pm_code_dep_once_idx ON pm_code_dependency
    (pm_sha256(repo || E'\x01' || path || E'\x01' || src || E'\x01' || dst || E'\x01' || kind));
CREATE INDEX pm_code_dep_src_idx ON pm_code_dependency (pm_sha256(src));
CREATE INDEX pm_code_dep_kind_idx ON pm_code_dependency (kind);

-- ---------------------------------------------------------------------------------------------------------------------
-- The agent's own traces, apart from the knowledge base; and what is not known yet
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE pm_episodic_trace (
    id         bigserial PRIMARY KEY,
    session_id text NOT NULL,
    step       integer NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('plan', 'action', 'observation', 'reflection')),
    content    text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX pm_episodic_session_idx ON pm_episodic_trace (pm_sha256(session_id), step);

CREATE TABLE pm_research_gap (
    id         bigserial PRIMARY KEY,
    question   text NOT NULL,
    reason     text NOT NULL DEFAULT 'user_query'
                   CHECK (reason IN ('low_coverage', 'low_confidence', 'stale', 'contested', 'user_query')),
    priority   real NOT NULL DEFAULT 0.5 CHECK (priority BETWEEN 0 AND 1),
    status     text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'researching', 'resolved', 'dismissed')),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX pm_gap_open_idx ON pm_research_gap (priority DESC, id) WHERE status = 'open';

-- ---------------------------------------------------------------------------------------------------------------------
-- What costs a model call, kept
-- ---------------------------------------------------------------------------------------------------------------------

-- One vector: what was embedded, by what. float32, little-endian.
CREATE TABLE pm_embedding (
    fingerprint text NOT NULL,
    text_hash   bytea NOT NULL,                          -- SHA-256 of the exact text that was embedded
    vector      bytea NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (fingerprint, text_hash)
);
ALTER TABLE pm_embedding ALTER COLUMN vector SET STORAGE EXTERNAL;

CREATE TABLE pm_distillation (
    chunk_hash bytea NOT NULL,
    distiller  text NOT NULL,
    state      text NOT NULL CHECK (state IN ('facts', 'no_facts', 'failed')),
    raw        text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (chunk_hash, distiller)
);

-- Which collection serves a role. A new model fills a second one beside it.
CREATE TABLE pm_collection (
    name        text PRIMARY KEY,
    role        text NOT NULL,
    fingerprint text NOT NULL,
    dimension   integer NOT NULL,
    state       text NOT NULL CHECK (state IN ('active', 'building', 'retired')),
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX pm_collection_active_idx ON pm_collection (role) WHERE state = 'active';

-- ---------------------------------------------------------------------------------------------------------------------
-- Requests, so that whoever asked can ask how it stands
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE pm_operation (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    kind       text NOT NULL,
    client     text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);

-- One thing asked for: its document, or why there is none.
CREATE TABLE pm_operation_item (
    operation_id uuid NOT NULL REFERENCES pm_operation (id) ON DELETE CASCADE,
    seq          integer NOT NULL,
    item         text NOT NULL,
    doc_id       bigint REFERENCES pm_document (id) ON DELETE SET NULL,
    outcome      text CHECK (outcome IN ('duplicate', 'unchanged', 'refused')),
    reason       text NOT NULL DEFAULT '',
    PRIMARY KEY (operation_id, seq)
);
CREATE INDEX pm_operation_item_doc_idx ON pm_operation_item (doc_id);
