//! In what the systems differ: settings and server variables, a row each, a column a system; and all trials.

use std::collections::BTreeSet;

use explain::{Names, Overview, Reason};
use model::{HostRounds, Nanos, Outcome, Placement, Plan, System, TrialRecord};

use crate::{Cell, Columns, Header, Report, Table, Tone, format, rounds};

impl Report<'_> {
    /// Settings whose values differ between the systems' configs; `None` when there are none.
    pub fn settings(&self) -> Option<Table> {
        let planned = &self.input.data.info.plan.systems;
        let names: BTreeSet<&str> = planned
            .iter()
            .flat_map(|s| s.config.settings.iter().map(|o| o.name.as_str()))
            .collect();
        let value = |system: &str, name: &str| {
            let config = &self.input.data.info.plan.system(system)?.config;
            // The last one counts, as it does for the server.
            let setting = config.settings.iter().rev().find(|o| o.name == name)?;
            Some(setting.value.clone().unwrap_or_else(|| "set".to_owned()))
        };
        let row = |name: &str| {
            let values = self.systems.iter().map(|s| value(s.name, name));
            let values: Vec<Option<String>> = values.collect();
            let cells = values.iter().map(|v| v.as_ref().map_or_else(Cell::absent, Cell::text));
            let differ = values.windows(2).any(|w| w.first() != w.last());
            differ.then(|| std::iter::once(Cell::text(name)).chain(cells).collect())
        };
        let columns = self.systems.iter().map(|s| Header::words(s.name));
        let headers = std::iter::once(Header::words("name")).chain(columns).collect();
        let title = "Settings that differ between configs";
        let note = "A dash stands for a setting that the config leaves at the server's default.";
        Table::new(title, note, headers, names.into_iter().filter_map(row)).unless_empty()
    }

    /// On which CPUs each system was measured, where they do not share them.
    pub(crate) fn placements(&self) -> Option<Table> {
        let systems = &self.input.data.info.plan.systems;
        if shared_placement(systems).is_some() {
            return None;
        }
        let note = "The CPUs of the server and of the client; free where the kernel decides.";
        let columns = Columns::new()
            .words("system", |system: &&System| Cell::text(&system.name))
            .words("placement", |system| Cell::text(system.placement()));
        Some(columns.table("Placement of each system", note, systems))
    }

    /// The hosts of a run that was merged from parts; `None` where one measured all.
    pub(crate) fn hosts(&self) -> Option<Table> {
        let hosts = &self.input.data.info.hosts;
        let columns = Columns::new()
            .words("host", |one: &&HostRounds| Cell::text(&one.host.name))
            .words("CPU", |one| Cell::text(&one.host.cpu_model))
            .numbers("CPUs", "", |one| Cell::count(one.host.shape.cpus.into()))
            .words("memory", |one| Cell::text(one.host.shape.memory.to_string()))
            .words("kernel", |one| Cell::text(&one.host.kernel))
            .words("rounds", |one| Cell::text(format::joined(&one.rounds, ", ")));
        let note = match hosts.len() {
            0 => return None,
            1 => "",
            2 => TWO_HOSTS,
            _ => MANY_HOSTS,
        };
        let title = format!("Measured on {}", format::plural(hosts.len(), "host"));
        Some(columns.table(title, note, hosts))
    }

    /// For each Dbms a table of the values that differ, then one of the names that only some systems have.
    pub fn differing(&self) -> Vec<Table> {
        let Some(differing) = &self.input.differing else { return Vec::new() };
        let tables = differing.variables.iter().flat_map(|overview| {
            std::iter::once(values(self, overview)).chain((!self.is_brief).then(|| names(overview)))
        });
        tables.filter(|table| !table.rows.is_empty()).collect()
    }
}

/// The placement that all systems share, in words; `None` where it is not the same.
pub(crate) fn shared_placement(systems: &[System]) -> Option<String> {
    let first = systems.first()?.placement();
    systems.iter().all(|system| system.placement() == first).then_some(first)
}

/// The placement of each system in words: `a: together on CPU 1; b: free`.
pub(crate) fn each_placement(systems: &[System]) -> String {
    let each = systems.iter().map(|system| format!("{}: {}", system.name, system.placement()));
    format::joined(each, "; ")
}

/// The placement of a plan's systems, in lines of plain text; none where all are free.
pub fn placement_lines(systems: &[System]) -> Vec<String> {
    match shared_placement(systems) {
        Some(words) if words == Placement::default().words() => Vec::new(),
        Some(words) => vec![format!("placement: {words}")],
        None => systems
            .iter()
            .map(|system| format!("placement of {}: {}", system.name, system.placement()))
            .collect(),
    }
}

