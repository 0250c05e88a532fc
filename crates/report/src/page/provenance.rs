//! Where the numbers come from, in enough detail to get them again, and the commands that do so.

use maud::{Markup, html};
use model::{BuildFacts, BuildSource, DiskFacts, Host, Step, System};

use super::sections::part;
use super::table::folded;
use crate::rounds::rounds;
use crate::{Report, Table, format};

/// Systems that tables have no room for have a line each.
pub(super) fn provenance(report: &Report<'_>, listed: &Report<'_>) -> Markup {
    let info = &report.input.data.info;
    let is_listed = |system: &&System| listed.systems.iter().any(|s| s.name == system.name);
    let (shown, others): (Vec<&System>, Vec<&System>) =
        info.plan.systems.iter().partition(is_listed);
    let content = html! {
        (facts(&[
            ("run", info.id.to_string()),
            ("started", info.started.clone()),
            ("state", info.state.word().to_owned()),
            ("seed", info.plan.seed.to_string()),
            ("rounds", rounds(report.input.data)),
            ("base", report.base.to_owned()),
            ("workload", format!("{}, {}", info.plan.workload.name(), clients(report))),
            ("backslide", info.backslide.clone()),
            ("report", report.input.generated.to_owned()),
        ]))
        details {
            summary { "Host" }
            @if info.is_imported() {
                // Of the host of an imported run no more is known.
                (facts(&[("CPUs", match info.host.shape.cpus {
                    0 => "not known".to_owned(),
                    cpus => cpus.to_string(),
                })]))
            } @else {
                (facts(&host(&info.host)))
            }
        }
        @if let Some(hosts) = report.hosts() { (folded(&hosts)) }
        h3 { "Systems" }
        @for system in shown { (one_system(report, system)) }
        @if !others.is_empty() {
            details {
                summary { (format::plural(others.len(), "other system")) }
                ul.prose {
                    @for system in others {
                        li { (system.name) ": " (system.build.id()) ", " (system.engine) ", config " (system.config.name) }
                    }
                }
            }
        }
        @if let Some(placements) = report.placements() { (folded(&placements)) }
        @if let Some(settings) = listed.settings() { (folded(&settings)) }
        (differing(report))
        (folded(&report.trials()))
        (repeat(report))
    };
    part("provenance", "Provenance", &content)
}

fn clients(report: &Report<'_>) -> String {
    match &report.sweep {
        Some(sweep) => format!("{} clients", format::joined(&sweep.clients, ", ")),
        None => format::plural(report.input.data.info.plan.clients() as usize, "client"),
    }
}

