//! A client that loads: takes units until none are left.

use std::sync::Arc;

use super::Load;
use super::sender::Sender;
use crate::workload::batches::{Batches, Loaded};
use crate::workload::sql::load::method;
use crate::{Client, ClientContext, StepError};

/// The kind of its operations.
const INSERT: usize = 0;

/// A client that loads.
pub(super) struct Loader {
    load: Arc<Load>,
    batches: Batches<Sender>,
}

impl Loader {
    /// A client with this name, connected.
    pub(super) fn connect(load: &Arc<Load>, name: String) -> Result<Self, StepError> {
        let batches = Batches::connect(&load.recovery, name, INSERT, |session| {
            let method = method(load.wanted, load.dialect, session)?;
            Ok(Sender::new(load, method))
        })?;
        Ok(Self {
            load: Arc::clone(load),
            batches,
        })
    }
}

impl Client for Loader {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let load = &*self.load;
        let mut at = None;
        while !context.is_over()
            && let Some((table, number)) = load.shares.take(&mut at)
        {
            let unit = load.cuts.unit(table, number);
            if let Some(loaded) = self.batches.load(&load.recovery, &unit, context)? {
                let Loaded { rows, took } = loaded;
                load.tally.add(table, rows, took);
            }
        }
        let session = &mut *self.batches.worker().session;
        load.local_files.done(session, &load.notes);
        load.done();
        Ok(())
    }
}
