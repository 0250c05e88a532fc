//! The steps of the Insert Benchmark by what they do.

use model::{Counts, InsertSpec, KindSpec, Pacing, QueryKind, Subject};

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// `l.i0`: inserts in key order, no secondary index.
    Load,
    /// `l.x`: builds the secondary indexes.
    Index,
    /// `l.i1`, `l.i2`: inserts and deletes as fast as they go.
    Random {
        name: String,
        rows: u64,
        rows_per_commit: u32,
    },
    /// The phase before the queries: analyze, write back, wait.
    Settle,
    /// In place of all before, where the data was loaded by another trial: reads it once and compares.
    Warm,
    /// `qr…`, `qp…`: queries beside paced inserts and deletes.
    Query { kind: QueryKind, rate: u32 },
}

/// The stages of a plan's steps, with a settle phase before the first query step.
pub(super) fn stages(spec: &InsertSpec) -> Vec<Stage> {
    let mut stages: Vec<Stage> = Vec::new();
    for step in &spec.steps {
        let stage = stage(spec, &step.0);
        let first_query = matches!(stage, Some(Stage::Query { .. }))
            && !stages.iter().any(|s| matches!(s, Stage::Query { .. }));
        if first_query {
            stages.push(Stage::Settle);
        }
        stages.extend(stage);
    }
    stages
}

fn stage(spec: &InsertSpec, name: &str) -> Option<Stage> {
    let query = |kind, rate: &str| {
        Some(Stage::Query {
            kind,
            rate: rate.parse().ok()?,
        })
    };
    match name {
        "l.i0" => Some(Stage::Load),
        "l.x" => Some(Stage::Index),
        "l.i1" => Some(Stage::Random {
            name: name.to_owned(),
            rows: spec.i1_rows,
            rows_per_commit: spec.i1_rows_per_commit,
        }),
        "l.i2" => Some(Stage::Random {
            name: name.to_owned(),
            rows: spec.i2_rows,
            rows_per_commit: spec.i2_rows_per_commit,
        }),
        _ => name
            .strip_prefix("qr")
            .and_then(|rate| query(QueryKind::Range, rate))
            .or_else(|| query(QueryKind::Point, name.strip_prefix("qp")?)),
    }
}

impl Stage {
    pub(super) fn name(&self) -> String {
        match self {
            Self::Load => "l.i0".to_owned(),
            Self::Index => "l.x".to_owned(),
            Self::Random { name, .. } => name.clone(),
            Self::Settle => "settle".to_owned(),
            Self::Warm => "warm".to_owned(),
            Self::Query {
                kind: QueryKind::Range,
                rate,
            } => format!("qr{rate}"),
            Self::Query {
                kind: QueryKind::Point,
                rate,
            } => format!("qp{rate}"),
        }
    }

    /// Rows that one client is to insert.
    pub(super) fn rows(&self, spec: &InsertSpec) -> u64 {
        match self {
            Self::Load => spec.rows,
            Self::Index => u64::from(spec.i0_rows_per_commit),
            Self::Random { rows, .. } => *rows,
            Self::Settle | Self::Warm => 0,
            Self::Query { rate, .. } => u64::from(*rate) * u64::from(spec.query_seconds),
        }
    }

    /// Rows of a statement; lowered to the rate where it is larger, as in the original.
    pub(super) fn rows_per_commit(&self, spec: &InsertSpec) -> u32 {
        let rows = match self {
            Self::Load | Self::Index | Self::Settle | Self::Warm => spec.i0_rows_per_commit,
            Self::Random {
                rows_per_commit, ..
            } => *rows_per_commit,
            Self::Query { rate, .. } => spec.query_rows_per_commit.min(*rate),
        };
        rows.max(1)
    }

    /// Is it a result, or a phase between results?
    pub(super) fn is_measured(&self) -> bool {
        !matches!(self, Self::Settle | Self::Warm)
    }

    pub(super) fn has_deletes(&self) -> bool {
        matches!(self, Self::Random { .. } | Self::Query { .. })
    }

    /// Rows per second and client, where the writers are paced.
    pub(super) fn rate(&self) -> Option<u32> {
        match self {
            Self::Query { rate, .. } => Some((*rate).max(1)),
            Self::Load | Self::Index | Self::Random { .. } | Self::Settle | Self::Warm => None,
        }
    }

