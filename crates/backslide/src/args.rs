//! The command line: one struct a verb.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

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
    /// The lab's directory: results, instances, reports [default: backslide in the XDG data directory]
    #[arg(long, global = true, value_name = "DIR", env = "BACKSLIDE_LAB")]
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
        let lab = self.lab.clone().unwrap_or_else(|| {
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
    /// List the builds that can be run
    Builds(BuildsArgs),
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
    /// Write all measurements of a run
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
#[command(after_help = "Example:\n  backslide doctor --format json")]
pub(crate) struct DoctorArgs {
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  backslide builds --format json")]
pub(crate) struct BuildsArgs {
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
    /// Print the settings of each system in full
    #[arg(long)]
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
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  backslide list --format json")]
pub(crate) struct ListArgs {
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  backslide show r7")]
pub(crate) struct ShowArgs {
    /// Which run [default: the latest]
    pub(crate) run: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  backslide compare r7
  backslide compare r7 --metric server.cpu/o --min-effect 1
  backslide compare r7 --base postgres-15.18/x10a --format json

Exit status: 0 nothing regressed, 10 something regressed, 11 something is not decided.
An A/A control is shown but does not count.")]
pub(crate) struct CompareArgs {
    /// Which run [default: the latest]
    pub(crate) run: Option<String>,
    /// Compare with this system instead of the plan's base
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) base: Option<String>,
    /// Metrics to compare; `all` for every one
    #[arg(long, value_name = "METRIC", default_value = "rate")]
    pub(crate) metric: Vec<String>,
    /// Smallest effect worth calling, in per cent, instead of each metric's own
    #[arg(long, value_name = "PERCENT")]
    pub(crate) min_effect: Option<f64>,
    /// Show unchanged and undecided steps too
    #[arg(long)]
    pub(crate) all: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
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
  backslide report r7 -o report.md        the format follows the name")]
pub(crate) struct ReportArgs {
    /// Which run [default: the latest]
    pub(crate) run: Option<String>,
    /// Where it goes; `-` for stdout [default: reports/RUN.html in the lab]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Compare with this system instead of the plan's base
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) base: Option<String>,
    /// Overrides what the file's name asks for
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
}

/// What measurements are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One measurement a line, with a header
    Csv,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  backslide export r7 --format csv > r7.csv")]
pub(crate) struct ExportArgs {
    /// Which run [default: the latest]
    pub(crate) run: Option<String>,
    /// The format
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    pub(crate) format: ExportFormat,
    /// Where it goes [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
