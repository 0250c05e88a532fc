//! What writes leave for the server to do behind the clients' backs: purge, writing back, vacuum, compaction,
//! checkpoints. The steps after would pay for it, so the settle phase waits until little is left, and tells how much.

use drivers::{Result, Session};
use model::{Dialect, Engine, Nanos, NoteKind, grouped};

use load::ClientContext;

/// The longest wait: what is left then goes on beneath the next steps, which is said.
pub const LONGEST: Nanos = Nanos::from_secs(300);

const POLL: Nanos = Nanos::from_millis(250);

/// Changes that purge may leave while it is at work. It keeps a few at all times.
const HISTORY: u64 = 1_000;

/// Dirty pages that may be left, in per cent of all. The settings of the phase ask for one per cent.
const DIRTY_PERCENT: u64 = 2;

/// Of every InnoDB: the state of purge.
const INNODB: &str = "SHOW ENGINE INNODB STATUS";
const PAGES: &str = "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_%'";

/// A compaction that runs shows where it leaves another one to do.
const ROCKSDB: &str = "SELECT STAT_TYPE, SUM(VALUE) FROM information_schema.ROCKSDB_CFSTATS \
                       WHERE STAT_TYPE IN ('COMPACTION_PENDING', 'NUM_IMMUTABLE_MEM_TABLE') \
                       GROUP BY STAT_TYPE";

/// Of this database: others are not our doing, and do not end with it.
const VACUUMS: &str = "SELECT (SELECT COUNT(*) FROM pg_stat_progress_vacuum \
                       WHERE datname = current_database()), \
                       (SELECT COUNT(*) FROM pg_stat_activity \
                       WHERE datname = current_database() AND query LIKE 'autovacuum:%')";

/// Writes back what nobody reads, and tells frames of the log and those of them that are written back.
const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Left {
    what: &'static str,
    amount: u64,
    /// What is little enough; `None` where it is reported and not waited for.
    at_most: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub struct Backlog {
    pub dialect: Dialect,
    pub engine: Engine,
    /// Is the server ours, so that settings make it write dirty pages back?
    pub ours: bool,
}

impl Backlog {
    /// Waits until little is left, but not longer than `longest`. What to note of it and under which name;
    /// `None` where nothing can be asked, or the step was over before. `since`: when the phase's work ended.
    pub fn drain(
        self,
        session: &mut dyn Session,
        context: &ClientContext<'_>,
        since: Nanos,
        longest: Nanos,
    ) -> Option<(NoteKind, String)> {
        let clock = context.recorder.clock();
        let give_up = clock.now() + longest;
        // How often in a row little must be left. Servers have pauses between two pieces of work.
        let looks = if self.dialect == Dialect::Sqlite { 1 } else { 2 };
        let mut quiet = 0;
        while !context.is_over() {
            let left = match self.left(session) {
                Ok(left) if left.is_empty() => return None,
                Ok(left) => left,
                Err(error) => {
                    let text = format!("the pending work is unknown: {error}");
                    return Some((NoteKind::Settle, text));
                }
            };
            let is_little = |left: &Left| left.at_most.is_none_or(|most| left.amount <= most);
            quiet = if left.iter().all(is_little) { quiet + 1 } else { 0 };
            let now = clock.now();
            let told = format!("{} after {}", listed(&left), now.saturating_sub(since));
            if quiet >= looks {
                return Some((NoteKind::LeftOver, told));
            }
            if now >= give_up {
                return Some((NoteKind::NotDrained, told));
            }
            context.wait_until(now + POLL);
        }
        None
    }

    fn left(self, session: &mut dyn Session) -> Result<Vec<Left>> {
        let mut left = Vec::new();
        match (self.dialect, self.engine) {
            (Dialect::Mysql, Engine::Innodb) => {
                session.query(INNODB, &mut |row| {
                    let status = row.value(2).to_text();
                    left.extend(status.and_then(|status| history(&status)));
                })?;
                left.push(self.dirty_pages(session)?);
            }
            (Dialect::Mysql, Engine::Myrocks) => {
                session.query(ROCKSDB, &mut |row| {
                    let what = match row.value(0).to_text().as_deref() {
                        Some("COMPACTION_PENDING") => "compactions",
                        Some("NUM_IMMUTABLE_MEM_TABLE") => "memtables",
                        Some(_) | None => return,
                    };
                    left.push(none_of(what, row.value(1).as_int()));
                })?;
            }
            // Nothing is known of what they have left.
            (Dialect::Mysql, Engine::Tokudb | Engine::Heap | Engine::Btree | Engine::Other) => {}
            (Dialect::Postgres, _) => {
                session.query(VACUUMS, &mut |row| {
                    left.push(none_of("vacuums", row.value(0).as_int()));
                    left.push(none_of("autovacuum workers", row.value(1).as_int()));
                })?;
            }
            (Dialect::Sqlite, _) => {
                session.query(CHECKPOINT, &mut |row| {
                    // -1 where there is no such log.
                    let frames = |column| row.value(column).as_int().unwrap_or(0).max(0);
                    left.push(none_of("WAL frames", Some(frames(1) - frames(2))));
                })?;
            }
        }
        Ok(left)
    }

    fn dirty_pages(self, session: &mut dyn Session) -> Result<Left> {
        let (mut dirty, mut all) = (0, 0);
        session.query(PAGES, &mut |row| {
            let pages = row.value(1).as_int().and_then(|i| u64::try_from(i).ok());
            match row.value(0).to_text().as_deref() {
                Some("Innodb_buffer_pool_pages_dirty") => dirty = pages.unwrap_or(0),
                Some("Innodb_buffer_pool_pages_total") => all = pages.unwrap_or(0),
                Some(_) | None => {}
            }
        })?;
        let at_most = self.ours.then_some(all.saturating_mul(DIRTY_PERCENT) / 100);
        Ok(Left { what: "dirty pages", amount: dirty, at_most })
    }
}

/// The length of the history list. It says how much purge has to do only while that is at work: of what it
/// has done, servers drop the list in pieces, some after minutes, and of what an old transaction still sees,
/// nothing. Whether it is at work they say since MySQL 5.6.
fn history(status: &str) -> Option<Left> {
    let (_, rest) = status.split_once("History list length ")?;
    let amount = rest.split_whitespace().next()?.parse().ok()?;
    let purge = status.lines().find(|line| line.starts_with("Purge done for trx's"));
    let state = purge.and_then(|line| line.split_once(" state: "));
    let is_at_work = state.is_none_or(|(_, state)| state.trim() == "running");
    Some(Left { what: "history", amount, at_most: is_at_work.then_some(HISTORY) })
}

fn none_of(what: &'static str, amount: Option<i64>) -> Left {
    Left { what, amount: amount.and_then(|i| u64::try_from(i).ok()).unwrap_or(0), at_most: Some(0) }
}

/// `history 12, dirty pages 0`.
fn listed(left: &[Left]) -> String {
    let each = left.iter().map(|left| format!("{} {}", left.what, grouped(left.amount)));
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
