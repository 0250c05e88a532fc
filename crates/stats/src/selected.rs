//! Which values of a run a selection means, and which of them decide their step.

use std::collections::HashMap;

use model::{Cell, MetricId, RunData, Step};

/// Which metrics are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    #[default]
    All,
    /// The one that decides each step ([`model::Step::metric`]).
    Deciding,
    /// Only these; short forms such as `response.p99` mean each step's subject.
    Only(Vec<MetricId>),
}

/// Facts about the steps of a run.
pub struct Steps<'a> {
    /// By their places in the workload.
    known: HashMap<u32, &'a Step>,
}

impl<'a> Steps<'a> {
    pub fn of(data: &'a RunData) -> Self {
        Self { known: data.steps.iter().map(|step| (step.ordinal, step)).collect() }
    }

    /// Does a metric decide the step at this place? Throughput does where nothing is known of the step.
    pub(crate) fn decides(&self, ordinal: u32, metric: &MetricId) -> bool {
        match self.known.get(&ordinal) {
            Some(step) => step.metric == *metric,
            None => metric.0 == MetricId::RATE,
        }
    }

    /// Is this value asked for?
    pub fn selects(&self, selection: &Selection, cell: &Cell) -> bool {
        self.asks_for(selection, cell.ordinal, &cell.metric)
    }

    /// Is this metric of the step at this place asked for?
    pub fn asks_for(&self, selection: &Selection, ordinal: u32, metric: &MetricId) -> bool {
        match selection {
            Selection::All => true,
            Selection::Deciding => self.decides(ordinal, metric),
            Selection::Only(all) => all.iter().any(|asked| self.is_of(asked, ordinal, metric)),
        }
    }

    /// Is this value one of the metric that is asked for, by its whole name or its short one?
    pub fn means(&self, asked: &MetricId, cell: &Cell) -> bool {
        self.is_of(asked, cell.ordinal, &cell.metric)
    }

    /// The name of a metric, short for the step's subject: `response.p99`.
    pub(crate) fn short_of(&self, cell: &Cell) -> String {
        let short = || {
            let subject = &self.known.get(&cell.ordinal)?.subject.kind;
            let (head, tail) = cell.metric.0.split_once(&format!(".{subject}."))?;
            Some(format!("{head}.{tail}"))
        };
        short().unwrap_or_else(|| cell.metric.0.clone())
    }

    fn is_of(&self, asked: &MetricId, ordinal: u32, metric: &MetricId) -> bool {
        let subject = self.known.get(&ordinal).map(|step| step.subject.kind.as_str());
        // Cheap, and true of every metric of the subject.
        let subject = subject.filter(|subject| metric.0.contains(subject));
        let short = || subject.and_then(|subject| asked.of_subject(subject));
        asked == metric || short().is_some_and(|meant| meant == *metric)
    }
}
