//! What the files say of one step of one system.

use model::{Counts, Dbms, Measurement, MetricId, Nanos, Note, Subject, Unit};

use crate::file::FileLine;
use crate::{Scale, Stated};

/// One step of one system in one round.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedStep {
    pub origin: String,
    pub line: usize,
    pub system: String,
    pub dbms: Option<Dbms>,
    pub test: String,
    /// Under which heading reports list it; empty for none.
    pub group: String,
    pub clients: u32,
    /// The round, from 1; where files have no rounds, the same step of a system again is the next round.
    pub round: Option<u32>,
    pub subject: Subject,
    pub cpus: Option<Stated<u32>>,
    pub scale: Option<Stated<Scale>>,
    /// How long it was measured; zero where the files do not say.
    pub window: Nanos,
    /// Where the step stands among those of its workload, whatever the order of the files; `None` where that decides.
    pub order: Option<(u64, u64, u64)>,
    /// Rows per second that the writers were asked for, all clients together.
    pub target_rate: Option<u64>,
    pub measurements: Vec<Measurement>,
    pub lines: Vec<usize>,
    pub notes: Vec<Note>,
}

impl ImportedStep {
    /// A row that says nothing yet; it is about operations of the kind `query`.
    pub(crate) fn new(at: FileLine<'_>, system: &str, test: &str, clients: u32) -> Self {
        Self {
            origin: at.origin.to_owned(),
            line: at.number,
            system: system.to_owned(),
            dbms: None,
            test: test.to_owned(),
            group: String::new(),
            clients,
            round: None,
            subject: Subject { kind: "query".to_owned(), counts: Counts::Operations },
            cpus: None,
            scale: None,
            window: Nanos(0),
            order: None,
            target_rate: None,
            measurements: Vec::new(),
            lines: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(crate) fn place(&self) -> FileLine<'_> {
        FileLine::at(&self.origin, self.line)
    }

    pub(crate) fn put(&mut self, metric: &str, unit: Unit, value: f64) {
        self.put_at(self.line, metric, unit, value);
    }

    pub(crate) fn put_at(&mut self, line: usize, metric: &str, unit: Unit, value: f64) {
        self.lines.push(line);
        self.measurements.push(Measurement { metric: MetricId::new(metric), unit, value });
    }

    pub(crate) fn put_some(&mut self, metric: &str, unit: Unit, value: Option<f64>) {
        if let Some(value) = value {
            self.put(metric, unit, value);
        }
    }

    pub(crate) fn note(&mut self, what: &str, text: impl Into<String>) {
        self.notes.push(Note::new(what, text));
    }

    pub fn value(&self, metric: &str) -> Option<f64> {
        let mut all = self.measurements.iter();
        all.find(|m| m.metric.0 == metric).map(|m| m.value)
    }
}
