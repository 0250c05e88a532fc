//! Runs of the TPC-C-like workload: their steps, what is asked of them, what is shown against the base.

use std::collections::BTreeMap;

use model::{
    MetricId, Statements, StepInfo, StockLevel, TpccCardinality, TpccForm, TpccMix, TpccPace,
    TpccProfile, TpccSpec, TpccTransaction, WorkloadSpec,
};

use crate::format::{self, plural};
use crate::spread::median;
use crate::view::View;

/// Per cent of the transactions of a kind that must keep their limit on response time.
const LEAST: f64 = 90.0;

/// A run of the TPC-C-like workload.
pub(crate) struct Transactions<'v> {
    /// What was asked for.
    pub(crate) spec: &'v TpccSpec,
    /// The steps in which transactions run, in order.
    pub(crate) steps: Vec<&'v StepInfo>,
    /// The first of them.
    pub(crate) first: &'v StepInfo,
    /// The last of them, which may be the first.
    pub(crate) last: &'v StepInfo,
}

/// What charts show relative to the base.
pub(crate) struct Quantity<'v> {
    /// In full.
    pub(crate) title: &'static str,
    /// In a word or two.
    pub(crate) word: &'static str,
    /// When it was measured.
    pub(crate) moments: Vec<Moment<'v>>,
}

/// A metric of a step.
pub(crate) struct Moment<'v> {
    /// `h1`, `after load`.
    pub(crate) label: String,
    /// Which step.
    pub(crate) step: &'v StepInfo,
    /// Which metric.
    pub(crate) metric: &'static str,
}

impl<'v> Transactions<'v> {
    /// `None` for another workload, and where no step of transactions was measured.
    pub(crate) fn of(view: &'v View<'_>) -> Option<Self> {
        let spec = spec(view)?;
        let steps = view.steps.iter();
        let steps: Vec<&StepInfo> = steps
            .filter(|step| step.subject == TpccTransaction::NewOrder.name())
            .collect();
        let (first, last) = (*steps.first()?, *steps.last()?);
        Some(Self {
            spec,
            steps,
            first,
            last,
        })
    }

    /// The first step and the last one; one where they are the same.
    pub(crate) fn ends(&self) -> Vec<&'v StepInfo> {
        let mut ends = vec![self.first, self.last];
        ends.dedup();
        ends
    }

    /// The four quantities of the published charts.
    pub(crate) fn quantities(&self, view: &View<'_>) -> [Quantity<'v>; 4] {
        let at_ends = |title, word, metric| {
            let moment = |step| Moment {
                label: view.label(step),
                step,
                metric,
            };
            Quantity {
                title,
                word,
                moments: self.ends().into_iter().map(moment).collect(),
            }
        };
        [
            at_ends("Throughput", MetricId::TPMC, MetricId::RATE),
            at_ends("CPU per New-Order, client included", "CPU", "cpu/o"),
            at_ends("KB written per New-Order", "KB written", "wKB/o"),
            Quantity {
                title: "Size",
                word: "size",
                moments: vec![
                    Moment {
                        label: "after load".to_owned(),
                        step: self.first,
                        metric: "loaded.allocated",
                    },
                    Moment {
                        label: format!("after {}", view.label(self.last)),
                        step: self.last,
                        metric: "size.allocated",
                    },
                ],
            },
        ]
    }

    /// The kinds of transactions, each with its limit on response time as text.
    pub(crate) fn limits(&self) -> impl Iterator<Item = (TpccTransaction, String)> {
        let limits = self.spec.limits_millis.iter();
        TpccTransaction::ALL
            .into_iter()
            .zip(limits.map(|millis| format::tick_seconds(f64::from(*millis) / 1e3)))
    }
}

/// What was asked for, where it is this workload.
pub(crate) fn spec<'a>(view: &View<'a>) -> Option<&'a TpccSpec> {
    match &view.input.data.info.plan.workload {
        WorkloadSpec::Tpcc(spec) => Some(spec),
        WorkloadSpec::Insert(_) | WorkloadSpec::Sql(_) => None,
    }
}

