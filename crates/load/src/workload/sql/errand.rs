//! The steps whose clients have a fixed amount of work: loading, and what comes around it.

use std::sync::{Arc, Mutex, PoisonError};

use model::{Check, Counts, KindSpec, Nanos, Settle, SqlSpec, StepNote};

use super::index::clients_of_index;
use super::ledger::Ledger;
use super::load::{clients_of_load, copies};
use super::reading::{Found, checks_after_load, clients_of_reading};
use super::reset::clients_of_reset;
use super::settle::clients_of_settle;
use super::state::Loaded;
use crate::engine::{End, Observer, StepSetup, Stop, run};
use crate::workload::settle::{Clients, Notes, taken};
use crate::{StepClock, StepError, StepResult, Target};

/// What such a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Errand {
    /// Makes and loads all tables.
    Load,
    /// Builds their secondary indexes.
    Index,
    /// Vacuum, analyze, flush, and a wait.
    Settle(Settle),
    /// Drops the tables and makes them again.
    Reset,
    /// Reads all that another trial has loaded, and compares.
    Read,
}

impl Errand {
    /// Is it a result?
    pub(super) const fn is_measured(self) -> bool {
        match self {
            Self::Load | Self::Index => true,
            Self::Settle(_) | Self::Reset | Self::Read => false,
        }
    }

    /// Can it be done once for many trials, where it comes before all others?
    pub(super) const fn is_loading(self) -> bool {
        match self {
            Self::Load | Self::Index | Self::Settle(_) => true,
            Self::Reset | Self::Read => false,
        }
    }

    /// Its operation kinds; it is about the first.
    pub(super) fn kinds(self) -> Vec<KindSpec> {
        let names: &[&str] = match self {
            Self::Load => &["insert"],
            Self::Index => &["create_index"],
            Self::Settle(_) => &["settle"],
            Self::Reset => &["insert", "create_index"],
            Self::Read => &["scan"],
        };
        let kinds = names.iter().map(|name| KindSpec {
            name: (*name).to_owned(),
            scheduled: false,
        });
        kinds.collect()
    }

    /// What an operation of the first kind counts as.
    pub(super) const fn counts(self) -> Counts {
        match self {
            Self::Settle(_) => Counts::Operations,
            Self::Load | Self::Index | Self::Reset | Self::Read => Counts::Rows,
        }
    }

    /// Under which name its notes stand.
    const fn notes(self) -> &'static str {
        match self {
            Self::Settle(_) => StepNote::SETTLE,
            Self::Index => "index",
            Self::Load | Self::Reset | Self::Read => "load",
        }
    }
}

/// Such a step, about to be run.
pub(super) struct Job<'a> {
    pub(super) errand: Errand,
    pub(super) spec: &'a SqlSpec,
    /// The seed of the rows.
    pub(super) seed: u64,
    pub(super) target: &'a Target,
    pub(super) ledger: &'a Arc<Ledger>,
    /// What another trial has loaded.
    pub(super) loaded: Option<&'a Loaded>,
}

impl Job<'_> {
    /// Connects the clients, runs them and checks what they left.
    pub(super) fn run(
        &self,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepResult, StepError> {
        let clock = StepClock::start();
        let (notes, found) = (Notes::default(), Found::default());
        let setup = StepSetup {
            kinds: self.errand.kinds(),
            clients: self.clients(&notes, &found)?,
            pace: None,
            end: End::AllDone { limit: None },
            warmup: Nanos(0),
        };
        let window = run(setup, stop, observer)?;
        let elapsed = clock.now();
        let mut checks = take(&found);
        checks.extend(self.checks(stop)?);
        Ok(StepResult {
            window,
            elapsed,
            target_rate: None,
            requested_rows: self.requested_rows(),
            open_loop: None,
            tpcc: None,
            checks,
            notes: taken(&notes, self.errand.notes()),
        })
    }

    fn clients(&self, notes: &Notes, found: &Found) -> Result<Clients, StepError> {
        let Self {
            spec,
            seed,
            target,
            ledger,
            ..
        } = *self;
        match self.errand {
            Errand::Load => clients_of_load(spec, seed, target, ledger, notes),
            Errand::Index => clients_of_index(spec, target, notes),
            Errand::Settle(settle) => clients_of_settle(spec, settle, target, notes),
            Errand::Reset => clients_of_reset(spec, seed, target, ledger, notes),
            Errand::Read => match self.loaded {
                Some(loaded) => clients_of_reading(spec, target, loaded, found),
                None => Err(StepError::State("there is none".to_owned())),
            },
        }
    }

    /// What is checked when the clients are done.
    fn checks(&self, stop: &Stop) -> Result<Vec<Check>, StepError> {
        match self.errand {
            Errand::Load | Errand::Reset => {
                checks_after_load(self.spec, self.seed, self.target, self.ledger, stop)
            }
            Errand::Index | Errand::Settle(_) | Errand::Read => Ok(Vec::new()),
        }
    }

    fn requested_rows(&self) -> u64 {
        match self.errand {
            Errand::Load => copies(&self.spec.tables).iter().map(|copy| copy.rows).sum(),
            Errand::Index | Errand::Settle(_) | Errand::Reset | Errand::Read => 0,
        }
    }
}

fn take<T>(shared: &Mutex<Vec<T>>) -> Vec<T> {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *shared)
}
