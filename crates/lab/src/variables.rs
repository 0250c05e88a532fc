//! What a system says of itself right after its start, without a run.

use std::path::Path;

use model::{Capture, System, WorkloadSpec};

use crate::site::{Provider, SiteError};

/// What a system says of itself right after its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Variables, status and other listings.
    pub captures: Vec<Capture>,
    /// Version, authentication, TLS, the config as it was written.
    pub provenance: Vec<(String, String)>,
    /// What could not be read.
    pub missing: Vec<String>,
}

/// Makes `system` ready in `directory`, asks it, ends it and removes it. The lab must be claimed
/// ([`Lab::claim_instances`](crate::Lab::claim_instances)).
pub fn read_variables(
    provider: &dyn Provider,
    system: &System,
    workload: &WorkloadSpec,
    directory: &Path,
) -> Result<Told, SiteError> {
    let mut site = provider.open(system, workload, directory)?;
    let (captures, missing) = site.captures();
    let told = Told {
        captures,
        provenance: site.provenance(),
        missing,
    };
    site.close().map(|()| told)
}
