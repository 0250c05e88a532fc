//! A step whose terminals run in several processes: what each is given, and what it knows at the end.

use model::{Nanos, TpccSpec};
use serde::{Deserialize, Serialize};

use super::audit::Tally;
use super::loading::Setting;
use super::run::RunStep;
use super::terminal::Common;
use crate::part::{Assignment, Part};
use crate::sql::answers::WrongAnswers;
use data::state;
use load::{Result, Share, Stop, Target};

#[derive(Serialize, Deserialize)]
pub(crate) struct TpccAssignment {
    spec: TpccSpec,
    rows_seed: u64,
    seed: u64,
    number: u32,
}

/// What the terminals of one process found out.
#[derive(Serialize, Deserialize)]
struct Report {
    tally: Tally,
    wrong: WrongAnswers,
    outages: (u64, Nanos),
}

pub(super) fn assignment(step: &RunStep<'_>) -> Result<String> {
    let Setting { spec, rows_seed, .. } = *step.at;
    let (seed, number) = (step.seed, step.number);
    state::write(&Assignment::Tpcc(TpccAssignment { spec: spec.clone(), rows_seed, seed, number }))
}

impl TpccAssignment {
    /// Connects a share of the terminals.
    pub(crate) fn part(self, target: &Target, share: Share, stop: &Stop) -> Result<Part> {
        let Self { spec, rows_seed, seed, number } = self;
        let at = &Setting { spec: &spec, rows_seed, target, stop };
        let step = RunStep { at, number, seed, share, log: None };
        let common = step.common(step.stream().as_ref());
        let crew = step.own_crew(&common)?;
        Ok(Part { crew, report: Box::new(move || report(&common)) })
    }
}

fn report(common: &Common) -> Result<String> {
    state::write(&Report {
        tally: common.tallies.sum(),
        wrong: common.answers.counted(),
        outages: common.recovery.outages.counted(),
    })
}

/// Takes over what the terminals of a process found out.
pub(super) fn take(report: &str, common: &Common) -> Result {
    let Report { tally, wrong, outages } = state::read(report)?;
    common.tallies.add(&tally);
    common.answers.add_all(wrong);
    common.recovery.outages.add_all(outages);
    Ok(())
}
