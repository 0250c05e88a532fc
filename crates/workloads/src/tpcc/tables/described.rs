//! The tables as `tables.txt` describes them.

use std::sync::LazyLock;

use super::kind::{Column, column};
use crate::tpcc::blocks::blocks;
pub(super) struct Described {
    pub(super) name: &'static str,
    pub(super) key: Vec<&'static str>,
    pub(super) group: Vec<&'static str>,
    pub(super) number: &'static str,
    pub(super) partitioned_by: Option<&'static str>,
    pub(super) columns: Vec<Column>,
    pub(super) indexes: Vec<Index>,
    pub(super) references: Vec<Reference>,
}
pub(super) struct Index {
    pub(super) name: &'static str,
    pub(super) columns: Vec<&'static str>,
    /// Is it one that only tpcc-mysql has?
    pub(super) is_percona: bool,
}
pub(super) struct Reference {
    pub(super) name: &'static str,
    pub(super) columns: &'static str,
    pub(super) parent: &'static str,
    pub(super) key: &'static str,
}

/// All tables, in the order of the file.
pub(super) static TABLES: LazyLock<Vec<Described>> = LazyLock::new(|| {
    blocks(include_str!("tables.txt")).filter_map(|block| described(&block)).collect()
});

fn described((header, lines): &(Vec<&'static str>, Vec<&'static str>)) -> Option<Described> {
    let [name, key, group, number, partitioned_by] = header[..] else {
        return None;
    };
    let mut described = Described {
        name,
        key: list(key),
        group: list(group),
        number,
        partitioned_by: (!partitioned_by.is_empty()).then_some(partitioned_by),
        columns: Vec::new(),
        indexes: Vec::new(),
        references: Vec::new(),
    };
    for line in lines {
        let parts: Vec<&str> = line.split(['(', ')']).map(str::trim).collect();
        if let [head, columns, parent, key, ""] = parts[..] {
            let name = head.strip_prefix("reference ")?;
            described.references.push(Reference { name, columns, parent, key });
        } else if let [head, columns, ""] = parts[..] {
            let (before, name) = head.split_once("index ")?;
            let is_percona = before == "percona ";
            described.indexes.push(Index { name, columns: list(columns), is_percona });
        } else {
            described.columns.push(column(line)?);
        }
    }
    Some(described)
}

fn list(names: &'static str) -> Vec<&'static str> {
    names.split(", ").filter(|name| !name.is_empty()).collect()
}
