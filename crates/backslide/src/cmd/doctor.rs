//! `backslide doctor`: is this host fit to measure on?

mod noise;
mod quarantine;

use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result};
use load::Stop;
use plan::Catalog;
use probes::{Finding, Status};
use report::{object, printable};
use serde::Serialize;

use super::crash_check::stop_on_signals;
use crate::args::{DoctorArgs, Format};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::wrap;

/// How long a loop is compared with itself.
const NOISE: Duration = Duration::from_secs(3);

pub(crate) fn run(args: &DoctorArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let limits = Catalog::embedded()?.noise();
    let limits = limits.context("the catalog has no limits of noise")?;
    printer.note("looking at this host for about five seconds …");
    let mut findings = probes::examine(root);
    let (varied, beside) = lab::watch_beside(&limits, || probes::noise(NOISE));
    findings.push(quarantine::at_this_load(&beside, &limits));
    findings.push(noise::of_loop(&varied));
    if !args.quick {
        printer.note("comparing SQLite with a copy of itself for about 25 seconds …");
        let stop = Stop::default();
        stop_on_signals(stop.clone(), printer)?;
        let Some(of_sqlite) = noise::of_sqlite(&stop) else {
            return Ok(Exit::Failed);
        };
        findings.push(of_sqlite);
    }
    match args.format {
        Format::Json => printer.json(&findings.iter().map(fields).collect::<Vec<_>>()),
        Format::Text => {
            for finding in &findings {
                show(finding, printer);
            }
        }
    }
    Ok(Exit::Fine)
}

fn show(finding: &Finding, printer: Printer) {
    let style = match finding.status {
        Status::Good => AnsiColor::Blue.on_default(),
        Status::Warn => AnsiColor::Yellow.on_default(),
        Status::Bad => AnsiColor::Yellow.on_default().bold(),
        Status::Unknown => Style::new().dimmed(),
    };
    let word = word(finding.status);
    let (name, found) = (finding.name, printable(&finding.found));
    printer.styled(&format!("{style}{word:<7}{style:#} {name:<15} {found}"));
    if let Some(advice) = &finding.advice {
        let width = usize::from(printer.width()).saturating_sub(24).max(30);
        for line in wrap::prose(advice, width).lines() {
            printer.result(&format!("{:24}{line}", ""));
        }
    }
}

const fn word(status: Status) -> &'static str {
    match status {
        Status::Good => "good",
        Status::Warn => "warn",
        Status::Bad => "bad",
        Status::Unknown => "unknown",
    }
}

fn fields(finding: &Finding) -> impl Serialize {
    object! {
        name: finding.name,
        status: word(finding.status),
        found: &finding.found,
        advice: &finding.advice,
    }
}
