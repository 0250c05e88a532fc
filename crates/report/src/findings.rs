//! What a reader must know before believing the numbers.

use std::collections::BTreeSet;

use explain::{Durability, Warning};
use model::{Cell, MetricId, NoteKind, RunState, Step, StepClass, StepNote};

use crate::format::{self, plural};
use crate::report::At;
use crate::{Finding, Report, Transactions, builds, rounds, tables, transactions};

/// A client that burns more than this share of what client and server burn together hides part of
/// every difference between servers.
const CLIENT_SHARE: f64 = 0.25;

/// Per cent of one CPU that may be stolen before a machine counts as disturbed.
const STEAL_PERCENT: f64 = 2.0;

/// The same of what processes used that are neither server nor client; the usual limit of a quarantine.
pub(crate) const FOREIGN_PERCENT: f64 = 30.0;

impl<'a> Report<'a> {
    /// The input's own findings, then those that the data shows.
    pub fn findings(&self) -> Vec<Finding> {
        let own = self.input.findings.iter().cloned();
        let of_trials = [imported, unfinished, failed, quarantined, costs];
        let of_values = [unsustained, limits, cardinality, client, steal, foreign];
        let found = of_trials.iter().map(|find| find(self)).chain([noted(self, &CUT_SHORT)]);
        let found = found
            .chain([placements(self), in_turns(self), not_durable(self), builds::finding(self)])
            .chain(NOTED.iter().map(|of| noted(self, of)));
        own.chain(found.chain(of_values.iter().map(|find| find(self))).flatten()).collect()
    }

    /// The conditions in which systems differ and should not, each as a line of plain text.
    pub fn unequal(&self) -> Vec<String> {
        let line = |warning: &Warning| format!("{}: {}", warning.condition, warning.line());
        self.unequal_conditions().iter().map(line).collect()
    }

    pub(crate) fn unequal_conditions(&self) -> &'a [Warning] {
        let differing = self.input.differing.as_ref();
        differing.map_or(&[], |differing| &differing.unequal)
    }
}

pub(crate) const UNEQUAL: &str = "These settings differ and affect fairness";

fn imported(report: &Report<'_>) -> Option<Finding> {
    report.input.data.info.is_imported().then(|| Finding {
        title: "Another tool measured this".to_owned(),
        text: "The numbers were imported. Host, settings and the order of measurement are unknown; a temporary disturbance of one system looks like a difference.".to_owned(),
    })
}

