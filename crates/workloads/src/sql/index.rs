//! Builds the secondary indexes of tables that are loaded.

use model::SqlSpec;

use data::schema;
use data::schema::copies;
use load::clients::{Clients, Notes, bounded, note};
use load::worker::Worker;
use load::{Client, ClientContext, StepError, Target};

/// Builds the indexes of one copy of a table, one after the other.
struct IndexBuilder {
    worker: Worker,
    statements: Vec<String>,
    rows: u64,
}

impl Client for IndexBuilder {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        self.worker.build_indexes(context, 0, &self.statements, self.rows)
    }
}

/// Connects the clients that build all secondary indexes: one for each copy of a table that has some left
/// to build. Where none has, one that has nothing to do, which is noted. Their operation kind, the first of
/// the step, is the statement that builds an index; the rows of a copy count once.
pub(super) fn clients_of_index(
    spec: &SqlSpec,
    target: &Target,
    notes: &Notes,
) -> Result<Clients, StepError> {
    let client = |name: String, statements, rows| -> Result<_, StepError> {
        let builder = IndexBuilder {
            worker: Worker::connect(&*target.patient, name.clone())?,
            statements,
            rows,
        };
        Ok(bounded(name, builder))
    };
    let mut clients = Clients::new();
    let tables = schema::tables(&spec.tables, target.dialect, target.engine)?;
    for (copy, table) in copies(&spec.tables).into_iter().zip(&tables) {
        let statements = table.create_indexes();
        if !statements.is_empty() && !spec.load.indexes_first {
            let name = format!("create index {}", copy.name);
            clients.push(client(name, statements, copy.rows)?);
        }
    }
    if clients.is_empty() {
        note(notes, "no index was left to build".to_owned());
        clients.push(client("create index".to_owned(), Vec::new(), 0)?);
    }
    Ok(clients)
}
