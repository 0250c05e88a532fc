//! The settle phase after the load.

use model::{KindSpec, StepNote, TpccSpec};

use super::load::Errand;
use super::scale::Scale;
use super::tables::Table;
use crate::engine::{Observer, Stop};
use crate::workload::settle::{Notes, clients, length};
use crate::{StepClock, StepError, StepResult, Target};

/// The operation kind: a statement of the phase.
pub(super) fn kinds() -> Vec<KindSpec> {
    vec![KindSpec {
        name: "settle".to_owned(),
        scheduled: false,
    }]
}

/// Settles all tables, one client each, and one that leads.
pub(super) fn run(
    spec: &TpccSpec,
    target: &Target,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepResult, StepError> {
    let clock = StepClock::start();
    let notes = Notes::default();
    let scale = Scale::of(spec);
    let rows = Table::ALL.into_iter().map(|table| scale.rows(table)).sum();
    let names = Table::ALL.map(|table| table.name().to_owned());
    let errand = Errand {
        kinds: kinds(),
        clients: clients(target, &names, length(spec.settle, rows), &notes)?,
        clock,
        notes: (StepNote::SETTLE, &notes),
    };
    errand.run(stop, observer)
}
