-- The third migration. What a file holds says more than older programs know of:
--   run.plan:        its `course` says how the rounds are carried out.
--   trial.outcome:   may be `quarantined`; `completed` is 0 then.
--   interval.number: counts slices in a step that was measured in slices; no interval is longer than a second.

-- A metric in each slice of a step that was measured in slices. Slices of one round that have the same place
-- ran beside each other.
CREATE TABLE slice (
    step   INTEGER NOT NULL REFERENCES step ON DELETE CASCADE,
    metric TEXT NOT NULL,
    series BLOB NOT NULL,   -- one value a slice in the order of time; format: see slices.rs
    PRIMARY KEY (step, metric)
) STRICT, WITHOUT ROWID;
