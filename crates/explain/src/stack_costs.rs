//! CPU, sleep or instructions per operation by stack: what flame graphs draw.

use std::collections::{BTreeMap, BTreeSet};

use model::{ProfiledStep, Resource, StepId};

use crate::why::{labels, of_each};

/// What a system spends in a step: means over its profiled rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct StackCosts {
    /// As in [`crate::StepWhy`].
    pub step: StepId,
    pub of: Resource,
    pub system: String,
    /// Each stack as in [`model::Profile`], and what it costs per operation: µs, or instructions.
    pub stacks: BTreeMap<String, f64>,
}

/// One for each step, resource and system with samples, in the order of the steps. Unless there are none, only rounds
/// that all systems of the step have count.
pub fn stack_costs(profiled: &[ProfiledStep]) -> Vec<StackCosts> {
    let mut steps: BTreeMap<_, BTreeMap<&str, Vec<&ProfiledStep>>> = BTreeMap::new();
    for one in profiled.iter().filter(|one| one.record.subject_count() > 0) {
        let systems = steps.entry((one.record.ordinal, one.profile.of)).or_default();
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
    let labels = labels(profiled);
    let rounds = steps.into_iter().flat_map(|(step, systems)| {
        systems.into_iter().map(move |(system, rounds)| (step, system, rounds))
    });
    let means = |((ordinal, of), system, rounds): ((u32, Resource), &str, Vec<_>)| {
        let stacks = means(&rounds)?;
        Some(StackCosts { step: labels[&ordinal].clone(), of, system: system.to_owned(), stacks })
    };
    rounds.filter_map(means).collect()
}

/// `None` without samples.
fn means(rounds: &[&ProfiledStep]) -> Option<BTreeMap<String, f64>> {
    let mut stacks: BTreeMap<String, f64> = BTreeMap::new();
    for one in rounds {
        let each = of_each(one) / rounds.len() as f64;
        for (stack, number) in &one.profile.stacks {
            *stacks.entry(stack.clone()).or_default() += *number as f64 * each;
        }
    }
    stacks.values().any(|cost| *cost > 0.0).then_some(stacks)
}
