-- What the hosts of pages ask of whoever reads them, kept for all processes: when the next request may come, and
-- which pages are not for programs.
CREATE TABLE pm_host (
    host    text PRIMARY KEY,
    free_at timestamptz NOT NULL,                        -- when the next request may begin
    reason  text NOT NULL DEFAULT ''                     -- why, where the host itself asked to wait
);

-- The robots.txt of a scheme, host and port.
CREATE TABLE pm_robots (
    origin     text PRIMARY KEY,
    body       text,                                     -- as it was last had; NULL: never had
    fetched_at timestamptz,                              -- when it was last had, or found not to be there
    asked_at   timestamptz NOT NULL,                     -- when it was last asked for
    error      text                                      -- why the last asking brought nothing
);

-- When the address of a document was last asked, whatever came of it; and since when it is not there any more.
ALTER TABLE pm_document ADD COLUMN checked_at timestamptz;
ALTER TABLE pm_document ADD COLUMN gone_at timestamptz;
CREATE INDEX pm_document_checked_idx ON pm_document (coalesce(checked_at, fetched_at, created_at))
    WHERE status = 'done' AND uri IS NOT NULL;
