//! Proves what is in the database: each condition, warehouse by warehouse, by several clients at once.

mod contents;
mod findings;
mod jobs;
mod made;
mod notes;
mod proof;
mod quantities;
mod seeded;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use drivers::{Session, SessionError};
use model::{Dialect, Note, StepRecord, TpccProfile, TpccSpec, TpccStage};

use self::findings::{Findings, Found};
use self::jobs::{Job, jobs};
use self::proof::Proof;
use self::seeded::Seeded;
use super::conditions::Circumstances;
pub(super) use super::conditions::When;
use super::meta;
use super::reading;
use super::receipts::Receipts;
use super::scale::Scale;
use super::tables::Table;
use load::clients::{Clients, Notes, bounded};
use load::engine::{Observer, Stop};
use load::clients::FixedWork;
use load::worker::Worker;
use load::{Client, ClientContext, StepError, Target};

/// Under which name it is noted how long each condition took.
const NOTES: &str = "conditions";

/// Asks for everything that offends a condition, by as many clients as load, and compares all rows with what
/// they must be. A check for each condition that holds there and then; what is not asked is noted. After
/// transactions, `receipts` are what terminals saw committed, where that is known.
pub(super) fn run(
    spec: &TpccSpec,
    (when, receipts): (When, Option<&Receipts>),
    rows_seed: u64,
    target: &Target,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepRecord, StepError> {
    let clock = stop.clock();
    let notes = Notes::default();
    let checking = Arc::new(Checking::new(spec, when, rows_seed, target.dialect));
    let work = FixedWork {
        kinds: TpccStage::Check.kinds(spec),
        clients: connect(&checking, spec, rows_seed, target)?,
        clock,
        notes: (NOTES.into(), &notes),
    };
    let mut result = work.run(stop, observer)?;
    result.notes.extend(checking.notes(spec.profile));
    result.checks = checking.findings.checks(&checking.proofs);
    if let Some(receipts) = receipts {
        let (checks, note) = receipts.compare(&checking.findings.added());
        result.checks.extend(checks);
        result.notes.extend(note);
    }
    if when == When::Loaded {
        let rows = reading::checks(spec, rows_seed, target, stop)?;
        result.checks.extend(rows);
    }
    Ok(result)
}
struct Checking {
    circumstances: Circumstances,
    seeded: Seeded,
    proofs: Vec<Proof>,
    left_out: Vec<Proof>,
    jobs: Vec<Job>,
    next: AtomicUsize,
    findings: Findings,
}

impl Checking {
    fn new(spec: &TpccSpec, when: When, rows_seed: u64, dialect: Dialect) -> Self {
        let (proofs, left_out) = Proof::of(spec.profile, when);
        let jobs = jobs(&proofs, spec.warehouses, spec.load.clients.max(1));
        let scale = Scale::of(spec);
        Self {
            circumstances: Circumstances { scale, when },
            seeded: Seeded::new(scale, rows_seed, spec.profile, dialect),
            left_out,
            next: AtomicUsize::new(0),
            findings: Findings::new(proofs.len()),
            proofs,
            jobs,
        }
    }

    /// How long each condition took, and what was not asked because nobody keeps it up to date.
    fn notes(&self, profile: TpccProfile) -> Vec<Note> {
        let mut notes = vec![Note::new(NOTES, self.findings.took(&self.proofs))];
        let names: Vec<&str> = self.left_out.iter().map(|proof| proof.name()).collect();
        if self.circumstances.when == When::Used && !names.is_empty() {
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
fn connect(
    checking: &Arc<Checking>,
    spec: &TpccSpec,
    rows_seed: u64,
    target: &Target,
) -> Result<Clients, StepError> {
    let clients = (1..=spec.load.clients.max(1)).map(|number| {
        let name = format!("check {number}");
        let mut worker = Worker::connect(&*target.patient, name.clone())?;
        if number == 1 {
            meta::refuse_other(&mut *worker.session, spec, rows_seed)?;
            for sql in analyze(target.dialect) {
                worker.run(&sql)?;
            }
        }
        let checking = Arc::clone(checking);
        Ok(bounded(name, Checker { worker, checking }))
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
    let tables = Table::ALL.into_iter();
    tables.map(|table| format!("{command} {}", table.name())).collect()
}
struct Checker {
    worker: Worker,
    checking: Arc<Checking>,
}

impl Client for Checker {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let checking = Arc::clone(&self.checking);
        while !context.is_over() {
            let place = checking.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = checking.jobs.get(place) else {
                break;
            };
            let clock = context.recorder.clock().clone();
            let started = clock.now();
            // `None`: the step was over before it ended.
            if let Some(found) = self.look(&checking, job, context)? {
                let took = clock.now().saturating_sub(started);
                checking.findings.add(job.proof, place, found, took);
            }
        }
        Ok(())
    }
}

impl Checker {
    fn look(
        &mut self,
        checking: &Checking,
        job: &Job,
        context: &mut ClientContext<'_>,
    ) -> Result<Option<Found>, StepError> {
        match checking.proofs[job.proof] {
            Proof::Condition(condition) => {
                let sql = condition.sql(&checking.circumstances, job.warehouses);
                self.operate(context, |session, found| {
                    session.query(&sql, &mut |row| found.add(&condition.columns, row))?;
                    Ok(())
                })
            }
            Proof::Quantities => self.operate(context, |session, found| {
                let warehouse = job.warehouses.first;
                quantities::compare(session, &checking.seeded.population, warehouse, found)
            }),
            Proof::Contents(table) => self.operate(context, |session, found| {
                contents::compare(session, &checking.seeded, table, job.warehouses, found)
            }),
        }
    }

    fn operate(
        &mut self,
        context: &mut ClientContext<'_>,
        look: impl Fn(&mut dyn Session, &mut Found) -> Result<(), SessionError>,
    ) -> Result<Option<Found>, StepError> {
        let mut found = Found::default();
        let ended = self.worker.operate(context, 0, None, |session| {
            found = Found::default();
            look(session, &mut found)?;
            Ok(found.count())
        })?;
        Ok(ended.map(|_| found))
    }
}

#[cfg(test)]
mod tests {
    use super::super::scale::tests::spec;
    use super::*;

    fn names(proofs: &[Proof]) -> Vec<&'static str> {
        proofs.iter().map(|proof| proof.name()).collect()
    }

    #[test]
    fn everything_is_proved_of_the_standard_after_use() {
        let (proofs, left_out) = Proof::of(TpccProfile::Standard, When::Used);
        assert!(left_out.is_empty());
        let names = names(&proofs);
        assert_eq!(names[..2], ["condition 1", "condition 2"]);
        assert!(names.contains(&proof::QUANTITIES));
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
        let checking = Checking::new(&spec, When::Used, 1, Dialect::Sqlite);
        let notes = checking.notes(spec.profile);
        assert_eq!(notes[1].what.word(), "not applicable");
        assert!(
            notes[1].text.starts_with(
                "condition 12, payments, stock sums, stock quantities: this profile leaves c_ytd_payment"
            ),
            "{}",
            notes[1].text
        );
        for spec in [spec, super::super::scale::tests::spec()] {
            let checking = Checking::new(&spec, When::Loaded, 1, Dialect::Sqlite);
            assert_eq!(checking.notes(spec.profile).len(), 1);
        }
    }
}
