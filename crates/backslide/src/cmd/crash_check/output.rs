//! What a crash check prints: for people while it goes on and at its end, and for programs.

use anyhow::Result;
use lab::Crash;
use model::{Nanos, System, TpccCardinality, TpccSpec};
use report::format::{count, plural};
use report::{Cell, Header, Table, Tone};
use serde::Serialize;

use super::verdict::{Terms, Verdict};
use crate::args::Format;
use crate::printer::Printer;
use crate::table;

/// What is said of every result.
const OF_THE_SERVER: &str = "SIGKILL takes from a server what it held itself and not what it had given to \
                             the kernel: this says nothing of a crash of the machine.";

/// How a crash check ended.
pub(super) struct Outcome<'a> {
    pub(super) system: &'a System,
    pub(super) workload: &'a TpccSpec,
    /// The latest moment of a kill, in seconds after the first commit.
    pub(super) seconds: u32,
    pub(super) terms: Terms,
    /// At least one.
    pub(super) crashes: &'a [Crash],
    /// What was found and where the evidence is, where something is wrong.
    pub(super) kept: Option<String>,
}

impl Outcome<'_> {
    /// The worst of all crashes.
    pub(super) fn verdict(&self) -> Verdict {
        let verdicts = self.crashes.iter().map(|crash| self.terms.judge(crash));
        verdicts.max().unwrap_or(Verdict::NothingLost)
    }

    /// What a commit survives, in a sentence.
    fn promise(&self) -> String {
        let name = &self.system.name;
        match self.terms.durability {
            Some(durability) => {
                format!("By the settings of {name} a commit {}.", durability.text())
            }
            None => format!(
                "What the settings of {name} promise could not be read; it is judged as if they promised \
                 all."
            ),
        }
    }

    fn conclusion(&self) -> String {
        let kills = plural(self.crashes.len(), "kill");
        let sum = |of: fn(&Crash) -> u64| self.crashes.iter().map(of).sum::<u64>();
        let acknowledged = sum(acknowledged);
        match (self.verdict(), &self.kept) {
            (Verdict::Lost, Some(found)) => format!("lost: {found}"),
            (Verdict::Lost, None) => "lost".to_owned(),
            (Verdict::NothingLost, _) => format!(
                "nothing lost: all {} orders and payments that were acknowledged before {kills} are \
                 there, and all conditions hold",
                count(acknowledged)
            ),
            (Verdict::LostAsAllowed, _) => {
                let oldest = self.crashes.iter().filter_map(|crash| crash.oldest).max();
                let oldest = oldest.map_or(String::new(), |age| format!(", the oldest {age} old"));
                format!(
                    "lost as the settings allow: {} of {} orders and payments that were acknowledged \
                     before {kills} are missing{oldest} at the kill; all conditions hold",
                    count(sum(|crash| crash.survived.missing)),
                    count(acknowledged)
                )
            }
        }
    }
}

fn acknowledged(crash: &Crash) -> u64 {
    crash.survived.orders + crash.survived.payments
}

/// What is about to be done.
pub(super) fn beginning(system: &System, workload: &TpccSpec) -> String {
    let TpccCardinality { items, customers } = workload.cardinality;
    let more = if workload.cardinality == TpccCardinality::STANDARD {
        ""
    } else {
        ", a tenth of the standard's (--standard for all)"
    };
    format!(
        "{}: loading {} of {} items and {} customers a district{more}, for {}",
        system.name,
        plural(workload.warehouses as usize, "warehouse"),
        count(u64::from(items)),
        count(u64::from(customers)),
        plural(workload.clients as usize, "terminal")
    )
}

/// A crash in a line.
pub(super) fn line(crash: &Crash, terms: Terms, times: u32) -> String {
    let found = match terms.judge(crash) {
        Verdict::NothingLost => "nothing lost".to_owned(),
        Verdict::LostAsAllowed => {
            let survived = &crash.survived;
            let age = crash.oldest.map_or(String::new(), |age| {
                format!(", the oldest {age} old at the kill")
            });
            let lost = count(survived.missing + survived.vanished);
            format!("lost as the settings allow: {lost}{age}")
        }
        Verdict::Lost => terms.found(crash).join("; "),
    };
    format!(
        "kill {} of {times}: after {} with {} commits, back in {}: {found}",
        crash.round,
        crash.after,
        count(acknowledged(crash)),
        crash.recovery
    )
}

