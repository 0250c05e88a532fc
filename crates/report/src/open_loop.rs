//! Operations that arrive whether clients are free or not: was their rate sustained?

use model::{MetricId, OpenLoop, StepInfo};

use crate::Input;
use crate::format::{self, plural};
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

/// Each system that did not sustain an offered rate, in a sentence: what it did in the step where it did least
/// of what was asked, and in how many other steps.
pub fn unsustained(input: &Input<'_>) -> Vec<String> {
    let view = View::new(input);
    let told = view.systems.iter().filter_map(|system| {
        let text = view_unsustained(&view, system.name)?;
        Some(format!("{} {text}.", system.name))
    });
    told.collect()
}

/// The same of one system, without its name and full stop; `None` where it sustained all rates.
pub(crate) fn view_unsustained(view: &View<'_>, system: &str) -> Option<String> {
    let mut steps: Vec<(f64, String)> = view
        .steps
        .iter()
        .filter_map(|step| of_step(view, system, step))
        .collect();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, worst) = steps.first()?;
    let others = match steps.len() - 1 {
        0 => String::new(),
        others => format!("; nor in {}", plural(others, "other step")),
    };
    Some(format!("{worst}{others}"))
}

/// The share that was done of the rate that was not sustained in a step, and what to say of it.
fn of_step(view: &View<'_>, system: &str, step: &StepInfo) -> Option<(f64, String)> {
    let (failed, all) = failed_rounds(view, system, step).filter(|(failed, _)| *failed > 0)?;
    let offered = view.median(system, step, "offered")?;
    let done = achieved(view, system, step)?;
    let text = format!(
        "did {} of {} operations/s in {}: the rate was not sustained in {failed} of {}",
        format::number(done),
        format::number(offered),
        view.label(step),
        plural(all, "round")
    );
    Some((done / offered.max(1.0), text))
}

/// Rounds in which the offered rate was not sustained, and all; `None` where nothing was offered.
pub(crate) fn failed_rounds(
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
