//! What watches a window, by samples or by counting.

use model::Profile;

use crate::{Counter, ProfileError, Sampler};

pub enum Watcher {
    Sampler(Sampler),
    Counter(Counter),
}

impl Watcher {
    /// The window begins.
    pub fn open(&mut self) {
        match self {
            Self::Sampler(sampler) => sampler.open(),
            Self::Counter(counter) => counter.open(),
        }
    }

    /// The window is over.
    pub fn close(&mut self) {
        match self {
            Self::Sampler(sampler) => sampler.close(),
            Self::Counter(counter) => counter.close(),
        }
    }

    /// What it saw. Errors as of [`Counter::finish`].
    pub fn finish(self) -> Result<Vec<Profile>, ProfileError> {
        match self {
            Self::Sampler(sampler) => Ok(sampler.finish()),
            Self::Counter(counter) => Ok(vec![counter.finish()?]),
        }
    }
}
