//! Which config a name means: a file, what it extends, and the modifiers after it.

use std::collections::BTreeMap;

use model::{Dbms, Version};

use crate::config::{ConfigFile, Rule};
use crate::error::Choices;
use crate::{Place, PlanError, Result};

/// Stands before the word of each modifier in the name of a config: `z12a_gtid`.
const JOINT: char = '_';

#[derive(Clone, Debug, Default)]
pub(crate) struct Configs {
    files: BTreeMap<(Dbms, String), ConfigFile>,
    modifiers: BTreeMap<(Dbms, String), ConfigFile>,
}

impl Configs {
    pub(crate) fn add(&mut self, file: ConfigFile) {
        self.files.insert((file.dbms, file.name.clone()), file);
    }

    pub(crate) fn add_modifier(&mut self, file: ConfigFile) {
        self.modifiers.insert((file.dbms, file.name.clone()), file);
    }

    pub(crate) fn is_word(word: &str) -> bool {
        !word.is_empty() && !word.contains(JOINT)
    }

    /// Every file must make sense, whether a plan uses it or not.
    pub(crate) fn check(&self) -> Result<()> {
        self.files.values().try_for_each(|file| self.settled(file, &mut Vec::new()).map(drop))
    }

    /// The config that a plan names at `place`, with nothing left to look up.
    pub(crate) fn find(&self, dbms: Dbms, name: &str, place: &Place) -> Result<ConfigFile> {
        let home = self.home(dbms);
        let (base, words) = self.split(home, name);
        let unknown = |written: &str| self.unknown(dbms, name, written, place);
        let base = self.file(home, base).ok_or_else(|| unknown(base))?;
        let mut config = self.settled(base, &mut Vec::new())?;
        for word in words {
            let modifier = self.modifiers.get(&(home, word.to_owned()));
            let modifier = modifier.ok_or_else(|| unknown(&format!("{JOINT}{word}")))?;
            config.summary = format!("{}; {}", config.summary, modifier.summary);
            config.settings = changed(config.settings, modifier);
        }
        name.clone_into(&mut config.name);
        config.dbms = dbms;
        Ok(config)
    }

    /// The product whose configs `dbms` has: its own, otherwise those of the one that it is like.
    fn home(&self, dbms: Dbms) -> Dbms {
        let has_some = |of: &Dbms| self.files.keys().any(|(family, _)| family == of);
        dbms.lineage().find(has_some).unwrap_or(dbms)
    }

    pub(crate) fn names(&self, dbms: Dbms) -> Vec<&str> {
        names(&self.files, self.home(dbms))
    }

    pub(crate) fn modifier_names(&self, dbms: Dbms) -> Vec<&str> {
        names(&self.modifiers, self.home(dbms))
    }

    /// The versions that have `option`, where that is known and `version` is none of them.
    pub(crate) fn range_without(
        &self,
        dbms: Dbms,
        option: &str,
        version: &Version,
    ) -> Option<String> {
        let home = self.home(dbms);
        let files = self.files.values().chain(self.modifiers.values());
        let mut ranges: Vec<String> = Vec::new();
        for rule in files.filter(|file| file.dbms == home).flat_map(|file| &file.settings) {
            if !dbms.product().is_same_option(&rule.name, option) {
                continue;
            }
            if rule.known.contains(version) {
                return None;
            }
            let range = rule.known.to_string();
            if !ranges.contains(&range) {
                ranges.push(range);
            }
        }
        (!ranges.is_empty()).then(|| ranges.join(" or "))
    }

    fn file(&self, dbms: Dbms, name: &str) -> Option<&ConfigFile> {
        self.files.get(&(dbms, name.to_owned()))
    }

