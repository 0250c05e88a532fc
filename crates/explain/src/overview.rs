//! Several systems of one Dbms against a base, in one table.

use std::collections::BTreeSet;

use plan::VariableRules;

use crate::difference::{Told, shown};
use crate::{Difference, Explanation, Facts, Reason, explain};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// Names of the systems, the base first.
    pub systems: Vec<String>,
    /// Variables that all of them have and that differ, and what else is known to matter.
    pub rows: Vec<VariableRow>,
    /// For each other system the other variables that only it or only the base has.
    pub names: Vec<Names>,
}

/// Variables of one group that only one of two systems has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    pub system: String,
    /// Only there ([`Reason::New`]) or only in the base ([`Reason::Gone`])?
    pub kind: Reason,
    pub group: String,
    pub names: Vec<String>,
}

/// A variable that differs from the base in some system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableRow {
    pub name: String,
    pub group: String,
    /// Why it differs from the base, each reason once.
    pub kinds: Vec<Reason>,
    /// Its value in each system; [`crate::NOTHING`] where a system has no such variable.
    pub values: Vec<String>,
    pub matters: Option<String>,
}

pub fn overview(rules: &VariableRules, base: &Facts, others: &[&Facts]) -> Overview {
    let all: Vec<Explanation> = others.iter().map(|other| explain(rules, base, other)).collect();
    let differences = all.iter().flat_map(|explanation| &explanation.differences);
    let mut whole: Vec<&Difference> = differences.filter(|one| one.is_whole()).collect();
    whole.sort_by(|x, y| x.order.cmp(&y.order).then_with(|| x.name.cmp(&y.name)));
    let mut seen = BTreeSet::new();
    whole.retain(|difference| seen.insert(difference.name.as_str()));
    let systems: Vec<&Facts> = std::iter::once(base).chain(others.iter().copied()).collect();
    let row = |first: &&Difference| row(rules, &systems, &all, first);
    Overview {
        systems: systems.iter().map(|facts| facts.system.clone()).collect(),
        rows: whole.iter().map(row).collect(),
        names: all.iter().flat_map(names).collect(),
    }
}

fn row(
    rules: &VariableRules,
    systems: &[&Facts],
    all: &[Explanation],
    first: &Difference,
) -> VariableRow {
    let differences = all.iter().flat_map(|explanation| &explanation.differences);
    let of_this = differences.filter(|difference| difference.name == first.name);
    let kinds: BTreeSet<Reason> = of_this.map(|difference| difference.kind).collect();
    let before = rules.renamed.iter().filter(|renamed| renamed.to == first.name);
    let mut names = vec![first.name.as_str()];
    names.extend(before.map(|renamed| renamed.from.as_str()));
    let values: Vec<Option<Told<'_>>> = systems
        .iter()
        .map(|facts| names.iter().find_map(|name| Some((*facts, *name, facts.value(name)?))))
        .collect();
    VariableRow {
        name: first.name.clone(),
        group: first.group.clone(),
        kinds: kinds.into_iter().collect(),
        values: shown(rules, &values),
        matters: first.matters.clone(),
    }
}

/// The new and the gone variables of one explanation, by group.
fn names(explanation: &Explanation) -> Vec<Names> {
    let mut all: Vec<Names> = Vec::new();
    for kind in [Reason::New, Reason::Gone] {
        for difference in explanation.of(kind).filter(|d| !d.is_whole()) {
            let group = &difference.group;
            let name = difference.name.clone();
            match all.iter_mut().find(|n| n.kind == kind && n.group == *group) {
                Some(known) => known.names.push(name),
                None => all.push(Names {
                    system: explanation.b.clone(),
                    kind,
                    group: group.clone(),
                    names: vec![name],
                }),
            }
        }
    }
    all
}
