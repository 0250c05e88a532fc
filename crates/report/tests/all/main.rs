//! Whole reports of made-up runs, in one binary: a crate of tests links once.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod before;
mod charts;
mod for_ci;
mod metrics;
mod micro;
mod outputs;
mod overview;
mod page;
mod placement;
mod rounds;
mod tpcc;
mod verdicts;
mod why;

use model::{Comparison, RunData};
use report::{Differing, Input};

/// What a report of these has, and nothing besides.
const fn input<'a>(data: &'a RunData, comparisons: &'a [Comparison]) -> Input<'a> {
    Input::new(data, comparisons)
}

fn differing() -> Differing {
    let (variables, unequal) = testkit::made_up::differing();
    Differing { variables, unequal }
}
