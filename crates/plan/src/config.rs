//! A config of the catalog: settings with the versions that know them and the host they scale with.

use std::fmt;

use model::{Bytes, Dbms, Engine, Version};

use crate::document::{self, Value};
use crate::fields::{Fields, Item, Mention};
use crate::{Place, Result};

const SETTING_KEYS: [&str; 15] = [
    "name",
    "value",
    "bare",
    "memory_percent",
    "cores_percent",
    "min",
    "max",
    "step",
    "since",
    "until",
    "from",
    "before",
    "topic",
    "optional",
    "engine",
];

/// A named config as the catalog has it; [`ConfigFile::render`](crate::ConfigFile::render) makes its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigFile {
    pub(crate) dbms: Dbms,
    pub(crate) name: String,
    pub(crate) summary: String,
    pub(crate) extends: Option<Mention>,
    /// Topics of that config which this one does not have.
    pub(crate) drop: Vec<Mention>,
    pub(crate) settings: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    pub(crate) place: Place,
    pub(crate) name: String,
    pub(crate) value: RuleValue,
    pub(crate) known: Span,
    /// Those of them that get this setting of it.
    pub(crate) used: Span,
    /// Settings of one topic are alternatives for different versions; a setting's own topic is its name.
    pub(crate) topic: String,
    /// A version without such an option is fine.
    pub(crate) optional: bool,
    pub(crate) engine: Option<Engine>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RuleValue {
    /// None: the option takes none.
    Bare,
    /// The same on every host.
    Fixed(String),
    /// A share of the host's, rounded down to whole steps; below two of them, to whole eighths of one.
    Memory { percent: u64, min: Bytes, max: Bytes, step: Option<Bytes> },
    /// A share of the CPUs that are ours.
    Cores { percent: u64, min: u64, max: u64 },
}

impl ConfigFile {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn summary(&self) -> &str {
        &self.summary
    }

    pub(crate) fn parse(dbms: Dbms, name: &str, text: &str, origin: &str) -> Result<Self> {
        let root = document::parse(text, origin)?;
        let fields = Fields::new(&root, "config", &["summary", "extends", "drop", "setting"])?;
        match (fields.get("extends"), fields.get("drop")) {
            (None, Some(drop)) => {
                Err(drop.conflict("`drop` without `extends`: there is nothing to drop"))
            }
            _ => Self::read(dbms, name, &fields),
        }
    }

    /// A modifier: a change of any config.
    pub(crate) fn parse_modifier(dbms: Dbms, name: &str, text: &str, origin: &str) -> Result<Self> {
        let root = document::parse(text, origin)?;
        Self::read(dbms, name, &Fields::new(&root, "modifier", &["summary", "drop", "setting"])?)
    }

    fn read(dbms: Dbms, name: &str, fields: &Fields<'_>) -> Result<Self> {
        Ok(Self {
            dbms,
            name: name.to_owned(),
            summary: fields.text("summary")?.to_owned(),
            extends: fields.maybe("extends", Item::mention)?,
            drop: fields.each("drop", Item::mention)?,
            settings: fields.each("setting", rule)?,
        })
    }
}

fn rule(item: Item<'_>) -> Result<Rule> {
    let fields = Fields::new(item.node, "setting", &SETTING_KEYS)?;
    let name = fields.text("name")?;
    let topic = fields.maybe("topic", Item::text)?;
    Ok(Rule {
        place: item.place(),
        name: name.to_owned(),
        value: value(&fields, item)?,
        known: span(&fields, item, name, ["since", "until"])?,
        used: span(&fields, item, name, ["from", "before"])?,
        topic: topic.unwrap_or(name).to_owned(),
        optional: fields.switch("optional")?,
        engine: fields.maybe("engine", engine)?,
    })
}

/// The range between the versions under two keys. The first may be a list: the first version of each series.
fn span(fields: &Fields<'_>, item: Item<'_>, name: &str, [first, last]: [&str; 2]) -> Result<Span> {
    let since = match fields.get(first) {
        Some(list) if matches!(list.node.value, Value::List(_)) => list.each(version)?,
        one => one.map(version).transpose()?.into_iter().collect(),
    };
    let span = Span { since, until: fields.maybe(last, version)? };
    if span.is_sound() {
        return Ok(span);
    }
    Err(item.conflict(format!(
        "the versions in `{first}` and `{last}` of `{name}` do not rise ({span})"
    )))
}

