//! Where servers spend their CPU, and what they sleep in: a [`Sampler`] takes the stacks of all threads of some
//! processes, unwinds them by the tables of their programs, names their functions, and counts equal ones.
//!
//! The kernel's tick or its software clock triggers the samples, so that no PMU is needed. A stack has the frames of
//! the kernel, then those of the process. Its functions have names that hold across versions: [`fold`] drops what
//! compilers add.
//!
//! A [`Counter`] yields the same without the noise of time: the instructions of a server that runs under Valgrind.

mod budget;
mod callgrind;
mod error;
mod events;
mod image;
mod kernel;
mod maps;
mod names;
mod ring;
mod sample;
mod sampler;
mod seen;
mod sleeps;
mod stacks;
mod switches;
mod tick;
mod unwind;
mod watcher;

pub use callgrind::{
    Counter, check_counting, itself_under_valgrind, under_valgrind, unknown_instruction,
};
pub use error::ProfileError;
pub use names::fold;
pub use sampler::{Sampler, Target};
pub use watcher::Watcher;

/// Checks that the kernel lets this user sample, before a run depends on it.
///
/// # Errors
/// Where it does not: why, and what to do.
pub fn check() -> Result<(), ProfileError> {
    let own = rustix::thread::gettid().as_raw_nonzero().get();
    events::Events::open(&[own], events::What::Clock).map(drop)
}
