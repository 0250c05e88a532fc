//! A step whose terminals run transactions: set up, warmed up, measured, checked.

use std::sync::Arc;

use model::{
    Check, KindSpec, Nanos, Note, NoteKind, StepRecord, TpccFacts, TpccForm, TpccPace, TpccStage,
    TpccTransaction, WarmUpEnd, mix,
};

use super::acknowledged::log::Acknowledged;
use super::audit::{self, Tallies};
use super::loading::Setting;
use super::meta::refuse_other;
use super::random::Constants;
use super::receipts::Receipts;
use super::report::take;
use super::statements::{StepStatements, isolate};
use super::terminal::{Common, Terminal, kind, name};
use crate::part::{Assignment, TpccAssignment, connected, crew};
use crate::sql::answers::Answers;
use crate::sql::limits::{BESIDES, check_needs};
use load::measure::{Stream, Windows};
use load::ramp::{Limit, RampSpec};
use load::warm::WarmUp;
use load::{End, Observer, OwnCrew, Recovery, Result, Role, Share};

/// The sum of the districts' next order numbers: it grows by one with each order.
const ORDERS: &str = "SELECT SUM(d_next_o_id) FROM district";

/// Orders that wait for delivery.
const BACKLOG: &str = "SELECT COUNT(*) FROM new_order";

/// The session that counts; no terminal's is open then.
const COUNTER: &str = "count orders";

/// Share of the transactions of each type that must keep its limit, per mille.
const KEEPS_LIMIT: u32 = 900;

/// Keeps the seeds of terminals apart from all others.
const TERMINALS: u64 = 0x7470_6363;

/// The kinds that count all transactions together.
const ALL: [usize; 5] = [0, 1, 2, 3, 4];

pub(super) struct RunStep<'a> {
    pub(super) at: &'a Setting<'a>,
    /// From 1.
    pub(super) number: u32,
    pub(super) seed: u64,
    /// The terminals of this process, if no other one has terminals.
    pub(super) share: Share,
    /// Where commits are written down as soon as they are acknowledged.
    pub(super) log: Option<Arc<Acknowledged>>,
}

