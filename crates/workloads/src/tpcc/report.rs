//! What the terminals of a step in one process know at its end, for the process that measures.

use model::Nanos;
use serde::{Deserialize, Serialize};

use super::audit::Tally;
use super::terminal::Common;
use crate::sql::answers::WrongAnswers;
use data::state;
use load::Result;

#[derive(Serialize, Deserialize)]
struct Report {
    tally: Tally,
    wrong: WrongAnswers,
    outages: (u64, Nanos),
}

pub(super) fn report(common: &Common) -> Result<String> {
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
