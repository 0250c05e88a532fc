//! Operations that arrive whether clients are free or not: was their rate sustained?

use model::{MetricId, OpenLoop, Step};

use crate::format::{self, plural};
use crate::{Report, transactions};

/// What became of the arrivals in each round, as far as it was measured; empty where clients start the
/// next operation themselves.
pub(crate) fn rounds(report: &Report<'_>, system: &str, step: &Step) -> Vec<OpenLoop> {
    let in_round = |metric: &str, round: u32| {
        report.in_round(system, step, metric, round).map(|value| value as u64)
    };
    let offered = report.values(system, step, "offered");
    let offered = offered.map_or(&[][..], |offered| &offered.rounds).iter();
    let rounds = offered.filter_map(|(round, per_second)| {
        Some(OpenLoop {
            per_second: *per_second as u64,
            // How many arrived is no metric: rate and window say it.
            arrived: 0,
            shed: in_round("shed", *round)?,
            waiting: in_round("waiting", *round)?,
            highest_rate: in_round(MetricId::HIGHEST_RATE, *round),
        })
    });
    rounds.collect()
}

impl Report<'_> {
    /// Each system that did not sustain an offered rate, in a sentence: what it did in the step where it did least
    /// of what was asked, and in how many other steps.
    pub fn unsustained(&self) -> Vec<String> {
        let told = self.systems.iter().filter_map(|system| {
            let text = self.unsustained_in_words(system.name)?;
            Some(format!("{} {text}.", system.name))
        });
        told.collect()
    }

    /// The same of one system, without its name and full stop; `None` where it sustained all rates.
    pub(crate) fn unsustained_in_words(&self, system: &str) -> Option<String> {
        let mut steps: Vec<(f64, String)> =
            self.steps.iter().filter_map(|step| of_step(self, system, step)).collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (_, worst) = steps.first()?;
        let others = match steps.len() - 1 {
            0 => String::new(),
            others => format!("; nor in {}", plural(others, "other step")),
        };
        Some(format!("{worst}{others}"))
    }
}

/// The share that was done of the rate that was not sustained in a step, and what to say of it.
fn of_step(report: &Report<'_>, system: &str, step: &Step) -> Option<(f64, String)> {
    let (failed, all) = failed_rounds(report, system, step).filter(|(failed, _)| *failed > 0)?;
    let offered = report.median(system, step, "offered")?;
    let done = achieved(report, system, step)?;
    let text = format!(
        "did {} of {} operations/s in {}: the rate was not sustained in {failed} of {}",
        format::number(done),
        format::number(offered),
        report.label(step),
        plural(all, "round")
    );
    Some((done / offered.max(1.0), text))
}

/// Rounds in which the offered rate was not sustained, and all; `None` where nothing was offered.
pub(crate) fn failed_rounds(
    report: &Report<'_>,
    system: &str,
    step: &Step,
) -> Option<(usize, usize)> {
    let rounds = rounds(report, system, step);
    let failed = rounds.iter().filter(|round| !round.is_sustained()).count();
    (!rounds.is_empty()).then_some((failed, rounds.len()))
}

/// Operations per second that were done, median over the rounds. Transactions arrive whatever their kind,
/// and the step is about one of the kinds.
pub(crate) fn achieved(report: &Report<'_>, system: &str, step: &Step) -> Option<f64> {
    match transactions::spec(report) {
        Some(_) => transactions::per_second(report, system, step),
        None => report.median(system, step, &format!("rate.{}", step.subject.kind)),
    }
}
