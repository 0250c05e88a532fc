//! Scripts that were written for sysbench, run as they are.
//!
//! Each client has a [`Script`] of its own: a LuaJIT state with the interface of sysbench 1.0.20, whose statements go
//! through a session of `drivers`. What knows of plans, windows and pacing calls [`Script::event`] and records what
//! it tells. Interface and random numbers are those of sysbench; none of its code is here.

mod calls;
mod connection;
mod declared;
mod error;
mod ledger;
mod placeholders;
mod random;
mod rows;
mod script;
mod slot;
#[cfg(test)]
mod tests;
mod watch;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use declared::declared;
pub use error::{Result, ScriptError};
pub use ledger::{Clock, Sent, SentKind};
pub use random::Seeds;
pub use script::{Outcome, Program, Script, Thread};
pub use watch::Watch;

/// One that panicked leaves what it had locked whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
