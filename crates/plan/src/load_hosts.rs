//! Other hosts that take part: those that run the clients of a plan's measured steps, and the servers' own.

use model::System;

use crate::course::CourseEntry;
use crate::cpus::Cpus;
use crate::fields::Item;
use crate::kind::WorkloadKind;
use crate::{Place, Result};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoadHosts {
    hosts: Vec<String>,
    place: Place,
}

/// A list such as `["ssh:client1", "ssh:me@client2"]`.
pub(crate) fn read(item: Item<'_>) -> Result<LoadHosts> {
    let mut hosts: Vec<String> = Vec::new();
    for entry in item.list()? {
        let host = one(entry)?;
        if hosts.iter().any(|other| machine(other) == machine(&host)) {
            return Err(entry.conflict(format!(
                "`{}` is in `load_hosts` twice: its clients would share the CPUs of one host; name it once",
                machine(&host)
            )));
        }
        hosts.push(host);
    }
    Ok(LoadHosts { hosts, place: item.place() })
}

/// The host without the user who logs in.
fn machine(host: &str) -> &str {
    host.rsplit_once('@').map_or(host, |(_, machine)| machine)
}

/// Words of placement choose among the CPUs of this host, which are not those of load hosts.
pub(crate) fn check_cpus(cpus: &Cpus) -> Result<()> {
    match cpus {
        Cpus::Lists(..) => Ok(()),
        Cpus::Together(place) | Cpus::Apart(place) | Cpus::ClientOnly(place) => {
            Err(place.conflict(
                "`load_hosts` and a word that chooses CPUs of this host: list the CPUs of the load hosts, such as \
                 cpus = { client = \"0-3\" }, or write \"free\"",
            ))
        }
    }
}

/// The host that a text such as `ssh:db1` names.
pub(crate) fn one(item: Item<'_>) -> Result<String> {
    Ok(item.text_as("a host such as \"ssh:client1\"", host)?.to_owned())
}

/// What `ssh` is given, as one word that is no option.
fn host(text: &str) -> Option<&str> {
    let is_word = |host: &&str| {
        !host.is_empty() && !host.starts_with('-') && !host.contains(char::is_whitespace)
    };
    text.strip_prefix("ssh:").filter(is_word)
}

/// The systems with their load hosts, which are the same for all.
pub(crate) fn resolve(
    load_hosts: Option<&LoadHosts>,
    kind: WorkloadKind,
    course: &CourseEntry,
    mut systems: Vec<System>,
) -> Result<Vec<System>> {
    let Some(LoadHosts { hosts, place }) = load_hosts else { return Ok(systems) };
    place.refuse(not_divided(kind, course, &systems))?;
    for system in &mut systems {
        system.load_hosts.clone_from(hosts);
    }
    Ok(systems)
}

/// Why the clients of this plan cannot run on other hosts.
fn not_divided(kind: WorkloadKind, course: &CourseEntry, systems: &[System]) -> Option<String> {
    if course.is_at_once() {
        return Some(
            "`load_hosts` and `interleave`: slices and turns are too short to be agreed with other hosts; \
             leave one of them out"
                .to_owned(),
        );
    }
    if kind == WorkloadKind::Lua {
        return Some(
            "`load_hosts` and `kind = \"lua\"`: its script runs in one process; leave `load_hosts` out"
                .to_owned(),
        );
    }
    let is_foreign = |system: &&System| system.build.is_foreign();
    let ours = systems.iter().find(|system| !is_foreign(system))?;
    let name = &ours.name;
    Some(format!(
        "`load_hosts` and `{name}`, which backslide starts on this host, where no other host reaches it: start \
         the server yourself and give its address (`connect`), or leave `load_hosts` out"
    ))
}
