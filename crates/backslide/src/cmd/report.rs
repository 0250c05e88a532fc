//! `backslide report`: one file.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use export::{RowFormat, RowWriter, table};
use lab::Lab;
use model::{Comparison, RunData, RunId};
use report::{Input, Report};
use stats::Selection;

use crate::args::{self, ReportArgs, ReportFormat};
use crate::charts::{self, Written};
use crate::exit::Exit;
use crate::output::{self, Output};
use crate::printer::Printer;
use crate::{browser, input, runs};

pub(crate) fn run(args: &ReportArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let lab = runs::open(root)?;
    let run = runs::choose(&lab, args.run.as_deref())?;
    let data = lab.store.load(&run, runs::EVERYTHING)?;
    let comparisons = runs::compare(&data, args.base.as_deref(), Selection::All, args.min_effect)?;
    let output = destination(&lab, &run, args.output.as_deref())?;
    if args.open && output == Path::new("-") {
        bail!("--open needs a file: name one with -o");
    }
    let format = format_of(&output, args.format)?;
    let generated = input::now();
    let input = Input { generated: &generated, ..input_of(&lab, &data, &comparisons)? };
    let report = Report::new(&input);
    let charts = match args.charts.as_deref() {
        Some(directory) => write_charts(&report, &run, directory, printer)?,
        None => None,
    };
    let form = Form { format: Some(format), brief: args.brief, charts: charts.as_ref() };
    write_report(&report, &data, &output, form)?;
    if output != Path::new("-") {
        printer.result(&output.display().to_string());
    }
    if args.open {
        browser::open(&output)?;
    }
    Ok(Exit::Fine)
}

#[derive(Clone, Copy, Debug, Default)]
struct Form<'a> {
    /// What was asked for; else what the file's name says.
    format: Option<ReportFormat>,
    brief: bool,
    charts: Option<&'a Written>,
}

/// Writes the charts, and says how many; `None` where there are none.
fn write_charts(
    report: &Report<'_>,
    run: &RunId,
    directory: &Path,
    printer: Printer,
) -> Result<Option<Written>> {
    let files = report.charts();
    if files.is_empty() {
        printer.note(&format!("run {run} has no charts: none of what they show was measured"));
        return Ok(None);
    }
    let written = charts::write(files, directory)?;
    if !written.has_png {
        printer.note(charts::NO_PNG);
    }
    let charts = report::format::plural(written.files.len(), "chart");
    printer.note(&format!("{charts} in {}", directory.display()));
    Ok(Some(written))
}

fn input_of<'a>(lab: &Lab, data: &'a RunData, comparisons: &'a [Comparison]) -> Result<Input<'a>> {
    let base = comparisons.first().map_or(&data.info.plan.base, |c| &c.base);
    input::of(lab, data, base, comparisons)
}

/// Where a report goes that was not told where.
pub(crate) fn destination(lab: &Lab, run: &RunId, output: Option<&Path>) -> Result<PathBuf> {
    if let Some(output) = output {
        return Ok(output.to_owned());
    }
    let directory = lab.root().join("reports");
    std::fs::create_dir_all(&directory)
        .with_context(|| format!("cannot create {}; name a file with -o", directory.display()))?;
    Ok(directory.join(format!("{run}.html")))
}

/// Writes the report in the format that the file's name asks for.
pub(crate) fn write(
    lab: &Lab,
    data: &RunData,
    comparisons: &[Comparison],
    output: &Path,
) -> Result<()> {
    let generated = input::now();
    let input = Input { generated: &generated, ..input_of(lab, data, comparisons)? };
    write_report(&Report::new(&input), data, output, Form::default())
}

fn write_report(report: &Report<'_>, data: &RunData, output: &Path, form: Form<'_>) -> Result<()> {
    let text = match format_of(output, form.format)? {
        ReportFormat::Csv => return output::write(output, |out| csv(data, out)),
        ReportFormat::Html if form.brief => report.html_brief(),
        ReportFormat::Html => report.html(),
        ReportFormat::Md => {
            let links = form.charts.map(|charts| charts.links(output));
            report.markdown() + &links.transpose()?.unwrap_or_default()
        }
        ReportFormat::Tsv => report.tsv(),
        ReportFormat::Json => report.json(),
    };
    output::write(output, |out| Ok(out.write_all(text.as_bytes())?))
}

/// What goes to stdout is HTML, unless something else is asked for.
fn format_of(output: &Path, asked: Option<ReportFormat>) -> Result<ReportFormat> {
    let unsaid = (output == Path::new("-")).then_some(ReportFormat::Html);
    args::format_of(asked.or(unsaid), output, ".html, .md, .tsv, .csv or .json")
}

/// One measurement a line: the same as `export`.
fn csv(data: &RunData, out: &mut Output) -> Result<()> {
    let columns = table::MEASUREMENTS;
    let mut rows = RowWriter::begin(RowFormat::Csv, "measurements", columns, out)?;
    for cell in &data.cells {
        rows.row(&table::measurement(&data.info.id, cell))?;
    }
    Ok(rows.finish()?)
}
