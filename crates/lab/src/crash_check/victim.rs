//! The victim: a server of ours, or the process that has an SQLite file open.

use std::path::Path;
use std::time::{Duration, Instant};

use load::Stop;
use model::{BuildSource, Nanos, System};

use crate::embedded::Embedded;
use crate::own::Own;
use crate::site::{MEASURED_ELSEWHERE, Site, SiteError};

/// How long a server may take to bring its data in order and to answer.
const RECOVERY_LIMIT: Duration = Duration::from_mins(15);

/// The process to kill.
pub(super) enum Victim {
    /// A server.
    Server(Box<Own>),
    /// A file, which a process of its own writes to.
    File(Box<Embedded>),
}

impl Victim {
    /// Makes `system` ready in `directory`.
    pub(super) fn open(
        system: &System,
        directory: &Path,
        timeout: Duration,
        stop: &Stop,
    ) -> Result<Self, SiteError> {
        match &system.build.source {
            BuildSource::Embedded => {
                let file = Embedded::open(system, directory, timeout, None)?;
                Ok(Self::File(Box::new(file)))
            }
            BuildSource::Path(_)
            | BuildSource::Installed { .. }
            | BuildSource::Obtainable { .. } => {
                let own = Own::open(system, directory, timeout, stop, None)?;
                Ok(Self::Server(Box::new(own)))
            }
            BuildSource::Connect(_) => {
                Err(SiteError::new("a server that is not ours is not killed: name a build"))
            }
            BuildSource::Imported(_) => Err(SiteError::new(MEASURED_ELSEWHERE)),
        }
    }

    /// Starts it again after it was killed; how long it took until it answered.
    pub(super) fn recover(
        &mut self,
        system: &System,
        timeout: Duration,
    ) -> Result<Nanos, SiteError> {
        match self {
            Self::Server(own) => own.start_again(RECOVERY_LIMIT),
            Self::File(file) => {
                let begin = Instant::now();
                **file = Embedded::open_again(system, file.directory(), timeout)?;
                Ok(begin.elapsed().into())
            }
        }
    }

    pub(super) fn site(&self) -> &dyn Site {
        match self {
            Self::Server(own) => &**own,
            Self::File(file) => &**file,
        }
    }

    pub(super) fn site_mut(&mut self) -> &mut dyn Site {
        match self {
            Self::Server(own) => &mut **own,
            Self::File(file) => &mut **file,
        }
    }

    pub(super) fn into_site(self) -> Box<dyn Site> {
        match self {
            Self::Server(own) => own,
            Self::File(file) => file,
        }
    }
}
