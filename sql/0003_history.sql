-- Status and confidence move with the reason kept; a rejected claim is remembered by its hash.

CREATE FUNCTION pm_record_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pm_atom_history (atom_id, status, confidence, reason) VALUES (NEW.id, NEW.status, NEW.confidence, NEW.status_reason);
    IF NEW.status = 'rejected' THEN
        INSERT INTO pm_rejection (content_hash, reason) VALUES (NEW.content_hash, NEW.status_reason)
        ON CONFLICT (content_hash) DO UPDATE SET reason = excluded.reason;
    ELSIF OLD.status = 'rejected' THEN
        DELETE FROM pm_rejection WHERE content_hash = NEW.content_hash;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER pm_atom_history_update AFTER UPDATE ON pm_atom FOR EACH ROW
    WHEN (OLD.status <> NEW.status OR OLD.confidence <> NEW.confidence)
    EXECUTE FUNCTION pm_record_history();

-- The first state, for a whole batch at once.
CREATE FUNCTION pm_record_first_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pm_atom_history (atom_id, status, confidence, reason, at)
    SELECT id, status, confidence, status_reason, created_at FROM made;
    RETURN NULL;
END $$;
CREATE TRIGGER pm_atom_history_insert AFTER INSERT ON pm_atom REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION pm_record_first_state();

-- Claims that were rejected before come back rejected, whoever writes them.
CREATE FUNCTION pm_stay_rejected() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    earlier text;
BEGIN
    SELECT reason INTO earlier FROM pm_rejection WHERE content_hash = NEW.content_hash;
    IF FOUND THEN
        NEW.status := 'rejected';
        NEW.status_reason := earlier;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER pm_atom_stay_rejected BEFORE INSERT ON pm_atom FOR EACH ROW EXECUTE FUNCTION pm_stay_rejected();

-- Everything that a projection shows of an atom. `payload` is what the vector store filters on; `fingerprint` is mixed
-- into the hash by the reader, which knows the collection.
CREATE VIEW pm_projected_atom AS
SELECT atom.id,
       'atom:' || atom.id AS key,
       atom.bucket,
       atom.type,
       atom.status,
       coalesce(atom.claim, '') AS claim,
       atom.content,
       atom.context,
       atom.language,
       atom.confidence,
       atom.content_hash,
       cited.sources,
       cited.documents,
       jsonb_build_object(
           'key', 'atom:' || atom.id,
           'bucket', atom.bucket,
           'kind', 'atom',
           'type', atom.type,
           'status', atom.status,
           'language', atom.language,
           'confidence', round(atom.confidence::numeric, 4),
           'created_at', extract(epoch FROM atom.created_at)::bigint,
           'sources', coalesce(cited.sources, '{}'),
           'documents', coalesce(cited.documents, '{}')
       ) AS payload
FROM pm_atom AS atom
LEFT JOIN LATERAL (
    SELECT array_agg(DISTINCT document.source ORDER BY document.source) AS sources,
           array_agg(DISTINCT 'doc:' || document.id ORDER BY 'doc:' || document.id) AS documents
    FROM pm_citation AS citation
    JOIN pm_document AS document ON document.id = citation.doc_id
    WHERE citation.atom_id = atom.id AND citation.gone_at IS NULL
) AS cited ON true;