/// Rounds in which fewer than nine in ten transactions of this kind kept their limit, and all; `None` where
/// none of it ran.
pub(crate) fn missed(
    view: &View<'_>,
    system: &str,
    step: &StepInfo,
    transaction: TpccTransaction,
) -> Option<(usize, usize)> {
    let metric = MetricId::within_limit(transaction.name());
    let rounds = &view.values(system, step, &metric.0)?.rounds;
    let missed = rounds.iter().filter(|(_, share)| *share < LEAST).count();
    Some((missed, rounds.len()))
}

/// The kinds that missed their limit in any round.
pub(crate) fn all_missed(view: &View<'_>, system: &str, step: &StepInfo) -> Vec<&'static str> {
    let has_missed = |transaction: &TpccTransaction| {
        missed(view, system, step, *transaction).is_some_and(|(missed, _)| missed > 0)
    };
    let kinds = TpccTransaction::ALL.into_iter().filter(has_missed);
    kinds.map(TpccTransaction::name).collect()
}

/// Transactions of all kinds per second, median over the rounds.
pub(crate) fn per_second(view: &View<'_>, system: &str, step: &StepInfo) -> Option<f64> {
    let mut rounds: BTreeMap<u32, f64> = BTreeMap::new();
    for transaction in TpccTransaction::ALL {
        let metric = format!("rate.{}", transaction.name());
        let values = view.values(system, step, &metric);
        for (round, rate) in values.iter().flat_map(|values| &values.rounds) {
            *rounds.entry(*round).or_default() += rate;
        }
    }
    median(rounds.into_values())
}

/// What was asked for, in a sentence.
pub(crate) fn about(spec: &TpccSpec) -> String {
    let profile = match spec.profile {
        TpccProfile::Standard => "the standard's work",
        TpccProfile::Percona => "the work of tpcc-mysql",
    };
    let parts = [
        plural(spec.warehouses as usize, "warehouse"),
        profile.to_owned(),
        mix(&spec.mix),
        format!(
            "{}, {}",
            plural(spec.clients as usize, "terminal"),
            pace(&spec.pace)
        ),
        sent(spec).to_owned(),
        match spec.stock_level {
            StockLevel::Join => "Stock-Level as one join".to_owned(),
            StockLevel::Loop => "Stock-Level item by item".to_owned(),
        },
        match spec.isolation {
            None => "isolation as the server has it".to_owned(),
            Some(level) => level.sql().to_owned(),
        },
    ];
    format!("{}.", parts.join("; "))
}

fn mix(mix: &TpccMix) -> String {
    match mix {
        TpccMix::Deck => "transactions from decks of 23 cards".to_owned(),
        TpccMix::Weights(weights) => {
            let weights: Vec<String> = weights.iter().map(u32::to_string).collect();
            format!("transactions at random, weights {}", weights.join(", "))
        }
    }
}

/// When transactions start.
pub(crate) fn pace(pace: &TpccPace) -> String {
    match pace {
        TpccPace::NoWait => "the next transaction when the last has ended".to_owned(),
        TpccPace::Wait { percent } => format!("keying and think times × {percent} %"),
        TpccPace::Rate { per_second, .. } => {
            format!(
                "{} transactions a second arrive",
                format::count(*per_second)
            )
        }
        TpccPace::Ramp { .. } => {
            "the highest rate at which nine in ten transactions of each kind keep their limit"
                .to_owned()
        }
    }
}

fn sent(spec: &TpccSpec) -> &'static str {
    match (spec.form, spec.statements) {
        (TpccForm::Procedures, _) => "stored procedures",
        (TpccForm::Single, Statements::Text) => "text statements, one by one",
        (TpccForm::Single, Statements::Prepared | Statements::Usual) => {
            "prepared statements, one by one"
        }
        (TpccForm::Batched, Statements::Text) => "text statements, in batches",
        (TpccForm::Batched, Statements::Prepared | Statements::Usual) => {
            "prepared statements, in batches"
        }
    }
}

/// How many rows there are of what, where it is not what the standard says.
pub(crate) fn other_cardinality(view: &View<'_>) -> Option<String> {
    let spec = spec(view)?;
    let TpccCardinality { items, customers } = spec.cardinality;
    (spec.cardinality != TpccCardinality::STANDARD).then(|| {
        format!(
            "{} items and {} customers a district",
            format::count(items.into()),
            format::count(customers.into())
        )
    })
}
