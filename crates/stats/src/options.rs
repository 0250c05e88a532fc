//! The options of a comparison, the values that they select, and their errors.

use std::collections::{BTreeMap, HashMap};

use model::{Cell, MetricId, RunData, Step, describe};

use crate::looks::Looks;

/// A comparison that cannot be made as it was asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CompareError {
    #[error("this run has no system `{base}` to compare with; its systems are {}", .systems.join(", "))]
    UnknownBase { base: String, systems: Vec<String> },
    #[error("no metric `{metric}`; nearest {}; `all` is every metric of the run", quoted(.nearest))]
    UnknownMetric { metric: MetricId, nearest: Vec<String> },
    #[error("the margin must be a fraction of at least 0, not {0}")]
    BadMargin(f64),
    #[error("the false-discovery rate must lie between 0 and 1, not {0}")]
    BadRate(f64),
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// The largest share of false ones among the changes that a comparison calls.
pub const USUAL_Q: f64 = 0.01;

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name of the base; `None` for the plan's.
    pub base: Option<String>,
    pub metrics: Selection,
    /// The practical margin for every metric, as a fraction (0.02 is 2 %); `None` for each metric's own.
    pub min_effect: Option<f64>,
    /// Margins that take the place of the metrics' own, where `min_effect` does not.
    pub margins: BTreeMap<MetricId, f64>,
    /// The largest q-value that counts as certain, between 0 and 1.
    pub q: f64,
    /// Whether the run is looked at after each round, to end it when all is decided; `None` for what
    /// its plan says. So whoever asks later judges a run by the looks that decided about its length.
    pub looks: Option<Looks>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            base: None,
            metrics: Selection::All,
            min_effect: None,
            margins: BTreeMap::new(),
            q: USUAL_Q,
            looks: None,
        }
    }
}

/// Is every metric that is asked for one of the run, or one that it might have?
///
/// # Errors
/// When there is no metric of that name.
pub fn check(data: &RunData, selection: &Selection) -> Result<(), CompareError> {
    match selection {
        Selection::Only(metrics) => metrics.iter().try_for_each(|metric| known(metric, data)),
        Selection::All | Selection::Deciding => Ok(()),
    }
}

impl Options {
    /// Checks the question against the run and says which system is the base.
    pub(crate) fn resolve<'a>(&'a self, data: &'a RunData) -> Result<&'a str, CompareError> {
        let mut margins = self.min_effect.iter().chain(self.margins.values());
        if let Some(margin) = margins.find(|m| !(m.is_finite() && **m >= 0.0)) {
            return Err(CompareError::BadMargin(*margin));
        }
        if !(self.q > 0.0 && self.q < 1.0) {
            return Err(CompareError::BadRate(self.q));
        }
        check(data, &self.metrics)?;
        let plan = &data.info.plan;
        let base = self.base.as_deref().unwrap_or(&plan.base);
        plan.system(base).map(|_| base).ok_or_else(|| CompareError::UnknownBase {
            base: base.to_owned(),
            systems: plan.systems.iter().map(|s| s.name.clone()).collect(),
        })
    }

    pub(crate) fn margin(&self, metric: &MetricId, usual: f64) -> f64 {
        self.min_effect.or(self.margins.get(metric).copied()).unwrap_or(usual)
    }
}

fn known(metric: &MetricId, data: &RunData) -> Result<(), CompareError> {
    let is_short = || data.steps.iter().any(|step| metric.of_subject(&step.subject.kind).is_some());
    let is_measured = || data.cells.iter().any(|cell| cell.metric == *metric);
    if describe(metric).is_some() || is_short() || is_measured() {
        return Ok(());
    }
    Err(CompareError::UnknownMetric { metric: metric.clone(), nearest: nearest(&metric.0, data) })
}

const MOST_NAMES: usize = 4;

