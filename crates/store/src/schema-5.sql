-- The fifth migration. What a file holds says more than older programs know of:
--   run.plan:      its `course` may have profiled rounds.
--   trial.outcome: may be `profiled`; `completed` is 0 then.

-- The stacks of a step in a profiled round.
CREATE TABLE profile (
    step   INTEGER PRIMARY KEY REFERENCES step ON DELETE CASCADE,
    stacks BLOB NOT NULL    -- JSON, deflated: Profile
) STRICT;
