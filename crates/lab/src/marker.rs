//! Whose the database is that backslide makes in a server that is not ours: a table in it says so.
//!
//! The server can be reached from several hosts, and the database has one name. Only its owner drops it, or
//! another process on the owner's host once the owner is gone.

use std::fs;
use std::path::Path;

use drivers::{Session, SessionError};

use crate::directory::now;

/// The table.
pub(crate) const TABLE: &str = "backslide_marker";

/// A process that uses the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Host and process, for people: `host:4711`.
    process: String,
    /// The kernel and the namespace in which that process has its number; empty in markers of earlier
    /// versions.
    place: String,
    /// When it made the database.
    since: String,
}

/// What a marker means to another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// This process wrote it.
    Ours,
    /// Its process has ended.
    Gone,
    /// Its process runs on this host.
    Running,
    /// Whether its process runs cannot be seen from here.
    Elsewhere,
}

impl Owner {
    /// This process, now.
    pub(crate) fn this() -> Self {
        let host = rustix::system::uname();
        let host = host.nodename().to_string_lossy().into_owned();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        Self {
            process: format!("{host}:{}", std::process::id()),
            place: format!("{} {}", boot.trim(), namespace.display()),
            since: now(),
        }
    }

    /// The one whom the marker names; `None` where it names nobody. Errors: there is no marker.
    pub(crate) fn read(session: &mut dyn Session) -> Result<Option<Self>, SessionError> {
        let mut owner = None;
        session.query(&format!("SELECT * FROM {TABLE}"), &mut |row| {
            let text = |i| {
                let value = (i < row.len()).then(|| row.value(i).to_text());
                value.flatten().unwrap_or_default()
            };
            owner = Some(Self {
                process: text(0),
                place: text(1),
                since: text(2),
            });
        })?;
        Ok(owner)
    }

    /// Marks the database of the session. Of two processes that try at the same time one fails.
    pub(crate) fn write(&self, session: &mut dyn Session) -> Result<(), SessionError> {
        let columns = "owner VARCHAR(300), place VARCHAR(300), since VARCHAR(40)";
        session.execute(&format!("CREATE TABLE {TABLE} ({columns})"))?;
        let values = [&self.process, &self.place, &self.since]
            .map(|text| format!("'{}'", text.replace(['\'', '\\'], "")));
        let values = values.join(", ");
        session.execute(&format!("INSERT INTO {TABLE} VALUES ({values})"))?;
        Ok(())
    }

    /// What this marker means to `other`; `runs` tells whether a process of this host does.
    pub(crate) fn standing(&self, other: &Self, runs: impl FnOnce(&str) -> bool) -> Standing {
        let is_here = match (self.place.is_empty(), self.place == other.place) {
            (true, _) => self.host() == other.host(),
            (false, is_same) => is_same,
        };
        let (_, pid) = self.process.rsplit_once(':').unwrap_or_default();
        if !is_here {
            Standing::Elsewhere
        } else if self.process == other.process {
            Standing::Ours
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

    /// Words for who and since when.
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

/// Does a process of this number run here?
pub(crate) fn runs(pid: &str) -> bool {
    pid.parse::<u32>()
        .is_ok_and(|pid| Path::new("/proc").join(pid.to_string()).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(process: &str, place: &str) -> Owner {
        Owner {
            process: process.to_owned(),
            place: place.to_owned(),
            since: "2026-01-02T03:04:05Z".to_owned(),
        }
    }

    #[test]
    fn only_an_owner_of_this_host_can_be_known_to_be_gone() {
        let this = owner("a:7", "boot1 pid:[1]");
        let stands = |marked: Owner, alive: bool| marked.standing(&this, |_| alive);
        let here = |process| owner(process, "boot1 pid:[1]");
        assert_eq!(stands(here("a:7"), true), Standing::Ours);
        assert_eq!(stands(here("a:8"), true), Standing::Running);
        assert_eq!(stands(here("a:8"), false), Standing::Gone);
        // Renamed since.
        assert_eq!(stands(here("b:8"), false), Standing::Gone);
        // Another host of the same name, another container of this host, the time before a reboot.
        for place in ["boot2 pid:[1]", "boot1 pid:[2]"] {
            assert_eq!(stands(owner("a:7", place), true), Standing::Elsewhere);
            assert_eq!(stands(owner("a:8", place), false), Standing::Elsewhere);
        }
        assert_eq!(
            stands(owner("b:8", "boot2 pid:[1]"), false),
            Standing::Elsewhere
        );
        // Markers of earlier versions.
        assert_eq!(stands(owner("a:8", ""), false), Standing::Gone);
        assert_eq!(stands(owner("a:8", ""), true), Standing::Running);
        assert_eq!(stands(owner("b:8", ""), false), Standing::Elsewhere);
    }

    #[test]
    fn this_process_is_itself() {
        let this = Owner::this();
        assert_eq!(this.standing(&Owner::this(), runs), Standing::Ours);
        assert!(runs(&std::process::id().to_string()) && !runs("x"));
        let told = owner("h:8", "").describe();
        assert_eq!(told, "process 8 on host h, since 2026-01-02T03:04:05Z");
    }
}
