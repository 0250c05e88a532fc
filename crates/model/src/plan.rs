//! A plan, fully expanded: what will run, in which order, with which seed.

use serde::{Deserialize, Serialize};

use crate::{Rng, System, WorkloadSpec, mix};

/// Systems × workload × rounds. Deterministic from the plan file, the seed and the builds found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The plan's name.
    pub name: String,
    /// What each trial does.
    pub workload: WorkloadSpec,
    /// How often every system is measured.
    pub rounds: u32,
    /// The seed of order and data.
    pub seed: u64,
    /// Name of the system that the others are compared with.
    pub base: String,
    /// What is compared, in the order in which tables list it; the control, if any, is last.
    pub systems: Vec<System>,
    /// Is the data loaded once per system, and each trial begun from a copy of it?
    #[serde(default)]
    pub template: bool,
    /// The plan file as it was read, for the record.
    pub source: String,
}

/// One system in one round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// From 1.
    pub round: u32,
    /// Place within the round, from 1.
    pub position: u32,
    /// Index into the plan's systems.
    pub system: usize,
    /// Seed of the data and keys: the same for all systems of a round.
    pub seed: u64,
}

impl Plan {
    /// All trials in the order in which they run: each round holds every system once, shuffled.
    pub fn trials(&self) -> Vec<Trial> {
        let mut rng = Rng::new(mix(self.seed, &[u64::from(u32::from_be_bytes(*b"ordr"))]));
        let mut trials = Vec::with_capacity(self.systems.len() * self.rounds as usize);
        for round in 1..=self.rounds {
            let mut order: Vec<usize> = (0..self.systems.len()).collect();
            rng.shuffle(&mut order);
            let seed = mix(self.seed, &[u64::from(round)]);
            trials.extend(order.into_iter().zip(1..).map(|(system, position)| Trial {
                round,
                position,
                system,
                seed,
            }));
        }
        trials
    }

    /// The system with this name.
    pub fn system(&self, name: &str) -> Option<&System> {
        self.systems.iter().find(|s| s.name == name)
    }
}