/// Prints the outcome.
pub(super) fn print(printer: Printer, outcome: &Outcome<'_>, format: Format) -> Result<()> {
    match format {
        Format::Json => {
            printer.json(&as_json(outcome))?;
        }
        Format::Text => {
            table::print(printer, &as_table(outcome));
            printer.prose(&outcome.conclusion());
            printer.prose(&outcome.promise());
            printer.prose(OF_THE_SERVER);
        }
    }
    Ok(())
}

fn as_table(outcome: &Outcome<'_>) -> Table {
    let rows = outcome.crashes.iter().map(|crash| {
        let survived = &crash.survived;
        let number = |value: u64| Cell::number(value as f64, count(value));
        let time = |time: Nanos| Cell::number(time.as_secs_f64(), time.to_string());
        let lost = |value: u64| match value {
            0 => number(0),
            _ => number(value).with_tone(Tone::Missed),
        };
        let broken = crash.broken().count();
        vec![
            Cell::text(crash.round.to_string()),
            time(crash.after),
            number(survived.orders),
            number(survived.payments),
            time(crash.recovery),
            lost(survived.missing),
            crash.oldest.map_or_else(Cell::absent, time),
            lost(survived.vanished),
            number(survived.unacknowledged),
            if broken == 0 {
                Cell::text("hold")
            } else {
                Cell::text(format!("{broken} broken")).with_tone(Tone::Missed)
            },
        ]
    });
    Table {
        title: String::new(),
        note: "orders, payments: acknowledged before the kill; missing: of these; oldest: its age at the \
               kill; gone: from before the terminals began; not acknowledged: there all the same, one a \
               terminal at the most"
            .to_owned(),
        headers: vec![
            Header::words("kill"),
            Header::numbers("after", ""),
            Header::numbers("orders", ""),
            Header::numbers("payments", ""),
            Header::numbers("back in", ""),
            Header::numbers("missing", ""),
            Header::numbers("oldest", ""),
            Header::numbers("gone", ""),
            Header::numbers("not acknowledged", ""),
            Header::words("conditions"),
        ],
        rows: rows.collect(),
    }
}

/// What `--format json` prints; documented in docs/crash-check.md.
#[derive(Serialize)]
struct Output<'a> {
    system: &'a str,
    durability: Option<&'static str>,
    warehouses: u32,
    items: u32,
    customers: u32,
    clients: u32,
    seconds: u32,
    verdict: Verdict,
    found: Option<&'a str>,
    kills: Vec<Round>,
}

/// One kill and what it left.
#[derive(Serialize)]
struct Round {
    kill: u32,
    verdict: Verdict,
    after_seconds: f64,
    recovery_seconds: f64,
    orders: u64,
    payments: u64,
    missing: u64,
    oldest_missing_seconds: Option<f64>,
    missing_first: Vec<String>,
    gone: u64,
    not_acknowledged: u64,
    conditions: usize,
    broken: Vec<String>,
}

fn as_json<'a>(outcome: &'a Outcome<'_>) -> Output<'a> {
    let TpccCardinality { items, customers } = outcome.workload.cardinality;
    let kill = |crash: &Crash| {
        let survived = &crash.survived;
        let broken = crash
            .broken()
            .map(|one| format!("{}: {}", one.what, one.actual));
        Round {
            kill: crash.round,
            verdict: outcome.terms.judge(crash),
            after_seconds: crash.after.as_secs_f64(),
            recovery_seconds: crash.recovery.as_secs_f64(),
            orders: survived.orders,
            payments: survived.payments,
            missing: survived.missing,
            oldest_missing_seconds: crash.oldest.map(Nanos::as_secs_f64),
            missing_first: survived.shown.iter().map(|one| one.what.clone()).collect(),
            gone: survived.vanished,
            not_acknowledged: survived.unacknowledged,
            conditions: crash.conditions.len(),
            broken: broken.collect(),
        }
    };
    Output {
        system: &outcome.system.name,
        durability: outcome.terms.durability.map(explain::Durability::text),
        warehouses: outcome.workload.warehouses,
        items,
        customers,
        clients: outcome.workload.clients,
        seconds: outcome.seconds,
        verdict: outcome.verdict(),
        found: outcome.kept.as_deref(),
        kills: outcome.crashes.iter().map(kill).collect(),
    }
}
