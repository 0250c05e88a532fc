//! What the clients of a load share.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use drivers::Session;
use model::{Dialect, LoadMethod, Nanos};

use super::batches::Recovery;
use super::handout::Handout;
use super::local_files::LocalFiles;
use crate::table::Table;
use load::clients::{Notes, note};
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// `COPY` or `LOAD DATA`.
    Bulk,
    Prepared,
    Text,
}
pub struct Load<S> {
    pub(super) source: S,
    pub(super) tables: Vec<Table>,
    pub(super) handout: Handout,
    pub(super) batch_size: u32,
    pub(super) dialect: Dialect,
    pub(super) wanted: LoadMethod,
    /// Bytes of an INSERT as text beyond which it gets no more rows.
    pub(super) statement_size: usize,
    /// By table.
    pub(super) rows_at_once: Vec<usize>,
    pub(super) recovery: Recovery,
    pub(super) local_files: LocalFiles,
    pub(super) notes: Notes,
    /// Rows of each table, and the time that the statements took which added them, all clients together.
    pub(super) loaded: Vec<[AtomicU64; 2]>,
    pub(super) with_times: bool,
    pub(super) left: AtomicUsize,
}

impl<S> Load<S> {
    /// A client is done; the last one switches local files back and tells how long each table took.
    pub(super) fn client_done(&self, session: &mut dyn Session) {
        if self.left.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        self.local_files.end(session, &self.notes);
        for (table, loaded) in self.tables.iter().zip(&self.loaded).filter(|_| self.with_times) {
            let [rows, time] = loaded.each_ref().map(|number| number.load(Ordering::Relaxed));
            let (name, time) = (&table.name, Nanos(time));
            note(&self.notes, format!("{name}: {rows} rows in {time} of all clients"));
        }
    }
}
