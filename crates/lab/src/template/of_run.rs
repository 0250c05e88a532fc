//! The templates of a run.

use std::collections::{BTreeMap, BTreeSet};

use model::{Bytes, Fact, Outcome, Plan, RunData};

use super::{Shelf, keys};
use crate::LabError;

pub(crate) struct Templates {
    pub(crate) shelf: Shelf,
    /// The key of each system, in the plan's order.
    pub(crate) keys: Vec<String>,
    /// Sizes as they were estimated, in the plan's order.
    pub(crate) estimates: Vec<Bytes>,
    /// Keys that trials of this run still need.
    pub(crate) needed: BTreeSet<String>,
    /// Systems that could not be loaded, and why. Not tried again in this session: it may take hours.
    pub(crate) failed: BTreeMap<usize, Outcome>,
    /// The templates that earlier trials of this run began with, by system.
    pub(crate) before: BTreeMap<String, String>,
    /// The templates that were announced in this session, by system.
    pub(crate) announced: BTreeMap<String, String>,
}

impl Templates {
    /// What the plan needs for the systems `left`, which still have trials, of a run of which so much is
    /// `done`. An error when that is more than templates may take.
    pub(crate) fn of(
        plan: &Plan,
        left: &[usize],
        done: &RunData,
        shelf: Shelf,
    ) -> Result<Self, LabError> {
        let keys = keys(plan)?;
        let estimates = plan::estimate(plan).templates;
        let estimates: Vec<Bytes> = estimates.into_iter().map(|one| one.disk).collect();
        let needed: BTreeMap<&String, Bytes> = left
            .iter()
            .map(|&system| {
                let key = &keys[system];
                (key, shelf.disk(key).unwrap_or(estimates[system]))
            })
            .collect();
        let need = Bytes(needed.values().map(|size| size.0).sum());
        if need > shelf.budget {
            return Err(LabError::TemplateBudget { need, budget: shelf.budget });
        }
        let needed = needed.into_keys().cloned().collect();
        let before = done.trials.iter().filter_map(|trial| {
            let name = trial.provenance.get(&Fact::Template)?;
            Some((trial.system.clone(), name.to_owned()))
        });
        Ok(Self {
            shelf,
            needed,
            keys,
            estimates,
            failed: BTreeMap::new(),
            before: before.collect(),
            announced: BTreeMap::new(),
        })
    }
}
