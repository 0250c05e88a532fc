//! SQLite: a file in the instance's directory, opened in this process by what is built in or by a library.

use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drivers::{Connector, Endpoint};
use load::Target;
use model::{Build, BuildFacts, BuildSource, Capture, Dbms, Fact, Provenance, Sizes, System};
use servers::PathError;

use crate::error::SystemError;
use crate::site::{Idle, PATIENCE, Result, Site, SiteError, move_directory, remove_all, target};
use crate::template::Template;
use crate::variables::{captures_of, take_all, take_pragmas};

const FILE: &str = "ib.sqlite";

/// The library at `path`, a file or the directory that it is in; `None` where there is none.
pub(crate) fn library_at(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        return name.contains(".so").then(|| path.to_owned());
    }
    let products = Dbms::all().into_iter().filter(|dbms| dbms.is_embedded());
    let mut names = products.flat_map(|dbms| &dbms.product().program.names);
    names.find_map(|name| Some(path.join(name)).filter(|library| library.is_file()))
}

pub(crate) fn inspect(library: &Path) -> Result<Build, SystemError> {
    let library = absolute(library).unwrap_or_else(|_| library.to_owned());
    let (version, version_line) = drivers::sqlite_library(&library)?;
    // A library that was stripped does not name them.
    let compilers = elf::compilers(&library).unwrap_or_default();
    let compiler = Some(compilers.join(", ")).filter(|names| !names.is_empty());
    let source = BuildSource::Path(library.display().to_string());
    Ok(Build {
        version_line,
        facts: BuildFacts { compiler, ..BuildFacts::default() },
        ..Build::new(Dbms::Sqlite, version.parse()?, source)
    })
}

/// The library whose SQLite a build is; `None` for the one that is built in.
fn library_of(build: &Build) -> Result<Option<PathBuf>, SystemError> {
    match &build.source {
        BuildSource::Path(place) | BuildSource::Installed { directory: place, .. } => {
            // Where there is none, loading says so.
            let place = Path::new(place);
            Ok(Some(library_at(place).unwrap_or_else(|| place.to_owned())))
        }
        BuildSource::Obtainable { .. } => Err(SystemError::NotInstalled(build.id())),
        BuildSource::Embedded | BuildSource::Connect(_) | BuildSource::Imported(_) => Ok(None),
    }
}

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

    /// Opens the file, and so brings it in order after a crash; `cloned` says how it was cloned from a template.
    pub(crate) fn opened(
        system: &System,
        directory: &Path,
        timeout: Duration,
        cloned: Option<String>,
    ) -> Result<Self> {
        let pragmas = system.config.settings.iter();
        let pragmas: Vec<(String, String)> =
            pragmas.map(|s| (s.name.clone(), s.value.clone().unwrap_or_default())).collect();
        let library = library_of(&system.build)?;
        let connector = |timeout| -> Arc<dyn Connector> {
            Arc::from(drivers::connector(&Endpoint::Sqlite {
                library: library.clone(),
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
        let (mut captures, mut missing) = take_all(&*self.connector, captures_of(&self.system));
        match take_pragmas(&*self.connector, self.system.build.dbms) {
            Ok(variables) => captures.insert(0, variables),
            Err(error) => missing.push(format!("variables not captured: {error}")),
        }
        (captures, missing)
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