pub(crate) fn engine(item: Item<'_>) -> Result<Engine> {
    item.word("engine", &Engine::ALL.map(|engine| (engine.name(), engine)))
}

pub(crate) fn version(item: Item<'_>) -> Result<Version> {
    item.text_as("a version such as \"8.0.33\"", |text| text.parse().ok())
}

fn value(fields: &Fields<'_>, item: Item<'_>) -> Result<RuleValue> {
    let kinds = ["value", "bare", "memory_percent", "cores_percent"];
    let Some(one) = fields.exactly_one(&kinds) else {
        return Err(item.conflict(
            "a setting has exactly one of `value`, `bare`, `memory_percent`, `cores_percent`",
        ));
    };
    let cores = |item: Item<'_>| item.count(1..=10_000);
    match one.key {
        "value" => scalar(one).map(RuleValue::Fixed),
        "memory_percent" => Ok(RuleValue::Memory {
            percent: one.count(1..=100)?,
            min: fields.maybe("min", bytes)?.unwrap_or(Bytes::from_mib(1)),
            max: fields.maybe("max", bytes)?.unwrap_or(Bytes(u64::MAX)),
            step: fields.maybe("step", bytes)?,
        }),
        "cores_percent" => Ok(RuleValue::Cores {
            percent: one.count(1..=1000)?,
            min: fields.maybe("min", cores)?.unwrap_or(1),
            max: fields.maybe("max", cores)?.unwrap_or(u64::MAX),
        }),
        _ if one.switch()? => Ok(RuleValue::Bare),
        _ => Err(one.wrong("true, or left out")),
    }
}

/// A value of an option as text: text may be empty, `true` and `false` become `ON` and `OFF`.
pub(crate) fn scalar(item: Item<'_>) -> Result<String> {
    match &item.node.value {
        Value::Text(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Switch(true) => Ok("ON".to_owned()),
        Value::Switch(false) => Ok("OFF".to_owned()),
        Value::List(_) | Value::Table(_) | Value::Other(_) => {
            Err(item.wrong("text, a number, true or false"))
        }
    }
}

fn bytes(item: Item<'_>) -> Result<Bytes> {
    item.text_as("a size such as \"256M\" or \"4G\"", size)
}

/// A size as the servers write it: digits, then nothing or K, M, G (and B, as in PostgreSQL's `MB`).
pub fn size(text: &str) -> Option<Bytes> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let shift = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" => 10,
        "M" | "MB" => 20,
        "G" | "GB" => 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift).map(Bytes)
}

/// A range of versions, as the catalog writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// The first version; where something came to several series at once, the first one of each series,
    /// in order, of which the last one stands for all that follow. Empty for all versions.
    pub(crate) since: Vec<Version>,
    /// The first version that is outside again.
    pub(crate) until: Option<Version>,
}

impl Span {
    /// Is `version` inside? A pre-release counts as its release, which has the same options.
    pub(crate) fn contains(&self, version: &Version) -> bool {
        let after = |bound: &Version| version.parts() >= bound.parts();
        let begun = match self.since.split_last() {
            None => true,
            Some((last, earlier)) => {
                let backport = |first: &Version| in_series(version, first) && after(first);
                after(last) || earlier.iter().any(backport)
            }
        };
        begun && !self.until.as_ref().is_some_and(after)
    }

    pub(crate) fn is_limited(&self) -> bool {
        !self.since.is_empty() || self.until.is_some()
    }

    /// Is there a version in it? No other check of a catalog file sees that there is none.
    pub(crate) fn is_sound(&self) -> bool {
        let rising = self.since.windows(2).all(|pair| pair[0] < pair[1]);
        let begins_before = |until| self.since.last().is_none_or(|since| since < until);
        rising && self.until.as_ref().is_none_or(begins_before)
    }
}

