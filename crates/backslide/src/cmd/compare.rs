//! `backslide compare`: verdicts in the terminal, and an exit status for scripts.

use std::path::Path;

use anyhow::{Result, bail};
use lab::Lab;
use model::{Comparison, MetricId, RunData, TrialRecord, Verdict};
use report::Input;
use report::tables::Shown;
use stats::Selection;

use crate::args::{CompareArgs, CompareFormat};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{input, runs, table};

pub(crate) fn run(args: &CompareArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let lab = runs::open(root)?;
    let data = runs::load(&lab, args.run.as_deref(), runs::NUMBERS)?;
    let min_effect = match args.min_effect {
        Some(percent) if !percent.is_finite() || percent < 0.0 => {
            bail!("--min-effect must be a number of per cent, not {percent}")
        }
        percent => percent.map(|percent| percent / 100.0),
    };
    let is_usual = args.metric.is_empty();
    let selection = if is_usual {
        Selection::Deciding
    } else if args.metric.iter().any(|metric| metric == "all") {
        Selection::All
    } else {
        Selection::Only(args.metric.iter().map(MetricId::new).collect())
    };
    if args.format == CompareFormat::Text && data.info.plan.systems.len() == 1 {
        return Ok(nothing_to_judge(&data, args.format, printer));
    }
    let base = runs::base(&data, args.base.as_deref())?;
    let comparisons = runs::compare(&data, base, selection, min_effect)?;
    let judged = comparisons.iter().filter(|one| !is_control(&data, one));
    let judged: Vec<&Comparison> = judged.collect();
    // In every metric, so that a change of throughput can name the cost that moved with it.
    let all = || runs::compare(&data, base, Selection::All, min_effect);
    let base_name = base.unwrap_or(&data.info.plan.base);
    match args.format {
        CompareFormat::Json => printer.raw(report::json(&comparisons).as_bytes())?,
        CompareFormat::Junit => {
            let all = all()?;
            let text = report::junit(&input_of(&lab, base_name, &data, &all)?, &judged);
            printer.raw(text.as_bytes())?;
        }
        CompareFormat::Markdown => {
            let all = all()?;
            let text = report::comment(&input_of(&lab, base_name, &data, &all)?, &judged);
            printer.raw(text.as_bytes())?;
        }
        CompareFormat::Text => {
            let shown = Shown {
                system: None,
                all_metrics: !is_usual,
                decided_only: !args.all,
            };
            let every;
            let compared: &[Comparison] = if is_usual {
                every = all()?;
                &every
            } else {
                &comparisons
            };
            show(&lab, base_name, &data, compared, &shown, printer)?;
        }
    }
    if !has_a_pair(&data) {
        return Ok(nothing_to_judge(&data, args.format, printer));
    }
    Ok(Exit::of(judged.into_iter()))
}

fn input_of<'a>(
    lab: &Lab,
    base: &str,
    data: &'a RunData,
    comparisons: &'a [Comparison],
) -> Result<Input<'a>> {
    Ok(Input {
        data,
        comparisons,
        differing: input::differing(lab, data, base)?,
        generated: "",
        findings: Vec::new(),
    })
}

/// Prints a sentence and a table for each system, in a sweep tests × client counts, and what the control
/// shows. `comparisons` are in
/// every metric, so that a change can name the cost that moved with it.
pub(crate) fn show(
    lab: &Lab,
    base: &str,
    data: &RunData,
    comparisons: &[Comparison],
    shown: &Shown,
    printer: Printer,
) -> Result<()> {
    let input = input_of(lab, base, data, comparisons)?;
    if comparisons.is_empty() {
        printer.result("nothing to compare: zero in every round, or not measured in this run");
    }
    // The sentences are about what decides the steps.
    if !shown.all_metrics {
        for sentence in report::sentences(&input) {
            printer.prose(&format!("{} {}", sentence.system, sentence.text));
        }
    }
    let has_sweep = !shown.all_metrics && over_clients(&input, printer);
    if !has_sweep || !shown.decided_only {
        for one in report::tables::verdicts_by_system(&input, shown) {
            table::print(printer, &one);
        }
    }
    if !shown.all_metrics {
        if let Some(groups) = report::tables::group_summary(&input) {
            table::print(printer, &groups);
        }
        if let Some(transactions) = report::tables::relative_transactions(&input) {
            table::print(printer, &transactions);
        }
        printer.prose(&format!("\n{}", report::control(&input)));
    }
    if shown.decided_only && comparisons.iter().any(|c| !is_decided(c)) {
        printer.note(&printer.wrapped(
            "`--all` shows what is not decided too, and how many more rounds would decide it",
        ));
    }
    for warning in report::unequal(&input) {
        printer.prose(&format!("Not equal: {warning}"));
    }
    for finding in report::findings(&input) {
        printer.prose(&format!("{}: {}", finding.title, finding.text));
    }
    Ok(())
}

