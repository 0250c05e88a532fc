//! In which order steps are listed, under which headings, and which tests a run has at several client counts.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use model::{Step, StepId};

use crate::format;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepGroup {
    /// The heading; empty for steps without a group.
    pub(crate) title: String,
    /// Their places among the ordered steps.
    pub(crate) places: Range<usize>,
}

/// The groups of the published tables, in their order: the name in workload files, the heading.
const PUBLISHED: [(&str, &str); 4] = [
    ("point", "Points"),
    ("range", "Ranges"),
    ("range-aggregate", "Ranges with aggregation"),
    ("write", "Writes"),
];

/// The steps as reports list them.
///
/// By group: first what has none, such as the load; then the groups of the published tables, each by name as those
/// are, punctuation aside and 1000 before 100 before 10; then other groups, each in the workload's own order. The
/// client counts of a test stay together, by number.
pub(crate) fn ordered(steps: &[Step]) -> Vec<Step> {
    let mut steps: Vec<&Step> = steps.iter().collect();
    steps.sort_by_key(|step| step.ordinal);
    // The first places of groups and of their tests: an import may have thousands.
    let (mut groups, mut tests) = (HashMap::new(), HashMap::new());
    for step in &steps {
        let (group, test) = (step.group.as_str(), step.test.as_str());
        groups.entry(group).or_insert(step.ordinal);
        tests.entry((group, test)).or_insert(step.ordinal);
    }
    steps.sort_by_cached_key(|step| {
        let (group, test) = (step.group.as_str(), step.test.as_str());
        let published = PUBLISHED.iter().position(|(name, _)| *name == group);
        let (rank, of_group, name) = match published {
            _ if group.is_empty() => (0, None, String::new()),
            Some(place) => (1 + place, None, published_key(test)),
            None => (1 + PUBLISHED.len(), groups.get(group), String::new()),
        };
        (rank, of_group, name, tests.get(&(group, test)), step.clients, step.ordinal)
    });
    steps.into_iter().cloned().collect()
}

/// The groups of ordered steps; one without a title where the workload has none.
pub(crate) fn groups(steps: &[Step]) -> Vec<StepGroup> {
    let mut groups: Vec<StepGroup> = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        let title = title(&step.group);
        match groups.last_mut() {
            Some(group) if group.title == title => group.places.end = place + 1,
            _ => groups.push(StepGroup { title, places: place..place + 1 }),
        }
    }
    groups
}

/// The heading for a group: `Ranges with aggregation` for `range-aggregate`; others with a capital.
pub fn title(group: &str) -> String {
    let published = PUBLISHED.iter().find(|(name, _)| *name == group);
    published.map_or_else(|| format::capitalised(group), |(_, title)| (*title).to_owned())
}

/// By this the published tables are sorted, as they list files whose names go on behind the number.
fn published_key(test: &str) -> String {
    test.chars().filter(|c| c.is_alphanumeric()).chain(['~']).collect()
}

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
    /// `None` where each test has one client count. Steps in which operations arrive by themselves are in no sweep.
    pub(crate) fn of(steps: &[Step]) -> Option<Self> {
        let mut tests: Vec<Test> = Vec::new();
        let decided = steps.iter().enumerate().filter(|(_, step)| step.is_of_throughput());
        for (place, step) in decided {
            let group = title(&step.group);
            match tests.last_mut().filter(|test| test.name == step.test && test.group == group) {
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

    pub(crate) fn holds(&self, step: &Step) -> bool {
        self.steps.contains(&step.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_order() {
        let published = [
            "read-only-count",
            "read-only-distinct",
            "read-only-order",
            "read-only_range=10000",
            "read-only_range=100",
            "read-only_range=10",
            "read-only-simple",
            "read-only-sum",
        ];
        let mut sorted = published;
        sorted.sort_unstable();
        assert_ne!(sorted, published);
        sorted.sort_by_key(|test| published_key(test));
        assert_eq!(sorted, published);
    }

    #[test]
    fn headings() {
        assert_eq!(title("range-aggregate"), "Ranges with aggregation");
        assert_eq!(title("reporting"), "Reporting");
        assert_eq!(title(""), "");
    }
}
