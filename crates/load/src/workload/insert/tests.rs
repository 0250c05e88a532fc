//! What the tests share.

use super::*;
use model::{InsertScale, Settle};

/// A small spec with the original's parameters.
pub(in crate::workload) fn spec() -> InsertSpec {
    InsertSpec {
        scale: InsertScale::Tiny,
        clients: 1,
        tables: Tables::Own,
        rows: 2_000,
        i1_rows: 800,
        i2_rows: 200,
        i0_rows_per_commit: 100,
        i1_rows_per_commit: 50,
        i2_rows_per_commit: 5,
        query_rows_per_commit: 50,
        rates: vec![100, 500],
        queries: vec![QueryKind::Range, QueryKind::Point],
        query_seconds: 1,
        query_sessions: 1,
        rows_per_query: 10,
        max_refresh: 100,
        secondary_indexes: 3,
        deletes: true,
        queue: 8,
        min_resync: 1000,
        data_min: 10,
        data_max: 20,
        data_random_percent: 50,
        writes: Statements::Usual,
        reads: Statements::Usual,
        pacing: Pacing::Even,
        settle: Settle::Seconds(0),
        htap_seconds: 0,
        partitions: 0,
        sequence_cache: 1000,
        sla_percent: 95,
        statement_timeout: 60,
        compat: false,
        steps: [
            "l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500",
        ]
        .map(StepId::new)
        .to_vec(),
    }
}
