//! Is this host fit to measure on? The host check-up.
//!
//! `facts` and `load` read, `judge` judges: facts in, findings out.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

mod facts;
mod judge;
mod load;
mod noise;

use crate::identify::disk_of;
use facts::Unknown;
use judge::Judgement;
pub use judge::Status;
pub use noise::{Noise, noise};

const SAMPLE: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub name: &'static str,
    pub status: Status,
    /// The observed value; for [`Status::Unknown`] the reason.
    pub found: String,
    /// The remedy, with a command if possible.
    pub advice: Option<String>,
}

/// Examines the host for measuring in `directory`, which need not exist yet. Takes a little more than
/// a second to watch what else runs, and writes a small file for a moment.
pub fn examine(directory: &Path) -> Vec<Finding> {
    let load = load::watch(SAMPLE);
    let disk = disk_of(directory);
    vec![
        finding("governor", facts::governors(), |g| judge::governor(&g)),
        finding("boost", facts::boost(), judge::boost),
        finding("smt", facts::smt(), judge::smt),
        finding("huge pages", facts::thp(), |mode| judge::thp(&mode)),
        finding("swap", facts::swap(), judge::swap),
        finding("memory", facts::memory(), judge::memory),
        finding("memory limit", facts::memory_limit(), judge::memory_limit),
        finding("virtualization", facts::virtualization(), |name| {
            judge::virtualization(name.as_deref())
        }),
        finding("pmu", facts::pmu(), |()| judge::pmu()),
        finding("clock source", facts::clock_source(), |c| judge::clock_source(&c)),
        finding("steal", load.as_ref(), |load| judge::steal(load.steal)),
        finding("other load", load.as_ref(), judge::other_load),
        finding("filesystem", disk.as_ref(), judge::filesystem),
        finding("free space", disk.as_ref(), judge::free_space),
        finding("fsync", facts::fsync(directory), judge::fsync),
        finding("open files", Ok::<_, Unknown>(facts::open_files()), judge::open_files),
        finding("async io", facts::aio(), judge::aio),
    ]
}

fn finding<T>(
    name: &'static str,
    fact: Result<T, impl Display>,
    judge: impl FnOnce(T) -> Judgement,
) -> Finding {
    let judgement = fact.map_or_else(|reason| judge::unknown(reason.to_string()), judge);
    Finding { name, status: judgement.status, found: judgement.found, advice: judgement.advice }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_a_name_of_its_own_and_advice_unless_it_is_good() {
        let here = tempfile::tempdir().unwrap();
        let findings = examine(here.path());
        let mut names: Vec<_> = findings.iter().map(|f| f.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), findings.len());
        for finding in &findings {
            assert!(!finding.found.is_empty(), "{finding:?}");
            match finding.status {
                Status::Warn | Status::Bad => assert!(finding.advice.is_some(), "{finding:?}"),
                Status::Good | Status::Unknown => assert_eq!(finding.advice, None, "{finding:?}"),
            }
        }
        let left: Vec<_> = std::fs::read_dir(here.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn what_the_host_does_not_tell_is_unknown_with_the_reason() {
        let found = finding("smt", Err("no such file".to_owned()), judge::smt);
        assert_eq!(found.status, Status::Unknown);
        assert_eq!(found.found, "no such file");
    }
}
