//! What a comparison is asked for, and what is wrong with the question.

use std::collections::BTreeMap;

use model::{MetricId, RunData, describe};

use crate::looks::Looks;

/// Which metrics are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Every metric that was measured.
    #[default]
    All,
    /// Only these.
    Only(Vec<MetricId>),
}

impl Selection {
    pub(crate) fn contains(&self, metric: &MetricId) -> bool {
        match self {
            Self::All => true,
            Self::Only(metrics) => metrics.contains(metric),
        }
    }
}

/// What is compared with what, and when a difference is called one.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name of the base; `None` for the plan's.
    pub base: Option<String>,
    /// Which metrics.
    pub metrics: Selection,
    /// The practical margin for every metric, as a fraction (0.02 is 2 %); `None` for each
    /// metric's own.
    pub min_effect: Option<f64>,
    /// Margins that take the place of the metrics' own, where `min_effect` does not.
    pub margins: BTreeMap<MetricId, f64>,
    /// The largest q-value that counts as certain, between 0 and 1.
    pub q: f64,
    /// Whether the run is looked at after each round, to end it when all is decided; `None` for a
    /// number of rounds that was fixed before.
    pub looks: Option<Looks>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            base: None,
            metrics: Selection::All,
            min_effect: None,
            margins: BTreeMap::new(),
            q: 0.01,
            looks: None,
        }
    }
}

/// A comparison that cannot be made as it was asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CompareError {
    /// The base is no system of the run.
    #[error("this run has no system `{base}` to compare with; its systems are {}", .systems.join(", "))]
    UnknownBase {
        /// The name that was asked for.
        base: String,
        /// The names there are.
        systems: Vec<String>,
    },
    /// A metric that does not exist and that the run does not have either.
    #[error("there is no metric `{metric}`; this run has {}", .known.join(", "))]
    UnknownMetric {
        /// The id that was asked for.
        metric: MetricId,
        /// The ids that the run has.
        known: Vec<String>,
    },
    /// The margin is negative or not a number.
    #[error("the smallest effect worth calling must be a fraction of at least 0, not {0}")]
    BadMargin(f64),
    /// The limit of the q-value is not between 0 and 1.
    #[error("the false-discovery rate must lie between 0 and 1, not {0}")]
    BadRate(f64),
    /// A run that ends before its first look.
    #[error(
        "rounds from {min} to {max}: the fewest must be at least 1 and the most no fewer than these"
    )]
    BadLooks {
        /// The fewest rounds.
        min: u32,
        /// The most.
        max: u32,
    },
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
        if let Selection::Only(metrics) = &self.metrics {
            metrics.iter().try_for_each(|m| known(m, data))?;
        }
        let plan = &data.info.plan;
        let base = self.base.as_deref().unwrap_or(&plan.base);
        if plan.system(base).is_some() {
            Ok(base)
        } else {
            Err(CompareError::UnknownBase {
                base: base.to_owned(),
                systems: plan.systems.iter().map(|s| s.name.clone()).collect(),
            })
        }
    }

    /// The margin of a metric whose own is `usual`.
    pub(crate) fn margin(&self, metric: &MetricId, usual: f64) -> f64 {
        let chosen = self.min_effect.or(self.margins.get(metric).copied());
        chosen.unwrap_or(usual)
    }
}

fn known(metric: &MetricId, data: &RunData) -> Result<(), CompareError> {
    if describe(metric).is_some() || data.cells.iter().any(|cell| cell.metric == *metric) {
        return Ok(());
    }
    let mut known: Vec<String> = data
        .cells
        .iter()
        .map(|cell| cell.metric.0.clone())
        .collect();
    known.sort_unstable();
    known.dedup();
    Err(CompareError::UnknownMetric {
        metric: metric.clone(),
        known,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::run_of;

    #[test]
    fn a_wrong_question_says_what_would_be_right() {
        let data = run_of(&["a", "b"], "rate", &[[1.0, 2.0]]);
        let message = |options: Options| options.resolve(&data).unwrap_err().to_string();
        assert_eq!(
            message(Options {
                base: Some("c".into()),
                ..Options::default()
            }),
            "this run has no system `c` to compare with; its systems are a, b"
        );
        assert_eq!(
            message(Options {
                metrics: Selection::Only(vec![MetricId::new("qps")]),
                ..Options::default()
            }),
            "there is no metric `qps`; this run has rate"
        );
        for margin in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(
                message(Options {
                    min_effect: Some(margin),
                    ..Options::default()
                })
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
            assert!(
                message(Options {
                    q,
                    ..Options::default()
                })
                .contains("between 0 and 1")
            );
        }
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
