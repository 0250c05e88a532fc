//! Why a build could not be obtained.

/// A build could not be obtained; what is on the machine is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ObtainError {
    /// To be replaced.
    #[error("not there yet")]
    Unfinished,
}
