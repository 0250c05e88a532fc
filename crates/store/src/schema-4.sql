-- The fourth migration. What a file holds says more than older programs know of:
--   run.plan: its `course` may name margins, by which the run is judged.

-- What is said of the control of a run, a second copy of its base, over all metrics. Counted once when the run has
-- ended: to count it anew takes as long as comparing the run. No cells: it has none, or it could not be counted.
CREATE TABLE control (
    run     INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
    cells   INTEGER NOT NULL,   -- that were judged
    changed INTEGER NOT NULL    -- of these, that were called different
) STRICT;
