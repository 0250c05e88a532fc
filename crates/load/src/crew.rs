//! Who runs the windows of a step: clients of this process, or of processes on other hosts.

use std::sync::Arc;

use model::{KindSpec, Nanos, StepRecord};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::arrivals::Queue;
use crate::clients::Clients;
use crate::engine::{Blind, End, Observer, Stop, run};

/// A window in which the clients of a step run operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    pub end: End,
    /// Arrivals a second of all clients together; `None` in a closed loop.
    pub per_second: Option<u64>,
    /// Is it the step's result, rather than a warm-up or an attempt?
    pub measured: bool,
}

/// The connected clients of a step.
pub trait Crew {
    fn kinds(&self) -> &[KindSpec];

    /// Runs all clients once, from the opening of the window until every one has ended. Errors as of [`run`].
    fn window(
        &mut self,
        window: Window,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord>;

    /// Closes the clients' sessions; what those of other processes know of the step, a text from each process.
    fn end(self: Box<Self>) -> Result<Vec<String>>;
}

pub(crate) fn unseen(
    crew: &mut dyn Crew,
    per_second: Option<u64>,
    length: Nanos,
    stop: &Stop,
) -> Result<StepRecord> {
    let window = Window { end: End::After(length), per_second, measured: false };
    crew.window(window, stop, &mut Blind)
}

/// What the clients of a step share.
pub trait Shared {
    /// Where operations arrive by themselves; `None` in a closed loop.
    fn queue(&self) -> Option<&Queue>;

    /// The measured window opens: what was counted before it does not count.
    fn opens(&self) {}
}

pub struct OwnCrew {
    pub kinds: Vec<KindSpec>,
    pub clients: Clients,
    /// `None` where windows need not know of it.
    pub shared: Option<Arc<dyn Shared>>,
}

impl Crew for OwnCrew {
    fn kinds(&self) -> &[KindSpec] {
        &self.kinds
    }

    fn window(
        &mut self,
        Window { end, per_second, measured }: Window,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord> {
        let shared = self.shared.as_deref();
        if measured && let Some(shared) = shared {
            shared.opens();
        }
        let flow = shared.and_then(Shared::queue).zip(per_second);
        if let (Some((queue, per_second)), End::After(length)) = (flow, end) {
            queue.restart(per_second);
            queue.close_at(length);
        }
        let record = run(&self.kinds, &mut self.clients, end, stop, observer)?;
        let open_loop = flow.map(|(queue, _)| queue.outcome(record.window));
        Ok(StepRecord { open_loop, ..record })
    }

    fn end(self: Box<Self>) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// Other hosts whose processes run the clients of steps.
pub trait LoadHosts: Send + Sync {
    /// Divides `clients`, who open `sessions` sessions each and do what `assignment` says, among the hosts.
    fn crew(
        &self,
        assignment: String,
        kinds: Vec<KindSpec>,
        clients: u32,
        sessions: u32,
    ) -> Result<Box<dyn Crew + '_>>;
}
