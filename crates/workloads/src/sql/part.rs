//! A share of the clients of a step, in a process that measures nothing itself, and what that process reports.

use std::sync::Arc;

use model::{Nanos, Note, SqlKinds as Kinds};
use serde::{Deserialize, Serialize};

use super::answers::WrongAnswers;
use super::client::Common;
use super::contents::{Edge, Next};
use super::run::RunStep;
use super::sampled::Answer;
use crate::part::{Part, SqlAssignment};
use data::{Counted, RowCounts, state};
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

#[derive(Serialize, Deserialize)]
struct Report {
    counts: Counted,
    wrong: WrongAnswers,
    facts: Vec<Note>,
    outages: (u64, Nanos),
    sampled: Vec<Vec<Answer>>,
}

fn report(common: &Common) -> Result<String> {
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
