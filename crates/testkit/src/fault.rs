//! Faults of a fake system.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// One thing that is wrong with a system, in each of its trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It never answers after its start; the provider gives up and shows its log.
    NeverReady,
    /// It differs from the plan from check number `from` (from 1) of any system on.
    Changed {
        /// The first check that finds it.
        from: u64,
    },
    /// Every login is refused.
    RefusesLogin,
    /// It cannot be stopped cleanly.
    CloseFails,
    /// It leaves a core: as it stops, or at its start where it is never ready.
    LeavesCore,
    /// A clone of its data has a row less, in a file of the same length.
    ClonesBadly,
    /// In these rounds the hypervisor gives all CPU time to others, and in no other round any, for no system of
    /// the provider.
    Disturbed {
        /// From 1.
        rounds: &'static [u32],
    },
    /// Trouble with some statements: those that begin with `prefix`, from number `from` (from 1)
    /// of them on, `times` of them.
    Statements {
        /// The first characters of the statements that count: `INSERT`, `DELETE`, `SELECT MAX`.
        prefix: &'static str,
        /// The first one in trouble, from 1.
        from: u64,
        /// How many are in trouble.
        times: u64,
        trouble: Trouble,
    },
}

/// A fault of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The server dies: this session and all others are lost, new ones cannot connect.
    Dies,
    /// No answer within the statement timeout.
    Hangs,
    /// The server refuses it; `1213` is one of the codes that may be tried again.
    Refuses {
        /// The server's code.
        code: &'static str,
        message: &'static str,
    },
    /// One row less is stored than the server says.
    LosesRow,
    /// The server says one row less than it touched.
    Miscounts,
    /// Rows come in the wrong order.
    Unordered,
    /// It takes this much longer.
    Slow(Duration),
}

impl Fault {
    /// Trouble with statement number `from` (from 1) of those that begin with `prefix`, and all
    /// later ones.
    pub const fn from(prefix: &'static str, from: u64, trouble: Trouble) -> Self {
        Self::Statements { prefix, from, times: u64::MAX, trouble }
    }
}

/// The faults of one system, with how many statements each has looked for so far.
#[derive(Debug)]
pub(crate) struct Faults(Vec<Counted>);

#[derive(Debug)]
struct Counted {
    fault: Fault,
    seen: AtomicU64,
}

impl Faults {
    pub(crate) fn new(faults: &[Fault]) -> Self {
        let faults = faults.iter().map(|fault| Counted { fault: *fault, seen: AtomicU64::new(0) });
        Self(faults.collect())
    }

    /// Is that among them?
    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.0.iter().any(|counted| counted.fault == fault)
    }

    /// The fault of this statement; every fault counts it.
    pub(crate) fn of(&self, sql: &str) -> Option<Trouble> {
        let mut found = None;
        for counted in &self.0 {
            let Fault::Statements { prefix, from, times, trouble } = counted.fault else {
                continue;
            };
            if sql.starts_with(prefix) {
                let number = counted.seen.fetch_add(1, Ordering::Relaxed) + 1;
                if number >= from && number - from < times {
                    found = Some(trouble);
                }
            }
        }
        found
    }
}
