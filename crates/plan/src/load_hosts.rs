//! Other hosts that take part: those that run the clients of a plan's measured steps, and the servers' own.

use model::{BuildSource, System};

use crate::fields::Item;
use crate::file::PlanFile;
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
        if hosts.contains(&host) {
            return Err(entry.conflict(format!(
                "`{host}` is in `load_hosts` twice: its clients would share the CPUs of one host; name it once"
            )));
        }
        hosts.push(host);
    }
    Ok(LoadHosts { hosts, place: item.place() })
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
pub(crate) fn resolve(file: &PlanFile, mut systems: Vec<System>) -> Result<Vec<System>> {
    let Some(LoadHosts { hosts, place }) = &file.load_hosts else {
        return Ok(systems);
    };
    place.refuse(not_divided(file, &systems))?;
    for system in &mut systems {
        system.load_hosts.clone_from(hosts);
    }
    Ok(systems)
}

/// Why the clients of this plan cannot run on other hosts.
fn not_divided(file: &PlanFile, systems: &[System]) -> Option<String> {
    if file.course.is_at_once() {
        return Some(
            "`load_hosts` and `interleave`: slices and turns are too short to be agreed with other hosts; \
             leave one of them out"
                .to_owned(),
        );
    }
    let why = match file.kind {
        WorkloadKind::Micro | WorkloadKind::Sql | WorkloadKind::Tpcc => None,
        WorkloadKind::Insert => Some("its clients follow each other's rows within one process"),
        WorkloadKind::Lua => Some("its script runs in one process"),
    };
    if let Some(why) = why {
        let word = file.kind.word();
        return Some(format!(
            "`load_hosts` and `kind = \"{word}\"`: {why}; leave `load_hosts` out"
        ));
    }
    let is_foreign = |system: &&System| matches!(system.build.source, BuildSource::Connect(_));
    let ours = systems.iter().find(|system| !is_foreign(system))?;
    let name = &ours.name;
    Some(format!(
        "`load_hosts` and `{name}`, which backslide starts on this host, where no other host reaches it: start \
         the server yourself and give its address (`connect`), or leave `load_hosts` out"
    ))
}