type Noted = (NoteKind, &'static str);

const CUT_SHORT: Noted = (NoteKind::CutShort, "A step was given up");

/// The title of the findings made of notes of each kind.
const NOTED: [Noted; 8] = [
    (NoteKind::Settle, "The settle phase was incomplete"),
    (NoteKind::NotDrained, "Pending work of writes overlapped later steps"),
    (NoteKind::NotSteady, "A rate was not steady when its measured window opened"),
    (NoteKind::ConnectionsLost, "Connections were lost"),
    (NoteKind::SentAsText, "Not every statement was prepared"),
    (NoteKind::NotPipelined, "Not every operation was pipelined"),
    (NoteKind::NoRowsFound, "Statements changed nothing"),
    (NoteKind::LimitNotKept, "The limit on response time was not kept in the measured window"),
];

/// What is noted of imported costs; it is the same for most steps, so that these are not named.
fn costs(report: &Report<'_>) -> Option<Finding> {
    let notes = report.input.data.notes.iter().filter(|note| note.what == NoteKind::Costs);
    let texts: BTreeSet<&str> = notes.map(|note| note.text.as_str()).collect();
    let texts: Vec<&str> = texts.into_iter().take(MOST).collect();
    (!texts.is_empty()).then(|| Finding {
        title: "Another tool computed the costs from its samples".to_owned(),
        text: format!("{}.", texts.join("; ")),
    })
}

/// Systems that had other CPUs than the first: what differs may be that.
fn placements(report: &Report<'_>) -> Option<Finding> {
    let systems = &report.input.data.info.plan.systems;
    let first = systems.first()?;
    let each = tables::each_placement(systems);
    let is_shared = systems.iter().all(|system| system.is_placed_as(first));
    (!is_shared).then(|| Finding {
        title: "The systems have different placements".to_owned(),
        text: format!("{each}. Placement may explain differences between them."),
    })
}

/// Of steps that write: what differs between systems is among the conditions.
fn not_durable(report: &Report<'_>) -> Option<Finding> {
    let durability = report.input.differing.as_ref()?.durability?;
    let writes = report.steps.iter().any(|step| step.class != StepClass::Reading);
    (writes && durability != Durability::Machine).then(|| Finding {
        title: "No durable commits".to_owned(),
        text: format!(
            "In every system, a commit {}. With each commit synced to the disk, the ratios may differ.",
            durability.text()
        ),
    })
}

fn in_turns(report: &Report<'_>) -> Option<Finding> {
    let text = report.input.data.info.plan.changed_in_turns()?;
    Some(Finding { title: "Turns change what a server does".to_owned(), text })
}

fn unfinished(report: &Report<'_>) -> Option<Finding> {
    let data = report.input.data;
    let plan = &data.info.plan;
    let rounds = plan.rounds as usize + rounds::again(data);
    let at_most = plan.course.first_look.map_or("", |_| "at most ");
    let planned = format!("{at_most}{}", plural(plan.trials_a_round() as usize * rounds, "trial"));
    let trials = data.trials.iter();
    let outcomes = trials.map(|trial| (trial.round, &trial.outcome));
    let disturbed = rounds::disturbed_rounds(plan, outcomes);
    let told = disturbed.map_or_else(String::new, |rounds| format!("; {rounds}"));
    let (ended, id) = (data.trials.len(), &data.info.id);
    (data.info.state == RunState::Unfinished).then(|| Finding {
        title: "The run is not finished".to_owned(),
        text: format!(
            "{ended} of {planned} ended so far{told}. If nothing measures it now, `backslide run --resume {id}` continues it."
        ),
    })
}

fn failed(report: &Report<'_>) -> Option<Finding> {
    let trials = &report.input.data.trials;
    let count = trials.iter().filter(|trial| trial.outcome.is_failed()).count();
    let id = &report.input.data.info.id;
    (count > 0).then(|| Finding {
        title: format!("{} failed", plural(count, "trial")),
        text: format!(
            "Tables exclude failed trials; `backslide show {id}` prints the reasons and the server's last lines."
        ),
    })
}

/// Trials that something else disturbed by more than the plan allows: the first few, and how many there are.
fn quarantined(report: &Report<'_>) -> Option<Finding> {
    let trials = report.input.data.trials.iter();
    let lines = trials.filter_map(|trial| {
        let reason = trial.outcome.quarantined_for()?;
        Some(format!("{}, round {}: {reason}.", trial.system, trial.round))
    });
    let lines: Vec<String> = lines.collect();
    let used = if report.input.data.counts_disturbed() {
        "Too few rounds were undisturbed for a verdict. Tables therefore include these trials: intervals are wide, and the host may have caused a difference. Repeat the run on a quiet host."
    } else {
        "Tables exclude these trials, and backslide re-runs the round, up to the plan's limit."
    };
    (!lines.is_empty()).then(|| Finding {
        title: format!("Quarantined: {}", plural(lines.len(), "trial")),
        text: format!(
            "The host was disturbed by more than the plan allows. {used} {}",
            first_few(lines)
        ),
    })
}

/// Notes that are told by one heading at most; what is more is counted.
const MOST: usize = 5;

/// What the steps noted under one heading, each text once with the first step that has it.
fn noted(report: &Report<'_>, (what, title): &Noted) -> Option<Finding> {
    let mut seen = BTreeSet::new();
    let notes = report.input.data.notes.iter().filter(|note| note.what == *what);
    let once = notes.filter(|note| seen.insert(note.text.as_str()));
    let lines = once.map(|StepNote { step, system, round, text, .. }| {
        format!("{step} of {system}, round {round}: {text}.")
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| Finding { title: (*title).to_owned(), text: first_few(lines) })
}

/// The first of these sentences, and how many more there are.
fn first_few(lines: Vec<String>) -> String {
    format::first(MOST, lines, |more| format!("And {more} more.")).join(" ")
}

/// In how many steps an offered rate was not sustained, and what that means for response times; of which systems
/// and how far, their sentences say.
fn unsustained(report: &Report<'_>) -> Option<Finding> {
    let failed = |step: &&Step| report.each_at(step).any(At::is_unsustained);
    let count = report.steps.iter().filter(failed).count();
    (count > 0).then(|| Finding {
        title: "An offered rate was not sustained".to_owned(),
        text: format!(
            "In {}, arrivals were shed or their queue kept growing: response times there reflect the length of the step, not the speed of the system.",
            plural(count, "step")
        ),
    })
}

/// Kinds of transactions that missed their limit on response time: the first few, and how many there are.
fn limits(report: &Report<'_>) -> Option<Finding> {
    let lines = Transactions::of(report)?.steps.into_iter().flat_map(|step| {
        report.each_at(step).filter_map(move |at| {
            let missed = at.all_missed().join(", ");
            let line = || format!("{} of {}: {missed}", report.label(step), at.system.name);
            (!missed.is_empty()).then(line)
        })
    });
    let missed = format::first(MOST, lines.collect(), |more| format!("and {more} more"));
    (!missed.is_empty()).then(|| Finding {
        title: "A limit on response time was missed".to_owned(),
        text: format!(
            "{}. In at least one round, fewer than nine in ten of these transactions kept their limit; they still count in throughput.",
            missed.join("; ")
        ),
    })
}

/// A database that is smaller than the standard's is for tests.
fn cardinality(report: &Report<'_>) -> Option<Finding> {
    let rows = transactions::other_cardinality(report)?;
    Some(Finding {
        title: "The tables do not have the standard's rows".to_owned(),
        text: format!(
            "There were {rows}. Such a database is for tests only: do not compare this run with others."
        ),
    })
}

fn client(report: &Report<'_>) -> Option<Finding> {
    let (share, at) = highest(report, CLIENT_SHARE, At::client_share)?;
    let (step, share) = (report.label(at.step), format::percent(100.0 * share));
    Some(Finding {
        title: "The client is a large part of the cost".to_owned(),
        text: format!(
            "In {step} it used {share} % of the CPU time of client and server together ({}). Differences between servers look smaller than they are; read the server's own cost per operation.",
            at.system.name
        ),
    })
}

fn steal(report: &Report<'_>) -> Option<Finding> {
    let is_above = |cell: &&Cell| cell.metric.0 == MetricId::STEAL && cell.value > STEAL_PERCENT;
    let above = report.input.data.cells.iter().filter(is_above);
    let worst = above.max_by(|a, b| a.value.total_cmp(&b.value))?;
    let Cell { system, step, round, value, .. } = worst;
    Some(Finding {
        title: "The hypervisor took CPU time away".to_owned(),
        text: format!(
            "Up to {} % of one CPU was stolen ({system}, {step}, round {round}). Trust cost per operation over throughput, or measure on a dedicated machine.",
            format::percent(*value)
        ),
    })
}

fn foreign(report: &Report<'_>) -> Option<Finding> {
    let (percent, at) = highest(report, FOREIGN_PERCENT, |at| at.median(MetricId::FOREIGN))?;
    let (step, percent) = (report.label(at.step), format::percent(percent));
    Some(Finding {
        title: "Other programs used the CPUs".to_owned(),
        text: format!(
            "In {step}, processes that are neither server nor client took {percent} % of one CPU ({}, median of its rounds). Trust costs of server and client over throughput, or measure on a quiet machine. Costs of the host explain nothing in such steps.",
            at.system.name
        ),
    })
}

/// The system and step where a value is highest: if it is above the limit.
fn highest<'r>(
    report: &'r Report<'_>,
    limit: f64,
    value: impl Fn(At<'r>) -> Option<f64>,
) -> Option<(f64, At<'r>)> {
    let all = report.steps.iter().flat_map(|step| report.each_at(step));
    let values = all.filter_map(|at| Some((value(at)?, at)));
    values.filter(|(value, _)| *value > limit).max_by(|a, b| a.0.total_cmp(&b.0))
}