/// Is `version` of the series of `first`: 10.6.20 of that of 10.6.18?
fn in_series(version: &Version, first: &Version) -> bool {
    first.parts().split_last().is_some_and(|(_, series)| version.parts().starts_with(series))
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since: Vec<String> = self.since.iter().map(ToString::to_string).collect();
        match (since.join(", "), &self.until) {
            (since, Some(until)) if since.is_empty() => write!(f, "until {until}"),
            (since, None) if since.is_empty() => f.write_str("in all versions"),
            (since, Some(until)) => write!(f, "since {since}, until {until}"),
            (since, None) => write!(f, "since {since}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn error(text: &str) -> String {
        ConfigFile::parse(Dbms::Mysql, "c", text, "c.toml").unwrap_err().to_string()
    }

    #[test]
    fn sizes() {
        assert_eq!(size("256M"), Some(Bytes::from_mib(256)));
        assert_eq!(size("4GB"), Some(Bytes::from_mib(4096)));
        assert_eq!(size("512"), Some(Bytes(512)));
        for text in ["", "M", "4T", "-1", "1.5G", "99999999999G", "é"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn a_setting_has_one_value() {
        let head = "summary = \"s\"\n[[setting]]\nname = \"o\"\n";
        assert_snapshot!(error(head), @"c.toml:2: a setting has exactly one of `value`, `bare`, `memory_percent`, `cores_percent`");
        assert_snapshot!(error(&format!("{head}value = 1\nbare = true")), @"c.toml:2: a setting has exactly one of `value`, `bare`, `memory_percent`, `cores_percent`");
        assert_snapshot!(error(&format!("{head}bare = false")), @"c.toml:4: `bare` must be true, or left out, not false");
        assert_snapshot!(error(&format!("{head}value = [1]")), @"c.toml:4: `value` must be text, a number, true or false, not a list");
        assert_snapshot!(error(&format!("{head}memory_percent = 40\nmin = \"lots\"")), @r#"c.toml:5: `min` must be a size such as "256M" or "4G", not "lots""#);
    }

    #[test]
    fn a_range_is_not_empty() {
        let text = "summary = \"s\"\n[[setting]]\nname = \"o\"\nvalue = 1\n\
                    since = \"8.0\"\nuntil = \"5.7\"";
        assert_snapshot!(error(text), @"c.toml:2: the versions in `since` and `until` of `o` do not rise (since 8.0, until 5.7)");
    }

    #[test]
    fn names_and_keys_are_checked() {
        assert_snapshot!(error("sumary = \"s\""), @"c.toml:1: unknown key `sumary` in config, did you mean `summary`?");
        assert_snapshot!(error("summary = \"s\"\n[[setting]]\nnam = \"o\""), @"c.toml:3: unknown key `nam` in setting, did you mean `name`?");
        let engine = "summary = \"s\"\n[[setting]]\nname = \"o\"\nvalue = 1\nengine = \"inodb\"";
        assert_snapshot!(error(engine), @"c.toml:5: no engine `inodb`; nearest `innodb`; available: innodb, myrocks, tokudb, heap, btree");
    }
}

#[cfg(test)]
mod ranges {
    use super::*;

    fn span(since: &[&str], until: Option<&str>) -> Span {
        let version = |text: &str| text.parse().unwrap();
        Span { since: since.iter().map(|text| version(text)).collect(), until: until.map(version) }
    }

    fn inside(span: &Span, versions: &[&str]) -> Vec<bool> {
        let versions = versions.iter().map(|text| text.parse().unwrap());
        versions.map(|version| span.contains(&version)).collect()
    }

    #[test]
    fn the_first_is_inside_and_the_last_is_not() {
        let span = span(&["5.6"], Some("8.0.3"));
        assert_eq!(
            inside(&span, &["5.5.62", "5.6.0", "5.6", "8.0.2", "8.0.3", "9.7"]),
            [false, true, true, true, false, false]
        );
        assert_eq!(span.to_string(), "since 5.6, until 8.0.3");
    }

    #[test]
    fn a_backport_counts_in_its_series_only() {
        let span = span(&["10.6.18", "10.11.8", "11.4.2"], None);
        assert_eq!(
            inside(
                &span,
                &["10.6.17", "10.6.18", "10.7.9", "10.11.7", "10.11.19", "11.4.1", "12.0"]
            ),
            [false, true, false, false, true, false, true]
        );
        assert_eq!(span.to_string(), "since 10.6.18, 10.11.8, 11.4.2");
    }

    #[test]
    fn a_pre_release_has_the_options_of_its_release() {
        assert_eq!(inside(&span(&["19"], None), &["19rc1", "18.6"]), [true, false]);
    }

    #[test]
    fn an_empty_range_is_not_sound() {
        assert!(span(&["5.6"], Some("5.7")).is_sound());
        assert!(span(&[], Some("5.7")).is_sound());
        assert!(!span(&["5.7"], Some("5.7")).is_sound());
        assert!(!span(&["11.4.2", "10.6.18"], None).is_sound());
    }
}
