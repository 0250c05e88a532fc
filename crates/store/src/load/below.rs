//! What lies below the steps of a run: their measurements, slices, series and histograms, nearly all of what a
//! run takes to read.

use std::panic::resume_unwind;
use std::path::Path;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use model::{Cell, KindSeries, Latency, MetricId, SliceValue, StepHistogram, StepSeries, Unit};
use rusqlite::{Connection, OpenFlags, params};

use super::{FinishedStep, Want};
use crate::error::Fault;
use crate::interval::{Damage, Reader};
use crate::read::wrong_type;
use crate::slices::slices;

/// The numbers of a step's intervals: one range of the primary key.
pub(crate) const NUMBERS: &str = "SELECT numbers FROM interval WHERE step = ?1 ORDER BY number";

/// From so many steps on two threads read: with fewer all is there in less than a tenth of a second.
pub(crate) const MANY: usize = 256;

/// A step as another connection must find it.
const SAME: &str = "SELECT 1 FROM step JOIN trial ON trial.id = step.trial
     WHERE step.id = ?1 AND name = ?2 AND system = ?3 AND round = ?4";

/// What lies below some steps, by step.
#[derive(Debug, Default)]
pub(crate) struct Below {
    pub(super) cells: Vec<Cell>,
    pub(super) slices: Vec<SliceValue>,
    pub(super) series: Vec<StepSeries>,
    pub(super) histograms: Vec<StepHistogram>,
}

impl Below {
    /// Reads it. Of many steps the second half is read by a thread of its own, with a connection of its own to the
    /// file at `path`: where nothing of it is in memory yet, two wait for the disk at the same time.
    pub(super) fn of(
        state: &Connection,
        path: &Path,
        steps: &[&FinishedStep],
        want: Want,
    ) -> Result<Self, Fault> {
        if steps.len() < MANY {
            return Self::read(state, steps, want);
        }
        let (first, second) = steps.split_at(steps.len() / 2);
        let (below, beside) = thread::scope(|scope| {
            let beside = || Self::read_beside(path, second, want);
            let beside = thread::Builder::new().spawn_scoped(scope, beside);
            let below = Self::read(state, first, want);
            (below, beside.ok().map(ScopedJoinHandle::join))
        });
        let mut below = below?;
        below.append(match beside {
            Some(Ok(Ok(Some(rest)))) => rest,
            Some(Err(panic)) => resume_unwind(panic),
            // Without a thread it takes longer. What the other connection could not read this one may, or says
            // what is wrong.
            None | Some(Ok(Ok(None) | Err(_))) => Self::read(state, second, want)?,
        });
        Ok(below)
    }

    /// The same by a connection of its own. `None` where that does not find all of the steps: another file may be in
    /// the place of ours.
    pub(crate) fn read_beside(
        path: &Path,
        steps: &[&FinishedStep],
        want: Want,
    ) -> Result<Option<Self>, Fault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        // Instead of waiting for who locks the file, who may wait for our first connection.
        connection.busy_timeout(Duration::ZERO)?;
        let state = connection.unchecked_transaction()?;
        let mut same = state.prepare(SAME)?;
        for step in steps {
            if !same.exists(params![step.id, step.name.0, step.system, step.round])? {
                return Ok(None);
            }
        }
        Self::read(&state, steps, want).map(Some)
    }

    fn read(state: &Connection, steps: &[&FinishedStep], want: Want) -> Result<Self, Fault> {
        let mut below = Self::default();
        for step in steps {
            cells(state, step, &mut below.cells)?;
            slices(state, step, &mut below.slices)?;
            if want.series {
                below.series.push(series(state, step)?);
            }
            if want.histograms {
                histograms(state, step, &mut below.histograms)?;
            }
        }
        Ok(below)
    }

    fn append(&mut self, later: Self) {
        let Self {
            cells,
            slices,
            series,
            histograms,
        } = later;
        self.cells.extend(cells);
        self.slices.extend(slices);
        self.series.extend(series);
        self.histograms.extend(histograms);
    }
}

pub(super) fn cells(
    state: &Connection,
    step: &FinishedStep,
    cells: &mut Vec<Cell>,
) -> Result<(), Fault> {
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

pub(super) fn histograms(
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
