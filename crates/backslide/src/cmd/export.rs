//! `backslide export`: what was measured and concluded, for other programs, read and written piece by
//! piece.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use export::{IntervalLog, Packer, RowFormat, RowWriter, open_metrics, table};
use model::{Clock, Comparison, ProfiledStep, RunId, RunInfo, TrialRecord};
use stats::Selection;
use store::Store;

use crate::args::{ExportArgs, ExportFormat, ExportWhat, format_of};
use crate::exit::Exit;
use crate::output::{self, Output};
use crate::printer::Printer;
use crate::{disturbed, runs};

pub(crate) fn run(args: &ExportArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let lab = runs::open(root)?;
    let run = runs::choose(&lab, args.run.as_deref())?;
    let path = args.output.as_deref().unwrap_or(Path::new("-"));
    let (info, trials) = lab.store.outline(&run)?;
    let (format, rows, what) = form(args, path)?;
    let wants_stacks = what == ExportWhat::Stacks;
    let profiled = if wants_stacks { lab.store.profiles(&run)? } else { Vec::new() };
    if wants_stacks && profiled.is_empty() {
        bail!("run {run} has no profiles: `backslide profile {run}` adds them");
    }
    let source = Source {
        store: &lab.store,
        run: &run,
        info: &info,
        started: started(&trials),
        base: args.base.as_deref(),
        min_effect: args.min_effect,
        profiled,
        printer,
    };
    if format == ExportFormat::Pprof {
        source.pprof(path)?;
    } else {
        output::write(path, |out| source.write(rows, what, out))?;
    }
    Ok(Exit::Fine)
}

/// What is exported and how, and the format of its rows; `None` for an interval log, OpenMetrics and stacks.
fn form(args: &ExportArgs, path: &Path) -> Result<(ExportFormat, Option<RowFormat>, ExportWhat)> {
    // A file without an ending says nothing: CSV.
    let unsaid = path.extension().is_none().then_some(ExportFormat::Csv);
    let endings = ".csv, .jsonl, .parquet, .hlog, .om, .folded or .pprof";
    let format = format_of(args.format.or(unsaid), path, endings)?;
    let usual = match format {
        ExportFormat::Hdr => ExportWhat::Intervals,
        ExportFormat::Folded | ExportFormat::Pprof => ExportWhat::Stacks,
        _ => ExportWhat::Measurements,
    };
    let what = args.what.unwrap_or(usual);
    if (usual == ExportWhat::Stacks) != (what == ExportWhat::Stacks) {
        bail!(
            "stacks have formats of their own: use --what stacks with --format folded or --format pprof"
        );
    }
    if format == ExportFormat::Pprof && path == Path::new("-") {
        bail!("pprof has one file per system and step: name a directory with -o");
    }
    if what != ExportWhat::Comparisons {
        if args.base.is_some() {
            bail!("--base is for --what comparisons");
        }
        if args.min_effect.is_some() {
            bail!("--min-effect is for --what comparisons");
        }
    }
    let rows = match format {
        ExportFormat::Csv => Some(RowFormat::Csv),
        ExportFormat::JsonLines => Some(RowFormat::JsonLines),
        ExportFormat::Parquet => Some(RowFormat::Parquet),
        ExportFormat::Hdr if what != ExportWhat::Intervals => {
            bail!("an interval log holds the histograms of intervals: use --what intervals")
        }
        ExportFormat::OpenMetrics if what == ExportWhat::Intervals => {
            bail!("intervals have no time of day for OpenMetrics: use csv, jsonl, parquet or hdr")
        }
        ExportFormat::Hdr
        | ExportFormat::OpenMetrics
        | ExportFormat::Folded
        | ExportFormat::Pprof => None,
    };
    Ok((format, rows, what))
}

/// What is exported, and what of it must be known beforehand.
struct Source<'a> {
    store: &'a Store,
    run: &'a RunId,
    info: &'a RunInfo,
    /// When each trial started, in seconds since 1970, by its round and position.
    started: HashMap<(u32, u32), f64>,
    base: Option<&'a str>,
    min_effect: Option<f64>,
    /// The steps whose stacks are exported.
    profiled: Vec<ProfiledStep>,
    printer: Printer,
}

