-- The schema of lab.sqlite: every run of one lab. This is the first migration; it never changes.
-- Times of day are RFC 3339 in UTC. Columns that end in _ns are whole nanoseconds.
-- JSON columns hold the types of the crate `model` of the same name, as serde writes them.

PRAGMA application_id = 1651209068;  -- "bksl": how a file is known to be ours

-- Facts about the file. 'backslide': the version that created or last migrated it.
CREATE TABLE lab (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A plan being executed, or executed. Run 3 is shown as r3.
CREATE TABLE run (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused
    plan      TEXT NOT NULL,                      -- JSON: Plan, fully expanded
    host      TEXT NOT NULL,                      -- JSON: Host
    backslide TEXT NOT NULL,                      -- version that ran it
    started   TEXT NOT NULL,
    finished  INTEGER NOT NULL DEFAULT 0          -- 1 when every trial has an outcome
) STRICT;

-- One system in one round. Without an outcome it is under way, or was interrupted.
CREATE TABLE trial (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,  -- in the order in which they ran
    run         INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    round       INTEGER NOT NULL,                   -- from 1
    position    INTEGER NOT NULL,                   -- place within the round, from 1
    system      TEXT NOT NULL,                      -- its name in the plan
    started     TEXT NOT NULL,
    provenance  TEXT NOT NULL DEFAULT '[]',         -- JSON: pairs of what the server said of itself
    completed   INTEGER,                            -- 1 completed, 0 failed, NULL no outcome
    outcome     TEXT,                               -- JSON: Outcome
    duration_ns INTEGER,
    UNIQUE (run, round, system)
) STRICT;

-- One step of one trial.
CREATE TABLE step (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    trial    INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    ordinal  INTEGER NOT NULL,   -- place in the workload, from zero
    name     TEXT NOT NULL,
    kinds    TEXT NOT NULL,      -- JSON: names of the operation kinds, in the order of every interval
    measured INTEGER NOT NULL,   -- 1 a result, 0 a phase between results
    record   TEXT,               -- JSON: StepRecord without its histograms; NULL until it is over
    UNIQUE (trial, ordinal)
) STRICT;

-- The numbers of one second of one step, small, so that a chart reads them in one scan by key and
-- touches no histogram. Format of `numbers`: see interval.rs.
CREATE TABLE interval (
    step    INTEGER NOT NULL REFERENCES step ON DELETE CASCADE,
    number  INTEGER NOT NULL,    -- from zero
    numbers BLOB NOT NULL,
    PRIMARY KEY (step, number)
) STRICT, WITHOUT ROWID;

-- The rest of that second: the histograms of each kind and what the probes read.
CREATE TABLE interval_detail (
    step     INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    latency  BLOB NOT NULL,      -- format: see interval.rs
    readings BLOB NOT NULL,      -- JSON, deflated: Readings
    PRIMARY KEY (step, number),
    FOREIGN KEY (step, number) REFERENCES interval ON DELETE CASCADE
) STRICT;

-- The merged histogram of one operation kind over the whole window of a step.
CREATE TABLE histogram (
    step     INTEGER NOT NULL REFERENCES step ON DELETE CASCADE,
    kind     INTEGER NOT NULL,   -- place in the kinds of step.record
    response INTEGER NOT NULL,   -- 1 response time, 0 service time
    latency  BLOB NOT NULL,      -- HdrHistogram V2, deflated
    PRIMARY KEY (step, kind, response)
) STRICT;

-- The value of a metric for one step of one trial.
CREATE TABLE measurement (
    step   INTEGER NOT NULL REFERENCES step ON DELETE CASCADE,
    place  INTEGER NOT NULL,     -- order in which reports list them
    metric TEXT NOT NULL,
    unit   TEXT NOT NULL,
    value  REAL NOT NULL,        -- a value that is not a number is refused
    PRIMARY KEY (step, place)
) STRICT, WITHOUT ROWID;

-- Status, variables or another listing of a server, before or after a step.
CREATE TABLE capture (
    id      INTEGER PRIMARY KEY,
    trial   INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    step    TEXT NOT NULL,       -- name of the step; the first is captured before the step begins
    moment  TEXT NOT NULL CHECK (moment IN ('before', 'after')),
    name    TEXT NOT NULL,
    listing BLOB NOT NULL        -- JSON, deflated: columns and rows
) STRICT;
CREATE INDEX capture_of_trial ON capture (trial, step, moment);
