-- Manners towards the sites that pages are fetched from, shared by all processes: what robots.txt says, and when the next
-- request may be made.
CREATE TABLE pm_host (
    origin          text PRIMARY KEY CHECK (length(origin) < 400),  -- scheme://host[:port]
    robots          text,                                           -- as it came; NULL: never had, '': there is none
    robots_at       timestamptz,
    next_request_at timestamptz NOT NULL DEFAULT now(),
    created_at      timestamptz NOT NULL DEFAULT now()
);
