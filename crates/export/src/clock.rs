//! From which moment a latency counts.

/// From which moment a latency counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// From sending.
    Service,
    /// From the intended start of a schedule.
    Response,
}

impl Clock {
    /// As it is stored.
    pub const fn of(is_response: bool) -> Self {
        if is_response {
            Self::Response
        } else {
            Self::Service
        }
    }

    /// One word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Response => "response",
        }
    }
}
