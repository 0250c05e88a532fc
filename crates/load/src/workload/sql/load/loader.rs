//! A client that loads: takes chunks until none are left.

use std::sync::Arc;

use super::sender::Sender;
use super::{Load, method};
use crate::workload::batches::Batches;
use crate::workload::worker::Worker;
use crate::{Client, ClientContext, StepError};

/// A client that loads.
pub(in crate::workload::sql) struct Loader {
    load: Arc<Load>,
    batches: Batches<Sender>,
}

impl Loader {
    /// Client `number`, from 0, connected.
    pub(in crate::workload::sql) fn connect(
        load: &Arc<Load>,
        number: u32,
        kind: usize,
    ) -> Result<Self, StepError> {
        let name = format!("load {}", number + 1);
        let batches = Batches::connect(&load.recovery, name, kind, |session| {
            let method = method(load.wanted, load.dialect, session)?;
            Ok(Sender::new(load, method))
        })?;
        Ok(Self {
            load: Arc::clone(load),
            batches,
        })
    }

    /// Its session, for work that comes after the load.
    pub(in crate::workload::sql) fn worker(&mut self) -> &mut Worker {
        self.batches.worker()
    }
}

impl Client for Loader {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let load = &*self.load;
        let mut at = None;
        while !context.is_over()
            && let Some(chunk) = load.chunks.take(&mut at)
        {
            self.batches.load(&load.recovery, &chunk, context)?;
        }
        let session = &mut *self.batches.worker().session;
        load.local_files.done(session, &load.notes);
        Ok(())
    }
}
