//! `backslide doctor`: is this host fit to measure on?

mod noise;

use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result};
use lab::Beside;
use load::Stop;
use model::Quarantine;
use plan::Catalog;
use probes::{Finding, Status};
use report::{object, printable};
use serde::Serialize;
use store::{Store, StoreError};

use super::crash_check::stop_on_signals;
use crate::args::{DoctorArgs, Format};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::wrap;

/// How long a loop is compared with itself.
const NOISE: Duration = Duration::from_secs(3);

pub(crate) fn run(args: &DoctorArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let limits = Catalog::embedded()?.noise().context("the catalog has no limits of noise")?;
    printer.note("looking at this host for about five seconds …");
    let mut findings = probes::examine(root);
    let (varied, beside) = lab::watch_beside(&limits, || probes::noise(NOISE));
    findings.push(at_this_load(&beside, &limits));
    findings.push(noise::of_loop(&varied));
    findings.extend(of_results(&root.join("lab.sqlite")));
    if !args.quick {
        printer.note("comparing SQLite with a copy of itself for about 25 seconds …");
        let stop = Stop::default();
        stop_on_signals(stop.clone(), printer)?;
        let Some(of_sqlite) = noise::of_sqlite(root, &stop) else { return Ok(Exit::Failed) };
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

/// Would trials be quarantined at the load that this host has now? What the limits make of a few seconds.
fn at_this_load(beside: &Beside, limits: &Quarantine) -> Finding {
    let (status, found) = match (beside.over.is_empty(), beside.foreign_percent) {
        (false, _) => (
            Status::Bad,
            format!("the default limits would set trials aside: {}", beside.over.join(", ")),
        ),
        (true, Some(percent)) => (
            Status::Good,
            format!(
                "the default limits would set no trial aside: other processes took {percent:.1} % of one CPU \
                 (limit {} %)",
                f64::from(limits.foreign_permille) / 10.0
            ),
        ),
        (true, None) => (
            Status::Unknown,
            "this host does not report the CPU time of other processes".to_owned(),
        ),
    };
    Finding {
        name: "quarantine",
        status,
        found,
        advice: (status == Status::Bad).then(|| {
            "backslide re-runs a disturbed round a few times, then gives it up. End other programs, or write wider \
             limits into plans, such as `quarantine = { foreign_percent = 100 }`, or none: `quarantine = false`."
                .to_owned()
        }),
    }
}

/// Is the lab's store sound? Nothing where there is none yet.
fn of_results(store: &Path) -> Option<Finding> {
    if !store.exists() {
        return None;
    }
    let checked = Store::open_to_read(store).and_then(|store| store.check());
    let (status, found) = match checked {
        Ok(()) => (Status::Good, format!("{} is sound", store.display())),
        Err(error @ (StoreError::Damaged { .. } | StoreError::NotALab { .. })) => {
            (Status::Bad, error.to_string())
        }
        Err(error) => (Status::Unknown, error.to_string()),
    };
    Some(Finding {
        name: "results",
        status,
        found,
        advice: (status == Status::Bad).then(|| {
            "Do not measure into this lab. If there is no copy, `sqlite3 lab.sqlite .recover | sqlite3 saved.sqlite` \
             saves what can be read."
                .to_owned()
        }),
    })
}

fn show(finding: &Finding, printer: Printer) {
    let style = match finding.status {
        Status::Good => AnsiColor::Blue.on_default(),
        Status::Warn => AnsiColor::Yellow.on_default(),
        Status::Bad => AnsiColor::Yellow.on_default().bold(),
        Status::Unknown => Style::new().dimmed(),
    };
    let word = word(finding.status);
    let said = said(finding, usize::from(printer.width()));
    printer.styled(&format!("{style}{word:<7}{style:#} {:<15} {said}", finding.name));
}

/// Columns of the status and the name of a finding.
const BEFORE: usize = 24;

/// What a finding says, in lines that stand beside its status and name within so many columns.
fn said(finding: &Finding, columns: usize) -> String {
    let width = columns.saturating_sub(BEFORE).max(30);
    let texts = std::iter::once(&finding.found).chain(&finding.advice);
    let texts: Vec<String> = texts.map(|text| wrap::prose(&printable(text), width)).collect();
    texts.join("\n").replace('\n', &format!("\n{:BEFORE$}", ""))
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

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Quarantine = Quarantine {
        steal_permille: 100,
        foreign_permille: 300,
        throttled_permille: 100,
        swapped_pages: 256,
        major_faults: 1_000,
        reruns: 2,
    };

    fn found(over: &[&str], foreign_percent: Option<f64>) -> Finding {
        let over = over.iter().map(|&one| one.to_owned()).collect();
        let beside = Beside { over, foreign_percent };
        at_this_load(&beside, &LIMITS)
    }

    #[test]
    fn a_damaged_lab_is_bad_and_has_a_way_out() {
        let lab = tempfile::tempdir().unwrap();
        let path = lab.path().join("lab.sqlite");
        assert_eq!(of_results(&path), None);
        drop(Store::open(&path).unwrap());
        assert_eq!(of_results(&path).unwrap().status, Status::Good);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[4096..].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();
        let finding = of_results(&path).unwrap();
        assert_eq!(finding.status, Status::Bad, "{finding:?}");
        assert!(finding.advice.unwrap().contains(".recover"));
    }

    #[test]
    fn a_finding_fits_the_terminal() {
        let finding = found(&["other processes took 139.1 % of one CPU (limit 30 %)"], None);
        let said = said(&finding, 80);
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[0].chars().count() <= 80 - BEFORE, "{said}");
        let is_beside = |line: &&str| line.find(|c| c != ' ') == Some(BEFORE) && line.len() <= 80;
        assert!(lines.len() > 2 && lines[1..].iter().all(is_beside), "{said}");
    }

    #[test]
    fn what_would_be_set_aside_is_bad_and_has_a_way_out() {
        let quiet = found(&[], Some(4.21));
        insta::assert_snapshot!(quiet.found, @"the default limits would set no trial aside: other processes took 4.2 % of one CPU (limit 30 %)");
        assert_eq!((quiet.status, quiet.advice), (Status::Good, None));
        let busy = found(&["a took 80 %", "b took 20 %"], Some(80.0));
        insta::assert_snapshot!(busy.found, @"the default limits would set trials aside: a took 80 %, b took 20 %");
        assert_eq!(busy.status, Status::Bad);
        assert!(busy.advice.unwrap().contains("`quarantine = false`"));
        let silent = found(&[], None);
        assert_eq!((silent.status, silent.advice), (Status::Unknown, None));
    }
}
