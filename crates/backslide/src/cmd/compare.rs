//! `backslide compare`: verdicts in the terminal, and an exit status for scripts.

mod unmeasured;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use lab::Lab;
use model::{Comparison, Reason, RunData, RunInfo, RunState, System, Verdict};
use report::format::plural;
use report::tables::Shown;
use report::{Input, Report};
use stats::{Selection, Steps};

use crate::args::{CompareArgs, CompareFormat};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{disturbed, input, runs, table};

pub(crate) fn run(args: &CompareArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let lab = runs::open(root)?;
    let data = runs::load(&lab, args.run.as_deref(), runs::NUMBERS)?;
    let selection = runs::selection(&args.metric);
    if args.format == CompareFormat::Text && data.info.plan.systems.len() == 1 {
        return Ok(nothing_to_judge(&data, args.format, printer));
    }
    let base = runs::base(&data, args.base.as_deref())?;
    stats::check(&data, &selection)?;
    let all = runs::compare(&data, base, compared(args.format, &selection), args.min_effect)?;
    let steps = Steps::of(&data);
    let is_asked = |one: &&Comparison| steps.asks_for(&selection, one.ordinal, &one.metric);
    let comparisons: Vec<Comparison> = all.iter().filter(is_asked).cloned().collect();
    let plan = &data.info.plan;
    let judged: Vec<&Comparison> =
        comparisons.iter().filter(|one| !plan.is_control(&one.system)).collect();
    let base = base.unwrap_or(&plan.base);
    let missing = unmeasured::of(&data, &selection);
    if args.format == CompareFormat::Text {
        for one in &missing {
            printer.prose(&one.text);
        }
        if comparisons.is_empty() && !missing.is_empty() {
            return Ok(Exit::Inconclusive);
        }
        let is_usual = selection == Selection::Deciding;
        let shown = Shown {
            system: None,
            all_metrics: !is_usual,
            decided_only: !args.all && judged.len() > MOST_ROWS,
            control_decided_only: !args.all && !judged.is_empty(),
        };
        show(&lab, base, &data, if is_usual { &all } else { &comparisons }, &shown, printer)?;
    } else {
        let cases = unmeasured::cases(&missing, &data, base);
        let listed = by_system(&data, judged.iter().copied().chain(&cases));
        let whole = || input::of(&lab, &data, base, &all);
        let text = match args.format {
            CompareFormat::Junit => Report::new(&whole()?).junit(&listed),
            CompareFormat::Markdown => Report::new(&whole()?).comment(&listed),
            CompareFormat::Json | CompareFormat::Text => {
                Report::new(&Input::new(&data, &comparisons)).json()
            }
        };
        printer.raw(text.as_bytes());
    }
    if !has_a_pair(&data, base) {
        return Ok(nothing_to_judge(&data, args.format, printer));
    }
    if args.format != CompareFormat::Text {
        for one in &missing {
            printer.note(&one.text);
        }
        disturbed::warn(&data, printer);
    }
    Ok(match Exit::of(judged.into_iter()) {
        Exit::Fine if !missing.is_empty() => Exit::Inconclusive,
        exit => exit,
    })
}

/// The metrics to compare: all where a change of throughput names the cost that moved with it.
fn compared(format: CompareFormat, selection: &Selection) -> Selection {
    match format {
        CompareFormat::Text if *selection == Selection::Deciding => Selection::All,
        CompareFormat::Junit | CompareFormat::Markdown => Selection::All,
        CompareFormat::Json | CompareFormat::Text => selection.clone(),
    }
}

/// Up to this many comparisons, all are listed: a screen. Beyond it, only changes.
const MOST_ROWS: usize = 50;

/// System by system as the plan lists them, those of each in the order in which they come.
fn by_system<'a>(
    data: &RunData,
    comparisons: impl Iterator<Item = &'a Comparison>,
) -> Vec<&'a Comparison> {
    let systems = &data.info.plan.systems;
    let place = |one: &&Comparison| systems.iter().position(|system| system.name == one.system);
    let mut all: Vec<&Comparison> = comparisons.collect();
    all.sort_by_cached_key(place);
    all
}