fn values(report: &Report<'_>, overview: &Overview) -> Table {
    let systems = overview.systems.iter().map(String::as_str);
    let heads = std::iter::once("variable").chain(systems);
    let headers = heads.chain(["why it differs", "group", "why it matters"]).map(Header::words);
    let rows = overview.rows.iter().map(|row| {
        let kinds = format::joined(row.kinds.iter().map(|kind| kind.name()), ", ");
        let matters = row.matters.as_deref().unwrap_or_default();
        let values = std::iter::once(&row.name).chain(&row.values).map(Cell::text);
        values.chain([kinds.as_str(), &row.group, matters].map(Cell::text)).collect()
    });
    let title = format!("Server variables that differ{}", of_dbms(report, overview));
    let note = "Values reported by the servers, compared with the first system; lists show only the parts that some systems lack. Variables known to matter come first, and variables that no config sets precede those set on purpose.";
    Table::new(title, note, headers.collect(), rows)
}

fn names(overview: &Overview) -> Table {
    let base = overview.systems.first().map_or("the base", String::as_str);
    Columns::new()
        .words("compared", |names: &&Names| Cell::text(&names.system))
        .words("only in", |names| {
            Cell::text(if names.kind == Reason::Gone { base } else { &names.system })
        })
        .words("group", |names| Cell::text(&names.group))
        .words("variables", |names| Cell::text(names.names.join(", ")))
        .table("Server variables that only some systems have", "", &overview.names)
}

/// Which systems a table is of, where there is one for each Dbms.
fn of_dbms(report: &Report<'_>, overview: &Overview) -> String {
    let is_only =
        report.input.differing.as_ref().is_none_or(|differing| differing.variables.len() < 2);
    let first = overview.systems.first().and_then(|name| report.input.data.info.plan.system(name));
    match first {
        Some(system) if !is_only => format!(": {}", system.build.dbms),
        _ => String::new(),
    }
}

const TWO_HOSTS: &str = "Each host measured all systems of its rounds. Two hosts cannot show how much hosts favour systems. The rounds are the replicates, and the intervals are about these two hosts only.";

const MANY_HOSTS: &str = "Each host measured all systems of its rounds. A host may favour a system, so the mean ratios of the hosts are the replicates.";

const ORDER: &str =
    "Each round holds every system once, in random order or in the reverse of the round before.";

impl Report<'_> {
    /// All trials in the order in which they started, with their outcome.
    pub fn trials(&self) -> Table {
        let data = self.input.data;
        let is_imported = data.info.is_imported();
        let (title, note) = if is_imported {
            (
                "Trials as they were imported",
                "The order of measurement is unknown. Durations are sums over the steps, where the files give them.".to_owned(),
            )
        } else {
            let planned = data.info.plan.last_planned_round();
            let has_added = !data.info.plan.course.added.is_empty();
            let added = if has_added { ", except profiled and counted ones" } else { "" };
            let again = match rounds::again(data) {
                0 => String::new(),
                _ => format!(" Rounds after {planned} take the place of disturbed ones{added}."),
            };
            let at_once = data.info.plan.course.interleave.is_at_once();
            let overlap = if at_once { " The trials of a round overlap in time." } else { "" };
            ("Trials in start order", format!("{ORDER}{overlap}{again}"))
        };
        Columns::new()
            .column(Header::words("system").kept_whole(), |trial: &&TrialRecord| {
                Cell::text(&trial.system)
            })
            .numbers("round", "", |trial| Cell::count(trial.round.into()))
            .numbers("place", "", |trial| Cell::count(trial.position.into()))
            .column(Header::words("started").kept_whole().spared(1), |trial| {
                Cell::text(&trial.started)
            })
            .numbers("took", "", |trial| took(trial.duration))
            .words("outcome", |trial| outcome(&data.info.plan, trial))
            .table(title, note, &data.trials)
    }
}

fn outcome(plan: &Plan, trial: &TrialRecord) -> Cell {
    match &trial.outcome {
        Outcome::Completed => Cell::text("completed"),
        Outcome::Profiled if plan.is_counted(trial.round) => Cell::text("counted"),
        Outcome::Profiled => Cell::text("profiled"),
        Outcome::Failed { step, .. } => {
            let place = step.as_ref().map_or(String::new(), |s| format!(" in {s}"));
            Cell::text(format!("failed{place}")).with_tone(Tone::Missed)
        }
        Outcome::Quarantined { .. } => Cell::text("quarantined").with_tone(Tone::Missed),
    }
}

/// Zero where it is not known.
fn took(duration: Nanos) -> Cell {
    if duration.0 == 0 {
        Cell::text("–")
    } else {
        Cell::number(duration.as_secs_f64(), duration.to_string())
    }
}
