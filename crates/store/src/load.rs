//! Reading a whole run for comparison and report; `stream.rs` reads it piece by piece.

mod stream;

use std::collections::BTreeMap;

use model::{
    Cell, KindSeries, Latency, MetricId, Nanos, RunData, RunId, StepHistogram, StepId, StepInfo,
    StepNote, StepSeries, TrialRecord, Unit,
};
use rusqlite::{Connection, Row};

use crate::Store;
use crate::error::{Fault, StoreError};
use crate::interval::{Damage, Reader};
use crate::pack::from_json;
use crate::read::{describe_step, row_of, run_info, wrong_type};
use crate::record::StoredRecord;
use crate::slices::slices;

/// Which of the large parts of a run are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Want {
    /// The one-second series.
    pub series: bool,
    /// The merged histograms.
    pub histograms: bool,
}

/// The numbers of a step's intervals: one range of the primary key.
pub(crate) const NUMBERS: &str = "SELECT numbers FROM interval WHERE step = ?1 ORDER BY number";

impl Store {
    /// A whole run.
    ///
    /// Trials come in the order in which they ran, everything below them by step, then as the
    /// step has it. Cells, slices, series and histograms are those of measured steps of trials that
    /// completed; a step that only failed trials reached is listed all the same.
    pub fn load(&self, run: &RunId, want: Want) -> Result<RunData, StoreError> {
        self.read("reading a run", |state| {
            let row = row_of(state, run, &self.path)?;
            let info = run_info(state, row)?;
            let trials = trials(state, row)?;
            let finished = finished_steps(state, row)?;
            let notes = finished.iter().filter(|step| step.trial_completed);
            let notes = notes.flat_map(notes_of).collect();
            let measured = finished.into_iter().filter(|step| step.record.measured);
            let finished: Vec<FinishedStep> = measured.collect();
            let mut data = RunData {
                info,
                trials,
                steps: step_infos(&finished),
                cells: Vec::new(),
                notes,
                series: Vec::new(),
                histograms: Vec::new(),
                slices: Vec::new(),
            };
            for step in finished.iter().filter(|step| step.trial_completed) {
                cells(state, step, &mut data.cells)?;
                slices(state, step, &mut data.slices)?;
                if want.series {
                    data.series.push(series(state, step)?);
                }
                if want.histograms {
                    histograms(state, step, &mut data.histograms)?;
                }
            }
            Ok(data)
        })
    }
}

/// A step that has a record, in a trial that has an outcome.
pub(crate) struct FinishedStep {
    pub(crate) id: i64,
    pub(crate) round: u32,
    position: u32,
    pub(crate) system: String,
    trial_completed: bool,
    pub(crate) name: StepId,
    /// Names of the kinds, in the order of every interval.
    kinds: Vec<String>,
    record: StoredRecord<'static>,
}

impl FinishedStep {
    pub(crate) fn damaged(&self, what: &str, cause: &impl ToString) -> Fault {
        let step = describe_step(&self.name, &self.system, self.round);
        Fault::damaged(format!("{what} {step}"), cause)
    }
}

/// The steps of a run that [`finished_step`] reads, in the order in which they ran.
const FINISHED: &str = "SELECT step.id, round, position, system, completed, name, kinds, record
     FROM step JOIN trial ON trial.id = step.trial
     WHERE trial.run = ?1 AND outcome IS NOT NULL AND record IS NOT NULL
     ORDER BY trial.id, ordinal";

fn finished_steps(state: &Connection, run: i64) -> Result<Vec<FinishedStep>, Fault> {
    let mut query = state.prepare(FINISHED)?;
    let mut rows = query.query([run])?;
    let mut steps = Vec::new();
    while let Some(row) = rows.next()? {
        steps.push(finished_step(row)?);
    }
    Ok(steps)
}

fn finished_step(row: &Row<'_>) -> Result<FinishedStep, Fault> {
    let text = |column| row.get_ref(column)?.as_str().map_err(wrong_type);
    let round = row.get(1)?;
    let system: String = row.get(3)?;
    let name = StepId(row.get(5)?);
    let what = || describe_step(&name, &system, round);
    Ok(FinishedStep {
        kinds: from_json(text(6)?, what)?,
        record: from_json(text(7)?, what)?,
        id: row.get(0)?,
        round,
        position: row.get(2)?,
        trial_completed: row.get(4)?,
        name,
        system,
    })
}

fn notes_of(step: &FinishedStep) -> Vec<StepNote> {
    let notes = step.record.notes.iter();
    notes
        .map(|(what, text)| StepNote {
            round: step.round,
            system: step.system.clone(),
            step: step.name.clone(),
            what: what.clone(),
            text: text.clone(),
        })
        .collect()
}

/// One entry for each place in the workload, from the first trial that got there.
fn step_infos(steps: &[FinishedStep]) -> Vec<StepInfo> {
    let mut infos: BTreeMap<u32, StepInfo> = BTreeMap::new();
    for FinishedStep { name, record, .. } in steps {
        infos.entry(record.ordinal).or_insert_with(|| StepInfo {
            step: name.clone(),
            ordinal: record.ordinal,
            clients: record.clients,
            subject: record.subject.kind.clone(),
            counts: record.subject.counts,
            target_rate: record.target_rate,
        });
    }
    infos.into_values().collect()
}

