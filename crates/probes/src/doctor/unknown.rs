//! Why a fact about the host is not known.

use std::io;
use std::path::PathBuf;

use crate::error::ProbeError;

#[derive(Debug, thiserror::Error)]
pub(super) enum Unknown {
    #[error(transparent)]
    Probe(#[from] ProbeError),
    #[error("no frequency driver shows, as in most virtual machines")]
    NoFrequencyDriver,
    #[error("this kernel does not show {0}")]
    NotShown(&'static str),
    #[error("no mode is chosen in {0}")]
    NoMode(&'static str),
    #[error("`{value}` in {path} is not a number")]
    NoNumber { value: String, path: &'static str },
    #[error("no {0} in /proc/meminfo")]
    NoKey(&'static str),
    #[error("cannot write in {}: {cause}", .place.display())]
    NotWritten { place: PathBuf, cause: io::Error },
    #[error("nothing was measured")]
    NothingMeasured,
    #[error("the kernel's clock did not move")]
    ClockStands,
}
