//! Clients, windows, pacing and recording.
//!
//! A workload turns each of its steps into clients. The engine gives every client a thread of its
//! own, opens the window when all of them are connected, closes it after a time or when the last
//! *bounded* client (one with a fixed amount of work) has finished, and cuts what they recorded into
//! intervals of one second. An [`Observer`] is told of the window's edges and of each interval; it reads the
//! probes and stores.

pub mod arrivals;
pub mod clients;
pub mod crew;
pub mod engine;
pub mod error;
pub mod errors;
pub mod measure;
pub mod outages;
pub mod pace;
pub mod ramp;
pub mod recorder;
pub mod recovery;
pub mod schedule;
pub mod share;
pub mod turns;
pub mod warm;
pub mod worker;
pub mod workload;

pub use arrivals::{Arrival, Queue};
pub use clients::{Clients, Notes, bounded, fixed_work, note, unseen};
pub use crew::{Crew, LoadHosts, OwnCrew, Shared, Window};
pub use engine::{Blind, CLIENT_STACK, Client, ClientContext, End, NAP, Observer, Role, run};
pub use error::{Result, StepError};
pub use errors::Reaction;
pub use outages::Refused;
pub use pace::{Pace, run_paced};
pub use recorder::{ClientRecorder, Recorder};
pub use recovery::{Next, Recovering, Recovery};
pub use schedule::Schedule;
pub use share::Share;
pub use turns::{Quota, StepClock, Stop, Turns, lock, monotonic};
pub use worker::{Worker, Wrong};
pub use workload::{Target, Workload};