    /// A config's name and the words after it. Names may have joints of their own: the longest counts.
    fn split<'n>(&self, dbms: Dbms, name: &'n str) -> (&'n str, Vec<&'n str>) {
        let mut base = name;
        while self.file(dbms, base).is_none() {
            match base.rfind(JOINT) {
                Some(at) => base = &base[..at],
                // No config at all: what stands before the first joint was to be one.
                None => break,
            }
        }
        let words = name[base.len()..].split(JOINT).skip(1).collect();
        (base, words)
    }

    fn unknown(&self, dbms: Dbms, name: &str, written: &str, place: &Place) -> PlanError {
        let words = self.modifier_names(dbms).into_iter().map(|word| format!("{JOINT}{word}"));
        let names = self.names(dbms).into_iter().map(str::to_owned);
        if let Some(families) = self.of_others(dbms, name) {
            let names: Vec<String> = names.collect();
            let names = names.join(", ");
            return place
                .conflict(format!("config `{name}` is for {families}; {dbms} has: {names}"));
        }
        PlanError::UnknownName {
            place: place.to_string(),
            what: format!("{dbms} config"),
            name: name.to_owned(),
            choices: Choices::new(written, names.chain(words)),
        }
    }

    fn of_others(&self, dbms: Dbms, name: &str) -> Option<String> {
        let dbms = self.home(dbms);
        if self.file(dbms, self.split(dbms, name).0).is_some() {
            return None;
        }
        let others = Dbms::all().into_iter().filter(|other| *other != dbms);
        let have: Vec<&str> = others
            .filter(|other| self.file(*other, self.split(*other, name).0).is_some())
            .map(Dbms::name)
            .collect();
        (!have.is_empty()).then(|| have.join(" and "))
    }

    /// The file on top of what it extends. `below` are the names that led here.
    fn settled(&self, file: &ConfigFile, below: &mut Vec<String>) -> Result<ConfigFile> {
        let Some(parent) = &file.extends else { return Ok(file.clone()) };
        below.push(file.name.clone());
        if below.contains(&parent.name) {
            return Err(parent.place.conflict(format!(
                "`extends` goes round: {} -> {}",
                below.join(" -> "),
                parent.name
            )));
        }
        let base = self.file(file.dbms, &parent.name).ok_or_else(|| {
            let (what, names) = (format!("{} config", file.dbms), self.names(file.dbms));
            PlanError::unknown(&parent.place, &what, &parent.name, names)
        })?;
        let base = self.settled(base, below)?;
        let is_there = |topic: &str| base.settings.iter().any(|rule| rule.topic == topic);
        if let Some(topic) = file.drop.iter().find(|topic| !is_there(&topic.name)) {
            return Err(topic.place.conflict(format!(
                "`drop`: `{}` has no setting of the topic `{}`",
                base.name, topic.name
            )));
        }
        Ok(ConfigFile {
            extends: None,
            drop: Vec::new(),
            settings: changed(base.settings, file),
            ..file.clone()
        })
    }
}

fn names(files: &BTreeMap<(Dbms, String), ConfigFile>, dbms: Dbms) -> Vec<&str> {
    let of_dbms = files.values().filter(|file| file.dbms == dbms);
    of_dbms.map(|file| file.name.as_str()).collect()
}

/// The rules with those of `change` in place of the ones of the same topic; new topics come at the end.
fn changed(mut rules: Vec<Rule>, change: &ConfigFile) -> Vec<Rule> {
    rules.retain(|rule| change.drop.iter().all(|topic| topic.name != rule.topic));
    let mut done: Vec<&str> = Vec::new();
    for rule in &change.settings {
        let topic = rule.topic.as_str();
        if done.contains(&topic) {
            continue;
        }
        done.push(topic);
        let is_of_topic = |other: &Rule| other.topic == topic;
        let at = rules.iter().position(is_of_topic).unwrap_or(rules.len());
        rules.retain(|other| !is_of_topic(other));
        let new = change.settings.iter().filter(|other| is_of_topic(other));
        rules.splice(at..at, new.cloned());
    }
    rules
}
