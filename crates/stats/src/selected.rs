//! Which values of a run a selection means, and which of them decide their step.

use std::collections::HashMap;

use model::{Cell, MetricId, RunData};

use crate::options::Selection;

/// What is known of the steps of a run.
pub struct Steps<'a> {
    /// Subject and deciding metric, by the step's place in the workload.
    known: HashMap<u32, (&'a str, MetricId)>,
}

impl<'a> Steps<'a> {
    /// Of a run.
    pub fn of(data: &'a RunData) -> Self {
        let workload = &data.info.plan.workload;
        let steps = data.steps.iter();
        let known = steps.map(|step| {
            let known = (step.subject.as_str(), workload.deciding_metric(step));
            (step.ordinal, known)
        });
        Self {
            known: known.collect(),
        }
    }

    /// Does a metric decide the step at this place? Throughput does where nothing is known of the step.
    pub(crate) fn decides(&self, ordinal: u32, metric: &MetricId) -> bool {
        match self.known.get(&ordinal) {
            Some((_, deciding)) => deciding == metric,
            None => metric.0 == MetricId::RATE,
        }
    }

    /// Is this value asked for?
    pub fn selects(&self, selection: &Selection, cell: &Cell) -> bool {
        match selection {
            Selection::All => true,
            Selection::Deciding => self.decides(cell.ordinal, &cell.metric),
            Selection::Only(metrics) => metrics.iter().any(|asked| self.means(asked, cell)),
        }
    }

    /// Is this value one of the metric that is asked for, by its whole name or its short one?
    pub fn means(&self, asked: &MetricId, cell: &Cell) -> bool {
        *asked == cell.metric || self.is_short_for(asked, cell)
    }

    /// The name of a metric, short where it is that of what the step is about: `response.p99`.
    pub(crate) fn short_of(&self, cell: &Cell) -> String {
        let short = || {
            let (subject, _) = self.known.get(&cell.ordinal)?;
            let (head, tail) = cell.metric.0.split_once(&format!(".{subject}."))?;
            Some(format!("{head}.{tail}"))
        };
        short().unwrap_or_else(|| cell.metric.0.clone())
    }

    fn is_short_for(&self, asked: &MetricId, cell: &Cell) -> bool {
        let subject = self.known.get(&cell.ordinal).map(|(subject, _)| *subject);
        // Cheap, and true of every metric of the subject.
        let subject = subject.filter(|subject| cell.metric.0.contains(subject));
        let meant = subject.and_then(|subject| asked.of_subject(subject));
        meant.is_some_and(|meant| meant == cell.metric)
    }
}
