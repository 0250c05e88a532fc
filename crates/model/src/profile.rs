//! Where the time of a step went.

use serde::{Deserialize, Serialize};

use crate::{Counter, Nanos, StepRecord, TrialKey};

/// What a profile says where it goes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Resource {
    /// CPU time of all threads, in samples.
    #[default]
    Cpu,
    /// Time that threads which serve clients were on no CPU, in nanoseconds.
    Sleep,
    /// Instructions that were executed for clients.
    Instructions,
}

impl Resource {
    /// What an operation takes of it is in: `µs/op`.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Cpu | Self::Sleep => "µs/op",
            Self::Instructions => "instr/op",
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Sleep => "sleep",
            Self::Instructions => "instructions",
        }
    }

    /// What follows the name of a step or file; nothing of CPU, which most are of.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Cpu => "",
            Self::Sleep => "-sleep",
            Self::Instructions => "-instructions",
        }
    }
}

/// Stacks of a window, each with its share of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    #[serde(default)]
    pub of: Resource,
    /// Samples per second of CPU time; zero of other resources.
    pub hertz: u32,
    /// Samples that were taken and had no room; of other resources, what did not serve clients.
    pub lost: u64,
    /// Each stack, its functions from the outermost on, separated by `;`; and how much of the resource it has.
    pub stacks: Vec<(String, u64)>,
    /// How many stacks were taken, of sleep; what they have is more than their number.
    #[serde(default)]
    pub taken: u64,
}

impl Profile {
    /// Stands for the frames that were not found, outside of the outermost that was.
    pub const CUT: &str = "[cut]";
    /// Follows the names of the kernel's functions.
    pub const OF_KERNEL: &str = "_[k]";
    /// Stands for functions of the kernel where their names are hidden.
    pub const KERNEL: &str = "[kernel]";

    /// The innermost function of a thread that slept because others had its CPU.
    pub const PREEMPTED: &str = "[preempted]";

    pub fn is_of_kernel(function: &str) -> bool {
        function.ends_with(Self::OF_KERNEL) || function == Self::KERNEL
    }

    /// All of the resource: samples, nanoseconds or instructions.
    pub fn samples(&self) -> u64 {
        self.stacks.iter().map(|(_, samples)| samples).sum()
    }

    /// That of which the stack reaches the start of its thread.
    pub fn rooted(&self) -> u64 {
        let rooted = self.stacks.iter().filter(|(stack, _)| !stack.starts_with(Self::CUT));
        rooted.map(|(_, samples)| samples).sum()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProfiledStep {
    pub trial: TrialKey,
    pub record: StepRecord,
    pub profile: Profile,
}

impl ProfiledStep {
    /// CPU time that the server used in the window; of an engine in backslide that of its clients, by their samples.
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
