//! The command line: one struct a verb, where it has several arguments.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use model::{Bytes, Nanos, RoundsPart, Setting};
use plan::Overrides;

const LAB: &str = "The lab's directory: results, instances, reports [env: BACKSLIDE_LAB] \
                   [default: backslide in the XDG data directory]";

/// Database performance-regression lab: is this version, setting or engine slower than that one,
/// where, by how much, and how sure are we?
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = include_str!("../help/backslide.txt"))]
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
    pub(crate) fn lab(&self) -> Result<PathBuf> {
        let of_environment =
            || std::env::var_os("BACKSLIDE_LAB").filter(|lab| !lab.is_empty()).map(PathBuf::from);
        let of_user = || {
            let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
            let home = || std::env::home_dir().filter(|home| home.is_absolute());
            let data = data.filter(|data| data.is_absolute());
            let data = data.or_else(|| home().map(|home| home.join(".local/share")));
            data.map(|data| data.join("backslide"))
        };
        let lab = self.lab.clone().or_else(of_environment).or_else(of_user);
        let lab = lab.context(
            "you have no home directory: name the lab's directory (--lab DIR, or BACKSLIDE_LAB)",
        )?;
        // A relative path has the disk of the current directory.
        Ok(std::path::absolute(&lab).unwrap_or(lab))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Compare two SQLite configurations: no server needed, a minute and a half, a real report
    #[command(after_help = include_str!("../help/demo.txt"))]
    Demo {
        /// Where the report goes [default: reports/ in the lab]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Compare builds without a plan file: sized to fit a time
    Quick(QuickArgs),
    /// Print a plan file for builds, to be edited
    Init(InitArgs),
    /// Check whether this host is fit for measuring, with advice
    Doctor(DoctorArgs),
    /// List available and installed builds
    Builds(BuildsArgs),
    /// Install builds from the catalog
    #[command(after_help = include_str!("../help/install.txt"))]
    Install(InstallArgs),
    /// Remove installed builds
    #[command(after_help = include_str!("../help/remove.txt"))]
    Remove {
        /// Names of installed builds
        #[arg(required = true, value_name = "BUILD")]
        builds: Vec<String>,
    },
    /// Add your own build: a directory or an archive
    Add(AddArgs),
    /// Try builds: initialise, start, write 10,000 rows, restart, stop
    Try(TryArgs),
    /// Kill a system under load and check that every acknowledged commit survives
    CrashCheck(CrashCheckArgs),
    /// The terminals of a crash check, in their own process
    #[command(hide = true)]
    CrashTerminals,
    /// Clients of a process on another host, over standard input and output
    #[command(hide = true)]
    Agent,
    /// List workload files, the steps of one, or the SQL of a step
    Workloads(WorkloadsArgs),
    /// Show what a plan would do: trials in order, time and disk; starts nothing
    Plan(PlanArgs),
    /// Run a plan, or resume an interrupted run
    Run(RunArgs),
    /// Join parts of runs that several labs measured, and add all other runs
    #[command(after_help = include_str!("../help/merge.txt"))]
    Merge {
        /// Labs to read
        #[arg(required = true, value_name = "LAB")]
        labs: Vec<PathBuf>,
        /// The lab to merge into; created if missing
        #[arg(short, long, value_name = "LAB")]
        output: PathBuf,
    },
    /// Measure the rounds of a plan on many hosts: Slurm, or ssh
    Submit(SubmitArgs),
    /// Add rounds to a finished run that sample the servers' stacks, to explain its verdicts
    Profile(ProfileArgs),
    /// List the runs of the lab
    #[command(after_help = include_str!("../help/list.txt"))]
    List {
        /// For people or for programs
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Show one run: systems, trials, outcomes
    Show(ShowArgs),
    /// Compare the systems of a run with its base
    Compare(CompareArgs),
    /// Write the report of a run
    Report(ReportArgs),
    /// Follow metrics over many builds and find where they changed
    History(HistoryArgs),
    /// Find the build that changed a metric: measures builds between two until one is named
    Bisect(BisectArgs),
    /// Explain why systems differ: CPU by layer and function, changed defaults, settings
    Explain(ExplainArgs),
    /// Import results of other tools: sysbench, pgbench, published tables, CSV
    Import(crate::cmd::import::ImportArgs),
    /// Export the measurements of a run for other programs
    Export(ExportArgs),
    /// Show all runs of the lab as web pages, also while one is measured
    Serve(ServeArgs),
    /// Print the completions of a shell
    #[command(after_help = include_str!("../help/completions.txt"))]
    Completions { shell: clap_complete::Shell },
    /// Write the manual pages
    #[command(hide = true)]
    #[command(after_help = include_str!("../help/manual.txt"))]
    Manual {
        /// The directory to write them to
        directory: PathBuf,
    },
}

/// For people, or for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for people
    Text,
    /// For programs; documented in docs/formats.md
    Json,
}

/// The format asked for, otherwise the one that the file's name ends in: one of `endings`.
pub(crate) fn format_of<F: ValueEnum>(asked: Option<F>, path: &Path, endings: &str) -> Result<F> {
    let named = || F::from_str(path.extension()?.to_str()?, true).ok();
    asked.or_else(named).with_context(|| {
        let path = path.display();
        format!("{path} does not say which format: end it in {endings}, or use --format")
    })
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InstallArgs {
    /// Names of builds, as `backslide builds` lists them; `mysql-5.7` means the newest that fits
    #[arg(required = true, value_name = "BUILD")]
    pub(crate) builds: Vec<String>,
    /// Compile the source of these versions, as the catalog says
    #[arg(long)]
    pub(crate) from_source: bool,
    /// Jobs of a compilation at once [default: one for each CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub(crate) jobs: Option<u32>,
    /// Niceness of a compilation, from 0 to 19
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u8).range(0..=19))]
    pub(crate) nice: u8,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/quick.txt"))]
