//! The seam between trials and what they run on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use drivers::Connector;
use load::Target;
use model::{Capture, Provenance, Sizes, System};
use probes::Probe;

use crate::capacity::Capacity;
pub use crate::error::SiteError;
use crate::error::SystemError;
use crate::template::Template;

/// One system, made ready for one trial: it answers and its database is empty.
pub trait Site {
    fn target(&self) -> Target;

    /// What the system says of itself: version, authentication, TLS, the config as it was written.
    fn provenance(&self) -> Provenance;

    /// The server's process, where it can be watched from here.
    fn pid(&self) -> Option<u32> {
        None
    }

    fn watched(&self) -> Watched {
        Watched::HostAndDisk
    }

    /// What reads counters beside those of its process and its host; of the same name they take their place.
    fn probes(&self) -> Vec<Box<dyn Probe>> {
        Vec::new()
    }

    /// Are server and clients all that works on one host, so that what is left of its CPU time is of others?
    fn knows_foreign(&self) -> bool {
        true
    }

    fn idle(&self) -> Idle {
        Idle::Works
    }

    /// Holds its server still until [`Site::thaw`]; only where [`Idle::CanFreeze`]. `told` is called when nothing of it
    /// goes on but waits for a disk.
    fn freeze(&mut self, told: &mut dyn FnMut()) -> Result<()> {
        told();
        Ok(())
    }

    /// Lets a server run on that may be frozen.
    fn thaw(&mut self) -> Result<()> {
        Ok(())
    }

    /// Has its server ended, though nobody asked it to? Asked every second while a step runs.
    fn has_died(&self) -> bool {
        false
    }

    /// Status and variables now. What cannot be read is told in the second list.
    fn captures(&mut self) -> (Vec<Capture>, Vec<String>);

    /// Sizes on disk now; `None` where they cannot be seen from here.
    fn sizes(&self) -> Option<Sizes> {
        None
    }

    fn log_tail(&self) -> Vec<String> {
        Vec::new()
    }

    /// What to keep of it when it has failed and was stopped: the whole log, cores.
    fn crash_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Ends it cleanly; its files stay. Does nothing more once it has ended, nor without a server of ours.
    fn stop(&mut self) -> Result<()> {
        Ok(())
    }

    /// Ends it after a failure, with force where it does not end soon; a word about that.
    fn give_up(&mut self) -> Result<Option<String>> {
        self.stop().map(|()| None)
    }

    /// Is it still what was made ready? Asked after each step: what another took away was not measured.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Moves the data directory to `to`, where nothing is, for others to be cloned from. It was stopped.
    fn move_data(&mut self, to: &Path) -> Result<()>;

    /// Removes all that there is of it. It was stopped, and what is to be kept was taken away.
    fn remove(self: Box<Self>) -> Result<()>;
}

/// What a site does while no client sends anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Its server goes on with work of its own, unless it is frozen.
    CanFreeze,
    /// Its server goes on with work of its own.
    Works,
    /// Nothing: it has no threads of its own.
    Rests,
}

/// How much of what a site uses can be watched from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// It runs on this host and its files are on the lab's disk.
    HostAndDisk,
    /// It runs on this host; where its files are is not known.
    Host,
    /// It runs elsewhere.
    Nothing,
}

pub(crate) type Result<T, E = SiteError> = std::result::Result<T, E>;

pub trait Provider {
    /// Is the system still what the plan says, and reachable? Asked before a run is journaled, and before each trial.
    fn check(&self, system: &System) -> Result<(), SystemError>;

    /// Do agents start on the other hosts that the system needs? Asked before a run is journaled.
    fn check_hosts(&self, _system: &System) -> Result<(), SystemError> {
        Ok(())
    }

    /// How many sessions the server takes, where that can be known before its start; the error says why there are none.
    fn capacity(&self, _system: &System) -> Result<Option<Capacity>, SystemError> {
        Ok(None)
    }

    /// Makes `system` ready, with everything that it writes in `directory`: with an empty database, or with a clone
    /// of the data of `template`, which [`Site::move_data`] put away. What an error leaves there it names.
    fn open(
        &self,
        system: &System,
        timeout: Duration,
        directory: &Path,
        template: Option<&Template>,
    ) -> Result<Box<dyn Site>>;
}

/// Where the workload of `system`, which is ours, connects.
pub(crate) fn target(
    system: &System,
    connector: &Arc<dyn Connector>,
    patient: &Arc<dyn Connector>,
) -> Target {
    Target {
        dialect: system.build.dbms.dialect(),
        engine: system.engine,
        version: system.build.version.clone(),
        ours: true,
        connection: system.connection,
        connector: Arc::clone(connector),
        patient: Arc::clone(patient),
        load_hosts: None,
    }
}

pub(crate) fn move_directory(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| {
        let (from, to) = (from.display(), to.display());
        SiteError::new(format!("cannot move {from} to {to}: {error}"))
    })
}

/// Removes a directory with all that is in it, if there is one.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Plans that ask for it are refused; a template of another version might still do.
pub(crate) const NOT_OURS: &str = "a foreign server cannot start on a clone of its data";

pub(crate) const LOG_LINES: usize = 40;

/// Index builds, vacuum and the like may take this many times longer.
pub(crate) const PATIENCE: u32 = 24;
