//! Whose the database is that backslide makes in a server that is not ours: a table in it says so.
//!
//! The server can be reached from several hosts, and the database has one name. Only its owner drops it, or
//! another process on the owner's host once the owner is gone.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use drivers::{Session, SessionError};
use obtain::now;
use serde::{Deserialize, Serialize};

pub(crate) const TABLE: &str = "backslide_marker";

static HELD: Mutex<Vec<Owner>> = Mutex::new(Vec::new());

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    /// Host and process, for people: `host:4711`.
    process: String,
    /// The kernel and the namespace in which that process has its number; empty in markers of earlier versions.
    place: String,
    since: String,
    /// Which claim of its process it is: two addresses may lead to one server. Empty in markers of earlier versions.
    claim: String,
}

/// An owner that is known to this process for as long as this lives.
#[derive(Debug)]
pub(crate) struct Claim(Owner);

impl Claim {
    /// One that no other is equal to.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let claim = NEXT.fetch_add(1, Ordering::Relaxed).to_string();
        let owner = Owner { claim, ..Owner::this() };
        HELD.lock().unwrap_or_else(PoisonError::into_inner).push(owner.clone());
        Self(owner)
    }

    pub(crate) const fn owner(&self) -> &Owner {
        &self.0
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).retain(|held| *held != self.0);
    }
}

fn is_held(owner: &Owner) -> bool {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).contains(owner)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Another system of this process uses the database.
    Ours,
    Gone,
    Running,
    /// Whether its process runs cannot be seen from here.
    Elsewhere,
}

impl Owner {
    fn this() -> Self {
        let host = rustix::system::uname();
        let host = host.nodename().to_string_lossy().into_owned();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        Self {
            process: format!("{host}:{}", std::process::id()),
            place: format!("{} {}", boot.trim(), namespace.display()),
            since: now(),
            claim: String::new(),
        }
    }

    /// The process that the marker names; `None` if it names none. Error: no marker.
    pub(crate) fn read(session: &mut dyn Session) -> Result<Option<Self>, SessionError> {
        let mut owner = None;
        session.query(&format!("SELECT * FROM {TABLE}"), &mut |row| {
            let text = |i| {
                let value = (i < row.len()).then(|| row.value(i).to_text());
                value.flatten().unwrap_or_default()
            };
            owner = Some(Self { process: text(0), place: text(1), since: text(2), claim: text(3) });
        })?;
        Ok(owner)
    }

    /// Marks the database of the session. Of two processes that try at the same time one fails.
    pub(crate) fn write(&self, session: &mut dyn Session) -> Result<(), SessionError> {
        let columns =
            "owner VARCHAR(300), place VARCHAR(300), since VARCHAR(40), claim VARCHAR(20)";
        session.execute(&format!("CREATE TABLE {TABLE} ({columns})"))?;
        let values = [&self.process, &self.place, &self.since, &self.claim]
            .map(|text| format!("'{}'", text.replace(['\'', '\\'], "")));
        let values = values.join(", ");
        session.execute(&format!("INSERT INTO {TABLE} VALUES ({values})"))?;
        Ok(())
    }

    pub(crate) fn standing(&self) -> Standing {
        self.standing_to(&Self::this(), is_held, runs)
    }

    /// This marker's meaning to `other`, which holds some claims; `runs` tells whether a process of this host runs.
    fn standing_to(
        &self,
        other: &Self,
        is_held: impl FnOnce(&Self) -> bool,
        runs: impl FnOnce(&str) -> bool,
    ) -> Standing {
        let is_here = match (self.place.is_empty(), self.place == other.place) {
            (true, _) => self.host() == other.host(),
            (false, is_same) => is_same,
        };
        let (_, pid) = self.process.rsplit_once(':').unwrap_or_default();
        if !is_here {
            Standing::Elsewhere
        } else if self.process == other.process {
            if is_held(self) { Standing::Ours } else { Standing::Gone }
        } else if runs(pid) {
            Standing::Running
        } else {
            Standing::Gone
        }
    }

    fn host(&self) -> &str {
        let host = self.process.rsplit_once(':');
        host.map_or(self.process.as_str(), |(host, _)| host)
    }

    pub(crate) fn describe(&self) -> String {
        let (_, pid) = self.process.rsplit_once(':').unwrap_or_default();
        let host = self.host();
        if self.since.is_empty() {
            format!("process {pid} on host {host}")
        } else {
            format!("process {pid} on host {host}, since {}", self.since)
        }
    }
}

fn runs(pid: &str) -> bool {
    pid.parse::<u32>().is_ok_and(|pid| Path::new("/proc").join(pid.to_string()).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(process: &str, place: &str) -> Owner {
        Owner {
            process: process.to_owned(),
            place: place.to_owned(),
            since: "2026-01-02T03:04:05Z".to_owned(),
            claim: "1".to_owned(),
        }
    }

    #[test]
    fn only_an_owner_of_this_host_can_be_known_to_be_gone() {
        let this = owner("a:7", "boot1 pid:[1]");
        let stands =
            |marked: Owner, alive: bool| marked.standing_to(&this, |held| *held == this, |_| alive);
        let here = |process| owner(process, "boot1 pid:[1]");
        assert_eq!(stands(here("a:7"), true), Standing::Ours);
        // Of an earlier system of this process, or of an earlier process of the same number.
        let ended = Owner { claim: "2".to_owned(), ..here("a:7") };
        assert_eq!(stands(ended, true), Standing::Gone);
        let ended = Owner { since: String::new(), ..here("a:7") };
        assert_eq!(stands(ended, true), Standing::Gone);
        assert_eq!(stands(here("a:8"), true), Standing::Running);
        assert_eq!(stands(here("a:8"), false), Standing::Gone);
        // Renamed since.
        assert_eq!(stands(here("b:8"), false), Standing::Gone);
        // Another host of the same name, another container of this host, the time before a reboot.
        for place in ["boot2 pid:[1]", "boot1 pid:[2]"] {
            assert_eq!(stands(owner("a:7", place), true), Standing::Elsewhere);
            assert_eq!(stands(owner("a:8", place), false), Standing::Elsewhere);
        }
        assert_eq!(stands(owner("b:8", "boot2 pid:[1]"), false), Standing::Elsewhere);
        // Markers of earlier versions.
        assert_eq!(stands(owner("a:8", ""), false), Standing::Gone);
        assert_eq!(stands(owner("a:8", ""), true), Standing::Running);
        assert_eq!(stands(owner("b:8", ""), false), Standing::Elsewhere);
    }

    #[test]
    fn a_claim_is_held_until_it_is_dropped() {
        let (first, second) = (Claim::new(), Claim::new());
        assert_ne!(first.owner(), second.owner());
        let marked = first.owner().clone();
        assert_eq!(marked.standing(), Standing::Ours);
        drop(first);
        assert_eq!(marked.standing(), Standing::Gone);
        assert_eq!(second.owner().standing(), Standing::Ours);
        assert!(runs(&std::process::id().to_string()) && !runs("x"));
        let told = owner("h:8", "").describe();
        assert_eq!(told, "process 8 on host h, since 2026-01-02T03:04:05Z");
    }
}
