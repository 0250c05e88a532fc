//! `backslide history`: many builds in order, and where a metric changed its level.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use lab::Lab;
use model::{RunData, RunId, StepId};
use stats::{History, HistoryOptions, Part};

use crate::args::{HistoryArgs, HistoryFormat, format_of};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{disturbed, input, output, runs, table};

pub(crate) fn run(args: &HistoryArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let lab = runs::open(root)?;
    let loaded = load(&lab, args, printer)?;
    let parts: Vec<Part<'_>> =
        loaded.iter().map(|data| part(data, args.label.as_deref())).collect();
    let history = stats::history(&parts, &options(args))?;
    let path = args.output.as_deref().unwrap_or(Path::new("-"));
    let unsaid = args.output.is_none().then_some(HistoryFormat::Text);
    let format = format_of(args.format.or(unsaid), path, ".html, .svg, .md or .json")?;
    let text = match format {
        HistoryFormat::Text if args.output.is_none() => {
            show(&history, args.step.is_some(), printer);
            return Ok(Exit::Fine);
        }
        HistoryFormat::Text => bail!("-o is for --format json, md, html or svg"),
        HistoryFormat::Json => report::history_json(&history),
        HistoryFormat::Md => report::history_markdown(&history),
        HistoryFormat::Svg => report::history_svg(&history, &generated()),
        HistoryFormat::Html => report::history_html(&history, &generated(), &[]),
    };
    output::write(path, |out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(Exit::Fine)
}

/// The history of one metric over these runs, without their controls.
pub(crate) fn of_runs(
    lab: &Lab,
    runs: &[RunId],
    metric: &str,
    step: Option<&str>,
    base: Option<&str>,
) -> Result<History> {
    let loaded = numbers(lab, runs)?;
    let parts: Vec<Part<'_>> = loaded.iter().map(|data| part(data, None)).collect();
    let options = HistoryOptions {
        metrics: runs::selection(&[metric.to_owned()]),
        step: step.map(StepId::new),
        min_effect: None,
        base: base.map(str::to_owned),
    };
    Ok(stats::history(&parts, &options)?)
}

fn show(history: &History, detail: bool, printer: Printer) {
    printer.prose(&report::history_sentence(history));
    for one in report::history_tables(history, detail) {
        table::print(printer, &one);
    }
}

/// By what and when a page was made.
pub(crate) fn generated() -> String {
    format!("Made by backslide {}, {}.", env!("CARGO_PKG_VERSION"), input::now())
}

/// The runs that were named, each once, in that order; else, with a label, all runs of the plan that was last run with a
/// system of that label; else the latest run.
fn load(lab: &Lab, args: &HistoryArgs, printer: Printer) -> Result<Vec<RunData>> {
    let mut wanted: Vec<RunId> = match (args.runs.as_slice(), &args.label) {
        ([], None) => vec![runs::choose(lab, None)?],
        ([], Some(label)) => of_label(lab, label)?,
        (named, _) => named.iter().map(|name| runs::named(name)).collect(),
    };
    for twice in once_each(&mut wanted) {
        printer.note(&format!("{twice} is named twice: counted once"));
    }
    let loaded = numbers(lab, &wanted)?;
    for data in &loaded {
        disturbed::warn(data, printer);
    }
    Ok(loaded)
}

fn numbers(lab: &Lab, runs: &[RunId]) -> Result<Vec<RunData>> {
    runs.iter().map(|run| Ok(lab.store.load(run, runs::NUMBERS)?)).collect()
}

fn of_label(lab: &Lab, label: &str) -> Result<Vec<RunId>> {
    let all = lab.store.runs()?;
    let having = all.iter().filter(|run| run.info.plan.system(label).is_some());
    let Some(last) = having.clone().next_back() else {
        bail!(
            "no run of this lab has a system `{label}`: `backslide list` shows the runs, `backslide show` the systems of one"
        );
    };
    let plan = &last.info.plan.name;
    let of_plan = having.filter(|run| run.info.plan.name == *plan);
    Ok(of_plan.map(|run| run.info.id.clone()).collect())
}

/// The systems of a run in the order of its plan, without a control: all, or the one of the label.
fn part<'a>(data: &'a RunData, label: Option<&str>) -> Part<'a> {
    let systems = data.info.plan.systems.iter().filter(|system| match label {
        Some(label) => system.name == label,
        None => !system.control,
    });
    Part { data, systems: systems.map(|system| system.name.as_str()).collect() }
}

/// Takes out what was named before, and yields it.
fn once_each(runs: &mut Vec<RunId>) -> Vec<RunId> {
    let mut seen = HashSet::new();
    runs.extract_if(.., |run| !seen.insert(run.clone())).collect()
}

fn options(args: &HistoryArgs) -> HistoryOptions {
    HistoryOptions {
        metrics: runs::selection(&args.metric),
        step: args.step.as_ref().map(StepId::new),
        min_effect: args.min_effect,
        base: args.base.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::made_up::{self, micro::Micro};

    #[test]
    fn a_run_that_is_named_twice_counts_once() {
        let id = |name: &str| RunId(name.into());
        let mut runs = vec![id("r2"), id("r1"), id("r2"), id("r2")];
        assert_eq!(once_each(&mut runs), [id("r2"), id("r2")]);
        assert_eq!(runs, [id("r2"), id("r1")]);
    }

    #[test]
    fn the_control_is_no_part() {
        let mut micro = Micro::usual();
        let names = ["old", "new", "control"];
        micro.shape.systems = names.iter().map(|n| ((*n).to_owned(), 1.0)).collect();
        micro.tests = 0;
        let mut data = made_up::micro::run(&micro);
        for system in &mut data.info.plan.systems {
            system.control = system.name == "control";
        }
        let all = [part(&data, None)];
        assert_eq!(all[0].systems, ["old", "new"]);
        assert_eq!(part(&data, Some("new")).systems, ["new"]);
    }
}
