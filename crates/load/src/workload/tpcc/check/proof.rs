//! What is proved of the data.

use model::TpccProfile;

use super::{When, quantities};
use crate::workload::tpcc::conditions::{self, Condition};

/// What is proved by one check.
#[derive(Clone, Copy, Debug)]
pub(super) enum Proof {
    /// A condition that a query tells.
    Condition(&'static Condition),
    /// Stock is what was loaded, less what was ordered.
    Quantities,
}

impl Proof {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Condition(condition) => condition.name,
            Self::Quantities => quantities::NAME,
        }
    }

    pub(super) fn says(self) -> &'static str {
        match self {
            Self::Condition(condition) => condition.says,
            Self::Quantities => quantities::SAYS,
        }
    }

    /// Everything that can be asked of such data, and what it does not keep.
    pub(super) fn of(profile: TpccProfile, when: When) -> (Vec<Self>, Vec<Self>) {
        let conditions = conditions::all().map(Self::Condition);
        let mut proofs: Vec<Self> = conditions.collect();
        if when == When::Used {
            proofs.push(Self::Quantities);
        }
        proofs.into_iter().partition(|proof| match proof {
            Self::Condition(condition) => condition.applies(profile, when),
            Self::Quantities => profile == TpccProfile::Standard,
        })
    }
}