/// Prints a sentence and a table for each system, in a sweep tests × client counts, and what the control
/// shows. `comparisons` cover every metric, so that a change can name the cost that moved with it.
pub(crate) fn show(
    lab: &Lab,
    base: &str,
    data: &RunData,
    comparisons: &[Comparison],
    shown: &Shown,
    printer: Printer,
) -> Result<()> {
    let input = input::of(lab, data, base, comparisons)?;
    let report = Report::new(&input);
    // Where no round has a pair, that is what is to be said.
    if comparisons.is_empty() && has_a_pair(data, base) {
        printer.result("nothing to compare: zero in every round, or not measured in this run");
    }
    // The sentences are about what decides the steps.
    if !shown.all_metrics {
        for sentence in report.sentences() {
            printer.prose(&format!("{} {}", sentence.system, sentence.text));
        }
    }
    let has_sweep = !shown.all_metrics && over_clients(&report, printer);
    if !has_sweep || !shown.decided_only {
        let tables = report.verdicts_by_system(shown);
        for one in &tables {
            table::print(printer, one);
        }
        if let Some(told) = without_rows(data, comparisons, shown).filter(|_| shown.decided_only) {
            printer.prose(&format!("{told}; `--all` lists them"));
        }
    }
    if !shown.all_metrics {
        if let Some(groups) = report.group_summary() {
            table::print(printer, &groups);
        }
        if let Some(transactions) = report.relative_transactions() {
            table::print(printer, &transactions);
        }
        if let Some(counted) = report::tables::instructions(&input.why) {
            table::print(printer, &counted);
        }
        printer.prose(&format!("\n{}", report.control()));
    }
    if let Some(advice) = more_rounds(data, comparisons, shown) {
        printer.note(&printer.wrapped(&advice));
    }
    if has_sweep && shown.decided_only {
        printer.note("`--all` lists each comparison");
    }
    for warning in report.unequal() {
        printer.prose(&format!("Not equal: {warning}"));
    }
    for finding in report.findings() {
        printer.prose(&format!("{}: {}", finding.title, finding.text));
    }
    Ok(())
}

/// Tests × client counts for each system, and where systems pass the base; false where the run has no
/// sweep.
fn over_clients(report: &Report<'_>, printer: Printer) -> bool {
    let tables = report.all_over_clients();
    for table in &tables {
        table::print(printer, table);
    }
    let crossovers = report.crossovers();
    if !crossovers.is_empty() {
        printer.result("");
    }
    for one in crossovers {
        printer.prose(&format!("{}: {}", one.test, one.text));
    }
    !tables.is_empty()
}

/// So many further rounds for each planned one are advised, at most.
const MOST_FURTHER: u32 = 4;
/// A run that gets more rounds has looks, whose last needs z = 2.24 in place of 1.96: more rounds by the square.
const COST_OF_LOOKS: f64 = 1.31;

/// How a finished run of ours gets the rounds that would decide more; `None` if more would not.
fn more_rounds(data: &RunData, comparisons: &[Comparison], shown: &Shown) -> Option<String> {
    let RunInfo { id, plan, state, .. } = &data.info;
    if *state != RunState::Finished || data.info.is_imported() {
        return None;
    }
    let wanted = asked(data, comparisons, shown).into_iter().filter_map(|one| match &one.verdict {
        Verdict::Inconclusive(Reason::TooNoisy { more_rounds }) => *more_rounds,
        _ => None,
    });
    let planned = plan.rounds_of_each();
    // Nobody waits for hundreds of rounds to decide the last step.
    let all = planned + wanted.filter(|more| *more <= MOST_FURTHER * planned).max()?;
    let looks = if plan.course.first_look.is_none() { COST_OF_LOOKS } else { 1.0 };
    let most = (f64::from(all) * looks).ceil().min(f64::from(plan::MAX_ROUNDS));
    Some(if plan.can_have_more_rounds() {
        format!("To decide more steps: `backslide run --resume {id} --rounds {most}`")
    } else {
        "To decide more steps, start a new run with more rounds (`run --rounds`).".to_owned()
    })
}