pub(crate) struct QuickArgs {
    #[command(flatten)]
    pub(crate) what: InitArgs,
    /// Where the report goes [default: reports/ in the lab]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/init.txt"))]
pub(crate) struct InitArgs {
    /// Systems to compare, the base first: BUILD, BUILD/CONFIG or BUILD/ENGINE/CONFIG; builds are named as in plans
    #[arg(required = true, value_name = "SYSTEM")]
    pub(crate) systems: Vec<String>,
    /// `micro`, `insert`, `tpcc`, or a workload file
    #[arg(long, value_name = "WORKLOAD", default_value = "micro")]
    pub(crate) workload: String,
    /// The time that the run may take
    #[arg(long, value_name = "N", default_value = "10", value_parser = minutes)]
    pub(crate) minutes: Nanos,
    /// A setting of every system; of one system, the change to be measured; repeatable
    #[arg(long, value_name = "OPTION=VALUE", value_parser = setting)]
    pub(crate) set: Vec<Setting>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/doctor.txt"))]
pub(crate) struct DoctorArgs {
    /// Skip the comparison of SQLite with a copy of itself (25 seconds)
    #[arg(long)]
    pub(crate) quick: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/builds.txt"))]
pub(crate) struct BuildsArgs {
    /// Filter by prefix
    pub(crate) only: Option<String>,
    /// All minor versions
    #[arg(long)]
    pub(crate) all: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/add.txt"),
    group(clap::ArgGroup::new("what").required(true).args(["path", "archive", "source"])))]
pub(crate) struct AddArgs {
    /// Its name in plans: letters, digits, `.`, `-`, `_`
    pub(crate) name: String,
    /// A directory that holds bin/, the server program, or a library of SQLite
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
    /// An archive: a file, or an address that begins with https:// or http://
    #[arg(long, value_name = "FILE-or-URL")]
    pub(crate) archive: Option<String>,
    /// SQLite as one source file, which is compiled like the catalog's builds
    #[arg(long, value_name = "FILE.c")]
    pub(crate) source: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/try.txt"))]
pub(crate) struct TryArgs {
    /// Builds, named as in plans
    #[arg(value_name = "BUILD")]
    pub(crate) builds: Vec<String>,
    /// Every build of the catalog except older minor versions
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
#[command(after_help = include_str!("../help/crash-check.txt"))]
pub(crate) struct CrashCheckArgs {
    /// A build, named as in plans
    pub(crate) build: String,
    /// The config
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) config: String,
    /// The storage engine, where there are several
    #[arg(long)]
    pub(crate) engine: Option<String>,
    /// A setting on top of the config; repeatable
    #[arg(long, value_name = "OPTION=VALUE", value_parser = setting)]
    pub(crate) set: Vec<Setting>,
    /// Warehouses
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) warehouses: u32,
    /// Load the standard's 100,000 items and 3,000 customers a district, instead of a tenth of both
    #[arg(long)]
    pub(crate) standard: bool,
    /// Terminals
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) clients: u32,
    /// Latest time of the kill, in seconds after the first commit; the time is random, from 1 second on
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..=86_400))]
    pub(crate) seconds: u32,
    /// Number of kills, each on the data that the last one left; ends at the first loss
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) times: u32,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

