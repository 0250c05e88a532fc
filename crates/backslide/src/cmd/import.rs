//! `backslide import`: what other tools measured becomes a run of the lab.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use ::import::{
    About, File, ImportedRun, Kind, Mode, Options, Row, Source, differences, published, read_all,
};
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use lab::Lab;
use model::{Dbms, MetricId, RunId};

use crate::exit::Exit;
use crate::imported;
use crate::printer::Printer;

/// The largest file that is read.
const LARGEST_FILE: u64 = 256 << 20;
/// Files of raw output that one directory may have.
const MOST_FILES: usize = 100_000;

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide import x.my5651_rel.z12a.pk1 x.my8044_rel.z12a.pk1
                                          raw output of sysbench, a directory a system
  backslide import qps.abs.all.tsv        a table that was made of it; or o.met, mrg.l.i0, o.sum.…
  backslide import mysql-8.0.31=old.txt mysql-9.7.4=new.txt
                                          what sysbench or pgbench printed
  backslide import results.csv            columns system, step, metric, value; docs/import.md

The same step of a system again, as from a second directory of the same name, is the next round.
With fewer than 3 rounds there are ratios and no verdicts. The run's id is printed last.")]
pub(crate) struct ImportArgs {
    /// Files and directories; NAME=PATH names the system
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// What the files are: sysbench-dir, sysbench, qps, met, insert-lines, insert-table, pgbench, csv
    /// [default: as their names and contents say]
    #[arg(long = "as", value_name = "KIND", value_parser = kind)]
    pub(crate) kind: Option<Kind>,
    /// The name of the run's plan, the same for one history
    #[arg(long, value_name = "N", default_value = "imported")]
    pub(crate) name: String,
    /// The numbers that the original tools publish, to the last digit, and the tables derived from them
    #[arg(long)]
    pub(crate) compat: bool,
    /// The system that the others are compared with [default: the first]
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) base: Option<String>,
    /// CPUs of the host that measured, so that CPU per operation becomes microseconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) cpus: Option<u32>,
    /// Clients, where files do not say
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) clients: Option<u32>,
    /// The disk in the output of iostat
    #[arg(long, value_name = "DISK")]
    pub(crate) device: Option<String>,
    /// The product, where names of systems do not say it: mysql, mariadb, postgres, sqlite
    #[arg(long, value_parser = dbms)]
    pub(crate) dbms: Option<Dbms>,
    /// Import what a run of this lab has already, as with other options
    #[arg(long)]
    pub(crate) again: bool,
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::from_name(name).ok_or_else(|| {
        let all = Kind::ALL.map(Kind::name).join(", ");
        format!("one of {all}")
    })
}

fn dbms(name: &str) -> Result<Dbms, String> {
    Dbms::from_name(name).ok_or_else(|| {
        let all = Dbms::ALL.map(Dbms::name).join(", ");
        format!("one of {all}")
    })
}

pub(crate) fn run(args: &ImportArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let options = Options {
        mode: if args.compat {
            Mode::Compat
        } else {
            Mode::Exact
        },
        cpus: args.cpus,
        clients: args.clients,
        device: args.device.clone(),
        dbms: args.dbms,
    };
    let mut sources = Vec::new();
    for path in &args.paths {
        sources.extend(find(path, args.kind)?);
    }
    let rows = read_all(&sources, &options)?;
    let about = About {
        name: args.name.clone(),
        base: args.base.clone(),
        source: format!("imported from {}\n", args.paths.join(", ")),
    };
    let mut found = ::import::run(&rows, &about, &options)?;
    let digests = imported::provenance(&sources);
    found.plan.source.push_str(&digests);
    let tables = match options.mode {
        Mode::Compat => published(&sources, &rows, &options)?,
        Mode::Exact => String::new(),
    };
    let mut lab = Lab::open(root)?;
    if !args.again {
        imported::refuse(&lab, &sources)?;
    }
    let run = keep(&mut lab, &found)?;
    match options.mode {
        Mode::Compat => printer.raw(tables.as_bytes()),
        Mode::Exact => say_differences(&sources, &rows, &options, printer),
    }
    say_remarks(&rows, printer);
    printer.note(&what_next(&run, &rows));
    printer.result(&run.to_string());
    Ok(Exit::Fine)
}

/// The verbs that show it. Tables of ratios have no rate, which these are about unless they are told.
fn what_next(run: &RunId, rows: &[Row]) -> String {
    if rows.iter().any(|row| row.value(MetricId::RATE).is_some()) {
        return format!("`backslide compare {run} --all` · `backslide report {run} -o {run}.html`");
    }
    let metric = rows.iter().flat_map(|row| &row.measurements).next();
    let metric = metric.map_or("all", |m| &m.metric.0);
    format!("no rates, so: `backslide compare {run} --all --metric {metric}`")
}

