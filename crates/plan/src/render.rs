//! A config of the catalog for one version, engine and host.

use std::fmt::Write as _;

use model::{Bytes, Config, Dbms, Engine, HostShape, Setting, Version};

use crate::config::{ConfigFile, Rule, RuleValue};
use crate::{PlanError, Result};

impl ConfigFile {
    /// The settings that `version` gets, in the order of the catalog. A setting that the version does
    /// not have is replaced by the one of its topic that is for it; where there is none, and the setting
    /// is not optional, the config cannot be used with this version.
    pub fn render(&self, version: &Version, engine: Engine, host: HostShape) -> Result<Config> {
        let rules: Vec<&Rule> = self
            .settings
            .iter()
            .filter(|rule| rule.engine.is_none_or(|only| only == engine))
            .collect();
        let mut settings = Vec::with_capacity(rules.len());
        let mut left_out: Vec<(String, Vec<String>)> = Vec::new();
        for rule in &rules {
            if rule.is_for(version) {
                settings.push(Setting {
                    name: rule.name.clone(),
                    value: rule.value.text(self.dbms, host),
                });
            } else if !rules.iter().any(|other| other.topic == rule.topic && other.is_for(version))
            {
                let (option, range) = rule.lacking(version);
                if !rule.optional {
                    return Err(PlanError::UnknownOption {
                        place: rule.place.clone(),
                        option,
                        build: format!("{} {version}", self.dbms),
                        range,
                        help: "use another config, add an alternative for this version, or mark the setting \
                               `optional = true`",
                    });
                }
                match left_out.iter_mut().find(|(name, _)| *name == option) {
                    Some((_, ranges)) => ranges.push(range),
                    None => left_out.push((option, vec![range])),
                }
            }
        }
        let left_out = left_out.into_iter();
        let left_out =
            left_out.map(|(option, ranges)| format!("{option} ({})", ranges.join(" or ")));
        Ok(Config {
            name: self.name.clone(),
            summary: self.summary.clone(),
            settings,
            left_out: left_out.collect(),
        })
    }

    /// The whole config as text, with the versions of each setting and what it scales with.
    pub fn show(&self) -> String {
        let mut text = format!("{} for {}: {}\n", self.name, self.dbms, self.summary);
        if self.settings.is_empty() {
            text.push_str("  (the server's own defaults)\n");
        }
        for rule in &self.settings {
            let _ = write!(text, "  {}{}", rule.name, rule.value.shown());
            let notes = [
                rule.known.is_limited().then(|| rule.known.to_string()),
                rule.used.is_limited().then(|| format!("used {}", rule.used)),
                rule.engine.map(|engine| format!("{engine} only")),
            ];
            let notes: Vec<String> = notes.into_iter().flatten().collect();
            if !notes.is_empty() {
                let _ = write!(text, "    # {}", notes.join(", "));
            }
            text.push('\n');
        }
        text
    }
}

impl Rule {
    fn is_for(&self, version: &Version) -> bool {
        self.known.contains(version) && self.used.contains(version)
    }

    /// What `version` lacks, and which versions have it: the option, or its value.
    fn lacking(&self, version: &Version) -> (String, String) {
        if self.known.contains(version) {
            let setting = format!("{}{}", self.name, self.value.shown());
            (setting, self.used.to_string())
        } else {
            (self.name.clone(), self.known.to_string())
        }
    }
}

impl RuleValue {
    fn text(&self, dbms: Dbms, host: HostShape) -> Option<String> {
        match self {
            Self::Bare => None,
            Self::Fixed(text) => Some(text.clone()),
            Self::Memory { percent, min, max, step } => {
                // In this order the product cannot overflow, and a per cent is exact enough.
                let share = Bytes(host.memory.0 / 100 * percent);
                let share = step.map_or(share, |step| stepped(share, step));
                Some(dbms.product().memory_setting(share.max(*min).min(*max)))
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
            Self::Memory { percent, min, max, step } => {
                let max =
                    if max.0 == u64::MAX { String::new() } else { format!(", at most {max}") };
                let step = step.map_or(String::new(), |step| format!(", in steps of {step}"));
                format!(" = {percent} % of memory, at least {min}{max}{step}")
            }
            Self::Cores { percent, min, max } => {
                let max = if *max == u64::MAX { String::new() } else { format!(", at most {max}") };
                format!(" = {percent} % of the CPUs, at least {min}{max}")
            }
        }
    }
}

/// Down to whole steps; a share that has not two of them, to whole eighths of one.
fn stepped(share: Bytes, step: Bytes) -> Bytes {
    let step = if share.0 / 2 < step.0 { step.0 / 8 } else { step.0 };
    Bytes(share.0 - share.0 % step.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_go_in_steps() {
        let gib = Bytes(1 << 30);
        let table = [(409, 384), (100, 0), (2047, 1920), (2048, 2048), (13107, 12288)];
        for (share, stepped_share) in table {
            let found = stepped(Bytes::from_mib(share), gib);
            assert_eq!(found, Bytes::from_mib(stepped_share), "{share}");
        }
        assert_eq!(stepped(Bytes(5), Bytes(0)), Bytes(5));
    }
}
