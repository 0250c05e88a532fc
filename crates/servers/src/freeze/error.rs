//! Why a server could not be frozen or thawed.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// How long all processes of a server may take to stand still. One that waits for a disk stops when the
/// disk has answered.
pub(super) const LIMIT: Duration = Duration::from_secs(5);

/// How often the kernel is asked meanwhile.
pub(super) const POLL: Duration = Duration::from_micros(100);

/// Why a server could not be frozen or thawed.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    #[error("cannot {what} {}: {cause}", .path.display())]
    Io { what: &'static str, path: PathBuf, cause: io::Error },
    #[error(
        "process {pid} still runs {} s after it was frozen: it waits in the kernel, usually for a disk",
        LIMIT.as_secs()
    )]
    StillRuns { pid: u32 },
    #[error("the server was not started")]
    NotStarted,
    #[error("process {pid} has ended")]
    Ended { pid: u32 },
}