fn minutes(text: &str) -> Result<Nanos, String> {
    let minutes: f64 = text.parse().map_err(|_| "expected a number of minutes".to_owned())?;
    let range = 0.1..=10_000.0;
    if !range.contains(&minutes) {
        return Err("expected 0.1 to 10000 minutes".to_owned());
    }
    Ok(Nanos::from_millis((minutes * 60_000.0) as u64))
}

fn setting(text: &str) -> Result<Setting, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None if text.starts_with("skip") || text.starts_with("disable") => (text, None),
        None => return Err("a setting is written OPTION=VALUE".to_owned()),
    };
    if name.is_empty() {
        return Err("the option has no name".to_owned());
    }
    Ok(Setting { name: name.to_owned(), value })
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/workloads.txt"))]
pub(crate) struct WorkloadsArgs {
    /// A name of the catalog, or the path of a file [default: all, a line each]
    pub(crate) workload: Option<String>,
    /// Show the SQL of this step
    #[arg(long, value_name = "STEP", requires = "workload")]
    pub(crate) step: Option<String>,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/plan.txt"))]
pub(crate) struct PlanArgs {
    /// A plan file, or the name of a built-in plan
    #[arg(required_unless_present = "keys", conflicts_with = "keys")]
    pub(crate) plan: Option<String>,
    /// Print every key of a plan file
    #[arg(long, conflicts_with = "format")]
    pub(crate) keys: bool,
    /// Print the configuration file of each server
    #[arg(long, conflicts_with = "format")]
    pub(crate) show_config: bool,
    #[command(flatten)]
    pub(crate) with: WithArgs,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/run.txt"))]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) what: ScriptArgs,
    /// Resume this run; `--rounds N` allows up to N rounds
    #[arg(long, value_name = "RUN", conflicts_with_all = ["seconds", "set", "profile", "count"])]
    pub(crate) resume: Option<String>,
    /// Where this process, which runs under Valgrind, counts its instructions
    #[arg(long, value_name = "DIR", hide = true, requires = "resume")]
    pub(crate) counts_in: Option<PathBuf>,
    /// Disk for templates, such as 50G; the least recently used go first [default: a quarter of the
    /// lab's filesystem]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) template_budget: Option<Bytes>,
    /// Measure one part of the rounds; `merge` joins the parts
    #[arg(long, value_name = "I/N", conflicts_with = "resume")]
    pub(crate) rounds_of: Option<RoundsPart>,
    /// The name that all parts of this run share [default: the plan's name]
    #[arg(long, value_name = "NAME", requires = "rounds_of")]
    pub(crate) campaign: Option<String>,
    #[command(flatten)]
    pub(crate) with: WithArgs,
}

/// A plan, or a script of sysbench with the systems to run it on.
#[derive(Debug, ClapArgs)]
pub(crate) struct ScriptArgs {
    /// A plan file, the name of a built-in plan, or a script of sysbench
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub(crate) plan: Option<String>,
    /// Systems to run the script on, written as for `quick`
    #[arg(value_name = "SYSTEM", requires = "plan")]
    pub(crate) systems: Vec<String>,
    /// Options of sysbench and of the script, after `--`; `-- --help` lists those of the script
    #[arg(last = true, value_name = "OPTION", requires = "plan")]
    pub(crate) options: Vec<String>,
}

impl ScriptArgs {
    /// What is named first.
    pub(crate) fn named(&self) -> &str {
        self.plan.as_deref().unwrap_or_default()
    }

