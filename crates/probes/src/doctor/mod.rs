//! Is this host fit to measure on? The host check-up.
//!
//! `facts` and `load` read, `judge` judges: facts in, findings out.

use std::path::Path;
use std::time::Duration;

mod facts;
mod judge;
mod load;
mod noise;

pub use noise::{Noise, noise};

/// How long the load of the host is watched.
const SAMPLE: Duration = Duration::from_secs(1);

/// Is it as it should be?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It does not disturb.
    Good,
    /// It costs precision, or has to be kept in mind.
    Warn,
    /// Results will be wrong or useless.
    Bad,
    /// The host does not tell.
    Unknown,
}

/// What the check-up found of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Of what: `governor`.
    pub name: &'static str,
    /// Is it as it should be?
    pub status: Status,
    /// What there is; of [`Status::Unknown`], why it is not known.
    pub found: String,
    /// What to do about it, with the command where there is one.
    pub advice: Option<String>,
}

/// Examines the host for measuring in `directory`, which need not exist yet. Takes a little more than
/// a second, in which it watches what else runs, and writes a small file for a moment.
pub fn examine(directory: &Path) -> Vec<Finding> {
    let load = load::watch(SAMPLE);
    let disk = facts::disk(directory);
    let steal = load.as_ref().map_err(Clone::clone).and_then(load::steal);
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
        finding("clock source", facts::clock_source(), |c| {
            judge::clock_source(&c)
        }),
        finding("steal", steal, judge::steal),
        finding("other load", load, |load| judge::other_load(&load)),
        finding("filesystem", disk.clone(), |d| judge::filesystem(&d)),
        finding("free space", disk, |d| judge::free_space(&d)),
        finding("fsync", facts::fsync(directory), judge::fsync),
        finding("open files", Ok(facts::open_files()), judge::open_files),
        finding("async io", facts::aio(), judge::aio),
    ]
}

/// A fact, or why it is not known.
type Fact<T> = Result<T, String>;

/// A finding without its name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Judgement {
    status: Status,
    found: String,
    advice: Option<String>,
}

fn finding<T>(name: &'static str, fact: Fact<T>, judge: impl FnOnce(T) -> Judgement) -> Finding {
    let judgement = fact.map_or_else(
        |reason| Judgement {
            status: Status::Unknown,
            found: reason,
            advice: None,
        },
        judge,
    );
    Finding {
        name,
        status: judgement.status,
        found: judgement.found,
        advice: judgement.advice,
    }
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
