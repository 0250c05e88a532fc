//! Where a system stands on the conditions, by the rules of its product.

use model::{Case, Condition, ConditionRule, Dialect};
use plan::VariableRules;

use crate::Facts;
use crate::asked::asked;

/// Where a system stands on one condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stand {
    pub condition: Condition,
    /// What holds, for people.
    pub text: String,
    /// Two systems with the same key are equal in it.
    pub(crate) key: String,
    /// Comparable with systems of the same SQL only.
    pub(crate) only_within: Option<Dialect>,
    /// Does the system's config ask for it (or is it the version's default)?
    pub is_asked: bool,
}

/// What a commit survives once it is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the machine, and so one of the server.
    Machine,
    Server,
    /// Not even that.
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
    let holds = rules(facts).find_map(|rule| holds(rule, facts, Condition::Durability))?;
    match holds.as_str() {
        "machine" => Some(Durability::Machine),
        "server" => Some(Durability::Server),
        "nothing" => Some(Durability::Nothing),
        _ => None,
    }
}

/// Where a system stands on all conditions that are known of it.
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
pub(crate) fn settings(
    facts: &Facts,
    condition: Condition,
) -> impl Iterator<Item = &'static str> + use<> {
    let mut rules = rules(facts);
    let rule = rules.find(|rule| rule.of == condition);
    rule.into_iter().flat_map(|rule| rule.settings.iter().map(String::as_str))
}

fn rules(facts: &Facts) -> impl Iterator<Item = &'static ConditionRule> + use<> {
    facts.dbms.product().conditions.iter()
}

fn applies(rule: &ConditionRule, facts: &Facts) -> bool {
    let engine = &facts.engine;
    (rule.engines.is_empty() || rule.engines.contains(engine)) && !rule.not_engines.contains(engine)
}

/// What the rule says of the system; `None` for a rule of another condition or engine, and where what it
/// needs is not known.
fn holds(rule: &ConditionRule, facts: &Facts, condition: Condition) -> Option<String> {
    let is_known = rule.needs.iter().all(|name| facts.value(name).is_some());
    if rule.of != condition || !applies(rule, facts) || !is_known {
        return None;
    }
    let parts = rule.parts.iter().filter_map(|cases| {
        let case = cases.iter().find(|case| fits(case, facts))?;
        Some(filled(&case.is, facts, condition)).filter(|text| !text.is_empty())
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        return rule.nothing.clone();
    }
    let all: Vec<String> = rule.first.clone().into_iter().chain(parts).collect();
    Some(all.join(", "))
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
