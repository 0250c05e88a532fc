//! The workloads that a plan may name.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WorkloadKind {
    #[default]
    Insert,
    Micro,
    Sql,
    Tpcc,
}

pub(crate) const WORDS: [(&str, WorkloadKind); 4] = [
    ("insert", WorkloadKind::Insert),
    ("micro", WorkloadKind::Micro),
    ("sql", WorkloadKind::Sql),
    ("tpcc", WorkloadKind::Tpcc),
];