    /// Is it a script, and no plan?
    pub(crate) fn is_script(&self) -> bool {
        !self.systems.is_empty()
            || !self.options.is_empty()
            || Path::new(self.named()).extension().is_some_and(|it| it == "lua")
    }
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/submit.txt"))]
pub(crate) struct SubmitArgs {
    /// A plan file, or the name of a built-in plan
    #[arg(required_unless_present_any = ["status", "cancel"], requires = "to")]
    pub(crate) plan: Option<String>,
    /// `slurm`, or `ssh:HOST,HOST`
    #[arg(long, value_name = "TARGET")]
    pub(crate) to: Option<Target>,
    /// Use at most this many nodes at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nodes: Option<u32>,
    /// The partition of Slurm
    #[arg(long, value_name = "NAME", value_parser = one_word)]
    pub(crate) partition: Option<String>,
    /// The campaign's name, unique in this lab [default: the plan's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) campaign: Option<String>,
    /// Print the script and submit nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Show the parts of a campaign, and merge those that are done into the lab
    #[arg(long, value_name = "CAMPAIGN", conflicts_with_all = ["plan", "cancel"])]
    pub(crate) status: Option<String>,
    /// Cancel what is left of a campaign
    #[arg(long, value_name = "CAMPAIGN", conflicts_with = "plan")]
    pub(crate) cancel: Option<String>,
    #[command(flatten)]
    pub(crate) with: WithArgs,
}

/// Who brings the parts of a campaign to hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Slurm,
    Ssh(Vec<String>),
}

impl FromStr for Target {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "slurm" {
            return Ok(Self::Slurm);
        }
        let hosts = text.strip_prefix("ssh:").map(|hosts| hosts.split(','));
        let hosts: Vec<String> = hosts.into_iter().flatten().map(str::to_owned).collect();
        let are_named = !hosts.is_empty() && hosts.iter().all(|host| !host.is_empty());
        are_named.then_some(Self::Ssh(hosts)).ok_or("expected `slurm` or `ssh:HOST,HOST`")
    }
}

/// A name that is a word of its own in a script.
fn one_word(text: &str) -> Result<String, &'static str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-,".contains(c);
    let is_word = !text.is_empty() && text.chars().all(is_plain);
    is_word.then(|| text.to_owned()).ok_or("expected letters, digits, `.`, `,`, `-` and `_`")
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/profile.txt"))]
pub(crate) struct ProfileArgs {
    /// Which run [default: the latest]
    pub(crate) run: Option<String>,
    /// Profiled rounds of each system; an interval needs 2, a certain change 3
    #[arg(long, value_name = "N", default_value_t = plan::PROFILED, value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MAX_ROUNDS)))]
    pub(crate) rounds: u32,
    /// Count the servers' instructions under Valgrind instead of sampling stacks
    #[arg(long)]
    pub(crate) count: bool,
}

/// In place of what a plan says.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct WithArgs {
    /// Rounds, in place of the plan's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MAX_ROUNDS)))]
    pub(crate) rounds: Option<u32>,
    /// Length of the steps that run for a time, in place of the plan's
    #[arg(long, value_name = "S")]
    seconds: Option<u32>,
    /// A setting of every system, in place of its own; repeatable
    #[arg(long, value_name = "OPTION=VALUE", value_parser = setting)]
    set: Vec<Setting>,
    /// Add rounds that sample the servers' stacks, to explain the verdicts
    #[arg(long)]
    profile: bool,
    /// Add rounds that count the servers' instructions under Valgrind, to explain the verdicts
    #[arg(long)]
    count: bool,
}

