//! Where the numbers come from, in enough detail to get them again.

use maud::{Markup, html};
use model::{BuildSource, Host, System};

use super::table::{folded, table};
use crate::view::View;
use crate::{format, tables};

pub(super) fn provenance(view: &View<'_>) -> Markup {
    let info = &view.input.data.info;
    html! {
        section #provenance {
            h2 { "Provenance" }
            (facts(&[
                ("run", info.id.to_string()),
                ("started", info.started.clone()),
                ("state", info.state.word().to_owned()),
                ("seed", info.plan.seed.to_string()),
                ("rounds", info.plan.rounds.to_string()),
                ("base", view.base.to_owned()),
                ("workload", format!("{}, {}", info.plan.workload.name(), clients(view))),
                ("backslide", info.backslide.clone()),
                ("report", view.input.generated.to_owned()),
            ]))
            h3 { "Host" }
            @if info.is_imported() {
                (facts(&[("CPUs", cpus_where_known(&info.host))]))
            } @else {
                (facts(&host(&info.host)))
            }
            h3 { "Systems" }
            @for system in &info.plan.systems { (one_system(view, system)) }
            @if let Some(settings) = tables::view_settings(view) { (table(&settings)) }
            (differing(view))
            (folded(&tables::view_trials(view)))
            (repeat(view))
        }
    }
}

fn clients(view: &View<'_>) -> String {
    match &view.sweep {
        Some(sweep) => {
            let counts: Vec<String> = sweep.clients.iter().map(u32::to_string).collect();
            format!("{} clients", counts.join(", "))
        }
        None => format::plural(
            view.input.data.info.plan.workload.clients() as usize,
            "client",
        ),
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
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "not known".to_owned());
    vec![
        ("name", host.name.clone()),
        ("CPU", host.cpu_model.clone()),
        (
            "CPUs",
            format!(
                "{}, threads per core: {}",
                host.shape.cpus, host.threads_per_core
            ),
        ),
        ("memory", host.shape.memory.to_string()),
        ("system", format!("{}, kernel {}", host.os, host.kernel)),
        (
            "virtualisation",
            host.virtualization
                .clone()
                .unwrap_or_else(|| "none seen".to_owned()),
        ),
        ("governor", or_unknown(&host.governor)),
        ("clock source", or_unknown(&host.clock_source)),
        ("huge pages", or_unknown(&host.thp)),
        ("swap", host.swap.to_string()),
        (
            "disk",
            format!(
                "{} on {}, {} of {} free",
                host.disk.filesystem,
                host.disk.device.as_deref().unwrap_or("no device"),
                host.disk.free,
                host.disk.size
            ),
        ),
        ("mounted", host.disk.options.clone()),
    ]
}

/// Of the host of an imported run no more is known.
fn cpus_where_known(host: &Host) -> String {
    match host.shape.cpus {
        0 => "not known".to_owned(),
        cpus => cpus.to_string(),
    }
}

fn one_system(view: &View<'_>, system: &System) -> Markup {
    let said = view
        .input
        .data
        .trials
        .iter()
        .find(|t| t.system == system.name);
    let source = match &system.build.source {
        BuildSource::Embedded => "compiled into backslide".to_owned(),
        BuildSource::Path(path) => path.clone(),
        BuildSource::Installed { origin, digest, .. } => {
            format!("{origin}, files {}", digest.get(..12).unwrap_or(digest))
        }
        BuildSource::Connect(address) => format!("a running server at {address}"),
        BuildSource::Imported(file) => format!("measured by another tool, imported from {file}"),
    };
    let cpus = |list: &str| {
        if list.is_empty() {
            "all".to_owned()
        } else {
            list.to_owned()
        }
    };
    let set: Vec<String> = system
        .set
        .iter()
        .map(|(k, v)| format!("{k} = {v}"))
        .collect();
    let settings: Vec<String> = system
        .config
        .settings
        .iter()
        .map(ToString::to_string)
        .collect();
    html! {
        details {
            summary { (system.name) }
            (facts(&[
                ("build", format!("{}, {}", system.build.id(), system.build.version_line)),
                ("from", source),
                ("engine", system.engine.to_string()),
                ("config", format!("{}: {}", system.config.name, system.config.summary)),
                ("on top", if set.is_empty() { "nothing".to_owned() } else { set.join(", ") }),
                ("CPUs", format!("server {}, client {}", cpus(&system.cpus.server), cpus(&system.cpus.client))),
            ]))
            @if let Some(trial) = said {
                @let said: Vec<(&str, String)> = trial.provenance.iter().map(|(k, v)| (k.as_str(), v.clone())).collect();
                @if !said.is_empty() { p.note { "What the server said of itself:" } (facts(&said)) }
            }
            @if view.input.data.info.is_imported() {
                p.nothing { "Its settings are not known." }
            } @else if settings.is_empty() {
                p.nothing { "The config sets nothing." }
            } @else {
                p.note { "The config in full:" }
                pre tabindex="0" { (settings.join("\n")) }
            }
        }
    }
}

fn differing(view: &View<'_>) -> Markup {
    let differing = tables::view_differing(view);
    html! {
        @if view.input.differing.is_none() {
            p.nothing { "Server variables were not captured." }
        } @else if differing.is_empty() {
            p.nothing { "No captured server variable differs between the systems." }
        }
        @for one in &differing { (folded(one)) }
    }
}

fn repeat(view: &View<'_>) -> Markup {
    let info = &view.input.data.info;
    if info.is_imported() {
        return html! {
            h3 { "To repeat it" }
            p { "Another tool measured this. What was imported, as it was named:" }
            pre tabindex="0" { (info.plan.source) }
        };
    }
    let file = file_name(&info.plan.name);
    html! {
        h3 { "To repeat it" }
        p { "Save the plan below as " code { (file) } " and run it with backslide " (info.backslide)
            ". The same plan and the same seed (" (info.plan.seed) ") give the same rows, the same keys and the same order of trials." }
        pre tabindex="0" {
            "backslide plan " (file) "\nbackslide run " (file)
            "\nbackslide compare " (info.id) "\nbackslide report " (info.id) " -o report.html"
        }
        p.note { "The plan as it was read:" }
        pre tabindex="0" { (info.plan.source) }
    }
}

/// A plan's name as a file name that no shell takes apart.
fn file_name(name: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '-'
        }
    };
    let stem: String = name.chars().map(safe).collect();
    format!("{}.toml", stem.trim_start_matches(['-', '.']))
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn no_shell_takes_it_apart() {
        assert_eq!(file_name("mysql-5.6-to-9.7"), "mysql-5.6-to-9.7.toml");
        assert_eq!(file_name("-a b;$(c)"), "a-b---c-.toml");
    }
}