/// Judged comparisons that `shown` covers, without the control's.
fn asked<'a>(data: &RunData, comparisons: &'a [Comparison], shown: &Shown) -> Vec<&'a Comparison> {
    let steps = Steps::of(data);
    let is_asked = |one: &&Comparison| {
        !data.info.plan.is_control(&one.system)
            && one.verdict != Verdict::Inconclusive(Reason::NotJudged)
            && (shown.all_metrics || steps.asks_for(&Selection::Deciding, one.ordinal, &one.metric))
    };
    comparisons.iter().filter(is_asked).collect()
}

/// How many comparisons are no changes; `None` if there are none.
fn without_rows(data: &RunData, comparisons: &[Comparison], shown: &Shown) -> Option<String> {
    let judged = asked(data, comparisons, shown);
    let open = judged.iter().filter(|one| !is_decided(one)).count();
    let same = judged.iter().filter(|one| one.verdict == Verdict::Unchanged).count();
    let kinds = [(open, "undecided"), (same, "unchanged")].into_iter();
    let kinds: Vec<String> = kinds
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{count} {kind}"))
        .collect();
    let are = if open + same == 1 { "is" } else { "are" };
    let all = plural(judged.len(), "comparison");
    (!kinds.is_empty())
        .then(|| format!("{} of {all} {are} not listed: {}", open + same, kinds.join(", ")))
}

const fn has_changed(verdict: &Verdict) -> bool {
    verdict.is_regression() || matches!(verdict, Verdict::Improved)
}

const fn is_decided(comparison: &Comparison) -> bool {
    has_changed(&comparison.verdict) || matches!(comparison.verdict, Verdict::Unchanged)
}

pub(super) fn nothing_to_judge(data: &RunData, format: CompareFormat, printer: Printer) -> Exit {
    // To people among the results, to programs beside them.
    if format == CompareFormat::Text {
        printer.prose(&why_nothing(data));
    } else {
        printer.note(&why_nothing(data));
    }
    let mut trials = data.trials.iter();
    let has_failed = trials.any(|trial| trial.outcome.is_failed());
    if has_failed { Exit::TrialFailed } else { Exit::Inconclusive }
}

/// Why no round has the base and another system that is judged.
fn why_nothing(data: &RunData) -> String {
    let (run, systems) = (&data.info.id, &data.info.plan.systems);
    let judged = systems.iter().filter(|system| !system.control).count();
    match systems.as_slice() {
        [System { name, .. }] => format!(
            "run {run} has one system, {name}: nothing to compare it with; name a second system in the plan, or \
             `backslide show {run}`"
        ),
        _ if judged == 1 => format!(
            "run {run} has one system and its control, which shows the noise: there is nothing to judge"
        ),
        _ => format!(
            "no round has both the base and another system: `backslide show {run}` says why"
        ),
    }
}

/// Is there a round that counts for the base, and for another system that is no control?
pub(super) fn has_a_pair(data: &RunData, base: &str) -> bool {
    let of_base = data.counted().filter(|trial| trial.system == base);
    let of_base: BTreeSet<u32> = of_base.map(|trial| trial.round).collect();
    data.counted().any(|trial| {
        let system = data.info.plan.system(&trial.system);
        let is_judged = system.is_some_and(|system| !system.control && system.name != base);
        is_judged && of_base.contains(&trial.round)
    })
}

#[cfg(test)]
mod tests {
    use model::Outcome;

    use super::*;
    use testkit::made_up::{self, micro::Micro};

    /// A run of these systems, of which `control` is a second copy of the first.
    fn run_of(names: &[&str]) -> RunData {
        let mut micro = Micro::usual();
        micro.shape.systems = names.iter().map(|n| ((*n).to_owned(), 1.0)).collect();
        micro.tests = 0;
        let mut data = made_up::micro::run(&micro);
        for system in &mut data.info.plan.systems {
            system.control = system.name == "control";
        }
        data
    }

