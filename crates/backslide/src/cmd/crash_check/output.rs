//! What a crash check prints: for people while it goes on and at its end, and for programs.

use explain::Durability;
use lab::Crash;
use model::{Nanos, System, TpccCardinality, TpccSpec};
use report::format::{count, plural};
use report::{Cell, Columns, Table, Tone, object};
use serde::Serialize;

use super::verdict::{Terms, Verdict, age};
use crate::args::Format;
use crate::printer::Printer;
use crate::table::{self, time};

const OF_THE_SERVER: &str = "SIGKILL loses what the server holds in memory and keeps what \
                             the kernel has: this does not test a crash of the machine.";

pub(super) struct Outcome<'a> {
    pub(super) system: &'a System,
    pub(super) workload: &'a TpccSpec,
    /// The latest moment of a kill, in seconds after the first commit.
    pub(super) seconds: u32,
    pub(super) terms: Terms,
    /// At least one.
    pub(super) crashes: &'a [Crash],
    pub(super) kept: Option<String>,
}

impl Outcome<'_> {
    pub(super) fn verdict(&self) -> Verdict {
        let verdicts = self.crashes.iter().map(|crash| self.terms.judge(crash));
        verdicts.max().unwrap_or(Verdict::NothingLost)
    }

    fn promise(&self) -> String {
        let name = &self.system.name;
        match self.terms.durability.map(Durability::text) {
            Some(text) => format!("With the settings of {name}, a commit {text}."),
            None => format!(
                "The settings of {name} could not be read; backslide judges them as if they promised to keep \
                 every commit."
            ),
        }
    }

    fn conclusion(&self) -> String {
        let kills = plural(self.crashes.len(), "kill");
        let sum = |of: fn(&Crash) -> u64| self.crashes.iter().map(of).sum::<u64>();
        let acknowledged = count(sum(acknowledged));
        match (self.verdict(), &self.kept) {
            (Verdict::Lost, Some(found)) => format!("lost: {found}"),
            (Verdict::Lost, None) => "lost".to_owned(),
            (Verdict::NothingLost, _) => format!(
                "nothing lost: all {acknowledged} orders and payments that were acknowledged before {kills} are \
                 there, and all conditions hold"
            ),
            (Verdict::LostAsAllowed, _) => {
                let oldest = self.crashes.iter().filter_map(|crash| crash.oldest).max();
                let oldest = oldest.map_or(String::new(), |age| format!(", the oldest {age} old"));
                let missing = count(sum(|crash| crash.survived.missing));
                format!(
                    "lost as the settings allow: {missing} of {acknowledged} orders and payments that were acknowledged \
                     before {kills} are missing{oldest} at the kill; all conditions hold"
                )
            }
        }
    }
}

fn acknowledged(crash: &Crash) -> u64 {
    crash.survived.orders + crash.survived.payments
}

pub(super) fn beginning(system: &System, workload: &TpccSpec) -> String {
    let TpccCardinality { items, customers } = workload.cardinality;
    let (items, customers) = (count(u64::from(items)), count(u64::from(customers)));
    let warehouses = plural(workload.warehouses as usize, "warehouse");
    let terminals = plural(workload.clients as usize, "terminal");
    let more = if workload.cardinality == TpccCardinality::STANDARD {
        ""
    } else {
        ", a tenth of the standard's (--standard for all)"
    };
    format!(
        "{}: loading {warehouses} of {items} items and {customers} customers a district{more}, for {terminals}",
        system.name
    )
}

pub(super) fn line(crash: &Crash, terms: Terms, times: u32) -> String {
    let found = match terms.judge(crash) {
        Verdict::NothingLost => "nothing lost".to_owned(),
        Verdict::LostAsAllowed => {
            let lost = count(crash.survived.missing + crash.survived.vanished);
            format!("lost as the settings allow: {lost}{}", age(crash))
        }
        Verdict::Lost => terms.found(crash).join("; "),
    };
    let (Crash { round, after, recovery, .. }, commits) = (crash, count(acknowledged(crash)));
    format!(
        "kill {round} of {times}: after {after} with {commits} commits, back in {recovery}: {found}"
    )
}

pub(super) fn print(printer: Printer, outcome: &Outcome<'_>, format: Format) {
    match format {
        Format::Json => printer.json(&fields(outcome)),
        Format::Text => {
            table::print(printer, &as_table(outcome));
            printer.prose(&outcome.conclusion());
            printer.prose(&outcome.promise());
            printer.prose(OF_THE_SERVER);
        }
    }
}

fn as_table(outcome: &Outcome<'_>) -> Table {
    let lost = |value: u64| match value {
        0 => table::count(0),
        _ => table::count(value).with_tone(Tone::Missed),
    };
    let conditions = |crash: &&Crash| match crash.broken().count() {
        0 => Cell::text("hold"),
        broken => Cell::text(format!("{broken} broken")).with_tone(Tone::Missed),
    };
    let note = "orders, payments: acknowledged before the kill; missing: those lost; oldest: age of the oldest at the kill; \
                gone: lost from before the terminals began; not acknowledged: present anyway, at most one a terminal";
    Columns::new()
        .words("kill", |crash: &&Crash| Cell::text(crash.round.to_string()))
        .numbers("after", "", |crash| time(crash.after))
        .numbers("orders", "", |crash| table::count(crash.survived.orders))
        .numbers("payments", "", |crash| table::count(crash.survived.payments))
        .numbers("back in", "", |crash| time(crash.recovery))
        .numbers("missing", "", |crash| lost(crash.survived.missing))
        .numbers("oldest", "", |crash| crash.oldest.map_or_else(Cell::absent, time))
        .numbers("gone", "", |crash| lost(crash.survived.vanished))
        .numbers("not acknowledged", "", |crash| table::count(crash.survived.unacknowledged))
        .words("conditions", conditions)
        .table("", note, outcome.crashes)
}

/// What `--format json` prints; documented in docs/crash-check.md.
fn fields(outcome: &Outcome<'_>) -> impl Serialize {
    let TpccCardinality { items, customers } = outcome.workload.cardinality;
    object! {
        system: outcome.system.name.clone(),
        durability: outcome.terms.durability.map(Durability::text),
        warehouses: outcome.workload.warehouses,
        items: items,
        customers: customers,
        clients: outcome.workload.clients,
        seconds: outcome.seconds,
        verdict: outcome.verdict(),
        found: outcome.kept.clone(),
        kills: outcome.crashes.iter().map(|crash| kill(crash, outcome.terms)).collect::<Vec<_>>(),
    }
}

fn kill(crash: &Crash, terms: Terms) -> impl Serialize + use<> {
    let survived = &crash.survived;
    let broken = crash.broken().map(|one| format!("{}: {}", one.what, one.actual));
    object! {
        kill: crash.round,
        verdict: terms.judge(crash),
        after_seconds: crash.after.as_secs_f64(),
        recovery_seconds: crash.recovery.as_secs_f64(),
        orders: survived.orders,
        payments: survived.payments,
        missing: survived.missing,
        oldest_missing_seconds: crash.oldest.map(Nanos::as_secs_f64),
        missing_first: survived.shown.iter().map(|one| one.what.clone()).collect::<Vec<_>>(),
        gone: survived.vanished,
        not_acknowledged: survived.unacknowledged,
        conditions: crash.conditions.len(),
        broken: broken.collect::<Vec<_>>(),
    }
}
