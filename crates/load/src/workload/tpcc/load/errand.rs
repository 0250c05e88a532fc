//! Steps whose clients have a fixed amount of work.

use model::{KindSpec, Nanos};

use crate::engine::{End, Observer, StepSetup, Stop, run};
use crate::workload::settle::{Clients, Notes, taken};
use crate::{StepClock, StepError, StepResult};

/// Such a step, connected.
pub(in crate::workload::tpcc) struct Errand<'a> {
    /// Its operation kinds.
    pub(in crate::workload::tpcc) kinds: Vec<KindSpec>,
    /// Its clients.
    pub(in crate::workload::tpcc) clients: Clients,
    /// Started before the first of them connected.
    pub(in crate::workload::tpcc) clock: StepClock,
    /// Under which name their notes stand, and what they leave there.
    pub(in crate::workload::tpcc) notes: (&'static str, &'a Notes),
}

impl Errand<'_> {
    /// Runs the clients. Nothing is checked yet.
    pub(in crate::workload::tpcc) fn run(
        self,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepResult, StepError> {
        let setup = StepSetup {
            kinds: self.kinds,
            clients: self.clients,
            pace: None,
            end: End::AllDone { limit: None },
            warmup: Nanos(0),
        };
        let window = run(setup, stop, observer)?;
        let (name, notes) = self.notes;
        Ok(StepResult {
            window,
            elapsed: self.clock.now(),
            target_rate: None,
            requested_rows: 0,
            open_loop: None,
            tpcc: None,
            checks: Vec::new(),
            notes: taken(notes, name),
        })
    }
}
