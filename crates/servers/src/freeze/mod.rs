//! Holds a server still: frozen, it does no background work and costs nothing.
//!
//! The kernel's freezer is used where this process may make control groups, version 2 before version 1:
//! it also catches processes that a server starts later or that leave its tree. Elsewhere every process of
//! the tree gets SIGSTOP. See `cgroups(7)`, and the kernel's "Control Group v2" and "cgroup freezer".

mod group;
mod guard;
mod tree;

use self::group::Group;
use self::guard::Guard;
pub use self::tree::FreezeError;
use self::tree::{LIMIT, Tree};
use crate::identity::Identity;

/// Freezes and thaws one server. Dropping it thaws the server.
#[derive(Debug)]
pub(crate) struct Freezer {
    server: Identity,
    how: How,
    frozen: bool,
    /// `None` if no shell could be started: then the next run in the lab thaws and ends the server.
    #[cfg_attr(not(test), expect(dead_code, reason = "dropping it ends it"))]
    guard: Option<Guard>,
}

#[derive(Debug)]
enum How {
    Group(Group),
    Signals(Tree),
}

impl Freezer {
    /// For a server that runs, by the best means that this process may use.
    pub(crate) fn new(server: &Identity) -> Self {
        let how = match Group::make(server) {
            Ok(group) => How::Group(group),
            // Not permitted, or a kernel without it.
            Err(_) => How::Signals(Tree::new(server.clone())),
        };
        Self::by(how, server)
    }

    #[cfg(test)]
    fn with_signals(server: &Identity) -> Self {
        Self::by(How::Signals(Tree::new(server.clone())), server)
    }

    fn by(how: How, server: &Identity) -> Self {
        let guard = match &how {
            How::Group(group) => group.guard(),
            How::Signals(_) => Guard::of_process(server.pid),
        };
        Self { server: server.clone(), how, frozen: false, guard: guard.ok() }
    }

    /// Returns when all processes of the server stand still. `told` is called before that, when the kernel has
    /// been told: from then on only those run that wait in the kernel, until they have what they wait for.
    pub(crate) fn freeze(&mut self, told: impl FnOnce()) -> Result<(), FreezeError> {
        let pid = self.server.pid;
        if !self.server.is_alive() {
            return Err(FreezeError::Ended { pid });
        }
        // Also where it fails halfway: then some stand still.
        self.frozen = true;
        let still = match &mut self.how {
            How::Group(group) => group.freeze(LIMIT, told)?,
            How::Signals(tree) => tree.stop(LIMIT, told),
        };
        if still { Ok(()) } else { Err(FreezeError::StillRuns { pid }) }
    }

    /// Lets the server run on. Does nothing where it runs.
    pub(crate) fn thaw(&mut self) -> Result<(), FreezeError> {
        if !self.frozen {
            return Ok(());
        }
        match &mut self.how {
            How::Group(group) => group.thaw()?,
            How::Signals(tree) => tree.go_on(),
        }
        self.frozen = false;
        Ok(())
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        // A group that was removed has nobody left to thaw.
        let _ = self.thaw();
    }
}

/// Thaws a server that another process froze or that is to be ended: the kernel's freezer of version 1
/// delivers no signal to a frozen process, SIGKILL included.
pub(crate) fn thaw_for_its_end(server: &Identity) {
    if let Some(group) = Group::of(server) {
        let _ = group.thaw();
    }
    server.signal(rustix::process::Signal::CONT);
}

#[cfg(test)]
mod tests;
