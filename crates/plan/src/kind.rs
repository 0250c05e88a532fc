//! The workloads that a plan may name.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WorkloadKind {
    #[default]
    Insert,
    Micro,
    Sql,
    Tpcc,
    Lua,
}

impl WorkloadKind {
    pub(crate) fn word(self) -> &'static str {
        WORDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
}

pub(crate) const WORDS: [(&str, WorkloadKind); 5] = [
    ("insert", WorkloadKind::Insert),
    ("micro", WorkloadKind::Micro),
    ("sql", WorkloadKind::Sql),
    ("tpcc", WorkloadKind::Tpcc),
    ("lua", WorkloadKind::Lua),
];
