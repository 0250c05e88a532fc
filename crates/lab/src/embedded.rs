//! SQLite: a file in the instance's directory, opened in this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drivers::{Connector, Endpoint};
use load::Target;
use model::{Capture, Dbms, Fact, Provenance, Sizes, System, Version};

use crate::listing;
use crate::site::{Idle, PATIENCE, Site, SiteError};
use crate::template::Template;

const FILE: &str = "ib.sqlite";

/// An SQLite database of ours.
pub(crate) struct Embedded {
    directory: PathBuf,
    connector: Arc<dyn Connector>,
    patient: Arc<dyn Connector>,
    version: Version,
    /// How it was cloned, where it has its data from a template.
    cloned: Option<String>,
}

impl Embedded {
    /// A new one, or with a clone of a template's file.
    pub(crate) fn open(
        system: &System,
        directory: &Path,
        timeout: Duration,
        template: Option<&Template>,
    ) -> Result<Self, SiteError> {
        remove(directory)?;
        let begin = Instant::now();
        let made = match template {
            None => std::fs::create_dir_all(directory)
                .map(|()| None)
                .map_err(|error| format!("cannot create {}: {error}", directory.display())),
            Some(template) => servers::clone_tree(template.data(), directory)
                .map_err(|error| error.to_string())
                .and_then(|cloned| template.accept(directory, &cloned, begin))
                .map(Some),
        };
        made.map_err(SiteError::new)
            .and_then(|cloned| Self::opened(system, directory, timeout, cloned))
            // What is left of it is ours to remove.
            .map_err(|error| SiteError { directory: Some(directory.to_owned()), ..error })
    }

    /// Opens the file that is there already, and so brings it in order after a crash of the process that
    /// had it open.
    pub(crate) fn open_again(
        system: &System,
        directory: &Path,
        timeout: Duration,
    ) -> Result<Self, SiteError> {
        Self::opened(system, directory, timeout, None)
    }

    /// Its directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    fn opened(
        system: &System,
        directory: &Path,
        timeout: Duration,
        cloned: Option<String>,
    ) -> Result<Self, SiteError> {
        let pragmas = system.config.settings.iter();
        let pragmas: Vec<(String, String)> =
            pragmas.map(|s| (s.name.clone(), s.value.clone().unwrap_or_default())).collect();
        let connector = |timeout| -> Arc<dyn Connector> {
            Arc::from(drivers::connector(&Endpoint::Sqlite {
                path: directory.join(FILE),
                pragmas: pragmas.clone(),
                timeout,
            }))
        };
        let usual = connector(timeout);
        // Settings that SQLite does not take are told before anything is measured.
        usual.connect().map_err(|error| SiteError::new(error.to_string()))?;
        Ok(Self {
            directory: directory.to_owned(),
            patient: connector(timeout * PATIENCE),
            connector: usual,
            version: system.build.version.clone(),
            cloned,
        })
    }
}

/// Removes a directory, if there is one.
fn remove(directory: &Path) -> Result<(), SiteError> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            let directory = directory.display();
            Err(SiteError::new(format!("cannot remove {directory}: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

impl Site for Embedded {
    fn target(&self) -> Target {
        Target {
            dialect: model::Dialect::Sqlite,
            engine: model::Engine::Btree,
            version: self.version.clone(),
            ours: true,
            connection: model::Connection::default(),
            connector: Arc::clone(&self.connector),
            patient: Arc::clone(&self.patient),
        }
    }

    fn provenance(&self) -> Provenance {
        let version = (Fact::ServerVersion, self.version.to_string());
        let cloned = self.cloned.clone().map(|how| (Fact::Cloned, how));
        Provenance(std::iter::once(version).chain(cloned).collect())
    }

    fn pid(&self) -> Option<u32> {
        None
    }

    fn idle(&self) -> Idle {
        Idle::Rests
    }

    fn captures(&mut self) -> (Vec<Capture>, Vec<String>) {
        let captures = Dbms::Sqlite.product().captures(&self.version, model::Engine::Btree);
        listing::take_all(&*self.connector, captures)
    }

    fn sizes(&self) -> Option<Sizes> {
        let logs = ["-wal", "-journal", "-shm"].map(|suffix| format!("{FILE}{suffix}"));
        probes::measure(&self.directory, &[FILE.to_owned()], &logs).ok()
    }

    fn log_tail(&self) -> Vec<String> {
        Vec::new()
    }

    fn stop(&mut self) -> Result<(), SiteError> {
        // It ends with its last session.
        Ok(())
    }

    fn move_data(&mut self, to: &Path) -> Result<(), SiteError> {
        let directory = &self.directory;
        std::fs::rename(directory, to).map_err(|error| {
            let (from, to) = (directory.display(), to.display());
            SiteError::new(format!("cannot move {from} to {to}: {error}"))
        })
    }

    fn remove(self: Box<Self>) -> Result<(), SiteError> {
        remove(&self.directory)
    }
}
