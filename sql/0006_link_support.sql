-- What a link that was found in a text rests on: the chunk that says it. A link of source 'extraction' lives as long as one
-- chunk does; its confidence is that of the surest.
CREATE TABLE pm_link_support (
    link_id    bigint NOT NULL REFERENCES pm_atom_link (id) ON DELETE CASCADE,
    chunk_id   bigint NOT NULL REFERENCES pm_chunk (id) ON DELETE CASCADE,
    confidence real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (link_id, chunk_id)
);
CREATE INDEX pm_link_support_chunk_idx ON pm_link_support (chunk_id);

CREATE FUNCTION pm_link_unsupported() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pm_atom_link AS link USING (SELECT DISTINCT link_id FROM gone) AS lost
    WHERE link.id = lost.link_id AND link.source = 'extraction'
      AND NOT EXISTS (SELECT FROM pm_link_support WHERE link_id = link.id);
    UPDATE pm_atom_link AS link SET confidence = kept.confidence
    FROM (SELECT link_id, max(confidence) AS confidence FROM pm_link_support
          WHERE link_id IN (SELECT link_id FROM gone) GROUP BY link_id) AS kept
    WHERE link.id = kept.link_id AND link.source = 'extraction' AND link.confidence <> kept.confidence;
    RETURN NULL;
END $$;
CREATE TRIGGER pm_link_support_delete AFTER DELETE ON pm_link_support REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION pm_link_unsupported();