/// Tests × client counts for each system, and where systems pass the base; false where the run has no
/// sweep.
fn over_clients(input: &Input<'_>, printer: Printer) -> bool {
    let tables = report::tables::all_over_clients(input);
    for table in &tables {
        table::print(printer, table);
    }
    let crossovers = report::crossovers(input);
    if !crossovers.is_empty() {
        printer.result("");
    }
    for one in crossovers {
        printer.prose(&format!("{}: {}", one.test, one.text));
    }
    !tables.is_empty()
}

const fn is_decided(comparison: &Comparison) -> bool {
    matches!(
        comparison.verdict,
        Verdict::Regressed | Verdict::Improved | Verdict::Unchanged
    )
}

/// Says why no system can be judged: to people among the results, to programs beside them.
fn nothing_to_judge(data: &RunData, format: CompareFormat, printer: Printer) -> Exit {
    let why = why_nothing(data);
    match format {
        CompareFormat::Text => printer.prose(&why),
        CompareFormat::Json | CompareFormat::Junit | CompareFormat::Markdown => printer.note(&why),
    }
    let mut trials = data.trials.iter();
    if trials.any(|trial| trial.outcome.is_failed()) {
        Exit::TrialFailed
    } else {
        Exit::Inconclusive
    }
}

/// Why no round has the base and another system that is judged.
fn why_nothing(data: &RunData) -> String {
    let (run, systems) = (&data.info.id, &data.info.plan.systems);
    let judged = systems.iter().filter(|system| !system.control).count();
    match systems.as_slice() {
        [only] => format!(
            "run {run} has one system, {}: nothing to compare it with; name a second system in the plan, or \
             `backslide show {run}`",
            only.name
        ),
        _ if judged == 1 => format!(
            "run {run} has one system and its control, which shows the noise: there is nothing to judge"
        ),
        _ => format!(
            "no round has both the base and another system: `backslide show {run}` says why"
        ),
    }
}

/// Is there a round that completed for two systems besides a control?
fn has_a_pair(data: &RunData) -> bool {
    let completed = |trial: &&TrialRecord| {
        let system = data.info.plan.system(&trial.system);
        trial.outcome.is_completed() && system.is_some_and(|system| !system.control)
    };
    let trials = data.trials.iter().filter(completed);
    let mut rounds: Vec<u32> = trials.map(|trial| trial.round).collect();
    rounds.sort_unstable();
    let mut by_round = rounds.chunk_by(|a, b| a == b);
    by_round.any(|round| round.len() > 1)
}

fn is_control(data: &RunData, comparison: &Comparison) -> bool {
    data.info
        .plan
        .system(&comparison.system)
        .is_some_and(|system| system.control)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{self, micro::Micro};

    /// Why nothing is judged in a run of these systems, of which `control` is a second copy of the first.
    fn why(names: &[&str]) -> String {
        let mut micro = Micro::usual();
        micro.shape.systems = names.iter().map(|n| ((*n).to_owned(), 1.0)).collect();
        micro.tests = 0;
        let mut data = made_up::micro::run(&micro);
        for system in &mut data.info.plan.systems {
            system.control = system.name == "control";
        }
        why_nothing(&data)
    }

    #[test]
    fn what_cannot_be_judged_is_told_with_the_reason() {
        insta::assert_snapshot!(why(&["a"]), @"run r7 has one system, a: nothing to compare it with; name a second system in the plan, or `backslide show r7`");
        insta::assert_snapshot!(why(&["a", "control"]), @"run r7 has one system and its control, which shows the noise: there is nothing to judge");
        insta::assert_snapshot!(why(&["a", "b", "control"]), @"no round has both the base and another system: `backslide show r7` says why");
    }
}
