-- The outbox: a row names an entity that changed, in the transaction that changed it. Triggers write it, so no path
-- forgets. A consumer reads the entity's current row, so rows coalesce, order does not matter, and twice is once.

CREATE TABLE pm_outbox (
    id              bigserial PRIMARY KEY,
    entity_type     text NOT NULL CHECK (entity_type IN ('atom', 'link', 'doc', 'symbol', 'dependency')),
    entity_id       bigint,
    entity_key      text NOT NULL,
    anchor_key      text,                                -- the node that an edge is read through
    bucket          smallint NOT NULL,
    op              text NOT NULL CHECK (op IN ('upsert', 'delete')),
    created_at      timestamptz NOT NULL DEFAULT now(),
    txid            xid8 NOT NULL DEFAULT pg_current_xact_id(),
    vector_state    text NOT NULL DEFAULT 'pending' CHECK (vector_state IN ('pending', 'done', 'dead')),
    vector_attempts integer NOT NULL DEFAULT 0,
    vector_next_at  timestamptz NOT NULL DEFAULT now(),
    vector_error    text,
    graph_state     text NOT NULL DEFAULT 'pending' CHECK (graph_state IN ('pending', 'done', 'dead')),
    graph_attempts  integer NOT NULL DEFAULT 0,
    graph_next_at   timestamptz NOT NULL DEFAULT now(),
    graph_error     text,
    processed       boolean NOT NULL GENERATED ALWAYS AS (vector_state = 'done' AND graph_state = 'done') STORED
);
-- Rows of one transaction coalesce: nobody can have read them before it commits.
CREATE UNIQUE INDEX pm_outbox_once_idx ON pm_outbox (entity_key, txid);
CREATE INDEX pm_outbox_pending_idx ON pm_outbox (processed, id);
-- What is not shown yet, oldest or newest first, however many rows are done and not pruned.
CREATE INDEX pm_outbox_vector_idx ON pm_outbox (id) WHERE vector_state <> 'done';
CREATE INDEX pm_outbox_graph_idx ON pm_outbox (id) WHERE graph_state <> 'done';
CREATE INDEX pm_outbox_dead_idx ON pm_outbox (id) WHERE vector_state = 'dead' OR graph_state = 'dead';

-- Writes outbox rows for a set of changed entities. A target that an entity has no part in is done from the start.
CREATE FUNCTION pm_enqueue(kind text, ids bigint[], keys text[], anchors text[], operation text) RETURNS void
    LANGUAGE sql AS $$
    INSERT INTO pm_outbox (entity_type, entity_id, entity_key, anchor_key, bucket, op, vector_state)
    SELECT kind, entity.id, entity.key, entity.anchor, pm_bucket(coalesce(entity.anchor, entity.key)), operation,
           CASE WHEN kind IN ('atom', 'symbol') THEN 'pending' ELSE 'done' END
    FROM (SELECT DISTINCT ON (key) id, key, anchor FROM unnest(ids, keys, anchors) AS changed (id, key, anchor) ORDER BY key) AS entity
    ON CONFLICT (entity_key, txid) DO UPDATE SET
        op = excluded.op, anchor_key = excluded.anchor_key, bucket = excluded.bucket,
        vector_state = excluded.vector_state, vector_attempts = 0, vector_next_at = now(), vector_error = NULL,
        graph_state = 'pending', graph_attempts = 0, graph_next_at = now(), graph_error = NULL
$$;

CREATE FUNCTION pm_outbox_atom() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pm_enqueue('atom', array_agg(id), array_agg('atom:' || id), array_fill(NULL::text, ARRAY[count(*)::int]),
                       CASE TG_OP WHEN 'DELETE' THEN 'delete' ELSE 'upsert' END)
    FROM changed HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER pm_atom_insert AFTER INSERT ON pm_atom REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_atom();
CREATE TRIGGER pm_atom_update AFTER UPDATE ON pm_atom REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_atom();
CREATE TRIGGER pm_atom_delete AFTER DELETE ON pm_atom REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_atom();

CREATE FUNCTION pm_outbox_link() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pm_enqueue('link', array_agg(id), array_agg('link:' || id), array_agg('atom:' || src),
                       CASE TG_OP WHEN 'DELETE' THEN 'delete' ELSE 'upsert' END)
    FROM changed HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER pm_link_insert AFTER INSERT ON pm_atom_link REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_link();
CREATE TRIGGER pm_link_delete AFTER DELETE ON pm_atom_link REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_link();

-- A link stays between its ends: an edge that moved would leave its old place in the graph.
CREATE FUNCTION pm_outbox_link_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM before JOIN after USING (id) WHERE (before.src, before.dst) <> (after.src, after.dst)) THEN
        RAISE EXCEPTION 'the ends of a link do not change: delete the link and make another'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    PERFORM pm_enqueue('link', array_agg(id), array_agg('link:' || id), array_agg('atom:' || src), 'upsert')
    FROM after HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER pm_link_update AFTER UPDATE ON pm_atom_link REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_link_update();

