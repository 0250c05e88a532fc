//! Where the systems of a plan differ and must not.

use model::Dialect;
use plan::VariableRules;
use serde::Serialize;

use crate::stand::{Stand, settings};
use crate::{Condition, Facts, conditions};

/// A condition that differs between systems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    pub condition: Condition,
    /// What holds, and where; at least two.
    pub sides: Vec<Side>,
    /// Who asked for it, why it matters, and what decides it.
    pub text: String,
}

/// What holds in some of the systems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    pub holds: String,
    pub systems: Vec<String>,
}

impl Warning {
    pub fn line(&self) -> String {
        let sides = self.sides.iter().map(|side| {
            let systems = side.systems.join(", ");
            format!("{} ({systems})", side.holds)
        });
        sides.collect::<Vec<_>>().join("; ")
    }
}

/// A system with its stand on a condition.
type SystemStand<'a> = (&'a Facts, Stand);

/// Every condition that differs between any two systems, the heaviest first. Each comes with what is known of
/// its variables; what is not known of a system is not held against it.
pub fn unequal(systems: &[(&VariableRules, &Facts)]) -> Vec<Warning> {
    let mut all: Vec<SystemStand<'_>> = Vec::new();
    for (rules, facts) in systems {
        all.extend(conditions(rules, facts).into_iter().map(|stand| (*facts, stand)));
    }
    let scopes = [None, Some(Dialect::Mysql), Some(Dialect::Postgres), Some(Dialect::Sqlite)];
    let mut warnings = Vec::new();
    for condition in Condition::ALL {
        for scope in scopes {
            let same = all
                .iter()
                .filter(|(_, stand)| stand.condition == condition && stand.only_within == scope);
            warnings.extend(warning(condition, &same.collect::<Vec<_>>()));
        }
    }
    warnings
}

fn warning(condition: Condition, all: &[&SystemStand<'_>]) -> Option<Warning> {
    let mut sides: Vec<(&str, Side)> = Vec::new();
    for (facts, stand) in all {
        let system = facts.system.clone();
        if let Some((_, side)) = sides.iter_mut().find(|(key, _)| *key == stand.key) {
            side.systems.push(system);
        } else {
            sides.push((&stand.key, Side { holds: stand.text.clone(), systems: vec![system] }));
        }
    }
    (sides.len() > 1).then(|| Warning {
        condition,
        sides: sides.into_iter().map(|(_, side)| side).collect(),
        text: text(condition, all),
    })
}

fn text(condition: Condition, all: &[&SystemStand<'_>]) -> String {
    let mut deciding = Vec::new();
    for setting in all.iter().flat_map(|(facts, _)| settings(facts, condition)) {
        if !deciding.contains(&setting) {
            deciding.push(setting);
        }
    }
    if deciding.is_empty() {
        return condition.why().to_owned();
    }
    let (who, deciding) = (who_asks(condition, all), deciding.join(", "));
    format!("{} {who} What decides it: {deciding}.", condition.why())
}

/// Whether configs ask for it, among the systems whose config can.
fn who_asks(condition: Condition, all: &[&SystemStand<'_>]) -> String {
    let names = |is_asked: bool| -> Vec<&str> {
        all.iter()
            .filter(|(facts, stand)| {
                settings(facts, condition).next().is_some() && stand.is_asked == is_asked
            })
            .map(|(facts, _)| facts.system.as_str())
            .collect()
    };
    let (asked, by_default) = (names(true), names(false));
    if asked.is_empty() {
        "No config asks for it: defaults differ.".to_owned()
    } else if !by_default.is_empty() {
        format!("No config asks for it in {}.", by_default.join(", "))
    } else if asked.len() == all.len() {
        "The configs ask for it.".to_owned()
    } else {
        format!("Configs ask for it in {}.", asked.join(", "))
    }
}
