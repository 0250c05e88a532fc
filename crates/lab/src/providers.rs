//! The real provider: embedded engines, servers of ours, servers that are not ours.

use std::path::Path;
use std::time::Duration;

use load::Stop;
use model::{BuildSource, System};

use crate::builds::Builds;
use crate::capacity::Capacity;
use crate::embedded::Embedded;
use crate::foreign::{self, Foreign};
use crate::own::Own;
use crate::reach::{self, ForeignAddress, PASSWORD, Secrets};
use crate::site::{MEASURED_ELSEWHERE, NOT_OURS, Provider, Result, Site, SiteError};
use crate::template::Template;

#[derive(Debug, Default)]
pub struct Providers {
    pub secrets: Secrets,
    /// Ends every wait for a server of ours.
    pub stop: Stop,
}

impl Provider for Providers {
    fn check(&self, system: &System) -> Result<(), String> {
        reach::check(system)?;
        let was = &system.build;
        let now = match &was.source {
            BuildSource::Embedded => {
                Builds::embedded().ok_or("the embedded SQLite has no version")?
            }
            BuildSource::Path(path) | BuildSource::Installed { directory: path, .. } => {
                servers::inspect(Path::new(path)).map_err(|error| error.to_string())?
            }
            BuildSource::Connect(address) => {
                let parsed = ForeignAddress::parse(address)?;
                foreign::ask(was.dbms, &parsed, &self.secrets).map_err(|error| {
                    format!("{error}; backslide does not store passwords of plan files, so give it in {PASSWORD}")
                })?
            }
            BuildSource::Obtainable { .. } => {
                return Err(format!("it is not installed: `backslide install {}`", was.id()));
            }
            BuildSource::Imported(file) => return Err(format!("{MEASURED_ELSEWHERE} ({file})")),
        };
        if now.version_line == was.version_line {
            return Ok(());
        }
        Err(format!(
            "it is `{}` now, the run began with `{}`: restore that build or begin a new run",
            now.version_line, was.version_line
        ))
    }

    fn capacity(&self, system: &System) -> Result<Option<Capacity>, String> {
        let BuildSource::Connect(address) = &system.build.source else {
            return Ok(Capacity::of_config(system));
        };
        let address = ForeignAddress::parse(address)?;
        foreign::capacity(system, &address, &self.secrets).map(Some)
    }

    fn open(
        &self,
        system: &System,
        timeout: Duration,
        directory: &Path,
        template: Option<&Template>,
    ) -> Result<Box<dyn Site>> {
        Ok(match &system.build.source {
            BuildSource::Embedded => {
                Box::new(Embedded::open(system, directory, timeout, template)?)
            }
            BuildSource::Path(_)
            | BuildSource::Installed { .. }
            | BuildSource::Obtainable { .. } => {
                Box::new(Own::open(system, directory, timeout, &self.stop, template)?)
            }
            BuildSource::Connect(_) if template.is_some() => return Err(SiteError::new(NOT_OURS)),
            BuildSource::Connect(address) => {
                Box::new(Foreign::open(system, address, &self.secrets, timeout)?)
            }
            BuildSource::Imported(_) => return Err(SiteError::new(MEASURED_ELSEWHERE)),
        })
    }
}
