//! Steps whose clients have a fixed amount of work.

use model::{KindSpec, Nanos, NoteKind, StepRecord};

use crate::clients::{Clients, Notes, taken};
use crate::engine::{Blind, End, Observer, StepSetup, Stop, run};
use crate::{StepClock, StepError};

/// A step whose clients are connected.
pub struct FixedWork<'a> {
    pub kinds: Vec<KindSpec>,
    pub clients: Clients,
    pub clock: StepClock,
    pub notes: (NoteKind, &'a Notes),
}

impl FixedWork<'_> {
    pub fn run(self, stop: &Stop, observer: &mut dyn Observer) -> Result<StepRecord, StepError> {
        let setup = StepSetup {
            kinds: self.kinds,
            clients: self.clients,
            pace: None,
            end: End::AllDone { limit: None },
            warmup: Nanos(0),
        };
        let record = run(setup, stop, observer)?;
        let (name, notes) = self.notes;
        Ok(StepRecord { elapsed: self.clock.now(), notes: taken(notes, &name), ..record })
    }
}

/// Runs clients whose work is no result: nobody looks at its rate. The kind of their operations is `kind`.
pub fn unseen(kind: &str, clients: Clients, stop: &Stop) -> Result<(), StepError> {
    let notes = Notes::default();
    let kinds = vec![KindSpec { name: kind.to_owned(), scheduled: false }];
    let work = FixedWork { kinds, clients, clock: stop.clock(), notes: (kind.into(), &notes) };
    work.run(stop, &mut Blind)?;
    Ok(())
}
