//! What the files say of one step of one system and of the conditions of its test, and what is known besides.

use std::fmt;

use model::{Counts, Dbms, Measurement, MetricId, Nanos, Note, Subject, Unit};

use crate::file::{FileLine, Result};

/// One step of one system in one round.
#[derive(Clone, Debug, Default, PartialEq)]
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
            test: test.to_owned(),
            clients,
            subject: Subject { kind: "query".to_owned(), counts: Counts::Operations },
            ..Self::default()
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

/// The steps that a file tells of.
pub(crate) type Rows = Result<Vec<ImportedStep>>;

/// What a file states of the conditions of a test, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated<T> {
    pub value: T,
    pub origin: String,
    pub line: usize,
}

impl<T> Stated<T> {
    pub(crate) fn at(line: FileLine<'_>, value: T) -> Self {
        Self { value, origin: line.origin.to_owned(), line: line.number }
    }

    pub(crate) fn place(&self) -> FileLine<'_> {
        FileLine::at(&self.origin, self.line)
    }
}

/// How much data a test works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Tables {
        tables: u32,
        rows: u64,
    },
    /// Rows of the Insert Benchmark, as the name of a system says it.
    Rows(u64),
    Factor(u64),
}

impl Scale {
    /// The number of tables and the rows of each; of pgbench those of its largest table.
    pub(crate) fn tables(self) -> (u32, u64) {
        const ACCOUNTS_EACH: u64 = 100_000;
        match self {
            Self::Tables { tables, rows } => (tables, rows),
            Self::Rows(rows) => (1, rows),
            Self::Factor(factor) => (1, factor.saturating_mul(ACCOUNTS_EACH)),
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tables { tables: 1, rows } => write!(f, "1 table of {rows} rows"),
            Self::Tables { tables, rows } => write!(f, "{tables} tables of {rows} rows"),
            Self::Rows(rows) => write!(f, "{rows} rows"),
            Self::Factor(factor) => write!(f, "scaling factor {factor}"),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// What follows from the counts, times and samples in the files.
    #[default]
    Exact,
    /// What the original publishes: its rounding, its samples, its units.
    Compat,
}

/// What is known besides the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub mode: Mode,
    pub cpus: Option<u32>,
    /// Clients, where the files do not say; several for a file that has a column for each.
    pub clients: Vec<u32>,
    pub device: Option<String>,
    pub dbms: Option<Dbms>,
}

impl Options {
    #[must_use]
    pub fn in_mode(&self, mode: Mode) -> Self {
        Self { mode, ..self.clone() }
    }

    /// Clients of a step: as its file states them, otherwise as given.
    pub(crate) fn clients_or(&self, stated: Option<u32>, line: FileLine<'_>) -> Result<u32> {
        stated.map_or_else(|| self.clients(line), Ok)
    }

    pub(crate) fn clients(&self, line: FileLine<'_>) -> Result<u32> {
        match *self.clients {
            [clients] => Ok(clients),
            [] => Err(line.wrong(
                "how many clients? Neither the file nor its path (`dop8`) says it: give --clients N, or PATH@N for one file",
            )),
            [..] => Err(line.wrong(format!(
                "one number of clients belongs to this file, not {:?}: give PATH@N for each file",
                self.clients
            ))),
        }
    }
}
