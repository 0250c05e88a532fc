//! The settle phase after the load.

use model::{NoteKind, StepRecord, TpccSpec, TpccStage};

use super::scale::Scale;
use super::tables::Table;
use data::settle::{clients, length};
use load::clients::Notes;
use load::engine::{Observer, Stop};
use load::clients::FixedWork;
use load::{StepError, Target};

/// Settles all tables, one client each, and one that leads.
pub(super) fn run(
    spec: &TpccSpec,
    target: &Target,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepRecord, StepError> {
    let clock = stop.clock();
    let notes = Notes::default();
    let scale = Scale::of(spec);
    let rows = Table::ALL.into_iter().map(|table| scale.rows(table)).sum();
    let names = Table::ALL.map(|table| table.name().to_owned());
    let work = FixedWork {
        kinds: TpccStage::Settle.kinds(spec),
        clients: clients(target, &names, length(spec.settle, rows), &notes)?,
        clock,
        notes: (NoteKind::Settle, &notes),
    };
    work.run(stop, observer)
}
