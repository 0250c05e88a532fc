//! What the files say of one step of one system.

use model::{Counts, Dbms, Measurement, MetricId, Nanos, Subject, Unit};

use crate::file::Line;
use crate::{Scale, Stated};

/// One step of one system in one round.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The file that says so.
    pub origin: String,
    /// The line in it.
    pub line: usize,
    /// Name of the system.
    pub system: String,
    /// The product, where the file states it.
    pub dbms: Option<Dbms>,
    /// Name of the step, without the number of clients.
    pub test: String,
    /// Under which heading reports list it; empty for none.
    pub group: String,
    /// Clients.
    pub clients: u32,
    /// The round, from 1; where files have no rounds, the same step of a system again is the next round.
    pub round: Option<u32>,
    /// What the step is about.
    pub subject: Subject,
    /// CPUs of the host, where a file states them.
    pub cpus: Option<Stated<u32>>,
    /// How much data it worked on, where a file states it.
    pub scale: Option<Stated<Scale>>,
    /// How long it was measured; zero where the files do not say.
    pub window: Nanos,
    /// Where the step stands among those of its workload, whatever the order of the files; `None` where that decides.
    pub order: Option<(u64, u64, u64)>,
    /// Rows per second that the writers were asked for, all clients together.
    pub target_rate: Option<u64>,
    /// The numbers.
    pub measurements: Vec<Measurement>,
    /// The line of each of them.
    pub lines: Vec<usize>,
    /// What a reader of the numbers should know.
    pub notes: Vec<(String, String)>,
}

impl Row {
    /// A row that says nothing yet; it is about operations of the kind `query`.
    pub(crate) fn new(at: Line<'_>, system: &str, test: &str, clients: u32) -> Self {
        Self {
            origin: at.origin.to_owned(),
            line: at.number,
            system: system.to_owned(),
            dbms: None,
            test: test.to_owned(),
            group: String::new(),
            clients,
            round: None,
            subject: Subject {
                kind: "query".to_owned(),
                counts: Counts::Operations,
            },
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

    /// Its line.
    pub(crate) fn place(&self) -> Line<'_> {
        Line::at(&self.origin, self.line)
    }

    /// Adds a number that stands in the row's own line.
    pub(crate) fn put(&mut self, metric: &str, unit: Unit, value: f64) {
        self.put_at(self.line, metric, unit, value);
    }

    /// Adds a number of another line.
    pub(crate) fn put_at(&mut self, line: usize, metric: &str, unit: Unit, value: f64) {
        self.lines.push(line);
        self.measurements.push(Measurement {
            metric: MetricId::new(metric),
            unit,
            value,
        });
    }

    /// Adds a remark.
    pub(crate) fn note(&mut self, what: &str, text: impl Into<String>) {
        self.notes.push((what.to_owned(), text.into()));
    }

    /// The value of a metric.
    pub fn value(&self, metric: &str) -> Option<f64> {
        let mut all = self.measurements.iter();
        all.find(|m| m.metric.0 == metric).map(|m| m.value)
    }
}
