//! Operations that arrive whether clients are free or not: was their rate sustained?

use model::{MetricId, OpenLoop, StepInfo};

use crate::transactions;
use crate::view::View;

/// What became of the arrivals in each round, as far as it was measured; empty where clients start the
/// next operation themselves.
pub(crate) fn rounds(view: &View<'_>, system: &str, step: &StepInfo) -> Vec<OpenLoop> {
    let in_round = |metric: &str, round: u32| {
        let values = &view.values(system, step, metric)?.rounds;
        let value = values.iter().find(|(r, _)| *r == round);
        value.map(|(_, value)| *value as u64)
    };
    let Some(offered) = view.values(system, step, "offered") else {
        return Vec::new();
    };
    offered
        .rounds
        .iter()
        .filter_map(|(round, per_second)| {
            Some(OpenLoop {
                per_second: *per_second as u64,
                // How many arrived is no metric: rate and window say it.
                arrived: 0,
                shed: in_round("shed", *round)?,
                waiting: in_round("waiting", *round)?,
                highest_rate: in_round(MetricId::HIGHEST_RATE, *round),
            })
        })
        .collect()
}

/// Rounds in which the offered rate was not sustained, and all; `None` where nothing was offered.
pub(crate) fn unsustained(
    view: &View<'_>,
    system: &str,
    step: &StepInfo,
) -> Option<(usize, usize)> {
    let rounds = rounds(view, system, step);
    let failed = rounds.iter().filter(|round| !round.is_sustained()).count();
    (!rounds.is_empty()).then_some((failed, rounds.len()))
}

/// Operations per second that were done, median over the rounds. Transactions arrive whatever their kind,
/// and the step is about one of the kinds.
pub(crate) fn achieved(view: &View<'_>, system: &str, step: &StepInfo) -> Option<f64> {
    match transactions::spec(view) {
        Some(_) => transactions::per_second(view, system, step),
        None => view.median(system, step, &format!("rate.{}", step.subject)),
    }
}
