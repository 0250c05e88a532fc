//! What a probe is, and what it watches.

use model::Readings;

use crate::error::Result;

pub trait Probe: Send {
    fn name(&self) -> &'static str;

    /// Reads its counters now. Totals never go down from one reading to the next.
    fn read(&mut self, detail: Detail) -> Result<Readings>;
}

/// How dear a reading may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Taken every second: cheap ones only.
    Second,
    /// Taken at the two edges of a step: all there is, each thread's context switches included.
    Edge,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// The server's first process; its descendants belong to it. `None` for an embedded or remote one.
    pub server: Option<u32>,
    /// Does this host run the server? Otherwise its counters say nothing.
    pub host: bool,
    pub device: Option<String>,
    /// Is the load generator another process, so that the cost of this one is nobody's?
    pub is_elsewhere: bool,
}
