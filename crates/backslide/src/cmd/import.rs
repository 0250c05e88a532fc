//! `backslide import`: what other tools measured becomes a run of the lab.

mod find;
mod text;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use ::import::{
    About, FileKind, ImportedRun, ImportedStep, Mode, Options, Source, differences, published,
    read_all,
};
use anyhow::{Result, bail};
use clap::Args as ClapArgs;
use lab::Lab;
use model::{Dbms, MetricId, RunId, RunInfo};
use obtain::text_digest;

use crate::exit::Exit;
use crate::printer::Printer;
use find::SourcesFound;

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../../help/import.txt"))]
pub(crate) struct ImportArgs {
    /// Files, packed with gzip or not, and directories; NAME=PATH names the system, PATH@N its clients
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// What the files are: sysbench-dir, sysbench, qps, met, insert-lines, insert-table, pgbench, hammerdb,
    /// db-bench, db-bench-table, csv [default: as their names and contents say]
    #[arg(long = "as", value_name = "KIND", value_parser = kind)]
    pub(crate) kind: Option<FileKind>,
    /// The name of the run's plan, the same for one history
    #[arg(long, value_name = "N", default_value = "imported")]
    pub(crate) name: String,
    /// The numbers that the original tools publish, to the last digit, and the tables derived from them
    #[arg(long)]
    pub(crate) compat: bool,
    /// The system that the others are compared with [default: the first; of a folder the oldest version]
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) base: Option<String>,
    /// CPUs of the host that measured, so that CPU per operation becomes microseconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) cpus: Option<u32>,
    /// Clients, where neither files nor their paths say; 1,2,4 for a file with a column for each
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) clients: Vec<u32>,
    /// The disk in the output of iostat
    #[arg(long, value_name = "DISK")]
    pub(crate) device: Option<String>,
    /// The product, where neither names of systems nor files say it: mysql, mariadb, postgres, sqlite
    /// [default: one that backslide does not run]
    #[arg(long, value_parser = dbms)]
    pub(crate) dbms: Option<Dbms>,
    /// Import what a run of this lab has already, as with other options
    #[arg(long)]
    pub(crate) again: bool,
}

fn kind(name: &str) -> Result<FileKind, String> {
    FileKind::from_name(name).ok_or_else(|| {
        let all = FileKind::ALL.map(|(_, name)| name).join(", ");
        format!("one of {all}")
    })
}

fn dbms(name: &str) -> Result<Dbms, String> {
    Dbms::from_name(name).ok_or_else(|| {
        let all = Dbms::all().into_iter().map(Dbms::name).collect::<Vec<_>>().join(", ");
        format!("one of {all}")
    })
}

pub(crate) fn run(args: &ImportArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let options = Options {
        mode: if args.compat { Mode::Compat } else { Mode::Exact },
        cpus: args.cpus,
        clients: args.clients.clone(),
        device: args.device.clone(),
        dbms: args.dbms,
    };
    let paths = args.paths.iter().map(|path| find::utf_8(path));
    let paths: Vec<&str> = paths.collect::<Result<_>>()?;
    let mut found = SourcesFound::default();
    for path in &paths {
        found.add(path, args.kind)?;
    }
    let sources = &found.sources;
    let rows = read_all(sources, &options)?;
    let about = About {
        name: args.name.clone(),
        base: args.base.clone(),
        source: format!("imported from {}\n", paths.join(", ")),
        by_version: found.is_searched,
    };
    let mut imported = ::import::run(&rows, &about, &options)?;
    imported.plan.source.push_str(&provenance(sources));
    let tables = match options.mode {
        Mode::Compat => published(sources, &rows, &options)?,
        Mode::Exact => String::new(),
    };
    let mut lab = Lab::open(root)?;
    if !args.again {
        refuse_again(&lab, sources)?;
    }
    let run = keep(&mut lab, &imported)?;
    match options.mode {
        Mode::Compat => printer.raw(tables.as_bytes()),
        Mode::Exact => say_differences(sources, &rows, &options, printer),
    }
    if let Some(passed_over) = found.passed_over() {
        printer.note(&passed_over);
    }
    say_remarks(&rows, printer);
    printer.note(&what_next(&run, &rows));
    printer.result(&run.to_string());
    Ok(Exit::Fine)
}

