//! The backslide command: reads the arguments, runs one verb, turns the outcome into an exit status.

mod args;
mod browser;
mod charts;
mod cmd;
mod disturbed;
mod exit;
mod foreseen;
mod input;
mod output;
mod printer;
mod progress;
mod runs;
mod script;
mod table;
mod time_needed;
mod wrap;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::Parser;

use crate::args::{Args, Verb};
use crate::exit::Exit;
use crate::printer::Printer;

/// The stack of everything but the clients: what Linux usually gives a program, whatever `ulimit -s` says.
const STACK: usize = 8 << 20;

const USAGE: u8 = 2;

/// The exit status of a program of Rust that panicked.
const PANICKED: u8 = 101;

fn main() -> ExitCode {
    lab::clean_environment();
    let thread = std::thread::Builder::new().name("main".to_owned());
    match thread.stack_size(STACK).spawn(work) {
        Ok(worker) => worker.join().unwrap_or_else(|_| ExitCode::from(PANICKED)),
        Err(error) => {
            Printer::new(false).error(&anyhow!(error).context("cannot start a thread"));
            Exit::Failed.into()
        }
    }
}

fn work() -> ExitCode {
    match Args::try_parse() {
        Ok(args) => perform(args),
        Err(instead) => print_instead(&instead),
    }
}

/// Prints help, the version or an error of usage. Help that was not written whole is a failure.
fn print_instead(instead: &clap::Error) -> ExitCode {
    match instead.print().and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Printer::new(false).error(&anyhow!(error).context("cannot write to stdout"));
            Exit::Failed.into()
        }
        Ok(()) | Err(_) => ExitCode::from(u8::try_from(instead.exit_code()).unwrap_or(USAGE)),
    }
}

fn perform(args: Args) -> ExitCode {
    let printer = Printer::new(args.quiet);
    // What ended well and was not written whole did not end well.
    let exit = verb(args, printer).and_then(|exit| printer.check().map(|()| exit));
    let exit = exit.unwrap_or_else(|error| {
        printer.error(&error);
        Exit::Failed
    });
    exit.into()
}

/// Runs the verb. One that needs no lab also runs where there is no place for one.
fn verb(args: Args, printer: Printer) -> Result<Exit> {
    let lab = args.lab();
    match args.verb {
        Verb::Demo { output } => cmd::quick::demo(output.as_deref(), &lab?, printer),
        Verb::Quick(options) => cmd::quick::run(&options, &lab?, printer),
        Verb::Init(options) => cmd::quick::init(&options, &lab?, printer),
        Verb::Doctor(options) => cmd::doctor::run(&options, &lab?, printer),
        Verb::Builds(options) => cmd::builds::run(&options, printer),
        Verb::Install(args) => cmd::install::run(&args, printer),
        Verb::Remove { builds } => cmd::install::remove(&builds, printer),
        Verb::Add(options) => cmd::install::add(&options, printer),
        Verb::Try(options) => cmd::try_builds::run(&options, &lab?, printer),
        Verb::CrashCheck(options) => cmd::crash_check::run(&options, &lab?, printer),
        Verb::CrashTerminals => cmd::crash_check::terminals(),
        Verb::Agent => cmd::agent::run(),
        Verb::Workloads(options) => cmd::workloads::run(&options, printer),
        Verb::Plan(options) => cmd::plan::run(&options, &lab?, printer),
        Verb::Run(options) => cmd::run::run(&options, &lab?, printer),
        Verb::Merge { labs, output } => cmd::merge::run(&labs, &output, printer),
        Verb::Submit(options) => cmd::submit::run(&options, &lab?, printer),
        Verb::Profile(options) => cmd::profile::run(&options, &lab?, printer),
        Verb::List { format } => cmd::list::run(format, &lab?, printer),
        Verb::Show(options) => cmd::show::run(&options, &lab?, printer),
        Verb::Compare(options) => cmd::compare::run(&options, &lab?, printer),
        Verb::Report(options) => cmd::report::run(&options, &lab?, printer),
        Verb::History(options) => cmd::history::run(&options, &lab?, printer),
        Verb::Bisect(options) => cmd::bisect::run(&options, &lab?, printer),
        Verb::Explain(options) => cmd::explain::run(&options, &lab?, printer),
        Verb::Import(options) => cmd::import::run(&options, &lab?, printer),
        Verb::Export(options) => cmd::export::run(&options, &lab?, printer),
        Verb::Serve(options) => cmd::serve::run(&options, &lab?, printer),
        Verb::Completions { shell } => cmd::completions::run(shell),
        Verb::Manual { directory } => cmd::completions::manual(&directory),
    }
}
