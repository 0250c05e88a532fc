//! Where a system stands on the conditions, by the rules of its product, and where the systems of a plan differ and must
//! not.

use std::collections::BTreeSet;

use model::{Case, Condition, ConditionRule, Dialect};
use plan::VariableRules;
use serde::Serialize;

use crate::Facts;
use crate::value::asked;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stand {
    pub condition: Condition,
    /// What holds, for people.
    pub text: String,
    /// Two systems with the same key are equal in it.
    key: String,
    /// Comparable with systems of the same SQL only.
    only_within: Option<Dialect>,
    /// Does the system's config ask for it (or is it the version's default)?
    pub is_asked: bool,
}

/// What a commit survives once it is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the machine, and so one of the server.
    Machine,
    Server,
    Nothing,
}

impl Durability {
    /// In words that go on after "a commit".
    pub const fn text(self) -> &'static str {
        match self {
            Self::Machine => "survives a crash of the machine",
            Self::Server => "survives a crash of the server, not of the machine",
            Self::Nothing => "may be lost in a crash of the server",
        }
    }
}

/// What a commit of a system survives; `None` where the variables that decide it are not known.
pub fn durability(facts: &Facts) -> Option<Durability> {
    match rules(facts).find_map(|rule| holds(rule, facts, Condition::Durability))?.as_str() {
        "machine" => Some(Durability::Machine),
        "server" => Some(Durability::Server),
        "nothing" => Some(Durability::Nothing),
        _ => None,
    }
}

pub fn conditions(rules_of_variables: &VariableRules, facts: &Facts) -> Vec<Stand> {
    let stand = |condition, text: String, within: bool| {
        let (text, key) = in_common_words(condition, text);
        let mut deciding = settings(facts, condition);
        Stand {
            condition,
            is_asked: deciding.any(|name| asked(rules_of_variables, facts, name).is_some()),
            only_within: within.then(|| facts.dbms.dialect()),
            key,
            text,
        }
    };
    let of_rules = rules(facts).filter_map(|rule| {
        let text = match rule.of {
            Condition::Durability => durability(facts)?.text().to_owned(),
            other => holds(rule, facts, other)?,
        };
        applies(rule, facts).then(|| stand(rule.of, text, rule.within))
    });
    let session = [(Condition::Tls, &facts.tls), (Condition::Connection, &facts.connection)];
    let of_session = session
        .into_iter()
        .filter_map(|(condition, text)| Some(stand(condition, text.clone()?, false)));
    let mut stands: Vec<Stand> = of_rules.chain(of_session).collect();
    stands.sort_by_key(|stand| stand.condition);
    stands
}

/// The settings with which a config of the system decides a condition.
fn settings(facts: &Facts, condition: Condition) -> impl Iterator<Item = &'static str> + use<> {
    let rule = rules(facts).find(|rule| rule.of == condition);
    rule.into_iter().flat_map(|rule| rule.settings.iter().map(String::as_str))
}

fn rules(facts: &Facts) -> impl Iterator<Item = &'static ConditionRule> + use<> {
    facts.dbms.product().conditions.iter()
}

fn applies(rule: &ConditionRule, facts: &Facts) -> bool {
    let engine = &facts.engine;
    (rule.engines.is_empty() || rule.engines.contains(engine)) && !rule.not_engines.contains(engine)
}

/// `None` for a rule of another condition or engine, and where what it needs is not known.
fn holds(rule: &ConditionRule, facts: &Facts, condition: Condition) -> Option<String> {
    let is_known = rule.needs.iter().all(|name| facts.value(name).is_some());
    if rule.of != condition || !applies(rule, facts) || !is_known {
        return None;
    }
    let fitting = rule.parts.iter().filter_map(|cases| cases.iter().find(|one| fits(one, facts)));
    let parts = fitting.map(|case| filled(&case.is, facts, condition));
    let mut parts: Vec<String> = parts.filter(|text| !text.is_empty()).collect();
    if parts.is_empty() {
        return rule.nothing.clone();
    }
    parts.splice(0..0, rule.first.clone());
    Some(parts.join(", "))
}

fn fits(case: &Case, facts: &Facts) -> bool {
    let has = |(name, wanted): (&String, &Vec<String>)| {
        facts.value(name).is_some_and(|value| wanted.iter().any(|w| is_value(w, value)))
    };
    case.engine.is_none_or(|engine| engine == facts.engine)
        && case.when.iter().all(has)
        && !case.unless.iter().any(has)
}

/// Is it this value? `on` and `off` stand for all their spellings, `*` for any text.
fn is_value(wanted: &str, value: &str) -> bool {
    let spellings: &[&str] = match wanted {
        "on" => &["on", "1", "yes", "true"],
        "off" => &["off", "0", "no", "false"],
        "*" => return true,
        other => match other.strip_prefix('*').and_then(|other| other.strip_suffix('*')) {
            Some(within) => return value.contains(within),
            None => &[wanted],
        },
    };
    spellings.iter().any(|spelling| value.eq_ignore_ascii_case(spelling))
}

/// The text with the values of variables in place of their names.
fn filled(text: &str, facts: &Facts, condition: Condition) -> String {
    let Some((before, (name, after))) =
        text.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    else {
        return text.to_owned();
    };
    let (name, otherwise) = name.split_once('|').unwrap_or((name, ""));
    let value = facts.value(name).unwrap_or(otherwise);
    let value = match condition {
        Condition::Isolation => value.to_ascii_uppercase().replace('-', " "),
        _ => value.to_owned(),
    };
    format!("{before}{value}{}", filled(after, facts, condition))
}

/// Names that products share for the same; the second text is equal where two systems are.
fn in_common_words(condition: Condition, name: String) -> (String, String) {
    let small = name.to_ascii_lowercase();
    let is_by_bytes = matches!(small.as_str(), "c" | "posix" | "binary") || small.ends_with("_bin");
    let text = match (condition, small.as_str()) {
        (Condition::CharacterSet, "utf8mb4" | "utf8" | "utf-8") => "UTF-8".to_owned(),
        (Condition::CharacterSet, "sql_ascii") => "none: bytes".to_owned(),
        (Condition::Collation, _) if is_by_bytes => {
            return (format!("{name} (by bytes)"), "by bytes".to_owned());
        }
        _ => name,
    };
    (text.clone(), text)
}

/// A condition that differs between systems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    pub condition: Condition,
    /// What holds, and where; at least two.
    pub sides: Vec<Side>,
    /// Who asked for it, why it matters, and what decides it.
    pub text: String,
}

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

type SystemStand<'a> = (&'a Facts, Stand);

/// Each condition that differs between two systems, the heaviest first. What is not known of a system does not differ.
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
        text: reasons(condition, all),
    })
}

fn reasons(condition: Condition, all: &[&SystemStand<'_>]) -> String {
    let mut seen = BTreeSet::new();
    let settings = all.iter().flat_map(|(facts, _)| settings(facts, condition));
    let deciding: Vec<&str> = settings.filter(|setting| seen.insert(*setting)).collect();
    if deciding.is_empty() {
        return condition.why().to_owned();
    }
    let (who, deciding) = (who_asks(condition, all), deciding.join(", "));
    format!("{} {who}. Settings that decide it: {deciding}.", condition.why())
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
        "Not set by any config; the defaults differ".to_owned()
    } else if !by_default.is_empty() {
        format!("Not set by the configs of {}", by_default.join(", "))
    } else if asked.len() == all.len() {
        "Set by the configs".to_owned()
    } else {
        format!("Set by the configs of {}", asked.join(", "))
    }
}
