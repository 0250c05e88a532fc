//! Where a system stands on the conditions, in words that hold for every Dbms.

use model::Dialect;
use plan::VariableRules;

use crate::asked::asked;
use crate::{Condition, Facts, mysql, postgres, sqlite};

/// Where a system stands on one condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stand {
    /// Which condition.
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

/// What a Dbms says of a condition, before it is known who asked for it.
pub(crate) struct Said {
    pub(crate) condition: Condition,
    pub(crate) text: String,
    pub(crate) key: String,
    pub(crate) only_within: Option<Dialect>,
}

impl Said {
    /// Comparable with every Dbms, by its text.
    pub(crate) fn common(condition: Condition, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            condition,
            key: text.clone(),
            text,
            only_within: None,
        }
    }

    /// Comparable within one dialect, by its text.
    pub(crate) fn within(dialect: Dialect, condition: Condition, text: impl Into<String>) -> Self {
        Self {
            only_within: Some(dialect),
            ..Self::common(condition, text)
        }
    }
}

/// What a commit survives once it is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the machine, and so one of the server.
    Machine,
    /// A crash of the server.
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

    pub(crate) fn said(self) -> Said {
        Said::common(Condition::Durability, self.text())
    }
}

/// What a commit of a system survives; `None` where the variables that decide it are not known.
pub fn durability(facts: &Facts) -> Option<Durability> {
    match facts.dbms.dialect() {
        Dialect::Mysql => mysql::durability(facts),
        Dialect::Postgres => postgres::durability(facts),
        Dialect::Sqlite => sqlite::durability(facts),
    }
}

/// Where a system stands on all conditions that are known of it.
pub fn conditions(rules: &VariableRules, facts: &Facts) -> Vec<Stand> {
    let dialect = facts.dbms.dialect();
    let mut said = match dialect {
        Dialect::Mysql => mysql::said(facts),
        Dialect::Postgres => postgres::said(facts),
        Dialect::Sqlite => sqlite::said(facts),
    };
    if let Some(tls) = &facts.tls {
        said.push(Said::common(Condition::Tls, tls));
    }
    if let Some(connection) = &facts.connection {
        said.push(Said::common(Condition::Connection, connection));
    }
    let stand = |said: Said| {
        let deciding = said.condition.settings(dialect);
        Stand {
            is_asked: deciding
                .iter()
                .any(|name| asked(rules, facts, name).is_some()),
            condition: said.condition,
            text: said.text,
            key: said.key,
            only_within: said.only_within,
        }
    };
    let mut stands: Vec<Stand> = said.into_iter().map(stand).collect();
    stands.sort_by_key(|stand| stand.condition);
    stands
}

/// Is the value of a switch on?
pub(crate) fn is_on(value: &str) -> bool {
    ["on", "1", "yes", "true"]
        .iter()
        .any(|on| value.eq_ignore_ascii_case(on))
}

/// The name of a character set that two Dbms may share.
pub(crate) fn character_set(name: &str) -> String {
    match name.to_ascii_lowercase().as_str() {
        "utf8mb4" | "utf8" | "utf-8" => "UTF-8".to_owned(),
        "sql_ascii" => "none: bytes".to_owned(),
        _ => name.to_owned(),
    }
}

/// A collation, by bytes where it is one that does so.
pub(crate) fn collation(name: &str) -> Said {
    let small = name.to_ascii_lowercase();
    let is_binary = matches!(small.as_str(), "c" | "posix" | "binary") || small.ends_with("_bin");
    let mut said = Said::common(Condition::Collation, name);
    if is_binary {
        "by bytes".clone_into(&mut said.key);
        said.text = format!("{name} (by bytes)");
    }
    said
}
