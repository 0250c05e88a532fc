-- The seventh migration. A step may have several profiles: of CPU time, and of what threads slept in.

CREATE TABLE profiles (
    step   INTEGER NOT NULL REFERENCES step ON DELETE CASCADE,
    stacks BLOB NOT NULL    -- JSON, deflated: Profile
) STRICT;
INSERT INTO profiles (step, stacks) SELECT step, stacks FROM profile;
DROP TABLE profile;
ALTER TABLE profiles RENAME TO profile;
CREATE INDEX profile_step ON profile (step);
