//! Clients, pacing and recording; the workloads.
//!
//! A workload turns each of its steps into clients. The engine gives every client a thread of its
//! own, opens the window when all of them are connected, closes it after a time or when the last
//! *bounded* client (one with a fixed amount of work) has finished, and cuts what they recorded into
//! intervals of one second. An [`Observer`] is told of the window's edges and of each interval; it reads the
//! probes and stores. Workloads know a [`model::Dialect`], never a product.

mod arrivals;
mod clock;
mod engine;
mod error;
mod errors;
mod ramp;
mod reconnect;
mod recorder;
mod schedule;
mod workload;

pub use clock::{StepClock, monotonic};
pub use engine::{
    CLIENT_STACK, Client, ClientContext, End, Observer, Pace, Role, StepSetup, Stop, Window, run,
};
pub use error::StepError;
pub use recorder::{ClientRecorder, Recorder};
pub use schedule::Schedule;
pub use workload::{
    LoggedRun, Missing, Present, SlicedStep, StepOutline, StepResult, Survived, Target, Workload,
    check_conditions, loading, run_logged, survived, workload,
};