    #[test]
    fn what_cannot_be_judged_is_told_with_the_reason() {
        let why = |names: &[&str]| why_nothing(&run_of(names));
        insta::assert_snapshot!(why(&["a"]), @"run r7 has one system, a: nothing to compare it with; name a second system in the plan, or `backslide show r7`");
        insta::assert_snapshot!(why(&["a", "control"]), @"run r7 has one system and its control, which shows the noise: there is nothing to judge");
        insta::assert_snapshot!(why(&["a", "b", "control"]), @"no round has both the base and another system: `backslide show r7` says why");
    }

    /// A run of these systems in which those trials failed.
    fn failed(names: &[&str], failed: impl Fn(u32, &str) -> bool) -> RunData {
        let mut data = run_of(names);
        for trial in &mut data.trials {
            if failed(trial.round, &trial.system) {
                trial.outcome =
                    Outcome::Failed { step: None, reason: "gone".to_owned(), log_tail: Vec::new() };
            }
        }
        data
    }

    #[test]
    fn a_pair_is_the_base_and_another_system_in_one_round() {
        let all = ["a", "b", "c", "control"];
        let of_base = failed(&all, |_, system| system == "a");
        assert!(!has_a_pair(&of_base, "a"));
        assert!(has_a_pair(&of_base, "b"), "another base has one");
        let printer = Printer::new(true);
        let exit = nothing_to_judge(&of_base, CompareFormat::Json, printer);
        assert_eq!(exit, Exit::TrialFailed);
        // Each in a round of its own.
        let apart = failed(&all, |round, system| (system == "a") == (round % 2 == 0));
        assert!(!has_a_pair(&apart, "a"));
        let only_control = failed(&all, |_, system| system == "b" || system == "c");
        assert!(!has_a_pair(&only_control, "a"));
        assert!(has_a_pair(&failed(&all, |_, system| system == "b"), "a"));
    }

    #[test]
    fn where_nothing_certainly_differs_the_comparisons_are_counted() {
        let data = run_of(&["a", "b", "control"]);
        let noisy = Verdict::Inconclusive(Reason::TooNoisy { more_rounds: None });
        let one = |system: &str, verdict: &Verdict| {
            let missing = unmeasured::of(&data, &runs::selection(&["highest_rate".to_owned()]));
            let case = unmeasured::cases(&missing, &data, "a").remove(0);
            Comparison { system: system.to_owned(), verdict: verdict.clone(), ..case }
        };
        let open = one("b", &noisy);
        let same = one("b", &Verdict::Unchanged);
        let of_control = one("control", &noisy);
        let told = |comparisons: &[&Comparison]| {
            let comparisons: Vec<Comparison> = comparisons.iter().map(|&one| one.clone()).collect();
            let shown = Shown { all_metrics: true, ..Shown::default() };
            without_rows(&data, &comparisons, &shown).unwrap_or_default()
        };
        assert_eq!(told(&[]), "");
        assert_eq!(told(&[&of_control]), "");
        assert_eq!(told(&[&open, &of_control]), "1 of 1 comparison is not listed: 1 undecided");
        assert_eq!(told(&[&open, &open]), "2 of 2 comparisons are not listed: 2 undecided");
        assert_eq!(
            told(&[&open, &same, &same]),
            "3 of 3 comparisons are not listed: 1 undecided, 2 unchanged"
        );
        assert_eq!(told(&[&same, &same]), "2 of 2 comparisons are not listed: 2 unchanged");
    }

    #[test]
    fn comparisons_are_listed_system_by_system() {
        let data = run_of(&["a", "b", "c"]);
        let missing = unmeasured::of(&data, &runs::selection(&["highest_rate".to_owned()]));
        let cases = unmeasured::cases(&missing, &data, "a");
        let twice = cases.iter().chain(&cases);
        let listed = by_system(&data, twice);
        let systems: Vec<&str> = listed.iter().map(|one| one.system.as_str()).collect();
        assert_eq!(systems, ["b", "b", "c", "c"]);
    }
}