impl WithArgs {
    pub(crate) fn overrides(&self) -> Overrides<'_> {
        let set = self.set.iter().map(|set| (set.name.as_str(), set.value.as_deref()));
        Overrides {
            rounds: self.rounds,
            seconds: self.seconds,
            set: set.collect(),
            profiles: self.profile,
            counts: self.count,
        }
    }
}

impl WithArgs {
    /// The arguments that say the same to another backslide.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let number =
            |name: &str, value: Option<u32>| value.map(|value| format!("--{name}={value}"));
        let set = self.set.iter().map(|Setting { name, value }| {
            format!("--set={name}{}", value.as_ref().map_or(String::new(), |v| format!("={v}")))
        });
        let flags = [("--profile", self.profile), ("--count", self.count)];
        let flags = flags.into_iter().filter(|(_, is_given)| *is_given);
        let numbers = [number("rounds", self.rounds), number("seconds", self.seconds)];
        let numbers = numbers.into_iter().flatten();
        numbers.chain(set).chain(flags.map(|(flag, _)| flag.to_owned())).collect()
    }
}

/// An effect that is given in per cent, as a fraction.
fn effect(text: &str) -> Result<f64, String> {
    let percent: Option<f64> = text.trim().trim_end_matches('%').trim_end().parse().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    Ok(percent.ok_or("expected a percentage from 0 to 100")? / 100.0)
}

fn size(text: &str) -> Result<Bytes, String> {
    plan::parse_size(text)
        .ok_or_else(|| "a size is a whole number and K, M or G, such as 50G".to_owned())
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/show.txt"))]
pub(crate) struct ShowArgs {
    /// Which run [default: the latest]
    pub(crate) run: Option<String>,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/compare.txt"))]
pub(crate) struct CompareArgs {
    /// Which run [default: the latest]
    pub(crate) run: Option<String>,
    /// Baseline instead of the plan's: a system's name, or a build, version or prefix that only it has
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) base: Option<String>,
    /// Metrics to compare, such as `cpu/o` or `response.p99`; `all` for every one [default: the deciding metric
    /// of each step]
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Vec<String>,
    /// Margin in per cent, instead of the plan's and each metric's own
    #[arg(long, value_name = "PERCENT", value_parser = effect, allow_negative_numbers = true)]
    pub(crate) min_effect: Option<f64>,
    /// List every comparison, the control's too [default: all if there are at most 50, else changes]
    #[arg(long)]
    pub(crate) all: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub(crate) format: CompareFormat,
}

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

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/report.txt"))]
pub(crate) struct ReportArgs {
    /// Which run [default: the latest]
    pub(crate) run: Option<String>,
    /// Output file; `-` for stdout [default: reports/RUN.html in the lab]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Baseline instead of the plan's: a system's name, or a build, version or prefix that only it has
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) base: Option<String>,
    /// Margin in per cent, instead of the plan's and each metric's own
    #[arg(long, value_name = "PERCENT", value_parser = effect, allow_negative_numbers = true)]
    pub(crate) min_effect: Option<f64>,
    /// Overrides the format of the file's name
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
    /// A smaller page: only the main operations of each step, and only differing steps where there are dozens
    #[arg(long)]
    pub(crate) brief: bool,
    /// Show the file in the browser: `$BROWSER`, which may have arguments, otherwise the desktop's
    #[arg(long)]
    pub(crate) open: bool,
    /// Also write each chart into this directory, as SVG (and PNG, if built in); a Markdown report shows them
    #[arg(long, value_name = "DIR")]
    pub(crate) charts: Option<PathBuf>,
}

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
    /// Its leading picture, which needs nothing else
    Svg,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/history.txt"))]
