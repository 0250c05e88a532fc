//! What a step does, for people who do not know its name.

use model::{Counts, Step};

/// A sentence or two on a step. Of an imported one no more is known than what it counts.
pub(crate) fn describe(step: &Step) -> String {
    if !step.description.is_empty() {
        return step.description.clone();
    }
    match step.subject.counts {
        Counts::Rows => "Counts the rows that are read.".to_owned(),
        Counts::Statements(n) => format!(
            "An operation is {n} statements, BEGIN and COMMIT among them; throughput and costs count statements, response times are of whole operations."
        ),
        Counts::Operations => "Counts statements.".to_owned(),
    }
}
