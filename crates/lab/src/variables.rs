//! What a system says of itself right after its start, without a run.

use std::time::Duration;

use model::{Capture, Provenance, System};

use crate::directory::{ASKED, Claim};
use crate::kept;
use crate::site::{Provider, SiteError};

/// What a system says of itself right after its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Variables, status and other listings.
    pub captures: Vec<Capture>,
    /// Version, authentication, TLS, the config as it was written.
    pub provenance: Provenance,
    /// What could not be read.
    pub missing: Vec<String>,
}

/// Makes `system` ready in an instance with this tag, asks it, ends it and removes it. Of what fails, the
/// log and cores are kept; the error says where.
pub fn read_variables(
    provider: &dyn Provider,
    system: &System,
    timeout: Duration,
    claim: &Claim,
    tag: &str,
) -> Result<Told, SiteError> {
    let (name, directory) = claim.instance(ASKED, &format!("-{tag}"));
    let opened = provider.open(system, timeout, &directory, None);
    let mut site = opened.map_err(|error| kept::settle(error, &claim.logs, &name))?;
    let (captures, missing) = site.captures();
    let told = Told { captures, provenance: site.provenance(), missing };
    kept::end_after(site, &claim.logs, &name, Ok(told))
}
