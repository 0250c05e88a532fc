//! What a reader of files must be told besides them.

use model::Dbms;

use crate::ImportError;
use crate::file::FileLine;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// What follows from the counts, times and samples in the files.
    #[default]
    Exact,
    /// What the original publishes: its rounding, its samples, its units.
    Compat,
}

/// What is known besides the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub mode: Mode,
    pub cpus: Option<u32>,
    /// Clients, where the files do not say; several for a file that has a column for each.
    pub clients: Vec<u32>,
    /// The disk in the output of iostat.
    pub device: Option<String>,
    pub dbms: Option<Dbms>,
}

impl Options {
    #[must_use]
    pub fn in_mode(&self, mode: Mode) -> Self {
        Self { mode, ..self.clone() }
    }

    /// Clients of a step: as its file states them, otherwise as given.
    pub(crate) fn clients_or(
        &self,
        stated: Option<u32>,
        line: FileLine<'_>,
    ) -> Result<u32, ImportError> {
        stated.map_or_else(|| self.clients(line), Ok)
    }

    /// Clients of a step whose file does not say.
    pub(crate) fn clients(&self, line: FileLine<'_>) -> Result<u32, ImportError> {
        match *self.clients {
            [clients] => Ok(clients),
            [] => Err(line.wrong(
                "how many clients? Neither the file nor its path (`dop8`) says it: give --clients N, or PATH@N for one file",
            )),
            [..] => Err(line.wrong(format!(
                "one number of clients belongs to this file, not {:?}: give PATH@N for each file",
                self.clients
            ))),
        }
    }
}