pub(crate) struct HistoryArgs {
    /// Which runs [default: the latest]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Only the system of this name in each run
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
    /// Margin in per cent, instead of each metric's own
    #[arg(long, value_name = "PERCENT", value_parser = effect, allow_negative_numbers = true)]
    pub(crate) min_effect: Option<f64>,
    /// The format [default: by the file's name, otherwise text]
    #[arg(long, value_enum)]
    pub(crate) format: Option<HistoryFormat>,
    /// Output file; `-` for stdout [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/bisect.txt"))]
pub(crate) struct BisectArgs {
    /// The older build, named as in plans; with --git a commit
    #[arg(long, value_name = "BUILD")]
    pub(crate) good: String,
    /// The newer build, which differs; with --git a commit
    #[arg(long, value_name = "BUILD")]
    pub(crate) bad: String,
    /// A git repository of PostgreSQL, MySQL, MariaDB or SQLite's amalgamation; bisect its commits along first
    /// parents
    #[arg(long, value_name = "DIR")]
    pub(crate) git: Option<PathBuf>,
    /// Files or directories of the repository; leave out commits that change none of them [default: the source]
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "git")]
    pub(crate) paths: Vec<String>,
    /// An option of the commits' `configure` or `cmake`, in place of the catalog's; repeatable
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true, requires = "git")]
    pub(crate) configure: Vec<String>,
    /// The compiler's flags for commits, in place of the catalog's
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, requires = "git")]
    pub(crate) cflags: Option<String>,
    /// The step in which they differ
    #[arg(long, value_name = "STEP")]
    pub(crate) step: String,
    /// The metric [default: the one that decides the step]
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<String>,
    /// The config of every build
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) config: String,
    /// `micro`, `insert`, `tpcc`, or a workload file
    #[arg(long, value_name = "WORKLOAD", default_value = "micro")]
    pub(crate) workload: String,
    /// The length of a step that runs for a time, in place of the plan's
    #[arg(long, value_name = "S")]
    pub(crate) seconds: Option<u32>,
    /// The most pairs to measure, those of earlier commands included
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(4..=10_000))]
    pub(crate) pairs: u32,
    /// Print the builds, the time and the downloads; measure nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/serve.txt"))]
pub(crate) struct ServeArgs {
    /// The address to listen on; any other than a loopback address needs a token
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub(crate) address: IpAddr,
    /// The port; 0 for any free one
    #[arg(long, value_name = "PORT", default_value_t = 7878)]
    pub(crate) port: u16,
    /// Another host name that browsers use for this server
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// The token that each browser must present [default: none on a loopback address, otherwise a random one]
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(
    override_usage = "backslide explain [OPTIONS] <RUN>\n       backslide explain [OPTIONS] [RUN] <A> <B>",
    after_help = include_str!("../help/explain.txt"))]
pub(crate) struct ExplainArgs {
    /// RUN with profiles; or two systems: RUN A B, or A B where the latest run has both
    #[arg(value_name = "NAME", num_args = 1..=3, required_unless_present = "variables")]
    pub(crate) names: Vec<String>,
    /// Compare the variables of A and B, which is the default
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub(crate) variables: Vec<String>,
    /// Also show the values of new and removed variables
    #[arg(long)]
    pub(crate) all: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportWhat {
    /// Every metric of every step of every trial
    Measurements,
    /// Every second: operations, errors, percentiles
    Intervals,
    /// Latency histograms of whole steps
    Histograms,
    /// Every verdict
    Comparisons,
    /// Counted stacks of the profiled rounds
    Stacks,
}

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
    /// Folded stacks of profiled rounds, for flame graphs and speedscope
    Folded,
    /// Stacks of profiled rounds for `go tool pprof` and speedscope: a directory with a file per system and step
    Pprof,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("../help/export.txt"))]
pub(crate) struct ExportArgs {
    /// Which run [default: the latest]
    pub(crate) run: Option<String>,
    /// What to export [default: measurements; where the format is hdr intervals, where it is folded or pprof stacks]
    #[arg(long, value_enum)]
    pub(crate) what: Option<ExportWhat>,
    /// The format [default: by the file's name, otherwise csv]
    #[arg(long, value_enum)]
    pub(crate) format: Option<ExportFormat>,
    /// Output file; for pprof a directory [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Comparisons: baseline instead of the plan's, named as for `compare`
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) base: Option<String>,
    /// Comparisons: margin in per cent, as for `compare`
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
        assert_eq!(effect("2 %"), Ok(0.02));
        for wrong in ["-1", "NaN", "inf", "100.1", "", "%"] {
            assert!(effect(wrong).is_err(), "{wrong}");
        }
    }
}
