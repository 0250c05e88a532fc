-- The sixth migration. What a file holds says more than older programs know of:
--   run.plan: its `course` may name the part of the rounds that this lab measures.

-- The same in every lab that has a part of the run: 'campaign NAME', or a random text for a run without parts.
ALTER TABLE run ADD COLUMN identity TEXT NOT NULL DEFAULT '';
UPDATE run SET identity =
    started || ' ' || CASE WHEN json_valid(host) THEN coalesce(json_extract(host, '$.name'), '') ELSE '' END || ' r' || id;
CREATE UNIQUE INDEX run_of_identity ON run (identity);

-- The host of each round of a run that was merged from parts.
CREATE TABLE round_host (
    run   INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    round INTEGER NOT NULL,
    host  TEXT NOT NULL,      -- JSON: Host
    whole INTEGER NOT NULL,   -- 1 when the part that has it was finished
    PRIMARY KEY (run, round)
) STRICT, WITHOUT ROWID;
