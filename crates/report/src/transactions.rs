//! Runs of the TPC-C-like workload: their steps, what is asked of them, what is shown against the base.

use std::collections::BTreeMap;

use model::{
    Chart, MetricId, Statements, Step, StockLevel, TpccCardinality, TpccForm, TpccMix, TpccProfile,
    TpccSpec, TpccTransaction, When, metrics,
};

use crate::Report;
use crate::format::{self, plural};
use crate::index::median;
use crate::report::At;

/// Per cent of the transactions of a kind that must keep their limit on response time.
const LEAST: f64 = 90.0;

pub(crate) struct Transactions<'v> {
    pub(crate) spec: &'v TpccSpec,
    /// The steps in which transactions run, in order.
    pub(crate) steps: Vec<&'v Step>,
    pub(crate) first: &'v Step,
    /// The last of them, which may be the first.
    pub(crate) last: &'v Step,
}

pub(crate) struct Quantity<'v> {
    pub(crate) title: &'static str,
    pub(crate) word: &'static str,
    pub(crate) moments: Vec<Moment<'v>>,
}

pub(crate) struct Moment<'v> {
    /// `h1`, `after load`.
    pub(crate) label: String,
    pub(crate) step: &'v Step,
    pub(crate) metric: &'static str,
}

impl<'v> Transactions<'v> {
    /// `None` for another workload, and where no step of transactions was measured.
    pub(crate) fn of(report: &'v Report<'_>) -> Option<Self> {
        let spec = spec(report)?;
        let steps = report.steps.iter();
        let steps: Vec<&Step> =
            steps.filter(|step| step.subject.kind == TpccTransaction::NewOrder.name()).collect();
        let (first, last) = (*steps.first()?, *steps.last()?);
        Some(Self { spec, steps, first, last })
    }

    /// The first step and the last one; one where they are the same.
    pub(crate) fn ends(&self) -> Vec<&'v Step> {
        let mut ends = vec![self.first, self.last];
        ends.dedup();
        ends
    }

    /// The quantities of the published charts: the metrics that have one, those of one title together.
    pub(crate) fn quantities(&self, report: &Report<'_>) -> Vec<Quantity<'v>> {
        let mut quantities: Vec<Quantity<'v>> = Vec::new();
        let charted = metrics().filter_map(|metric| Some((metric.id, metric.chart?)));
        let mut charted: Vec<(&str, Chart)> = charted.collect();
        charted.sort_by_key(|(_, chart)| chart.when);
        for (metric, Chart { title, word, when }) in charted {
            let after =
                |label: String, step| Moment { label: format!("after {label}"), step, metric };
            let moments = match when {
                When::Ends => {
                    let moment = |step| Moment { label: report.label(step), step, metric };
                    self.ends().into_iter().map(moment).collect()
                }
                When::Loaded => vec![after("load".to_owned(), self.first)],
                When::Last => vec![after(report.label(self.last), self.last)],
            };
            match quantities.iter_mut().find(|quantity| quantity.title == title) {
                Some(quantity) => quantity.moments.extend(moments),
                None => quantities.push(Quantity { title, word, moments }),
            }
        }
        quantities
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
pub(crate) fn spec<'a>(report: &Report<'a>) -> Option<&'a TpccSpec> {
    report.input.data.info.plan.workload.tpcc()
}

impl At<'_> {
    /// Rounds in which fewer than nine in ten kept their limit, and all; `None` where none of this kind ran.
    pub(crate) fn missed(self, transaction: TpccTransaction) -> Option<(usize, usize)> {
        let rounds = &self.values(&MetricId::within_limit(transaction.name()).0)?.rounds;
        Some((rounds.iter().filter(|(_, share)| *share < LEAST).count(), rounds.len()))
    }

    /// The kinds that missed their limit in any round.
    pub(crate) fn all_missed(self) -> Vec<&'static str> {
        let has_missed = |transaction: &TpccTransaction| {
            self.missed(*transaction).is_some_and(|(missed, _)| missed > 0)
        };
        TpccTransaction::ALL.into_iter().filter(has_missed).map(TpccTransaction::name).collect()
    }

    /// The client's share of the CPU time of client and server; `None` where there is no server to watch.
    pub(crate) fn client_share(self) -> Option<f64> {
        let (client, server) = (self.median("client.cpu/o")?, self.median("server.cpu/o")?);
        Some(client / (client + server)).filter(|share| share.is_finite())
    }

    /// Transactions of all kinds per second, median over the rounds.
    pub(crate) fn transactions_per_second(self) -> Option<f64> {
        let mut rounds: BTreeMap<u32, f64> = BTreeMap::new();
        for transaction in TpccTransaction::ALL {
            let values = self.values(&format!("rate.{}", transaction.name()));
            for (round, rate) in values.iter().flat_map(|values| &values.rounds) {
                *rounds.entry(*round).or_default() += rate;
            }
        }
        median(rounds.into_values())
    }
}

pub(crate) fn about(spec: &TpccSpec) -> String {
    let profile = match spec.profile {
        TpccProfile::Standard => "the standard's work",
        TpccProfile::Percona => "the work of tpcc-mysql",
    };
    let parts = [
        plural(spec.warehouses as usize, "warehouse"),
        profile.to_owned(),
        match spec.mix {
            TpccMix::Deck => "transactions from decks of 23 cards".to_owned(),
            TpccMix::Weights(weights) => {
                format!("transactions at random, weights {}", format::joined(weights, ", "))
            }
        },
        format!("{}, {}", plural(spec.clients as usize, "terminal"), spec.pace.words()),
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
pub(crate) fn other_cardinality(report: &Report<'_>) -> Option<String> {
    let spec = spec(report)?;
    let TpccCardinality { items, customers } = spec.cardinality;
    (spec.cardinality != TpccCardinality::STANDARD).then(|| {
        let [items, customers] = [items, customers].map(|count| format::count(count.into()));
        format!("{items} items and {customers} customers a district")
    })
}
