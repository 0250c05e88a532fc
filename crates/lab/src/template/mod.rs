//! Templates: data directories that were loaded once, and that trials begin with a clone of.

mod identity;
mod inventory;
mod shelf;

use std::path::{Path, PathBuf};
use std::time::Instant;

use model::{Bytes, Fact, Nanos, StepId, StepRecord};
use serde::{Deserialize, Serialize};
use servers::Cloned;

use crate::error::SiteError;

pub(crate) use identity::{FORMAT, Templates, keys, loading_seed};
pub(crate) use inventory::Inventory;
use inventory::amount;
pub(crate) use shelf::{Shelf, data_of, remove};

/// A data directory that was loaded once, whole and looked at.
#[derive(Clone, Debug)]
pub struct Template {
    record: Record,
    data: PathBuf,
}

/// What is remembered of a template: `template.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// [`FORMAT`] when it was made.
    pub(crate) format: u32,
    /// SHA-256 of all that decides which data it holds.
    pub(crate) key: String,
    /// The system that it was made for, as that plan called it.
    pub(crate) system: String,
    pub(crate) made: String,
    /// When a run last began to use it.
    pub(crate) used: String,
    pub(crate) inventory: Inventory,
    pub(crate) disk: Bytes,
    pub(crate) took: Nanos,
    pub(crate) loading: Vec<Figure>,
    pub(crate) state: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figure {
    pub(crate) step: StepId,
    /// Of what the step is about, each second.
    pub(crate) rate: f64,
    pub(crate) unit: String,
    pub(crate) length: Nanos,
}

impl Figure {
    pub(crate) fn of(record: &StepRecord) -> Option<Self> {
        let seconds = record.window.as_secs_f64();
        (record.measured && seconds > 0.0).then(|| Self {
            step: record.step.clone(),
            rate: record.subject_count() as f64 / seconds,
            unit: if record.subject.counts.is_rows() {
                "rows/s".to_owned()
            } else {
                "ops/s".to_owned()
            },
            length: record.window,
        })
    }
}

impl Template {
    /// Its data directory, never to be started: trials start on clones of it.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Is `clone` the same as the data of this template? The error says what is different.
    pub fn verify(&self, clone: &Path) -> Result<(), SiteError> {
        let path = clone.display();
        let (found, _) = Inventory::of(clone)
            .map_err(|error| SiteError::new(format!("cannot read {path}: {error}")))?;
        let Some(difference) = self.record.inventory.difference(&found) else { return Ok(()) };
        Err(SiteError::new(format!("{path} differs from its template: {difference}")))
    }

    /// Waits until `clone` is on the disk, so that no measurement pays for it, and checks it; how it was made.
    pub(crate) fn accept(
        &self,
        clone: &Path,
        cloned: &Cloned,
        begin: Instant,
    ) -> Result<String, SiteError> {
        let took = Nanos::from(begin.elapsed());
        servers::write_back(clone)?;
        let written = Nanos::from(begin.elapsed()).saturating_sub(took);
        self.verify(clone)?;
        let what = amount(Bytes(cloned.bytes), cloned.files);
        let how = if cloned.reflinked { "sharing their blocks" } else { "copying" };
        Ok(format!("{what} by {how} in {took}, on the disk after {written} more"))
    }

    pub(crate) fn state(&self) -> &str {
        &self.record.state
    }

    /// What tells it from the others, and from what has the same key and was loaded at another time.
    pub(crate) fn name(&self) -> String {
        let key: String = self.record.key.chars().take(12).collect();
        format!("{key}, made {}", self.record.made)
    }

    pub(crate) fn summary(&self) -> String {
        let record = &self.record;
        format!("{}, loaded in {} on {}", Bytes(record.inventory.bytes), record.took, record.made)
    }

    pub(crate) fn provenance(&self) -> [(Fact, String); 2] {
        let figures = self.record.loading.iter().map(|figure| {
            let Figure { step, rate, unit, length } = figure;
            format!("{step}: {rate:.0} {unit} for {length}")
        });
        let figures: Vec<String> = figures.collect();
        [
            (Fact::Template, self.name()),
            ("loading of the template, once for all trials".into(), figures.join("\n")),
        ]
    }
}
