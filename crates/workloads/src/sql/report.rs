//! What the clients of a step in one process know at its end, for the process that measures.

use model::{Nanos, Note};
use serde::{Deserialize, Serialize};

use super::answers::WrongAnswers;
use super::client::Common;
use super::sampled::Answer;
use data::{Counted, state};
use load::Result;

#[derive(Serialize, Deserialize)]
struct Report {
    counts: Counted,
    wrong: WrongAnswers,
    facts: Vec<Note>,
    outages: (u64, Nanos),
    sampled: Vec<Vec<Answer>>,
}

pub(super) fn report(common: &Common) -> Result<String> {
    state::write(&Report {
        counts: common.counts.counted(),
        wrong: common.answers.counted(),
        facts: common.facts.notes(),
        outages: common.recovery.outages.counted(),
        sampled: common.sampled.all(),
    })
}

/// Takes over what the clients of a process found out since the counts were as `before`.
pub(super) fn take(report: &str, common: &Common, before: &Counted) -> Result {
    let Report { counts, wrong, facts, outages, sampled } = state::read(report)?;
    common.counts.add_change(before, &counts);
    common.answers.add_all(wrong);
    common.facts.add_all(facts);
    common.recovery.outages.add(outages);
    common.sampled.add_all(sampled);
    Ok(())
}
