//! SQLite: a file in the instance's directory, opened in this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drivers::{Connector, Endpoint};
use load::Target;
use model::{Capture, Fact, Provenance, Sizes, System};
use servers::PathError;

use crate::site::{Idle, PATIENCE, Result, Site, SiteError, move_directory, remove_all, target};
use crate::template::Template;
use crate::variables::{captures_of, take_all};

const FILE: &str = "ib.sqlite";

pub(crate) struct Embedded {
    pub(crate) system: System,
    pub(crate) directory: PathBuf,
    connector: Arc<dyn Connector>,
    patient: Arc<dyn Connector>,
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
    ) -> Result<Self> {
        remove(directory)?;
        fill(directory, template)
            .and_then(|cloned| Self::opened(system, directory, timeout, cloned))
            // What is left of it is ours to remove.
            .map_err(|error| SiteError { directory: Some(directory.to_owned()), ..error })
    }

    /// Opens the file, and so brings it in order after a crash of a process that had it open; `cloned` says how it
    /// was cloned, where it has its data from a template.
    pub(crate) fn opened(
        system: &System,
        directory: &Path,
        timeout: Duration,
        cloned: Option<String>,
    ) -> Result<Self> {
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
        usual.connect()?;
        Ok(Self {
            system: system.clone(),
            directory: directory.to_owned(),
            patient: connector(timeout * PATIENCE),
            connector: usual,
            cloned,
        })
    }
}

/// Makes the directory, empty or as a clone of a template's data; says how that was cloned.
fn fill(directory: &Path, template: Option<&Template>) -> Result<Option<String>> {
    let begin = Instant::now();
    let Some(template) = template else {
        std::fs::create_dir_all(directory).map_err(PathError::of("create", directory))?;
        return Ok(None);
    };
    let cloned = servers::clone_tree(template.data(), directory)?;
    template.accept(directory, &cloned, begin).map(Some)
}

fn remove(directory: &Path) -> Result<()> {
    Ok(remove_all(directory).map_err(PathError::of("remove", directory))?)
}

impl Site for Embedded {
    fn target(&self) -> Target {
        target(&self.system, &self.connector, &self.patient)
    }

    fn provenance(&self) -> Provenance {
        let version = (Fact::ServerVersion, self.system.build.version.to_string());
        let cloned = self.cloned.clone().map(|how| (Fact::Cloned, how));
        Provenance(std::iter::once(version).chain(cloned).collect())
    }

    fn idle(&self) -> Idle {
        Idle::Rests
    }

    fn captures(&mut self) -> (Vec<Capture>, Vec<String>) {
        take_all(&*self.connector, captures_of(&self.system))
    }

    fn sizes(&self) -> Option<Sizes> {
        let logs = ["-wal", "-journal", "-shm"].map(|suffix| format!("{FILE}{suffix}"));
        probes::measure(&self.directory, &[FILE.to_owned()], &logs).ok()
    }

    fn move_data(&mut self, to: &Path) -> Result<()> {
        move_directory(&self.directory, to)
    }

    fn remove(self: Box<Self>) -> Result<()> {
        remove(&self.directory)
    }
}
