//! The real provider: embedded engines, servers of ours, servers that are not ours.

use std::path::Path;
use std::time::Duration;

use load::Stop;
use model::{BuildSource, System};

use crate::builds::{self, Builds};
use crate::capacity::Capacity;
use crate::embedded::Embedded;
use crate::error::{MEASURED_ELSEWHERE, SystemError};
use crate::foreign::{self, Foreign, LOGIN_LIMIT};
use crate::own::Own;
use crate::reach::{self, ForeignAddress, Secrets};
use crate::site::{NOT_OURS, Provider, Result, Site, SiteError};
use crate::template::Template;

#[derive(Debug, Default)]
pub struct Providers {
    pub secrets: Secrets,
    /// Ends every wait for a server of ours.
    pub stop: Stop,
}

impl Provider for Providers {
    fn check(&self, system: &System) -> Result<(), SystemError> {
        reach::check(system)?;
        let was = &system.build;
        let now = match &was.source {
            BuildSource::Embedded => Builds::embedded()?,
            BuildSource::Path(path) | BuildSource::Installed { directory: path, .. } => {
                builds::inspect(Path::new(path))?
            }
            BuildSource::Connect(address) => {
                let parsed = ForeignAddress::parse(address)?;
                foreign::ask(was.dbms, &parsed, &self.secrets)
                    .map_err(|cause| SystemError::Unreachable { cause: cause.into() })?
            }
            BuildSource::Obtainable { .. } => {
                return Err(SystemError::NotInstalled(was.id()));
            }
            BuildSource::Imported(file) => {
                return Err(SystemError::Imported { file: file.clone() });
            }
        };
        if now.version_line == was.version_line {
            return Ok(());
        }
        let was = was.version_line.clone();
        Err(SystemError::Changed { now: now.version_line, was })
    }

    fn check_hosts(&self, system: &System) -> Result<(), SystemError> {
        if let BuildSource::Connect(address) = &system.build.source {
            let address = ForeignAddress::parse(address)?;
            foreign::agents(system, &address, &self.secrets, LOGIN_LIMIT, &self.stop)?;
            foreign::server_host(system, &address, &self.stop)?;
        }
        Ok(())
    }

    fn capacity(&self, system: &System) -> Result<Option<Capacity>, SystemError> {
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
            BuildSource::Embedded
            | BuildSource::Path(_)
            | BuildSource::Installed { .. }
            | BuildSource::Obtainable { .. } => {
                if system.build.dbms.is_embedded() {
                    Box::new(Embedded::open(system, directory, timeout, template)?)
                } else {
                    Box::new(Own::open(system, directory, timeout, &self.stop, template)?)
                }
            }
            BuildSource::Connect(_) if template.is_some() => return Err(SiteError::new(NOT_OURS)),
            BuildSource::Connect(address) => {
                Box::new(Foreign::open(system, address, &self.secrets, timeout, &self.stop)?)
            }
            BuildSource::Imported(_) => return Err(SiteError::new(MEASURED_ELSEWHERE)),
        })
    }
}
