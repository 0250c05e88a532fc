//! Ways to use `SQLite` that every connection of ours shares.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::Fault;

/// How long a statement waits for another process that writes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Statements keep the plan of their first use. Otherwise each new value of a parameter makes `SQLite` plan again,
/// where it was built to learn from samples: as long as reading the rows of a step takes.
pub(crate) fn keep_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

pub(crate) fn in_transaction<T>(
    connection: &mut Connection,
    change: impl FnOnce(&Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    // Immediate: waits for another writer now, instead of failing half-way.
    let behaviour = TransactionBehavior::Immediate;
    let transaction: Transaction<'_> = connection.transaction_with_behavior(behaviour)?;
    let value = change(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

/// The file that `SQLite` keeps beside the store under a longer name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