fn facts(list: &[(&str, String)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in list {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

fn host(host: &Host) -> Vec<(&'static str, String)> {
    let DiskFacts { filesystem, device, free, size, options, .. } = &host.disk;
    let device = device.as_deref().unwrap_or("no device");
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "not known".to_owned());
    vec![
        ("name", host.name.clone()),
        ("CPU", host.cpu_model.clone()),
        ("CPUs", format!("{}, threads per core: {}", host.shape.cpus, host.threads_per_core)),
        ("memory", host.shape.memory.to_string()),
        ("system", format!("{}, kernel {}", host.os, host.kernel)),
        ("virtualisation", host.virtualization.clone().unwrap_or_else(|| "none seen".to_owned())),
        ("governor", or_unknown(&host.governor)),
        ("clock source", or_unknown(&host.clock_source)),
        ("huge pages", or_unknown(&host.thp)),
        ("swap", host.swap.to_string()),
        ("disk", format!("{filesystem} on {device}, {free} of {size} free")),
        ("mounted", options.clone()),
    ]
}

fn one_system(report: &Report<'_>, system: &System) -> Markup {
    let said = report.input.data.trials.iter().find(|t| t.system == system.name);
    let source = match &system.build.source {
        BuildSource::Embedded => "compiled into backslide".to_owned(),
        BuildSource::Path(path) => path.clone(),
        BuildSource::Installed { origin, digest, .. } => {
            let compiled = compiled(&system.build.facts);
            format!("{origin}, files {}{compiled}", digest.get(..12).unwrap_or(digest))
        }
        BuildSource::Obtainable { origin } => origin.clone(),
        BuildSource::Connect(address) => format!("a running server at {address}"),
        BuildSource::Imported(file) => format!("measured by another tool, imported from {file}"),
    };
    let set = format::joined(system.set.iter().map(|(k, v)| format!("{k} = {v}")), ", ");
    let settings = format::joined(&system.config.settings, "\n");
    html! {
        details {
            summary { (system.name) }
            (facts(&[
                ("build", format!("{}, {}", system.build.id(), system.build.version_line)),
                ("from", source),
                ("engine", system.engine.to_string()),
                ("config", format!("{}: {}", system.config.name, system.config.summary)),
                ("on top", if set.is_empty() { "nothing".to_owned() } else { set }),
                ("placement", system.placement()),
            ]))
            @if let Some(trial) = said {
                @let said: Vec<(&str, String)> = trial.provenance.0.iter().map(|(fact, value)| (fact.word(), value.clone())).collect();
                @if !said.is_empty() { p.note { "Found when a trial began:" } (facts(&said)) }
            }
            @if report.input.data.info.is_imported() {
                p.nothing { "Its settings are not known." }
            } @else if settings.is_empty() {
                p.nothing { "The config sets nothing." }
            } @else {
                p.note { "The config in full:" }
                pre tabindex="0" { (settings) }
            }
        }
    }
}

/// How backslide compiled it; nothing where it did not.
fn compiled(facts: &BuildFacts) -> String {
    let compiler = facts.compiler.as_deref().unwrap_or("an unknown compiler");
    let said = facts.flags.as_ref().map(|flags| format!(", compiled by {compiler} with {flags}"));
    said.unwrap_or_default()
}

/// Columns from which on a table of variables is no use to a reader, and too large for the page.
const MANY: usize = 40;

fn differing(report: &Report<'_>) -> Markup {
    let differing = report.differing();
    let (shown, wide): (Vec<Table>, Vec<Table>) =
        differing.into_iter().partition(|table| table.headers.len() < MANY);
    html! {
        div #variables {
            @if report.input.differing.is_none() {
                p.nothing { "Server variables were not captured." }
            } @else if shown.is_empty() && wide.is_empty() {
                p.nothing { "No captured server variable differs between the systems." }
            }
            @for one in &shown { (folded(one)) }
            @for one in &wide {
                p.note {
                    (one.title) ": " (format::plural(one.rows.len(), "row")) " of " (format::plural(one.headers.len(), "column"))
                    ", too many for a page. Of two systems: " code { "backslide explain " (report.input.data.info.id) " --variables A B" } "."
                }
            }
        }
    }
}

fn repeat(report: &Report<'_>) -> Markup {
    let info = &report.input.data.info;
    if info.is_imported() {
        return html! {
            h3 #repeat { "To repeat the run" }
            p { "Another tool measured this. What was imported, as it was named:" }
            pre tabindex="0" { (info.plan.source) }
        };
    }
    let (file, run, base) = (file_name(&info.plan.name), word(&info.id.0), base(report));
    let commands = [
        format!("backslide plan {file}"),
        format!("backslide run {file}"),
        format!("backslide compare {run}{base}"),
        format!("backslide report {run}{base} -o report.html"),
    ];
    html! {
        h3 #repeat { "To repeat the run" }
        p { "Save the plan below as " code { (file) } " and run it with backslide " (info.backslide)
            ". The same plan and the same seed (" (info.plan.seed) ") give the same rows, the same keys and the same order of trials." }
        pre tabindex="0" { (commands.join("\n")) }
        details {
            summary { "The plan as it was read" }
            pre tabindex="0" { (info.plan.source) }
        }
    }
}

/// The commands of a step, behind a line that opens them.
pub(super) fn of_step(report: &Report<'_>, step: &Step) -> Markup {
    let is_imported = report.input.data.info.is_imported();
    html! {
        details {
            summary { "To repeat it" }
            @if !is_imported {
                p.note { "A step runs with the rest of its plan, given in full under " a href="#repeat" { "To repeat the run" } "." }
            }
            pre tabindex="0" { (lines(report, step, is_imported).join("\n")) }
        }
    }
}

fn lines(report: &Report<'_>, step: &Step, is_imported: bool) -> Vec<String> {
    let info = &report.input.data.info;
    let (run, base) = (word(&info.id.0), base(report));
    let mut lines = Vec::new();
    if !is_imported {
        lines.push(format!("backslide run {}", file_name(&info.plan.name)));
    }
    if report.has_candidates() {
        let (step, metric) = (word(&step.id.0), word(&step.metric.0));
        lines.push(format!("backslide compare {run}{base} --all"));
        lines.push(format!("backslide history {run} --step {step} --metric {metric}"));
    }
    if let Some(other) = report.judged().next().filter(|_| report.input.differing.is_some()) {
        let (base, other) = (word(report.base), word(other.name));
        lines.push(format!("backslide explain {run} --variables {base} {other}"));
    }
    lines
}

/// The base, where it is not the plan's.
fn base(report: &Report<'_>) -> String {
    let is_usual = report.base == report.input.data.info.plan.base;
    if is_usual { String::new() } else { format!(" --base {}", word(report.base)) }
}

/// The plan's name as a file name that no shell takes apart.
fn file_name(name: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }
    };
    let stem: String = name.chars().map(safe).collect();
    format!("{}.toml", stem.trim_start_matches(['-', '.']))
}

/// A word that a shell takes as it is.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./@=:+,%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format::in_shell_quotes(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shell_takes_it_apart() {
        assert_eq!(file_name("mysql-5.6-to-9.7"), "mysql-5.6-to-9.7.toml");
        assert_eq!(file_name("-a b;$(c)"), "a-b---c-.toml");
        assert_eq!(word("read-only_range=100@8"), "read-only_range=100@8");
        assert_eq!(word("9.7.4 with gtid"), "'9.7.4 with gtid'");
        assert_eq!(word("it's;$(c)"), "'it'\\''s;$(c)'");
        assert_eq!(word(""), "''");
    }
}
