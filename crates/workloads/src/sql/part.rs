//! A share of the clients of a step, in a process that measures nothing itself.

use std::sync::Arc;

use model::SqlKinds as Kinds;

use super::contents::{Edge, Next};
use super::report::report;
use super::run::RunStep;
use crate::part::{Part, SqlAssignment};
use data::RowCounts;
use load::measure::Stream;
use load::{Result, Share, Stop, Target};

pub(crate) fn part(
    assignment: SqlAssignment,
    target: &Target,
    share: Share,
    stop: &Stop,
) -> Result<Part> {
    let SqlAssignment { spec, step, run, seed, counts } = assignment;
    let counts = Arc::new(RowCounts::of_share(&spec, &counts, &share));
    // What follows only decides checks, which are not this process's.
    let next = Next::Same;
    let edge = Edge { spec: &spec, target, counts: &counts, step: &step, run: Some(&run), next };
    let step = RunStep { seed, edge, share, run: &run };
    let kinds = Kinds::of(&run);
    let common = step.common(&kinds, Stream::of(&run.pace, kinds.of_all()).as_ref())?;
    let crew = step.own_crew(kinds.specs, &common, stop)?;
    Ok(Part { crew, report: Box::new(move || report(&common)) })
}
