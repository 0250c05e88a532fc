//! The data below the steps of a run: their measurements, slices, series and histograms, nearly all of what a
//! run takes to read.

use model::{Cell, KindSeries, Latency, MetricId, SliceValue, StepHistogram, StepSeries, Unit};
use rusqlite::Connection;

use super::finished::{FinishedStep, Want};
use crate::error::Fault;
use crate::interval::{Damage, decode_numbers};
use crate::read::{blob, text};
use crate::slices::slices;

/// The numbers of a step's intervals: one range of the primary key.
pub(crate) const NUMBERS: &str = "SELECT numbers FROM interval WHERE step = ?1 ORDER BY number";

#[derive(Debug, Default)]
pub(crate) struct Below {
    pub(super) cells: Vec<Cell>,
    pub(super) slices: Vec<SliceValue>,
    pub(super) series: Vec<StepSeries>,
    pub(super) histograms: Vec<StepHistogram>,
}

impl Below {
    pub(super) fn read(
        state: &Connection,
        steps: &[&FinishedStep],
        want: Want,
    ) -> Result<Self, Fault> {
        let mut below = Self::default();
        for step in steps {
            below.cells.extend(cells(state, step)?);
            below.slices.extend(slices(state, step)?);
            if want.series {
                below.series.push(series(state, step)?);
            }
            if want.histograms {
                below.histograms.extend(histograms(state, step)?);
            }
        }
        Ok(below)
    }

    pub(super) fn append(&mut self, later: Self) {
        let Self { cells, slices, series, histograms } = later;
        self.cells.extend(cells);
        self.slices.extend(slices);
        self.series.extend(series);
        self.histograms.extend(histograms);
    }
}

pub(super) fn cells(state: &Connection, step: &FinishedStep) -> Result<Vec<Cell>, Fault> {
    let mut query = state.prepare_cached(
        "SELECT metric, unit, value FROM measurement WHERE step = ?1 ORDER BY place",
    )?;
    let cells = query.query_and_then([step.id], |row| {
        let unit = text(row, 1)?;
        Ok(Cell {
            round: step.round,
            position: step.position,
            system: step.system.clone(),
            step: step.name.clone(),
            ordinal: step.record.ordinal,
            clients: step.record.clients,
            metric: MetricId(row.get(0)?),
            unit: Unit::from_name(unit)
                .map_err(|_| step.damaged("measurement of", &format!("unknown unit `{unit}`")))?,
            value: row.get(2)?,
        })
    })?;
    cells.collect()
}

fn series(state: &Connection, step: &FinishedStep) -> Result<StepSeries, Fault> {
    let kinds = step.kinds.iter().cloned();
    let mut series = StepSeries {
        round: step.round,
        system: step.system.clone(),
        step: step.name.clone(),
        spans: Vec::new(),
        kinds: kinds.map(|kind| KindSeries { kind, ..KindSeries::default() }).collect(),
    };
    let mut query = state.prepare_cached(NUMBERS)?;
    let mut rows = query.query([step.id])?;
    while let Some(row) = rows.next()? {
        push_interval(&mut series, blob(row, 0)?)
            .map_err(|damage| step.damaged("an interval of", &damage.0))?;
    }
    Ok(series)
}

fn push_interval(series: &mut StepSeries, numbers: &[u8]) -> Result<(), Damage> {
    let interval = decode_numbers(0, numbers)?;
    let (has, needs) = (interval.kinds.len(), series.kinds.len());
    if has != needs {
        return Err(Damage(format!("it has {has} kinds, the step has {needs}")));
    }
    series.spans.push((interval.start.as_secs_f64(), interval.length.as_secs_f64()));
    for (column, kind) in series.kinds.iter_mut().zip(interval.kinds) {
        column.ops.push(kind.ops);
        column.rows.push(kind.rows);
        column.p50.push(kind.p50);
        column.p99.push(kind.p99);
        // Whose operation is stalled is not known, so that it shows in every kind.
        column.max.push(kind.max.max(interval.stalled));
    }
    Ok(())
}

pub(crate) fn histograms(
    state: &Connection,
    step: &FinishedStep,
) -> Result<Vec<StepHistogram>, Fault> {
    let mut query = state.prepare_cached(
        "SELECT kind, response, latency FROM histogram WHERE step = ?1 ORDER BY kind, response",
    )?;
    let histograms = query.query_and_then([step.id], |row| {
        let place: u32 = row.get(0)?;
        let kind = step.record.kinds.get(place as usize);
        let kind = kind.ok_or_else(|| step.damaged("a histogram of", &"it is of no known kind"))?;
        let what = || format!("histogram of `{}` in", kind.spec.name);
        Ok(StepHistogram {
            round: step.round,
            system: step.system.clone(),
            step: step.name.clone(),
            kind: kind.spec.name.clone(),
            is_response: row.get(1)?,
            latency: Latency::decode(blob(row, 2)?)
                .map_err(|cause| step.damaged(&what(), &cause))?,
        })
    })?;
    histograms.collect()
}
