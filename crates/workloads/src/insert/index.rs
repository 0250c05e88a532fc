//! Index builds.

use load::worker::Worker;
use load::{Client, ClientContext, StepError};
pub(super) struct IndexBuilder {
    pub(super) worker: Worker,
    pub(super) kind: usize,
    pub(super) statements: Vec<String>,
    /// Rows that the table has; counted once, whatever the number of indexes.
    pub(super) rows: u64,
    /// Inserts that come first, as the original does.
    pub(super) first: Box<dyn Client>,
}

impl Client for IndexBuilder {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        self.first.run(context)?;
        self.worker.build_indexes(context, self.kind, &self.statements, self.rows)
    }
}
