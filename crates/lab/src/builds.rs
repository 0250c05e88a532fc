//! What builds there are, and which of them a plan means.

use std::path::Path;

use model::{Build, BuildSource, Dbms};
use plan::BuildRequest;

use crate::address::{ForeignAddress, Secrets};
use crate::foreign;

/// Every build that can be run here: what was found on this machine, newest first in each family,
/// and the embedded one.
pub fn installed() -> Vec<Build> {
    let mut builds = servers::discover();
    builds.extend(embedded());
    builds
}

/// The engine that is part of backslide.
pub(crate) fn embedded() -> Option<Build> {
    let version = drivers::sqlite_version();
    Some(Build {
        dbms: Dbms::Sqlite,
        version: version.parse().ok()?,
        source: BuildSource::Embedded,
        version_line: format!("SQLite {version}, part of backslide"),
        name: None,
        facts: model::BuildFacts::default(),
    })
}

/// Finds the builds of a plan. Looks around on the machine once, and only when a plan needs it.
#[derive(Debug, Default)]
pub struct Builds {
    found: std::cell::OnceCell<Vec<Build>>,
    secrets: std::cell::RefCell<Secrets>,
}

impl Builds {
    /// The build that `request` means; the error says what was looked for and what to do.
    pub fn find(&self, request: &BuildRequest) -> Result<Build, String> {
        if let Some(path) = &request.path {
            return servers::inspect(Path::new(path)).map_err(|error| error.to_string());
        }
        if let Some(connect) = &request.connect {
            let address = ForeignAddress::parse(connect)?;
            self.secrets.borrow_mut().keep(&address);
            return foreign::ask(request.dbms, &address, &self.secrets.borrow());
        }
        if request.dbms.is_embedded() {
            let build = embedded().ok_or("the embedded SQLite has no version")?;
            return Ok(build);
        }
        let found = self.found.get_or_init(servers::discover);
        let fits = |build: &&Build| {
            build.dbms == request.dbms
                && request
                    .version
                    .as_ref()
                    .is_none_or(|wanted| build.version.starts_with(wanted))
        };
        found
            .iter()
            .find(fits)
            .cloned()
            .ok_or_else(|| missing(request, found))
    }

    /// The passwords that the plan's addresses had.
    pub fn secrets(&self) -> Secrets {
        self.secrets.borrow().clone()
    }
}

fn missing(request: &BuildRequest, found: &[Build]) -> String {
    let ids: Vec<String> = found
        .iter()
        .filter(|b| b.dbms == request.dbms)
        .map(Build::id)
        .collect();
    let there = if ids.is_empty() {
        format!("no {} server was found on this machine", request.dbms)
    } else {
        format!("this machine has {}", ids.join(", "))
    };
    format!("{there}; install the distribution's package, or say where it is with `path = \"…\"`")
}