/// The metrics of a run that `asked` may mean: those that others call so; else those that have it in their name, the shortest first, then
/// those with the nearest spelling. Metrics of a step's subject appear in their short form.
fn nearest(asked: &str, data: &RunData) -> Vec<String> {
    let steps = Steps::of(data);
    let mut known: Vec<String> = data.cells.iter().map(|cell| steps.short_of(cell)).collect();
    known.sort_unstable();
    known.dedup();
    let far = |name: &String| {
        let is_part = !asked.is_empty() && name.contains(asked);
        let length = if is_part { name.len() } else { 0 };
        (!is_part, length, strsim::damerau_levenshtein(asked, name))
    };
    let meant = model::meant_by(asked).iter().map(ToString::to_string);
    let meant: Vec<String> = meant.filter(|metric| known.contains(metric)).collect();
    known.retain(|name| !meant.contains(name) && (meant.is_empty() || name.contains(asked)));
    known.sort_by_cached_key(far);
    meant.into_iter().chain(known).take(MOST_NAMES).collect()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    #[default]
    All,
    /// The one that decides each step ([`model::Step::metric`]).
    Deciding,
    /// Only these; short forms such as `response.p99` mean each step's subject.
    Only(Vec<MetricId>),
}

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

    pub fn selects(&self, selection: &Selection, cell: &Cell) -> bool {
        self.asks_for(selection, cell.ordinal, &cell.metric)
    }

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

#[cfg(test)]
mod tests {
    use model::{Counts, Step, StepId, Subject};
    use testkit::fixtures::{cell, run_of};

    use super::*;

    #[test]
    fn a_wrong_question_says_what_would_be_right() {
        let data = run_of(&["a", "b"], "rate", &[[1.0, 2.0]]);
        let message = |options: Options| options.resolve(&data).unwrap_err().to_string();
        assert_eq!(
            message(Options { base: Some("c".into()), ..Options::default() }),
            "this run has no system `c` to compare with; its systems are a, b"
        );
        assert_eq!(
            message(Options {
                metrics: Selection::Only(vec![MetricId::new("qps")]),
                ..Options::default()
            }),
            "no metric `qps`; nearest `rate`; `all` is every metric of the run"
        );
        for margin in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(
                message(Options { min_effect: Some(margin), ..Options::default() })
                    .contains("fraction")
            );
            assert!(
                message(Options {
                    margins: BTreeMap::from([(MetricId::new("rate"), margin)]),
                    ..Options::default()
                })
                .contains("fraction")
            );
        }
        for q in [0.0, 1.0, f64::NAN] {
            assert!(message(Options { q, ..Options::default() }).contains("between 0 and 1"));
        }
    }

    #[test]
    fn what_may_have_been_meant_is_offered() {
        let mut data = run_of(&["a", "b"], "rate", &[[1.0, 2.0]]);
        for metric in [
            "response.get.p99",
            "service.get.p99",
            "service.get.p50",
            "service.begin.p99",
            "server.cpu/o",
        ] {
            data.cells.push(cell(1, "a", "s0", metric, 1.0));
        }
        let subject = Subject { kind: "get".into(), counts: Counts::Operations };
        data.steps.push(Step::new(StepId::new("s0"), 0, 1, subject));
        let asked = |data: &RunData, metric: &str| {
            let metric = MetricId::new(metric);
            let options = Options { metrics: Selection::Only(vec![metric]), ..Options::default() };
            options.resolve(data).err().map(|error| error.to_string())
        };
        assert_eq!(
            asked(&data, "p99").unwrap(),
            "no metric `p99`; nearest `service.p99`, `response.p99`, `service.begin.p99`; `all` is every metric of the run"
        );
        assert!(asked(&data, "cpu").unwrap().contains("nearest `server.cpu/o`;"));
        for metric in ["d/o", "r/o", "w/o"] {
            data.cells.push(cell(1, "a", "s0", metric, 1.0));
        }
        for metric in ["qps", "tps", "throughput"] {
            let told = asked(&data, metric).unwrap();
            assert!(told.contains("nearest `rate`;"), "{told}");
        }
        assert_eq!(asked(&data, "response.p99"), None);
        let short = Options {
            metrics: Selection::Only(vec![MetricId::new("response.p99")]),
            ..Options::default()
        };
        let found = crate::compare(&data, &short).unwrap();
        let found: Vec<&str> = found.iter().map(|c| c.metric.0.as_str()).collect();
        assert_eq!(found, ["response.get.p99"]);
    }

    #[test]
    fn a_metric_that_exists_may_be_absent() {
        let data = run_of(&["a", "b"], "rate", &[[1.0, 2.0]]);
        let options = Options {
            metrics: Selection::Only(vec![MetricId::new("cpu/o")]),
            ..Options::default()
        };
        assert_eq!(options.resolve(&data), Ok("a"));
    }
}
