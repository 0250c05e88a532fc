//! What is read as one, a file or the files of a directory.

use crate::{File, FileKind, Options, insert, tables};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub kind: FileKind,
    /// The system that it is about, where it was said; else the name of the file or directory says it. Of a table of
    /// rates the systems of its columns, with commas between them.
    pub system: Option<String>,
    /// The clients of it, where they were said of it alone; several for a file with a column for each.
    pub clients: Vec<u32>,
    pub origin: String,
    /// The files; one, but for a directory.
    pub files: Vec<File>,
}

impl Source {
    /// The system: as given, otherwise by the name of the file or directory.
    pub fn system(&self) -> String {
        let name = File::name_of(&self.origin);
        let named = if self.kind == FileKind::SysbenchDirectory {
            tables::system_of_directory(name)
        } else if self.kind == FileKind::InsertLines {
            insert::system_of_file(name)
        } else {
            let mut ends = [".txt", ".log", ".out"].iter();
            ends.find_map(|end| name.strip_suffix(end)).unwrap_or(name)
        };
        self.system.as_deref().unwrap_or(named).to_owned()
    }

    /// The options for it: clients that were said of it alone or that its path states are those of its files.
    pub(crate) fn options(&self, options: &Options) -> Options {
        let mut own = options.clone();
        if !self.clients.is_empty() {
            own.clients.clone_from(&self.clients);
        } else if let Some(clients) = File::clients_of_path(&self.origin) {
            own.clients = vec![clients];
        }
        own
    }
}
