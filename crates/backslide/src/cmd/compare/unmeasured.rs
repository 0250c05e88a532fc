//! What was asked for and not measured. Where nothing was compared nothing regressed, and that must not look like
//! a good result.

use std::collections::HashSet;

use model::{Cell, Comparison, MetricId, Reason, RunData, StepId, Unit, Verdict};
use stats::{Selection, Steps};

const MOST_NAMED: usize = 12;
/// Stands for the step in what is said of all of them.
const EVERY_STEP: &str = "every step";

/// Something that was asked for, and that no system but a control has a value of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unmeasured {
    /// Which metric; throughput for what decides each step.
    metric: MetricId,
    pub(super) text: String,
}

pub(super) fn of(data: &RunData, selection: &Selection) -> Vec<Unmeasured> {
    let unmeasured = |metric: &MetricId, what: &str| Unmeasured {
        metric: metric.clone(),
        text: text(data, what),
    };
    let steps = Steps::of(data);
    let has = || cells(data).any(|cell| steps.selects(selection, cell));
    match selection {
        Selection::Only(metrics) => {
            let is_measured = |metric| cells(data).any(|cell| steps.means(metric, cell));
            let missing = metrics.iter().filter(|metric| !is_measured(metric));
            missing.map(|metric| unmeasured(metric, &format!("`{metric}`"))).collect()
        }
        Selection::Deciding if !has() => {
            let what = "the deciding metric of the steps (throughput, except in open loops)";
            vec![unmeasured(&MetricId::new(MetricId::RATE), what)]
        }
        // Where there is no value at all the text says so, and names no metric.
        Selection::All if !has() => {
            vec![unmeasured(&MetricId::new(MetricId::RATE), "")]
        }
        Selection::Deciding | Selection::All => Vec::new(),
    }
}

/// The same for formats that list cases: each of them as incomparable, for every system that is judged.
pub(super) fn cases(missing: &[Unmeasured], data: &RunData, base: &str) -> Vec<Comparison> {
    let systems = data.info.plan.systems.iter();
    let judged = systems.filter(|system| !system.control && system.name != base);
    let of_system = |system: &str| {
        let cases = missing.iter().map(|one| Comparison {
            step: StepId::new(EVERY_STEP),
            ordinal: 0,
            clients: 0,
            metric: one.metric.clone(),
            unit: Unit::Count,
            base: base.to_owned(),
            system: system.to_owned(),
            ratio: None,
            low: None,
            high: None,
            rounds: 0,
            pairs: Vec::new(),
            q_value: None,
            verdict: Verdict::Incomparable(Reason::NotMeasured),
            magnitude: None,
            evidence: None,
        });
        cases.collect::<Vec<_>>()
    };
    judged.flat_map(|system| of_system(&system.name)).collect()
}

fn cells(data: &RunData) -> impl Iterator<Item = &Cell> {
    let control = data.info.plan.control().map(|system| system.name.as_str());
    data.cells.iter().filter(move |cell| Some(cell.system.as_str()) != control)
}

fn text(data: &RunData, what: &str) -> String {
    let run = &data.info.id;
    let mut seen = HashSet::new();
    let mut names: Vec<&str> =
        cells(data).map(|cell| cell.metric.0.as_str()).filter(|name| seen.insert(*name)).collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    let names = names.join(", ");
    match (names.as_str(), more) {
        ("", _) => format!("run {run} has no measurements"),
        (names, 0) => format!("{what} was not measured in run {run}, which has {names}"),
        (names, more) => format!(
            "{what} was not measured in run {run}, which has {names} and {more} more (`--metric all`)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::made_up::{self, micro::Micro};

    /// A run of one test, in which only these metrics were measured.
    fn run_with(metrics: &[&str]) -> RunData {
        let mut data = made_up::micro::run(&Micro { tests: 1, ..Micro::usual() });
        for system in &mut data.info.plan.systems {
            system.control = system.name == "control";
        }
        data.cells.retain(|cell| metrics.contains(&cell.metric.0.as_str()));
        data
    }

    fn only(metrics: &[&str]) -> Selection {
        Selection::Only(metrics.iter().map(|m| MetricId::new(*m)).collect())
    }

    fn missing(data: &RunData, selection: &Selection) -> Vec<String> {
        let missing = of(data, selection);
        missing.into_iter().map(|one| one.metric.0).collect()
    }

    #[test]
    fn each_metric_that_no_system_has_is_told() {
        let data = run_with(&["rate", "service.update-inlist.p99"]);
        let asked = ["rate", "service.p99", "response.p99", "server.cpu/o"];
        assert_eq!(missing(&data, &only(&asked)), ["response.p99", "server.cpu/o"]);
        assert!(missing(&data, &Selection::Deciding).is_empty());
        assert!(missing(&data, &Selection::All).is_empty());
        assert_eq!(
            of(&data, &only(&["response.p99"]))[0].text,
            "`response.p99` was not measured in run r7, which has rate, service.update-inlist.p99"
        );
    }

    #[test]
    fn what_decides_steps_may_be_missing_and_so_may_all() {
        let mut data = run_with(&["rate"]);
        for cell in &mut data.cells {
            cell.metric = MetricId::new("compat.ratio");
        }
        let told = of(&data, &Selection::Deciding);
        assert_eq!(
            told[0].text,
            "the deciding metric of the steps (throughput, except in open loops) was not measured in run r7, which has compat.ratio"
        );
        assert!(missing(&data, &Selection::All).is_empty());
        data.cells.clear();
        let told = of(&data, &Selection::All);
        assert_eq!(told[0].text, "run r7 has no measurements");
    }

    #[test]
    fn what_only_the_control_has_is_not_measured() {
        let mut data = run_with(&["rate"]);
        data.cells.retain(|cell| cell.system == "control");
        assert!(!data.cells.is_empty());
        assert_eq!(missing(&data, &only(&["rate"])), ["rate"]);
    }

    #[test]
    fn a_metric_that_is_zero_in_every_round_was_measured() {
        let mut data = run_with(&["rate"]);
        for cell in &mut data.cells {
            cell.metric = MetricId::new("shed");
            cell.value = 0.0;
        }
        assert!(missing(&data, &only(&["shed"])).is_empty());
    }

    #[test]
    fn a_case_for_each_system_that_is_judged() {
        let data = run_with(&["rate"]);
        let missing = of(&data, &only(&["response.p99", "shed"]));
        let base = &data.info.plan.base;
        let cases = cases(&missing, &data, base);
        assert_eq!(cases.len(), 2);
        for case in &cases {
            assert_ne!(case.system, *base);
            assert_eq!(case.verdict, Verdict::Incomparable(Reason::NotMeasured));
        }
    }
}
