//! Tests that a run has at several client counts.

use std::collections::BTreeSet;

use model::{Step, StepId};

use crate::groups::title;

/// A test at its client counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    /// Its name, without a client count.
    pub(crate) name: String,
    /// The heading that it stands under; empty for none.
    pub(crate) group: String,
    pub(crate) places: Vec<usize>,
}

/// All tests that were run at more than one client count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sweep {
    /// Every client count, from the smallest.
    pub(crate) clients: Vec<u32>,
    pub(crate) tests: Vec<Test>,
    steps: BTreeSet<StepId>,
}

impl Sweep {
    /// The sweep of a run; `None` where each test has one client count. Where operations arrive by themselves,
    /// throughput over the client counts says nothing: such steps are in no sweep.
    pub(crate) fn of(steps: &[Step]) -> Option<Self> {
        let mut tests: Vec<Test> = Vec::new();
        let decided = steps.iter().enumerate().filter(|(_, step)| step.is_of_throughput());
        for (place, step) in decided {
            let group = title(&step.group);
            let last = tests.last_mut();
            match last.filter(|test| test.name == step.test && test.group == group) {
                Some(test) => test.places.push(place),
                None => tests.push(Test { name: step.test.clone(), group, places: vec![place] }),
            }
        }
        tests.retain(|test| test.places.len() > 1);
        let swept = tests.iter().flat_map(|test| &test.places);
        let swept: Vec<&Step> = swept.filter_map(|place| steps.get(*place)).collect();
        let clients: BTreeSet<u32> = swept.iter().map(|step| step.clients).collect();
        (clients.len() > 1).then(|| Self {
            clients: clients.into_iter().collect(),
            steps: swept.iter().map(|step| step.id.clone()).collect(),
            tests,
        })
    }

    /// Is this step part of it?
    pub(crate) fn holds(&self, step: &Step) -> bool {
        self.steps.contains(&step.id)
    }
}