/// What a path stands for: a file, a directory of raw output, or a directory of such directories.
fn find(named: &str, kind: Option<Kind>) -> Result<Vec<Source>> {
    let (system, path) = match named.split_once('=') {
        Some((system, path)) if !Path::new(named).exists() => (Some(system.to_owned()), path),
        Some(_) | None => (None, named),
    };
    let path = Path::new(path);
    if !path.is_dir() {
        let file = read_file(path)?;
        if file.text.trim().is_empty() {
            bail!("{}: the file is empty", path.display());
        }
        let Some(kind) = kind.or_else(|| Kind::of(&file)) else {
            bail!(
                "{}: neither its name nor what it holds says what it is; say it with --as KIND",
                path.display()
            );
        };
        return Ok(vec![source(kind, system, path, vec![file])]);
    }
    let files = raw_output(path)?;
    if !files.is_empty() {
        return Ok(vec![source(Kind::SysbenchDirectory, system, path, files)]);
    }
    let mut sources = Vec::new();
    for below in entries(path)?.into_iter().filter(|entry| entry.is_dir()) {
        let files = raw_output(&below)?;
        if !files.is_empty() {
            sources.push(source(Kind::SysbenchDirectory, None, &below, files));
        }
    }
    if sources.is_empty() {
        bail!(
            "{}: no raw output of sysbench (sb.o.…, sb.met.…) in it; name the files to import",
            path.display()
        );
    }
    Ok(sources)
}

fn source(kind: Kind, system: Option<String>, path: &Path, files: Vec<File>) -> Source {
    Source {
        kind,
        system,
        origin: path.display().to_string(),
        files,
    }
}

/// The files of a directory that are read; the others of raw output are passed over.
fn raw_output(directory: &Path) -> Result<Vec<File>> {
    let starts = ["sb.o.", "sb.met.", "sb.vm.", "sb.io.", "sb.prepare."];
    let is_read = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| starts.iter().any(|start| name.starts_with(start)))
    };
    let paths: Vec<PathBuf> = entries(directory)?.into_iter().filter(is_read).collect();
    if paths.len() > MOST_FILES {
        bail!(
            "{}: {} files; a directory of raw output has at most {MOST_FILES}",
            directory.display(),
            paths.len()
        );
    }
    paths.iter().map(|path| read_file(path)).collect()
}

/// What a directory holds, by name.
fn entries(directory: &Path) -> Result<Vec<PathBuf>> {
    let what = || format!("cannot read {}", directory.display());
    let entries = std::fs::read_dir(directory).with_context(what)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .with_context(what)?;
    paths.sort();
    Ok(paths)
}

fn read_file(path: &Path) -> Result<File> {
    let what = || format!("cannot read {}", path.display());
    let file = std::fs::File::open(path).with_context(what)?;
    // Not its length: a pipe has none, and a device no end.
    let mut bytes = Vec::new();
    let mut limited = file.take(LARGEST_FILE + 1);
    limited.read_to_end(&mut bytes).with_context(what)?;
    if bytes.len() as u64 > LARGEST_FILE {
        bail!(
            "{}: more than {LARGEST_FILE} bytes; results are smaller, so this is something else",
            path.display()
        );
    }
    Ok(File {
        origin: path.display().to_string(),
        // What is no text does not parse, and the error says where.
        text: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

/// Writes the run down as one that is finished, whole or not at all.
fn keep(lab: &mut Lab, imported: &ImportedRun) -> Result<RunId> {
    let now = jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string();
    let (plan, host) = (&imported.plan, &imported.host);
    let trials = imported.trials.iter();
    let trials = trials.map(|trial| (&trial.key, trial.steps.as_slice()));
    let version = env!("CARGO_PKG_VERSION");
    Ok(lab.store.keep_whole(plan, host, version, &now, trials)?)
}

/// Says how far these numbers are from those of the original tools, and why.
fn say_differences(sources: &[Source], exact: &[Row], options: &Options, printer: Printer) {
    // What the original could not have computed has nothing to differ from.
    let Ok(compat) = read_all(sources, &options.in_mode(Mode::Compat)) else {
        return;
    };
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
fn say_remarks(rows: &[Row], printer: Printer) {
    let all = rows
        .iter()
        .flat_map(|row| row.notes.iter().map(move |note| (note, row)));
    let mut of_each: BTreeMap<&(String, String), Vec<&Row>> = BTreeMap::new();
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
