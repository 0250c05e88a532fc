//! A config of the catalog for one version, engine and host.

use std::fmt::Write as _;

use model::{Bytes, Config, Dbms, Engine, HostShape, Setting, Version};

use crate::PlanError;
use crate::config::{ConfigFile, Rule, RuleValue};

impl ConfigFile {
    /// The settings that `version` gets, in the order of the catalog. A setting whose range leaves
    /// the version out is replaced by the one of its topic that has it; where there is none, and
    /// the setting is not optional, the config cannot be used with this version.
    pub fn render(
        &self,
        version: &Version,
        engine: Engine,
        host: HostShape,
    ) -> Result<Config, PlanError> {
        let rules: Vec<&Rule> = self
            .settings
            .iter()
            .filter(|rule| rule.engine.is_none_or(|only| only == engine))
            .collect();
        let mut settings = Vec::with_capacity(rules.len());
        for rule in &rules {
            if rule.knows(version) {
                settings.push(Setting {
                    name: rule.name.clone(),
                    value: rule.value.text(self.dbms, host),
                });
            } else if !rule.optional && !has_alternative(rule, &rules, version) {
                return Err(self.unknown_option(rule, version));
            }
        }
        Ok(Config {
            name: self.name.clone(),
            summary: self.summary.clone(),
            settings,
            left_out: Vec::new(),
        })
    }

    fn unknown_option(&self, rule: &Rule, version: &Version) -> PlanError {
        PlanError::UnknownOption {
            place: rule.place.clone(),
            option: rule.name.clone(),
            build: format!("{} {version}", self.dbms),
            range: rule.range(),
        }
    }

    /// The whole config as text, with the versions of each setting and what it scales with.
    pub fn show(&self) -> String {
        let mut text = format!("{} for {}: {}\n", self.name, self.dbms, self.summary);
        if self.settings.is_empty() {
            text.push_str("  (the server's own defaults)\n");
        }
        for rule in &self.settings {
            let _ = write!(text, "  {}{}", rule.name, rule.value.shown());
            let mut notes = Vec::new();
            if rule.since.is_some() || rule.until.is_some() {
                notes.push(rule.range());
            }
            if let Some(engine) = rule.engine {
                notes.push(format!("{engine} only"));
            }
            if !notes.is_empty() {
                let _ = write!(text, "    # {}", notes.join(", "));
            }
            text.push('\n');
        }
        text
    }
}

fn has_alternative(rule: &Rule, rules: &[&Rule], version: &Version) -> bool {
    rules
        .iter()
        .any(|other| other.topic == rule.topic && other.knows(version))
}

impl Rule {
    /// Has `version` the option? A pre-release counts as its release, which has the same options.
    fn knows(&self, version: &Version) -> bool {
        let after = |bound: &Version| version.parts() >= bound.parts();
        self.since.as_ref().is_none_or(after) && !self.until.as_ref().is_some_and(after)
    }

    fn range(&self) -> String {
        match (&self.since, &self.until) {
            (Some(since), Some(until)) => format!("since {since}, until {until}"),
            (Some(since), None) => format!("since {since}"),
            (None, Some(until)) => format!("until {until}"),
            (None, None) => "in all versions".to_owned(),
        }
    }
}

impl RuleValue {
    fn text(&self, dbms: Dbms, host: HostShape) -> Option<String> {
        match self {
            Self::Bare => None,
            Self::Fixed(text) => Some(text.clone()),
            Self::Memory { percent, min, max } => {
                // In this order the product cannot overflow, and a per cent is exact enough.
                let share = Bytes(host.memory.0 / 100 * percent);
                Some(memory(dbms, share.max(*min).min(*max)))
            }
            Self::Cores { percent, min, max } => {
                let share = u64::from(host.cpus) * percent / 100;
                Some(share.max(*min).min(*max).to_string())
            }
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Bare => String::new(),
            Self::Fixed(text) => format!(" = {text}"),
            Self::Memory { percent, min, max } => {
                let max = if max.0 == u64::MAX {
                    String::new()
                } else {
                    format!(", at most {max}")
                };
                format!(" = {percent} % of memory, at least {min}{max}")
            }
            Self::Cores { percent, min, max } => {
                let max = if *max == u64::MAX {
                    String::new()
                } else {
                    format!(", at most {max}")
                };
                format!(" = {percent} % of the CPUs, at least {min}{max}")
            }
        }
    }
}

/// A size as an option of this Dbms takes it, in whole mebibytes; SQLite's `cache_size` counts
/// KiB when it is negative.
fn memory(dbms: Dbms, size: Bytes) -> String {
    let mib = (size.0 >> 20).max(1);
    match dbms {
        Dbms::Mysql | Dbms::Mariadb => format!("{mib}M"),
        Dbms::Postgres => format!("{mib}MB"),
        Dbms::Sqlite => format!("-{}", mib << 10),
    }
}