impl RunStep<'_> {
    /// Connects the terminals, runs them and checks what they left; also what they saw committed.
    pub(super) fn run(&self, observer: &mut dyn Observer) -> Result<(StepRecord, Receipts)> {
        let (spec, stop) = (self.at.spec, self.at.stop);
        let clock = stop.clock();
        let mut worker = self.at.worker(COUNTER)?;
        refuse_other(&mut *worker.session, spec, self.at.rows_seed)?;
        let before = worker.number(ORDERS)?;
        drop(worker);
        let stream = self.stream();
        let common = self.common(stream.as_ref());
        self.check_limits(&common.statements)?;
        let own = |kinds| self.own_crew(kinds, &common);
        let (target, kinds) = (self.at.target, self.kinds());
        let mut crew = crew(target, &self.share, kinds, || self.assignment(), own)?;
        let windows = Windows {
            warmup: WarmUp::of(WarmUpEnd::Fixed, spec.warmup_seconds),
            end: End::After(Nanos::from_secs(spec.seconds.into())),
            stream: stream.as_ref(),
            counted: &ALL,
        };
        let measured = windows.measure(&mut *crew, stop, observer)?;
        for report in crew.end()? {
            take(&report, &common)?;
        }
        let measured = StepRecord { elapsed: clock.now(), ..measured };
        let mut worker = self.at.worker(COUNTER)?;
        let counted = worker.number(ORDERS)?.saturating_sub(before);
        let backlog = worker.number(BACKLOG)?;
        let receipts = common.tallies.sum().receipts;
        Ok((self.result(&common, measured, counted, backlog), receipts))
    }

    fn assignment(&self) -> Assignment {
        let Setting { spec, rows_seed, .. } = *self.at;
        let (spec, seed, number) = (spec.clone(), self.seed, self.number);
        Assignment::Tpcc(TpccAssignment { spec, rows_seed, seed, number })
    }

    pub(super) fn own_crew(&self, kinds: Vec<KindSpec>, common: &Arc<Common>) -> Result<OwnCrew> {
        let role = |number| Role { name: name(number), bounded: false };
        let clients = connected(&self.share, self.at.stop, role, |number| {
            Terminal::connect(common, number, self.seed_of(number))
        })?;
        Ok(OwnCrew { kinds, clients, shared: Some(Arc::clone(common) as _) })
    }

    pub(super) fn kinds(&self) -> Vec<KindSpec> {
        TpccStage::Run(self.number).kinds(self.at.spec)
    }

    pub(super) fn common(&self, stream: Option<&Stream>) -> Arc<Common> {
        let Setting { spec, rows_seed, target, .. } = *self.at;
        let dialect = target.dialect;
        Arc::new(Common {
            spec: Arc::new(spec.clone()),
            dialect,
            constants: Constants::of_run(rows_seed, self.seed),
            population: self.at.population(),
            statements: Arc::new(StepStatements::new(spec, dialect)),
            isolate: spec.isolation.and_then(|level| isolate(level, dialect)),
            recovery: Recovery::new(&spec.errors, dialect, &target.connector),
            answers: Answers::default(),
            tallies: Tallies::default(),
            queue: stream
                .map(|stream| stream.queue(self.seed_of(u32::MAX)).of_share(self.share.clone())),
            log: self.log.clone(),
        })
    }

    /// Says before anybody connects that the server allows too little.
    fn check_limits(&self, statements: &StepStatements) -> Result {
        let step = format!("h{}", self.number);
        let of_each = match self.at.spec.form {
            TpccForm::Single | TpccForm::Batched => statements.prepared(),
            TpccForm::Procedures => TpccTransaction::ALL.len(),
        };
        let clients = u64::from(self.at.spec.clients);
        let connections = (clients + BESIDES, step.as_str());
        check_needs(connections, (clients * of_each as u64, &step), self.at.target)
    }

    /// A seed for `number`, other than in any other step.
    fn seed_of(&self, number: u32) -> u64 {
        let salt = [TERMINALS, u64::from(self.number), u64::from(number)];
        mix(self.seed, &salt)
    }

    /// How transactions arrive; `None` where terminals decide.
    pub(super) fn stream(&self) -> Option<Stream> {
        match self.at.spec.pace {
            TpccPace::NoWait | TpccPace::Wait { .. } => None,
            TpccPace::Rate { per_second, arrivals, queue } => {
                Some(Stream { per_second, arrivals, queue, ramp: None })
            }
            TpccPace::Ramp { from, arrivals, queue, attempt_seconds } => {
                let limits = TpccTransaction::ALL.into_iter().zip(self.at.spec.limits_millis);
                let limits = limits.map(|(transaction, millis)| Limit {
                    kind: kind(transaction),
                    at_most: Nanos::from_millis(millis.into()),
                });
                let (limits, attempt) =
                    (limits.collect(), Nanos::from_secs(attempt_seconds.into()));
                let ramp = Some(RampSpec { from, permille: KEEPS_LIMIT, limits, attempt });
                Some(Stream { per_second: from, arrivals, queue, ramp })
            }
        }
    }

    /// What was measured and checked; the districts counted so many orders, and so many wait for delivery.
    fn result(
        &self,
        common: &Common,
        mut measured: StepRecord,
        counted: u64,
        backlog: u64,
    ) -> StepRecord {
        let sum = common.tallies.sum();
        let mut checks =
            vec![common.answers.check(), check_orders(sum.committed, sum.unknown, counted)];
        let warehouses = self.at.spec.warehouses;
        checks.extend(audit::checks(&sum.audit, sum.transactions, warehouses));
        let mut notes = std::mem::take(&mut measured.notes);
        let told = common.answers.told().into_iter();
        notes.extend(told.map(|text| Note::new(NoteKind::WrongAnswer, text)));
        notes.extend(common.recovery.outages.note());
        if sum.unknown > 0 {
            let text = format!(
                "of {}, whose connection was lost: may or may not be in the database",
                sum.unknown
            );
            notes.push(Note::new("new-orders with unknown outcome", text));
        }
        StepRecord {
            tpcc: Some(TpccFacts {
                limits_millis: self.at.spec.limits_millis,
                skipped: sum.skipped,
                backlog,
                committed: sum.committed,
                counted,
                audit: sum.audit,
            }),
            checks,
            notes,
            ..measured
        }
    }
}

/// Are there as many new orders as terminals saw committed, and any number of those with unknown outcome?
fn check_orders(committed: u64, unknown: u64, grown: u64) -> Check {
    Check {
        what: "orders that the districts counted, of those that terminals saw committed".to_owned(),
        expected: match unknown {
            0 => committed.to_string(),
            _ => format!("{committed} to {}", committed + unknown),
        },
        actual: grown.to_string(),
        holds: (committed..=committed + unknown).contains(&grown),
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::tests::fixture::spec;
    use super::super::terminal::ROLLED_BACK;
    use super::*;

    #[test]
    fn kinds_stand_in_the_order_in_which_terminals_count() {
        let names: Vec<String> =
            TpccStage::Run(1).kinds(&spec(1)).into_iter().map(|kind| kind.name).collect();
        assert_eq!(
            names,
            ["new-order", "payment", "order-status", "delivery", "stock-level", "rollback"]
        );
        for transaction in TpccTransaction::ALL {
            assert_eq!(names[kind(transaction)], transaction.name());
        }
        assert_eq!(names[ROLLED_BACK], model::ROLLBACK);
        assert_eq!(ALL, TpccTransaction::ALL.map(kind));
    }

    #[test]
    fn an_order_of_unknown_outcome_may_be_there_or_not() {
        let holds = |unknown, grown| check_orders(100, unknown, grown).holds;
        assert!(holds(0, 100) && !holds(0, 99) && !holds(0, 101));
        assert!(holds(2, 100) && holds(2, 102));
        assert!(!holds(2, 99) && !holds(2, 103));
        assert_eq!(check_orders(100, 2, 101).expected, "100 to 102");
    }
}
