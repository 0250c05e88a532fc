//! How the builds of a run's systems differ beside their versions.

use std::collections::BTreeMap;

use model::{Made, RunData, System};
use serde::Serialize;

use crate::format::joined;
use crate::{Finding, Report};

/// A fact of which the builds have different values. Builds of which it is unknown are not listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BuildDifference {
    /// `compiler`, `allocator`, `flags`, `symbols`.
    pub fact: &'static str,
    pub values: Vec<BuildValue>,
    /// May it explain a difference in speed?
    #[serde(skip)]
    is_cause: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BuildValue {
    pub value: String,
    /// The systems whose build has it.
    pub systems: Vec<String>,
}

type Read = fn(&Made, &System) -> Option<String>;

const FACTS: [(&str, bool, Read); 4] = [
    ("compiler", true, |made, _| made.compiler.clone()),
    ("allocator", true, |made, _| made.allocator.clone()),
    ("flags", true, |made, _| made.flags.clone()),
    ("symbols", false, |_, system| {
        let named = |has: bool| if has { "all functions" } else { "exported functions only" };
        system.build.facts.symbols.map(|has| named(has).to_owned())
    }),
];

/// What differs, as the servers said or else as the catalog does.
pub fn differing_builds(data: &RunData) -> Vec<BuildDifference> {
    let systems = data.info.plan.systems.iter();
    let systems: Vec<(&System, Made)> =
        systems.map(|system| (system, Made::of(data, system))).collect();
    let all = FACTS.iter().map(|(fact, is_cause, read)| {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (system, made) in &systems {
            if let Some(value) = read(made, system) {
                values.entry(value).or_default().push(system.name.clone());
            }
        }
        let values = values.into_iter().map(|(value, systems)| BuildValue { value, systems });
        BuildDifference { fact, values: values.collect(), is_cause: *is_cause }
    });
    all.filter(|difference| difference.values.len() > 1).collect()
}

impl BuildDifference {
    /// `compiler: gcc 4.1 (mysql-5.6.24/z12a); gcc 16.1 (mysql-9.7.4/z12a)`.
    pub fn line(&self) -> String {
        let side = |one: &BuildValue| format!("{} ({})", one.value, one.systems.join(", "));
        format!("{}: {}", self.fact, joined(self.values.iter().map(side), "; "))
    }
}

pub(crate) fn finding(report: &Report<'_>) -> Option<Finding> {
    let mut differing = differing_builds(report.input.data);
    differing.retain(|difference| difference.is_cause);
    let facts: Vec<&str> = differing.iter().map(|difference| difference.fact).collect();
    let lines = joined(differing.iter().map(BuildDifference::line), ". ");
    (!facts.is_empty()).then(|| Finding {
        title: format!("The builds differ in {}", facts.join(" and ")),
        text: format!("{lines}. Part of a difference may come from that."),
    })
}