impl Source<'_> {
    fn write(&self, rows: Option<RowFormat>, what: ExportWhat, out: &mut Output) -> Result<()> {
        match (rows, what) {
            (Some(format), ExportWhat::Measurements) => self.measurements(format, out),
            (Some(format), ExportWhat::Intervals) => self.intervals(format, out),
            (Some(format), ExportWhat::Histograms) => self.histograms(format, out),
            (Some(format), ExportWhat::Comparisons) => self.comparisons(format, out),
            (_, ExportWhat::Stacks) => self.stacks(out),
            (None, ExportWhat::Intervals) => self.interval_log(out),
            (None, ExportWhat::Measurements) => open_measurements(self.store, self.run, out),
            (None, ExportWhat::Histograms) => self.open_histograms(out),
            (None, ExportWhat::Comparisons) => {
                Ok(open_metrics::comparisons(self.run, &self.compared()?, out)?)
            }
        }
    }

    /// Each stack in its system and step, as its outermost functions. Those of sleep and of instructions are in
    /// steps of their own, because nanoseconds and instructions cannot be added to samples.
    fn stacks(&self, out: &mut Output) -> Result<()> {
        for one in &self.profiled {
            let (system, step, of) = (&one.trial.system, &one.record.step, one.profile.of.suffix());
            for (stack, number) in &one.profile.stacks {
                writeln!(out, "{system};{step}{of};{stack} {number}")?;
            }
        }
        Ok(())
    }

    /// A file for each system and step, with the samples of all its rounds; others for sleep and for instructions.
    fn pprof(&self, directory: &Path) -> Result<()> {
        let mut groups: BTreeMap<(u32, &str, &str), Vec<&ProfiledStep>> = BTreeMap::new();
        for one in &self.profiled {
            let group = (one.record.ordinal, one.profile.of.suffix(), one.trial.system.as_str());
            groups.entry(group).or_default().push(one);
        }
        let words: Vec<String> = groups
            .iter()
            .map(|((_, of, system), rounds)| format!("{}{of}-{system}", rounds[0].record.step))
            .collect();
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot create the directory {}", directory.display()))?;
        let names = report::file_names(words.iter().map(String::as_str));
        for (rounds, (name, words)) in groups.values().zip(names.iter().zip(&words)) {
            let about = format!("backslide {}, run {}, {words}", self.info.backslide, self.run);
            output::write(&directory.join(format!("{name}.pb.gz")), |out| {
                Ok(export::pprof(rounds, &about, out)?)
            })?;
        }
        Ok(())
    }

    fn measurements(&self, format: RowFormat, out: &mut Output) -> Result<()> {
        let mut rows = RowWriter::begin(format, "measurements", table::MEASUREMENTS, out)?;
        self.store.each_cell(self.run, |cell| -> Result<()> {
            Ok(rows.row(&table::measurement(self.run, &cell))?)
        })?;
        Ok(rows.finish()?)
    }

    fn intervals(&self, format: RowFormat, out: &mut Output) -> Result<()> {
        let mut rows = RowWriter::begin(format, "intervals", table::INTERVALS, out)?;
        self.store.each_interval(self.run, |place, interval| -> Result<()> {
            let mut all = table::interval(self.run, place, interval);
            Ok(all.try_for_each(|row| rows.row(&row))?)
        })?;
        Ok(rows.finish()?)
    }

    fn histograms(&self, format: RowFormat, out: &mut Output) -> Result<()> {
        let mut rows = RowWriter::begin(format, "histograms", table::HISTOGRAMS, out)?;
        self.store.each_histogram(self.run, |place, histogram| -> Result<()> {
            let mut all = table::histogram(self.run, place, &histogram);
            Ok(all.try_for_each(|row| rows.row(&row))?)
        })?;
        Ok(rows.finish()?)
    }

    fn comparisons(&self, format: RowFormat, out: &mut Output) -> Result<()> {
        let mut rows = RowWriter::begin(format, "comparisons", table::COMPARISONS, out)?;
        for comparison in &self.compared()? {
            let words = table::Words::of(comparison);
            rows.row(&table::comparison(self.run, comparison, &words))?;
        }
        Ok(rows.finish()?)
    }

    /// Every comparison in every metric: what is compared must be held.
    fn compared(&self) -> Result<Vec<Comparison>> {
        let data = self.store.load(self.run, runs::NUMBERS)?;
        let compared = runs::compare(&data, self.base, Selection::All, self.min_effect)?;
        disturbed::warn(&data, self.printer);
        Ok(compared)
    }

    fn interval_log(&self, out: &mut Output) -> Result<()> {
        let about = format!(
            "backslide {}: run {} of the plan {}. A tag is SYSTEM:ROUND:STEP:KIND:CLOCK; times count from the start of the step's window; values are nanoseconds.",
            self.info.backslide, self.run, self.info.plan.name
        );
        let started = timestamp(&self.info.started).map(SystemTime::from);
        let mut packer = Packer::default();
        let mut log = IntervalLog::begin(out, &mut packer, &about, started)?;
        self.store.each_second(self.run, |place, second| Ok(log.interval(place, second)?))
    }

    /// Read twice, because all of one clock stand together.
    fn open_histograms(&self, out: &mut Output) -> Result<()> {
        let mut all = open_metrics::Histograms::begin(self.run, out);
        for clock in Clock::ALL {
            all.family(clock)?;
            self.store.each_histogram(self.run, |place, histogram| -> Result<()> {
                if Clock::of(histogram.is_response) == clock {
                    all.add(place, &histogram, self.time(place.trial.round, place.trial.position))?;
                }
                Ok(())
            })?;
        }
        Ok(all.finish()?)
    }

    fn time(&self, round: u32, position: u32) -> Option<f64> {
        self.started.get(&(round, position)).copied()
    }
}

/// Writes every measurement of a run, for `OpenMetrics`.
pub(crate) fn open_measurements(store: &Store, run: &RunId, out: &mut impl Write) -> Result<()> {
    let started = started(&store.outline(run)?.1);
    let mut all = open_metrics::Measurements::new(run);
    store.each_cell(run, |cell| -> Result<()> {
        all.add(&cell, started.get(&(cell.round, cell.position)).copied());
        Ok(())
    })?;
    Ok(all.write(out)?)
}

fn started(trials: &[TrialRecord]) -> HashMap<(u32, u32), f64> {
    let times = trials.iter().filter_map(|trial| {
        let time = timestamp(&trial.started)?.as_millisecond() as f64 / 1e3;
        Some(((trial.round, trial.position), time))
    });
    times.collect()
}

fn timestamp(text: &str) -> Option<jiff::Timestamp> {
    text.parse().ok()
}