-- A new, moved or removed citation changes what its atom shows. An atom that went with its citations has its own row.
CREATE FUNCTION pm_outbox_citation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pm_enqueue('atom', array_agg(atom_id), array_agg('atom:' || atom_id), array_fill(NULL::text, ARRAY[count(*)::int]), 'upsert')
    FROM changed WHERE EXISTS (SELECT FROM pm_atom WHERE id = changed.atom_id) HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER pm_citation_insert AFTER INSERT ON pm_citation REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_citation();
CREATE TRIGGER pm_citation_delete AFTER DELETE ON pm_citation REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_citation();

CREATE FUNCTION pm_outbox_citation_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pm_enqueue('atom', array_agg(atom_id), array_agg('atom:' || atom_id), array_fill(NULL::text, ARRAY[count(*)::int]), 'upsert')
    FROM (SELECT atom_id FROM before UNION SELECT atom_id FROM after) AS changed HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER pm_citation_update AFTER UPDATE ON pm_citation REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_citation_update();

-- A document's node appears with its first chunks and changes with what it shows; its working columns change nothing.
CREATE FUNCTION pm_outbox_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pm_enqueue('doc', array_agg(id), array_agg('doc:' || id), array_fill(NULL::text, ARRAY[count(*)::int]),
                       CASE TG_OP WHEN 'DELETE' THEN 'delete' ELSE 'upsert' END)
    FROM changed HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER pm_document_insert AFTER INSERT ON pm_document REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_document();
CREATE TRIGGER pm_document_delete AFTER DELETE ON pm_document REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_document();

CREATE FUNCTION pm_outbox_document_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pm_enqueue('doc', array_agg(after.id), array_agg('doc:' || after.id), array_fill(NULL::text, ARRAY[count(*)::int]), 'upsert')
    FROM before JOIN after USING (id)
    WHERE (before.kind, before.uri, before.title, before.source, before.language, before.authority,
           before.parsed_at IS NULL, before.status = 'forgotten')
          IS DISTINCT FROM
          (after.kind, after.uri, after.title, after.source, after.language, after.authority,
           after.parsed_at IS NULL, after.status = 'forgotten')
    HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER pm_document_update AFTER UPDATE ON pm_document REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_document_update();

CREATE FUNCTION pm_outbox_symbol() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pm_enqueue('symbol', array_agg(id), array_agg('symbol:' || id), array_fill(NULL::text, ARRAY[count(*)::int]),
                       CASE TG_OP WHEN 'DELETE' THEN 'delete' ELSE 'upsert' END)
    FROM changed HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER pm_symbol_insert AFTER INSERT ON pm_code_symbol REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_symbol();
CREATE TRIGGER pm_symbol_update AFTER UPDATE ON pm_code_symbol REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_symbol();
CREATE TRIGGER pm_symbol_delete AFTER DELETE ON pm_code_symbol REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_symbol();

CREATE FUNCTION pm_outbox_dependency() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pm_enqueue('dependency', array_agg(id), array_agg('dependency:' || id), array_fill(NULL::text, ARRAY[count(*)::int]),
                       CASE TG_OP WHEN 'DELETE' THEN 'delete' ELSE 'upsert' END)
    FROM changed HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER pm_dependency_insert AFTER INSERT ON pm_code_dependency REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_dependency();
CREATE TRIGGER pm_dependency_update AFTER UPDATE ON pm_code_dependency REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_dependency();
CREATE TRIGGER pm_dependency_delete AFTER DELETE ON pm_code_dependency REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pm_outbox_dependency();

-- TRUNCATE fires no row events: it would leave both projections full of what is gone.
CREATE FUNCTION pm_refuse_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'TRUNCATE of % would leave the projections behind: use DELETE, or pegas forget', TG_TABLE_NAME
        USING ERRCODE = 'feature_not_supported';
END $$;
CREATE TRIGGER pm_atom_truncate BEFORE TRUNCATE ON pm_atom FOR EACH STATEMENT EXECUTE FUNCTION pm_refuse_truncate();
CREATE TRIGGER pm_link_truncate BEFORE TRUNCATE ON pm_atom_link FOR EACH STATEMENT EXECUTE FUNCTION pm_refuse_truncate();
CREATE TRIGGER pm_citation_truncate BEFORE TRUNCATE ON pm_citation FOR EACH STATEMENT EXECUTE FUNCTION pm_refuse_truncate();
CREATE TRIGGER pm_document_truncate BEFORE TRUNCATE ON pm_document FOR EACH STATEMENT EXECUTE FUNCTION pm_refuse_truncate();
CREATE TRIGGER pm_symbol_truncate BEFORE TRUNCATE ON pm_code_symbol FOR EACH STATEMENT EXECUTE FUNCTION pm_refuse_truncate();
CREATE TRIGGER pm_dependency_truncate BEFORE TRUNCATE ON pm_code_dependency FOR EACH STATEMENT EXECUTE FUNCTION pm_refuse_truncate();
