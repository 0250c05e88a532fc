//! What the runs of a bisection say: pairs, and builds that cannot be measured.

use anyhow::Result;
use lab::Lab;
use model::{Outcome, RunData, RunId, RunState};
use stats::{Bisection, Pair};

use super::question::Question;
use crate::runs;

#[derive(Debug)]
pub(super) struct Evidence {
    pub(super) bisection: Bisection,
    /// Places without a build that can be measured, and why.
    pub(super) skipped: Vec<(usize, String)>,
    pub(super) runs: Vec<RunId>,
}

impl Evidence {
    /// What the finished runs of the lab say. What failed in them is tried again.
    pub(super) fn of(question: &Question<'_>, lab: &Lab) -> Result<Self> {
        let bisection = Bisection::new(question.ladder.builds());
        let mut evidence = Self { bisection, skipped: Vec::new(), runs: Vec::new() };
        for run in question.runs(lab, RunState::Finished)? {
            evidence.add(question, &lab.store.load(&run, runs::NUMBERS)?)?;
        }
        Ok(evidence)
    }

    pub(super) fn pairs(&self) -> usize {
        self.bisection.pairs().len()
    }

    pub(super) fn has(&self, place: usize) -> bool {
        self.bisection.pairs().iter().any(|pair| pair.place == place)
    }

    pub(super) fn skip(&mut self, place: usize, why: String) {
        self.bisection.skip(place);
        self.skipped.push((place, why));
    }

    /// Adds the pairs of a finished run; why there are none, if a build or the metric could not be measured. Runs of
    /// builds that are not on the ladder say nothing here.
    pub(super) fn add(
        &mut self,
        question: &Question<'_>,
        data: &RunData,
    ) -> Result<Option<String>> {
        let plan = &data.info.plan;
        let other = plan.systems.iter().find(|system| system.name != plan.base);
        let place = other.and_then(|other| question.ladder.place(&other.build.id()));
        let Some(place) = place else { return Ok(None) };
        let selection = runs::selection(question.args.metric.as_slice());
        let compared = runs::compare(data, None, selection, None)?;
        let asked = compared.into_iter().find(|c| c.step.0 == question.args.step);
        let error = asked.as_ref().and_then(|c| c.evidence.as_ref()?.within).unwrap_or(0.0).sqrt();
        let ratios = asked.map_or_else(Vec::new, |comparison| comparison.pairs);
        if ratios.is_empty() {
            let no_ratio = || format!("{} is not measured here, or zero", question.metric());
            return Ok(Some(failure(data).unwrap_or_else(no_ratio)));
        }
        let run = self.runs.len();
        for (_, ratio) in ratios {
            self.bisection.add(Pair { place, log: ratio.ln(), error, run });
        }
        self.runs.push(data.info.id.clone());
        Ok(None)
    }
}

/// The first failed trial of a run: its system and why it failed.
fn failure(data: &RunData) -> Option<String> {
    data.trials.iter().find_map(|trial| match &trial.outcome {
        Outcome::Failed { reason, .. } => Some(format!("{}: {reason}", trial.system)),
        Outcome::Completed | Outcome::Profiled | Outcome::Quarantined { .. } => None,
    })
}
