//! Where the CPU time of a step went.

use serde::{Deserialize, Serialize};

use crate::{Counter, Nanos, StepRecord, TrialKey};

/// Stacks of a window, each with its samples or instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Samples per second of CPU time; zero where instructions were counted.
    pub hertz: u32,
    /// Samples that were taken and had no room; instructions of what did not work for clients.
    pub lost: u64,
    /// Each stack, its functions from the outermost on, separated by `;`; and its samples or instructions.
    pub stacks: Vec<(String, u64)>,
}

impl Profile {
    /// Stands for the frames that were not found, outside of the outermost that was.
    pub const CUT: &str = "[cut]";
    /// Follows the names of the kernel's functions.
    pub const OF_KERNEL: &str = "_[k]";
    /// Stands for functions of the kernel where their names are hidden.
    pub const KERNEL: &str = "[kernel]";

    /// Is this function of a stack one of the kernel?
    pub fn is_of_kernel(function: &str) -> bool {
        function.ends_with(Self::OF_KERNEL) || function == Self::KERNEL
    }

    /// Are the numbers those of instructions, rather than of samples?
    pub const fn is_counted(&self) -> bool {
        self.hertz == 0
    }

    /// Samples, or instructions.
    pub fn samples(&self) -> u64 {
        self.stacks.iter().map(|(_, samples)| samples).sum()
    }

    /// Samples whose stack reaches the start of its thread.
    pub fn rooted(&self) -> u64 {
        let rooted = self.stacks.iter().filter(|(stack, _)| !stack.starts_with(Self::CUT));
        rooted.map(|(_, samples)| samples).sum()
    }
}

/// A step of a trial in a profiled round.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfiledStep {
    pub trial: TrialKey,
    pub record: StepRecord,
    pub profile: Profile,
}

impl ProfiledStep {
    /// CPU time that the server used in the window. Where the engine runs in backslide, that of its clients, by their
    /// samples: the sampler runs there, too.
    pub fn cpu(&self) -> Nanos {
        let sampled = || {
            let samples = self.profile.samples() + self.profile.lost;
            samples * Nanos::SECOND.0 / u64::from(self.profile.hertz.max(1))
        };
        Nanos(self.record.counters.get(Counter::SERVER_CPU).unwrap_or_else(sampled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_that_are_cut_are_not_rooted() {
        let stacks = [("main;run", 3), ("[cut];run", 1), ("[cut]", 1)];
        let stacks = stacks.map(|(stack, samples)| (stack.to_owned(), samples)).to_vec();
        let profile = Profile { stacks, ..Profile::default() };
        assert_eq!((profile.samples(), profile.rooted()), (5, 3));
    }
}
