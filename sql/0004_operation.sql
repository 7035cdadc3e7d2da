-- A request that is still being taken in is not finished, though nothing taken so far is open. A moment, so that one
-- whose process ended is not waited for for ever: each batch puts it off.
ALTER TABLE pm_operation ADD COLUMN taking_until timestamptz;
