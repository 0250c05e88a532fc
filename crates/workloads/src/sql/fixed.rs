//! The steps whose clients have a fixed amount of work: loading, and what comes around it.

use std::sync::{Arc, Mutex, PoisonError};

use model::{Check, KindSpec, NoteKind, SqlSpec, SqlWork, StepRecord};

use super::index::clients_of_index;
use super::reset::clients_of_reset;
use super::settle::clients_of_settle;
use data::copies::copies;
use data::loading::clients_of_load;
use data::reading::{Found, checks_after_load, clients_of_reading};
use data::row_counts::RowCounts;
use data::state::Loaded;
use load::clients::{Clients, Notes};
use load::engine::{Observer, Stop};
use load::clients::FixedWork;
use load::{StepError, Target};

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Work {
    OfSpec(SqlWork),
    /// Reads what another trial loaded.
    Read,
}

impl Work {
    /// Can it be done once for many trials, where it comes before all others?
    pub(super) const fn is_loading(&self) -> bool {
        match self {
            Self::OfSpec(SqlWork::Load | SqlWork::Index | SqlWork::Settle(_)) => true,
            Self::OfSpec(SqlWork::Reset | SqlWork::Run(_)) | Self::Read => false,
        }
    }

    fn kinds(&self) -> Vec<KindSpec> {
        match self {
            Self::OfSpec(work) => work.kinds(),
            Self::Read => vec![KindSpec::unscheduled("scan")],
        }
    }

    fn notes(&self) -> NoteKind {
        match self {
            Self::OfSpec(SqlWork::Settle(_)) => NoteKind::Settle,
            Self::OfSpec(SqlWork::Index) => "index".into(),
            Self::OfSpec(SqlWork::Load | SqlWork::Reset | SqlWork::Run(_)) | Self::Read => {
                "load".into()
            }
        }
    }
}

/// A step whose clients have a fixed amount of work, about to be run.
pub(super) struct Job<'a> {
    pub(super) work: &'a Work,
    pub(super) spec: &'a SqlSpec,
    /// The seed of the rows.
    pub(super) seed: u64,
    pub(super) target: &'a Target,
    pub(super) counts: &'a Arc<RowCounts>,
    pub(super) loaded: Option<&'a Loaded>,
}

impl Job<'_> {
    pub(super) fn run(
        &self,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord, StepError> {
        let clock = stop.clock();
        let (notes, found) = (Notes::default(), Found::default());
        let work = FixedWork {
            kinds: self.work.kinds(),
            clients: self.clients(&notes, &found)?,
            clock,
            notes: (self.work.notes(), &notes),
        };
        let mut result = work.run(stop, observer)?;
        result.checks = take(&found);
        result.checks.extend(self.checks(stop)?);
        result.requested_rows = self.requested_rows();
        Ok(result)
    }

    fn clients(&self, notes: &Notes, found: &Found) -> Result<Clients, StepError> {
        let Self { spec, seed, target, counts, .. } = *self;
        match (self.work, self.loaded) {
            (Work::OfSpec(SqlWork::Load), _) => clients_of_load(spec, seed, target, counts, notes),
            (Work::OfSpec(SqlWork::Index), _) => clients_of_index(spec, target, notes),
            (Work::OfSpec(SqlWork::Settle(settle)), _) => {
                clients_of_settle(spec, *settle, target, notes)
            }
            (Work::OfSpec(SqlWork::Reset), _) => {
                clients_of_reset(spec, seed, target, counts, notes)
            }
            (Work::Read, Some(loaded)) => clients_of_reading(spec, target, loaded, found),
            (Work::OfSpec(SqlWork::Run(_)) | Work::Read, _) => {
                Err(StepError::State("there is none".to_owned()))
            }
        }
    }

    fn checks(&self, stop: &Stop) -> Result<Vec<Check>, StepError> {
        match self.work {
            Work::OfSpec(SqlWork::Load | SqlWork::Reset) => {
                checks_after_load(self.spec, self.seed, self.target, self.counts, stop)
            }
            Work::OfSpec(SqlWork::Index | SqlWork::Settle(_) | SqlWork::Run(_)) | Work::Read => {
                Ok(Vec::new())
            }
        }
    }

    fn requested_rows(&self) -> u64 {
        match self.work {
            Work::OfSpec(SqlWork::Load) => {
                copies(&self.spec.tables).iter().map(|copy| copy.rows).sum()
            }
            Work::OfSpec(_) | Work::Read => 0,
        }
    }
}

fn take<T>(shared: &Mutex<Vec<T>>) -> Vec<T> {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *shared)
}
