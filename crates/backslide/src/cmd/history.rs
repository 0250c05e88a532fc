//! `backslide history`: many builds in order, and where a metric changed its level.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use lab::Lab;
use model::{MetricId, RunData, RunId, StepId};
use stats::{History, HistoryOptions, Part, Selection};

use crate::args::{HistoryArgs, HistoryFormat};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{output, runs, table};

pub(crate) fn run(args: &HistoryArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let lab = runs::open(root)?;
    let loaded = load(&lab, args)?;
    let parts: Vec<Part<'_>> = loaded.iter().map(|data| part(data, args)).collect();
    let options = options(args, &parts)?;
    let history = stats::history(&parts, &options)?;
    let format = format_of(args)?;
    let text = match format {
        HistoryFormat::Text if args.output.is_none() => {
            show(&history, args.step.is_some(), printer);
            return Ok(Exit::Fine);
        }
        HistoryFormat::Text => bail!("-o is for --format json, md or html"),
        HistoryFormat::Json => report::history_json(&history),
        HistoryFormat::Md => report::history_markdown(&history),
        HistoryFormat::Html => report::history_html(&history, &generated()),
    };
    let path = args.output.as_deref().unwrap_or(Path::new("-"));
    output::write(path, |out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(Exit::Fine)
}

/// What was asked for, else what the file's name says, else text.
fn format_of(args: &HistoryArgs) -> Result<HistoryFormat> {
    match (args.format, &args.output) {
        (Some(format), _) => Ok(format),
        (None, None) => Ok(HistoryFormat::Text),
        (None, Some(output)) => HistoryFormat::of(output).with_context(|| {
            format!(
                "{} does not say which format: end it in .html, .md or .json, or use --format",
                output.display()
            )
        }),
    }
}

fn show(history: &History, detail: bool, printer: Printer) {
    printer.prose(&report::history_sentence(history));
    for one in report::history_tables(history, detail) {
        table::print(printer, &one);
    }
}

fn generated() -> String {
    let now = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M %Z").to_string();
    format!("Made by backslide {}, {now}.", env!("CARGO_PKG_VERSION"))
}

/// The runs that were named, in that order; else, with a label, all runs of the plan that was last run with a
/// system of that label; else the latest run.
fn load(lab: &Lab, args: &HistoryArgs) -> Result<Vec<RunData>> {
    let wanted: Vec<RunId> = match (args.runs.as_slice(), &args.label) {
        ([], None) => vec![runs::choose(lab, None)?],
        ([], Some(label)) => of_label(lab, label)?,
        (named, _) => named.iter().map(|name| runs::named(name)).collect(),
    };
    if let Some(twice) = (1..wanted.len()).find(|place| wanted[..*place].contains(&wanted[*place]))
    {
        bail!("run {} is named twice", wanted[twice]);
    }
    let loaded = wanted.iter().map(|run| lab.store.load(run, runs::NUMBERS));
    Ok(loaded.collect::<Result<_, _>>()?)
}

fn of_label(lab: &Lab, label: &str) -> Result<Vec<RunId>> {
    let all = lab.store.runs()?;
    let having = all
        .iter()
        .filter(|run| run.info.plan.system(label).is_some());
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
fn part<'a>(data: &'a RunData, args: &HistoryArgs) -> Part<'a> {
    let systems = data
        .info
        .plan
        .systems
        .iter()
        .filter(|system| match &args.label {
            Some(label) => system.name == *label,
            None => !system.control,
        });
    Part {
        data,
        systems: systems.map(|system| system.name.as_str()).collect(),
    }
}

fn options(args: &HistoryArgs, parts: &[Part<'_>]) -> Result<HistoryOptions> {
    let metrics = if args.metric.iter().any(|metric| metric == "all") {
        Selection::All
    } else {
        Selection::Only(args.metric.iter().map(MetricId::new).collect())
    };
    Ok(HistoryOptions {
        metrics,
        step: args.step.as_ref().map(StepId::new),
        min_effect: args.min_effect,
        base: base(args.base.as_deref(), parts)?,
    })
}

/// The place of the build that the others are compared with: the first, or the first that the name fits.
fn base(named: Option<&str>, parts: &[Part<'_>]) -> Result<usize> {
    let Some(name) = named else {
        return Ok(0);
    };
    let mut builds = parts.iter().flat_map(|part| {
        let info = &part.data.info;
        part.systems.iter().map(move |system| (info, *system))
    });
    let place = builds.position(|(info, system)| {
        let build = info.plan.system(system).map(|system| system.build.id());
        info.id.0 == name || system == name || build.as_deref() == Some(name)
    });
    match place {
        Some(place) => Ok(place),
        None => {
            bail!("no build of this history is called `{name}`: name a run, a system or a build")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{self, micro::Micro};

    #[test]
    fn a_base_is_a_run_a_system_or_a_build_and_the_control_is_no_part() {
        let mut micro = Micro::usual();
        let names = ["old", "new", "control"];
        micro.shape.systems = names.iter().map(|n| ((*n).to_owned(), 1.0)).collect();
        micro.tests = 0;
        let mut data = made_up::micro::run(&micro);
        for system in &mut data.info.plan.systems {
            system.control = system.name == "control";
        }
        let args = |label: Option<&str>| HistoryArgs {
            runs: Vec::new(),
            label: label.map(str::to_owned),
            metric: vec![MetricId::RATE.to_owned()],
            step: None,
            base: None,
            min_effect: None,
            format: None,
            output: None,
        };
        let all = [part(&data, &args(None))];
        assert_eq!(all[0].systems, ["old", "new"]);
        assert_eq!(part(&data, &args(Some("new"))).systems, ["new"]);
        assert_eq!(base(None, &all).unwrap(), 0);
        assert_eq!(base(Some("new"), &all).unwrap(), 1);
        assert_eq!(base(Some(&data.info.id.0), &all).unwrap(), 0);
        let message = base(Some("none"), &all).unwrap_err().to_string();
        assert!(message.contains("`none`"), "{message}");
    }
}