    pub(super) fn subject(&self) -> Subject {
        let (kind, counts) = match self {
            Self::Load | Self::Random { .. } => ("insert", Counts::Rows),
            Self::Index => ("create_index", Counts::Rows),
            Self::Settle => ("settle", Counts::Operations),
            Self::Warm => ("scan", Counts::Rows),
            Self::Query { .. } => ("query", Counts::Operations),
        };
        Subject {
            kind: kind.to_owned(),
            counts,
        }
    }
}

/// How many of the first stages load the data: all before the first query step, the settle phase
/// included; none where there is no query step.
pub(super) fn loading_stages(stages: &[Stage]) -> usize {
    let is_query = |stage: &Stage| matches!(stage, Stage::Query { .. });
    stages.iter().position(is_query).unwrap_or(0)
}

/// The operation kinds of a step and their places; a kind that a step lacks has no place.
#[derive(Clone, Debug)]
pub(super) struct Kinds {
    pub(super) specs: Vec<KindSpec>,
    pub(super) insert: usize,
    pub(super) delete: usize,
    pub(super) query: usize,
    pub(super) index: usize,
    pub(super) min_pk: usize,
    pub(super) max_pk: usize,
    pub(super) long: usize,
}

impl Kinds {
    pub(super) fn of(stage: &Stage, spec: &InsertSpec) -> Self {
        let scheduled = stage.rate().is_some() && spec.pacing == Pacing::Even;
        let mut kinds = Self {
            specs: Vec::new(),
            insert: usize::MAX,
            delete: usize::MAX,
            query: usize::MAX,
            index: usize::MAX,
            min_pk: usize::MAX,
            max_pk: usize::MAX,
            long: usize::MAX,
        };
        match stage {
            Stage::Settle => {
                kinds.add("settle", false);
                return kinds;
            }
            Stage::Warm => {
                kinds.add("scan", false);
                return kinds;
            }
            Stage::Index => kinds.index = kinds.add("create_index", false),
            Stage::Query { .. } => kinds.query = kinds.add("query", false),
            Stage::Load | Stage::Random { .. } => {}
        }
        kinds.insert = kinds.add("insert", scheduled);
        if stage.has_deletes() && spec.deletes && spec.tables == model::Tables::Own {
            kinds.delete = kinds.add("delete", scheduled);
            kinds.min_pk = kinds.add("min_pk", false);
        }
        if matches!(
            stage,
            Stage::Query {
                kind: QueryKind::Point,
                ..
            }
        ) {
            kinds.max_pk = kinds.add("max_pk", false);
        }
        if spec.htap_seconds > 0 && *stage != Stage::Index {
            kinds.long = kinds.add("long", false);
        }
        kinds
    }

    fn add(&mut self, name: &str, scheduled: bool) -> usize {
        self.specs.push(KindSpec {
            name: name.to_owned(),
            scheduled,
        });
        self.specs.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn settling_comes_before_the_first_query_step() {
        let names: Vec<String> = stages(&spec()).iter().map(Stage::name).collect();
        assert_eq!(
            names,
            [
                "l.i0", "l.x", "l.i1", "l.i2", "settle", "qr100", "qp100", "qr500", "qp500"
            ]
        );
    }

    #[test]
    fn everything_before_the_first_query_step_loads() {
        let all = stages(&spec());
        assert_eq!(all[loading_stages(&all) - 1], Stage::Settle);
        assert_eq!(loading_stages(&all[..4]), 0);
    }

    #[test]
    fn a_slow_rate_lowers_the_rows_of_a_statement() {
        let slow = Stage::Query {
            kind: QueryKind::Range,
            rate: 20,
        };
        assert_eq!(slow.rows_per_commit(&spec()), 20);
    }

    #[test]
    fn only_paced_writers_have_an_intended_start() {
        let scheduled = |name: &str| {
            let stage = stage(&spec(), name).unwrap();
            Kinds::of(&stage, &spec()).specs.iter().any(|k| k.scheduled)
        };
        assert!(!scheduled("l.i1") && scheduled("qr100"));
    }
}
