//! The workloads that a plan may name.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WorkloadKind {
    #[default]
    Insert,
    Micro,
    Sql,
    Tpcc,
}
