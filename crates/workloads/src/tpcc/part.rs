//! A share of the terminals of a step, in a process that measures nothing itself.

use super::loading::Setting;
use super::report::report;
use super::run::RunStep;
use crate::part::{Part, TpccAssignment};
use load::{Result, Share, Stop, Target};

pub(crate) fn part(
    assignment: TpccAssignment,
    target: &Target,
    share: Share,
    stop: &Stop,
) -> Result<Part> {
    let TpccAssignment { spec, rows_seed, seed, number } = assignment;
    let at = &Setting { spec: &spec, rows_seed, target, stop };
    let step = RunStep { at, number, seed, share, log: None };
    let common = step.common(step.stream().as_ref());
    let crew = step.own_crew(step.kinds(), &common)?;
    Ok(Part { crew, report: Box::new(move || report(&common)) })
}
