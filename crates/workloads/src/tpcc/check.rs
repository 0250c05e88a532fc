//! Proves what is in the database: each condition, warehouse by warehouse, by several clients at once.

mod contents;
mod findings;
mod made;
mod notes;
mod proofs;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use drivers::{Session, SessionError};
use model::{Dialect, Note, StepRecord, TpccProfile, TpccStage};

use self::findings::{Findings, Found};
use self::made::Seeded;
use self::proofs::{Job, Proof, jobs};
pub(super) use super::conditions::When;
use super::loading::Setting;
use super::meta;
use super::receipts::Receipts;
use super::tables::Table;
use load::{Client, ClientContext, Clients, Observer, Result, Worker, bounded, fixed_work};

/// Under which name it is noted how long each condition took.
const NOTES: &str = "conditions";

/// Asks for everything that offends a condition, by as many clients as load, and compares all rows with what
/// they must be. A check for each condition that holds there and then; what is not asked is noted. After
/// transactions, `receipts` are what terminals saw committed, where that is known.
pub(super) fn run(
    at: &Setting<'_>,
    when: When,
    receipts: Option<&Receipts>,
    observer: &mut dyn Observer,
) -> Result<StepRecord> {
    let clock = at.stop.clock();
    let checking = Arc::new(Checking::new(at, when));
    let (kinds, clients) = (TpccStage::Check.kinds(at.spec), connect(&checking, at)?);
    let mut result = fixed_work(&kinds, clients, &clock, at.stop, observer)?;
    result.notes.extend(checking.notes(at.spec.profile));
    result.checks = checking.findings.checks(&checking.proofs);
    if let Some(receipts) = receipts {
        let (checks, note) = receipts.compare(&checking.findings.added());
        result.checks.extend(checks);
        result.notes.extend(note);
    }
    if when == When::Loaded {
        result.checks.extend(at.checks()?);
    }
    Ok(result)
}

struct Checking {
    when: When,
    seeded: Seeded,
    proofs: Vec<Proof>,
    left_out: Vec<Proof>,
    jobs: Vec<Job>,
    next: AtomicUsize,
    findings: Findings,
}

impl Checking {
    fn new(at: &Setting<'_>, when: When) -> Self {
        let (proofs, left_out) = Proof::of(at.spec.profile, when);
        Self {
            when,
            seeded: Seeded::new(at),
            jobs: jobs(&proofs, at.spec.warehouses, at.spec.load.clients.max(1)),
            proofs,
            left_out,
            next: AtomicUsize::new(0),
            findings: Findings::default(),
        }
    }

    fn look(
        &self,
        session: &mut dyn Session,
        job: &Job,
        found: &mut Found,
    ) -> Result<(), SessionError> {
        match self.proofs[job.proof] {
            Proof::Condition(condition) => {
                let sql = condition.sql(&self.seeded.scale, self.when, job.warehouses);
                session.query(&sql, &mut |row| found.add(&condition.columns, row))?;
                Ok(())
            }
            Proof::Quantities => {
                let warehouse = job.warehouses.first;
                contents::compare_quantities(session, &self.seeded.population, warehouse, found)
            }
            Proof::Contents(table) => {
                contents::compare(session, &self.seeded, table, job.warehouses, found)
            }
        }
    }

    /// How long each condition took, and what was not asked because nobody keeps it up to date.
    fn notes(&self, profile: TpccProfile) -> Vec<Note> {
        let mut notes = vec![Note::new(NOTES, self.findings.took(&self.proofs))];
        let names: Vec<&str> = self.left_out.iter().map(|proof| proof.name()).collect();
        if self.when == When::Used && !names.is_empty() {
            let why = match profile {
                TpccProfile::Standard => "they say nothing of this data",
                TpccProfile::Percona => {
                    "this profile leaves c_ytd_payment, c_payment_cnt, s_ytd, s_order_cnt and \
                     s_remote_cnt as they were loaded"
                }
            };
            notes.push(Note::new("not applicable", format!("{}: {why}", names.join(", "))));
        }
        notes
    }
}

/// Connects the clients. The first looks whether the database is the one that is meant, and has the server
/// count what its tables hold: right after a load it believes them to be small, and reads all of them where it
/// should look for a few rows.
fn connect(checking: &Arc<Checking>, at: &Setting<'_>) -> Result<Clients> {
    let clients = (1..=at.spec.load.clients.max(1)).map(|number| {
        let name = format!("check {number}");
        let mut worker = at.worker(&name)?;
        if number == 1 {
            meta::refuse_other(&mut *worker.session, at.spec, at.rows_seed)?;
            for sql in analyze(at.target.dialect) {
                worker.run(&sql)?;
            }
        }
        Ok(bounded(name, Checker { worker, checking: Arc::clone(checking) }))
    });
    clients.collect()
}

/// The statements that let the server know what its tables hold. SQLite does without.
fn analyze(dialect: Dialect) -> Vec<String> {
    let command = match dialect {
        Dialect::Mysql => "ANALYZE TABLE",
        Dialect::Postgres => "ANALYZE",
        Dialect::Sqlite => return Vec::new(),
    };
    Table::ALL.map(|table| format!("{command} {}", table.name())).to_vec()
}
struct Checker {
    worker: Worker,
    checking: Arc<Checking>,
}

impl Client for Checker {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        let checking = Arc::clone(&self.checking);
        while !context.is_over() {
            let place = checking.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = checking.jobs.get(place) else {
                break;
            };
            let clock = context.recorder.clock().clone();
            let started = clock.now();
            let mut found = Found::default();
            let ended = self.worker.operate(context, 0, None, |session| {
                found = Found::default();
                checking.look(session, job, &mut found)?;
                Ok(found.count)
            })?;
            // Otherwise the step was over before it ended.
            if ended.is_some() {
                let took = clock.now().saturating_sub(started);
                checking.findings.add(job.proof, place, found, took);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use model::TpccSpec;

    use super::super::scale::tests::spec;
    use super::*;
    use crate::tpcc::transactions::tests::fixture::sqlite;
    use load::engine::Stop;

    fn names(proofs: &[Proof]) -> Vec<&'static str> {
        proofs.iter().map(|proof| proof.name()).collect()
    }

    #[test]
    fn everything_is_proved_of_the_standard_after_use() {
        let (proofs, left_out) = Proof::of(TpccProfile::Standard, When::Used);
        assert!(left_out.is_empty());
        let names = names(&proofs);
        assert_eq!(names[..2], ["condition 1", "condition 2"]);
        assert!(names.contains(&proofs::QUANTITIES));
        assert!(names.ends_with(&["item", "stock", "order_line"]));
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), names.len());
    }

    #[test]
    fn what_a_profile_does_not_keep_is_noted() {
        let mut spec = spec();
        spec.profile = TpccProfile::Percona;
        let (target, stop) = (sqlite(), Stop::default());
        let notes = |spec: &TpccSpec, when| {
            let at = Setting { spec, rows_seed: 1, target: &target, stop: &stop };
            Checking::new(&at, when).notes(spec.profile)
        };
        let used = notes(&spec, When::Used);
        assert_eq!(used[1].what.word(), "not applicable");
        assert!(
            used[1].text.starts_with(
                "condition 12, payments, stock sums, stock quantities: this profile leaves c_ytd_payment"
            ),
            "{}",
            used[1].text
        );
        for spec in [spec, super::super::scale::tests::spec()] {
            assert_eq!(notes(&spec, When::Loaded).len(), 1);
        }
    }
}
