//! What the tests share.

use super::*;
use model::{Settle, StepId};

/// A small spec with the original's parameters.
pub(crate) fn spec() -> InsertSpec {
    InsertSpec {
        rows: 2_000,
        i1_rows: 800,
        i2_rows: 200,
        rates: vec![100, 500],
        query_seconds: 1,
        settle: Settle::Seconds(0),
        statement_timeout: 60,
        steps: ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500"]
            .map(StepId::new)
            .to_vec(),
        ..InsertSpec::usual()
    }
}
