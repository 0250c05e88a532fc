//! The process of a server, for those who do not own it.

use std::fs;

use rustix::process::Signal;

use crate::freeze::thaw_for_its_end;
use crate::identity::Identity;

/// The process of a server of ours, for those who only need to know whether it still runs, or to end it
/// while another thread waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerProcess {
    pub(crate) identity: Identity,
    /// Ends it and all that it started.
    pub(crate) death: Signal,
}

impl ServerProcess {
    /// Does exactly this process still run? Two small files are read to find out.
    pub fn is_alive(&self) -> bool {
        self.identity.is_alive()
    }

    /// Does the kernel write its core? It gives no answer meanwhile, and ends by itself.
    pub fn is_dumping_core(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.identity.pid));
        status.is_ok_and(|text| text.lines().any(|line| line == "CoreDumping:\t1"))
    }

    /// Ends it without waiting for that; [`crate::Instance::kill`] then waits, and tidies up.
    pub fn end(&self) {
        end(&self.identity, self.death);
    }
}

/// Ends a process with this signal, also where it stands still.
pub(crate) fn end(process: &Identity, death: Signal) {
    process.signal(death);
    thaw_for_its_end(process);
}
