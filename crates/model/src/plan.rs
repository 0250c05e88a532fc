//! A plan, fully expanded: what will run, in which order, with which seed.

use serde::{Deserialize, Serialize};

use crate::{Course, Orders, System, WorkloadSpec, mix};

/// Systems × workload × rounds. Deterministic from the plan file, the seed and the builds found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The plan's name.
    pub name: String,
    /// What each trial does.
    pub workload: WorkloadSpec,
    /// How often every system is measured; at most, where the course says when to look.
    pub rounds: u32,
    /// How the rounds are carried out.
    #[serde(default)]
    pub course: Course,
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
    /// All planned trials in the order in which they run: each round holds every system once, in a random order or
    /// in the mirror image of that of the round before.
    pub fn trials(&self) -> Vec<Trial> {
        let rounds = (1..=self.rounds).zip(self.orders());
        rounds
            .flat_map(|(round, order)| self.round(round, order))
            .collect()
    }

    /// The trials of one round. Those after the planned ones are what is run again for rounds that were
    /// disturbed: the order goes on, and each has a seed of its own.
    pub fn trials_of(&self, round: u32) -> Vec<Trial> {
        let earlier = round.saturating_sub(1) as usize;
        let order = self.orders().nth(earlier).unwrap_or_default();
        self.round(round, order)
    }

    /// Rounds that may be run again for disturbed ones, at most.
    pub fn rounds_again(&self) -> u32 {
        self.rounds.saturating_mul(self.course.reruns())
    }

    /// The orders of all rounds.
    fn orders(&self) -> Orders {
        let seed = mix(self.seed, &[u64::from(u32::from_be_bytes(*b"ordr"))]);
        Orders::new(seed, self.systems.len())
    }

    /// A round in this order.
    fn round(&self, round: u32, order: Vec<usize>) -> Vec<Trial> {
        let seed = mix(self.seed, &[u64::from(round)]);
        let trials = order.into_iter().zip(1..).map(|(system, position)| Trial {
            round,
            position,
            system,
            seed,
        });
        trials.collect()
    }

    /// The second copy of the base, if the plan asks for one.
    pub fn control(&self) -> Option<&System> {
        self.systems.iter().find(|system| system.control)
    }

    /// Is the system with this name a second copy of the base?
    pub fn is_control(&self, name: &str) -> bool {
        self.system(name).is_some_and(|system| system.control)
    }

    /// The system with this name.
    pub fn system(&self, name: &str) -> Option<&System> {
        self.systems.iter().find(|s| s.name == name)
    }
}
