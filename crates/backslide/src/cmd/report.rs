//! `backslide report`: one file.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lab::Lab;
use model::{Comparison, RunData, RunId};
use report::Input;

use crate::args::{ReportArgs, ReportFormat};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{input, runs};

pub(crate) fn run(args: &ReportArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let lab = runs::open(root)?;
    let run = runs::choose(&lab, args.run.as_deref())?;
    let data = lab.store.load(&run, runs::EVERYTHING)?;
    let comparisons = runs::compare_all(&data, args.base.as_deref())?;
    let output = destination(&lab, &run, args.output.as_deref())?;
    let form = Form {
        format: args.format,
        brief: args.brief,
    };
    write(&lab, &data, &comparisons, &output, form, printer)?;
    if output != Path::new("-") {
        printer.result(&output.display().to_string());
    }
    Ok(Exit::Fine)
}

/// How a report is written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Form {
    /// What was asked for; else what the file's name says.
    format: Option<ReportFormat>,
    /// Less of each step?
    brief: bool,
}

/// Where a report goes that was not told where.
pub(crate) fn destination(lab: &Lab, run: &RunId, output: Option<&Path>) -> Result<PathBuf> {
    if let Some(output) = output {
        return Ok(output.to_owned());
    }
    let directory = lab.root().join("reports");
    std::fs::create_dir_all(&directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    Ok(directory.join(format!("{run}.html")))
}

/// Writes the report in the format that is asked for, or that the file's name asks for.
pub(crate) fn write(
    lab: &Lab,
    data: &RunData,
    comparisons: &[Comparison],
    output: &Path,
    form: Form,
    printer: Printer,
) -> Result<()> {
    let generated = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M %Z").to_string();
    let base = comparisons
        .first()
        .map_or(&data.info.plan.base, |c| &c.base);
    let differing = input::differing(lab, data, base)?;
    let input = Input {
        data,
        comparisons,
        differing,
        generated: &generated,
        findings: Vec::new(),
    };
    let text = match format_of(output, form.format)? {
        ReportFormat::Html if form.brief => report::html_brief(&input),
        ReportFormat::Html => report::html(&input),
        ReportFormat::Md => report::markdown(&input),
        ReportFormat::Tsv => report::tsv(&input),
        ReportFormat::Csv => report::csv(data),
        ReportFormat::Json => report::json(comparisons),
    };
    put(output, text.as_bytes(), printer)
}

/// What was asked for, else what the file's name says, else HTML to stdout.
fn format_of(output: &Path, asked: Option<ReportFormat>) -> Result<ReportFormat> {
    if output == Path::new("-") {
        return Ok(asked.unwrap_or(ReportFormat::Html));
    }
    asked.or_else(|| ReportFormat::of(output)).with_context(|| {
        format!(
            "{} does not say which format: end it in .html, .md, .tsv, .csv or .json, or use --format",
            output.display()
        )
    })
}

/// Writes a file whole or not at all: an old one stays when the disk is full. What is no ordinary file (a
/// device, a pipe) is written to as it is, and a link is followed.
pub(crate) fn put(output: &Path, bytes: &[u8], printer: Printer) -> Result<()> {
    if output == Path::new("-") {
        return printer.raw(bytes).context("cannot write to stdout");
    }
    let what = || format!("cannot write {}", output.display());
    let target = match std::fs::canonicalize(output) {
        Ok(target) => target,
        Err(_) => output.to_owned(),
    };
    if target.exists() && !target.is_file() {
        return std::fs::OpenOptions::new()
            .write(true)
            .open(&target)
            .and_then(|mut file| file.write_all(bytes))
            .with_context(what);
    }
    let name = target.file_name().with_context(what)?;
    let name = name.to_string_lossy().into_owned();
    let beside = target.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = std::fs::File::create(&beside)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&beside, &target));
    if written.is_err() {
        // The error that is told is the one of the report; a leftover could not be helped either.
        let _leftover = std::fs::remove_file(&beside);
    }
    written.with_context(what)
}
