//! What a run must have and imported results do not say: it is left empty, or says that it is not known.

use model::{
    Bytes, DiskFacts, Host, HostShape, ImportedScale, ImportedSpec, Note, NoteKind, Step, StepId,
    StepRecord,
};

use crate::{ImportedStep, Mode, Scale};

/// A workload of which only the name is known, and of some tests their scale.
pub(super) fn workload(name: &str, scales: &[(&str, Scale)], mode: Mode) -> ImportedSpec {
    let scales = scales.iter().map(|(test, scale)| {
        let (tables, rows) = scale.tables();
        ImportedScale { test: (*test).to_owned(), tables, rows }
    });
    ImportedSpec { name: name.to_owned(), scales: scales.collect(), compat: mode == Mode::Compat }
}

/// The step of a row.
pub(super) fn step(row: &ImportedStep, id: &StepId, ordinal: u32, mode: Mode) -> Step {
    Step {
        test: row.test.clone(),
        group: row.group.clone(),
        target_rate: row.target_rate,
        compat: mode == Mode::Compat,
        ..Step::new(id.clone(), ordinal, row.clients, row.subject.clone())
    }
}

/// A record that has no counters and no histograms: only the measurements are known.
pub(super) fn record(row: &ImportedStep, id: &StepId, ordinal: u32, mode: Mode) -> StepRecord {
    let mut notes = vec![Note::new(NoteKind::ImportedFrom, row.origin.as_str())];
    notes.extend(row.notes.iter().cloned());
    StepRecord { notes, ..StepRecord::of(&step(row, id, ordinal, mode), row.window) }
}

/// A host of which at most the number of CPUs is known; zero where that is not.
pub(super) fn host(cpus: Option<u32>) -> Host {
    let unknown = || "not known (imported)".to_owned();
    Host {
        name: "imported".to_owned(),
        cpu_model: unknown(),
        shape: HostShape { cpus: cpus.unwrap_or(0), memory: Bytes(0) },
        threads_per_core: 1,
        kernel: unknown(),
        os: unknown(),
        disk: DiskFacts { filesystem: unknown(), ..DiskFacts::default() },
        ..Host::default()
    }
}
