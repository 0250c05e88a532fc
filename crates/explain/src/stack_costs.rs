//! CPU per operation by stack: what flame graphs draw.

use std::collections::{BTreeMap, BTreeSet};

use model::{ProfiledStep, StepId};

use crate::why::of_sample;

/// What a system spends in a step: means over its profiled rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct StackCosts {
    pub step: StepId,
    pub system: String,
    /// Each stack as in [`model::Profile`], and its microseconds of CPU per operation.
    pub stacks: BTreeMap<String, f64>,
}

/// One for each step and system with samples, in the order of the steps. Only rounds that all systems of the step have
/// count, as in the answer of [`crate::why()`], unless there are none.
pub fn stack_costs(profiled: &[ProfiledStep]) -> Vec<StackCosts> {
    let mut steps: BTreeMap<u32, BTreeMap<&str, Vec<&ProfiledStep>>> = BTreeMap::new();
    for one in profiled.iter().filter(|one| one.record.subject_count() > 0) {
        let systems = steps.entry(one.record.ordinal).or_default();
        systems.entry(&one.trial.system).or_default().push(one);
    }
    for systems in steps.values_mut() {
        let has =
            |rounds: &[&ProfiledStep], round| rounds.iter().any(|one| one.trial.round == round);
        let shared = profiled.iter().map(|one| one.trial.round);
        let shared: BTreeSet<u32> =
            shared.filter(|round| systems.values().all(|rounds| has(rounds, *round))).collect();
        for rounds in systems.values_mut().filter(|_| !shared.is_empty()) {
            rounds.retain(|one| shared.contains(&one.trial.round));
        }
    }
    let rounds = steps.into_values().flatten();
    rounds.filter_map(|(system, rounds)| means(system, &rounds)).collect()
}

/// `None` without samples.
fn means(system: &str, rounds: &[&ProfiledStep]) -> Option<StackCosts> {
    let step = rounds.first()?.record.step.clone();
    let mut stacks: BTreeMap<String, f64> = BTreeMap::new();
    for one in rounds {
        let sample = of_sample(one) / rounds.len() as f64;
        for (stack, samples) in &one.profile.stacks {
            *stacks.entry(stack.clone()).or_default() += *samples as f64 * sample;
        }
    }
    let is_sampled = stacks.values().any(|cost| *cost > 0.0);
    is_sampled.then(|| StackCosts { step, system: system.to_owned(), stacks })
}
