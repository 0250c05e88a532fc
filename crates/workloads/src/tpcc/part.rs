//! A share of the terminals of a step, in a process that measures nothing itself, and what that process reports.

use model::Nanos;
use serde::{Deserialize, Serialize};

use super::audit::Tally;
use super::loading::Setting;
use super::run::RunStep;
use super::terminal::Common;
use crate::part::{Part, TpccAssignment};
use crate::sql::answers::WrongAnswers;
use data::state;
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

#[derive(Serialize, Deserialize)]
struct Report {
    tally: Tally,
    wrong: WrongAnswers,
    outages: (u64, Nanos),
}

fn report(common: &Common) -> Result<String> {
    state::write(&Report {
        tally: common.tallies.sum(),
        wrong: common.answers.counted(),
        outages: common.recovery.outages.counted(),
    })
}

pub(super) fn take(report: &str, common: &Common) -> Result {
    let Report { tally, wrong, outages } = state::read(report)?;
    common.tallies.add(&tally);
    common.answers.add_all(wrong);
    common.recovery.outages.add(outages);
    Ok(())
}