/// The verbs that show it. Tables of ratios have no rate, which these are about unless they are told.
fn what_next(run: &RunId, rows: &[ImportedStep]) -> String {
    if rows.iter().any(|row| row.value(MetricId::RATE).is_some()) {
        return format!("`backslide compare {run} --all` · `backslide report {run} -o {run}.html`");
    }
    let metric = rows.iter().flat_map(|row| &row.measurements).next();
    let metric = metric.map_or("all", |m| &m.metric.0);
    format!("no rates, so: `backslide compare {run} --all --metric {metric}`")
}

/// Writes the run down as one that is finished, whole or not at all.
fn keep(lab: &mut Lab, imported: &ImportedRun) -> Result<RunId> {
    let (plan, host) = (&imported.plan, &imported.host);
    let trials = imported.trials.iter().map(|trial| (&trial.key, trial.steps.as_slice()));
    let version = env!("CARGO_PKG_VERSION");
    Ok(lab.store.keep_whole(plan, host, version, &lab::now(), trials)?)
}

/// Says how far these numbers are from those of the original tools, and why.
fn say_differences(
    sources: &[Source],
    exact: &[ImportedStep],
    options: &Options,
    printer: Printer,
) {
    // What the original could not have computed has nothing to differ from.
    let Ok(compat) = read_all(sources, &options.in_mode(Mode::Compat)) else { return };
    for one in differences(exact, &compat) {
        printer.note(&printer.wrapped(&format!(
            "{}: {} of {} values differ from what the original publishes, by {}: {} (`--compat` has the original's)",
            one.metric,
            one.differ,
            one.values,
            up_to(one.largest),
            one.why
        )));
    }
}

/// What a reader of the numbers should know, each thing once: with the first file of which it holds.
fn say_remarks(rows: &[ImportedStep], printer: Printer) {
    let all = rows.iter().flat_map(|row| {
        row.notes.iter().map(move |note| ((note.what.word(), note.text.as_str()), row))
    });
    let mut of_each: BTreeMap<(&str, &str), Vec<&ImportedStep>> = BTreeMap::new();
    for (note, row) in all {
        of_each.entry(note).or_default().push(row);
    }
    for ((what, text), rows) in of_each {
        let Some(first) = rows.first() else { continue };
        let more = match rows.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let origin = &first.origin;
        printer.note(&printer.wrapped(&format!("{origin}{more}: {what}: {text}")));
    }
}

/// `up to −3.81 %`, `less than 0.01 %`.
fn up_to(largest: f64) -> String {
    let percent = 100.0 * largest;
    if percent.abs() < 0.01 {
        "less than 0.01 %".to_owned()
    } else {
        format!("up to {percent:+.2} %")
    }
}

/// How a line with a digest begins; the path follows it.
const DIGEST: &str = "sha256 ";

/// A line for each file or directory: `sha256 2cf24d…  results.csv`. That of a file is the one that `sha256sum` prints;
/// that of a directory is made of the names and digests of the files that are read.
fn provenance(sources: &[Source]) -> String {
    let mut text = String::new();
    for source in sources {
        let (digest, origin) = (digest(source), source.origin.escape_default());
        let _infallible = writeln!(text, "{DIGEST}{digest}  {origin}");
    }
    text
}

/// Refuses what a run of the lab holds already.
fn refuse_again(lab: &Lab, sources: &[Source]) -> Result<()> {
    let runs = lab.store.runs()?;
    for source in sources {
        let digest = digest(source);
        let mut infos = runs.iter().map(|run| &run.info);
        if let Some(RunInfo { id, .. }) = infos.find(|info| holds(info, &digest)) {
            bail!(
                "{}: already imported as run {id}; `backslide show {id}` shows it, --again imports it again",
                source.origin
            );
        }
    }
    Ok(())
}

fn holds(info: &RunInfo, digest: &str) -> bool {
    let mut lines = info.plan.source.lines();
    info.is_imported()
        && lines.any(|line| {
            let known = line.strip_prefix(DIGEST);
            known.is_some_and(|known| known.starts_with(digest))
        })
}

fn digest(source: &Source) -> String {
    match source.files.as_slice() {
        [file] => text_digest(&file.text),
        files => {
            let lines =
                files.iter().map(|file| format!("{}  {}\n", text_digest(&file.text), file.name()));
            text_digest(&lines.collect::<String>())
        }
    }
}