fn trials(state: &Connection, run: i64) -> Result<Vec<TrialRecord>, Fault> {
    let mut query = state.prepare(
        "SELECT round, position, system, started, duration_ns, outcome, provenance
         FROM trial WHERE run = ?1 AND outcome IS NOT NULL ORDER BY id",
    )?;
    let mut rows = query.query([run])?;
    let mut trials = Vec::new();
    while let Some(row) = rows.next()? {
        let round: u32 = row.get(0)?;
        let system: String = row.get(2)?;
        let what = || format!("trial of {system}, round {round}");
        let text = |column| row.get_ref(column)?.as_str().map_err(wrong_type);
        trials.push(TrialRecord {
            outcome: from_json(text(5)?, what)?,
            provenance: from_json(text(6)?, what)?,
            round,
            position: row.get(1)?,
            started: row.get(3)?,
            duration: Nanos(row.get::<_, i64>(4)? as u64),
            system,
        });
    }
    Ok(trials)
}

fn cells(state: &Connection, step: &FinishedStep, cells: &mut Vec<Cell>) -> Result<(), Fault> {
    let mut query = state.prepare_cached(
        "SELECT metric, unit, value FROM measurement WHERE step = ?1 ORDER BY place",
    )?;
    let mut rows = query.query([step.id])?;
    while let Some(row) = rows.next()? {
        let unit = row.get_ref(1)?.as_str().map_err(wrong_type)?;
        cells.push(Cell {
            round: step.round,
            position: step.position,
            system: step.system.clone(),
            step: step.name.clone(),
            ordinal: step.record.ordinal,
            clients: step.record.clients,
            metric: MetricId(row.get(0)?),
            unit: Unit::from_name(unit)
                .ok_or_else(|| step.damaged("measurement of", &format!("unknown unit `{unit}`")))?,
            value: row.get(2)?,
        });
    }
    Ok(())
}

fn series(state: &Connection, step: &FinishedStep) -> Result<StepSeries, Fault> {
    let mut series = StepSeries {
        round: step.round,
        system: step.system.clone(),
        step: step.name.clone(),
        spans: Vec::new(),
        kinds: step.kinds.iter().map(|kind| empty_series(kind)).collect(),
    };
    let mut query = state.prepare_cached(NUMBERS)?;
    let mut rows = query.query([step.id])?;
    while let Some(row) = rows.next()? {
        let numbers = row.get_ref(0)?.as_blob().map_err(wrong_type)?;
        push_interval(&mut series, numbers)
            .map_err(|damage| step.damaged("an interval of", &damage.0))?;
    }
    Ok(series)
}

fn empty_series(kind: &str) -> KindSeries {
    KindSeries {
        kind: kind.to_owned(),
        ops: Vec::new(),
        rows: Vec::new(),
        p50: Vec::new(),
        p99: Vec::new(),
        max: Vec::new(),
    }
}

fn push_interval(series: &mut StepSeries, numbers: &[u8]) -> Result<(), Damage> {
    let mut reader = Reader(numbers);
    let head = reader.head()?;
    if head.kinds != series.kinds.len() as u64 {
        let (has, needs) = (head.kinds, series.kinds.len());
        return Err(Damage(format!("it has {has} kinds, the step has {needs}")));
    }
    let span = (head.start.as_secs_f64(), head.length.as_secs_f64());
    series.spans.push(span);
    for column in &mut series.kinds {
        let kind = reader.kind()?;
        column.ops.push(kind.ops);
        column.rows.push(kind.rows);
        column.p50.push(kind.p50);
        column.p99.push(kind.p99);
        // Whose operation is stalled is not known, so that it shows in every kind.
        column.max.push(kind.max.max(head.stalled));
    }
    Ok(())
}

fn histograms(
    state: &Connection,
    step: &FinishedStep,
    histograms: &mut Vec<StepHistogram>,
) -> Result<(), Fault> {
    let mut query = state.prepare_cached(
        "SELECT kind, response, latency FROM histogram WHERE step = ?1 ORDER BY kind, response",
    )?;
    let mut rows = query.query([step.id])?;
    while let Some(row) = rows.next()? {
        let place: u32 = row.get(0)?;
        let kind = step.record.kinds.get(place as usize);
        let kind = kind.ok_or_else(|| step.damaged("a histogram of", &"it is of no known kind"))?;
        let packed = row.get_ref(2)?.as_blob().map_err(wrong_type)?;
        let what = || format!("histogram of `{}` in", kind.spec.name);
        histograms.push(StepHistogram {
            round: step.round,
            system: step.system.clone(),
            step: step.name.clone(),
            kind: kind.spec.name.clone(),
            is_response: row.get(1)?,
            latency: Latency::decode(packed).map_err(|cause| step.damaged(&what(), &cause))?,
        });
    }
    Ok(())
}
