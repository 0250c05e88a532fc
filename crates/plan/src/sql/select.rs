//! Which tests run: by name, by group, or by a set of the file.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use super::draft::Draft;
use super::names::mention;
use super::options::Options;
use crate::config::Mention;
use crate::error::Choices;
use crate::fields::{Fields, Item};
use crate::{PlanError, Result};

const GROUP: &str = "group:";
const SET: &str = "set:";
const ALL: &str = "all";

pub(crate) struct Tests {
    each: Vec<Test>,
    sets: Vec<(String, Vec<Mention>)>,
    listed_by: String,
}

struct Test {
    name: String,
    group: String,
    /// Is it a result? Else it warms caches, and belongs to no set.
    measured: bool,
}

impl Tests {
    /// Of the steps of a file and its `[sets]`. People know the workload as `workload`.
    pub(crate) fn new(
        workload: &str,
        drafts: &[Draft<'_>],
        sets: Option<Item<'_>>,
    ) -> Result<Self> {
        let tests = drafts.iter().filter_map(|draft| {
            Some(Test {
                name: draft.name()?.to_owned(),
                group: draft.group.clone(),
                measured: draft.measured,
            })
        });
        let sets = sets.map(|sets| Fields::named(sets, "sets")).transpose()?;
        let sets = sets.iter().flat_map(Fields::all).map(|item| {
            if item.key == ALL {
                return Err(item.conflict("the set `all` is there already, with all tests"));
            }
            let entries = item.list()?;
            let entries = entries.iter().map(|entry| Ok(mention(*entry, entry.text()?)));
            Ok((item.key.to_owned(), entries.collect::<Result<Vec<_>>>()?))
        });
        Ok(Self {
            each: tests.collect(),
            sets: sets.collect::<Result<_, _>>()?,
            listed_by: format!("backslide workloads {workload}"),
        })
    }

    pub(crate) fn check_sets(&self) -> Result<()> {
        self.sets().map(drop)
    }

    /// The sets with the names of their tests, in the order of the file, `all` at the end; none where the
    /// file has none.
    pub(crate) fn sets(&self) -> Result<Vec<(String, Vec<String>)>> {
        let mut sets = Vec::with_capacity(self.sets.len() + 1);
        for (name, entries) in &self.sets {
            sets.push((name.clone(), self.expand(entries, &mut vec![name.as_str()])?));
        }
        if !sets.is_empty() {
            sets.push((ALL.to_owned(), self.all()));
        }
        let names = |chosen: BTreeSet<usize>| {
            let chosen = chosen.into_iter().map(|at| self.each[at].name.clone());
            chosen.collect()
        };
        Ok(sets.into_iter().map(|(name, chosen)| (name, names(chosen))).collect())
    }

    fn all(&self) -> BTreeSet<usize> {
        self.matching(|test| test.measured)
    }

    fn matching(&self, wanted: impl Fn(&Test) -> bool) -> BTreeSet<usize> {
        let tests = self.each.iter().enumerate();
        let tests = tests.filter(|(_, test)| wanted(test));
        tests.map(|(at, _)| at).collect()
    }

    /// What a plan chooses; one result at least must be among it.
    fn chosen(&self, entries: &[Mention]) -> Result<BTreeSet<usize>> {
        let chosen = self.expand(entries, &mut Vec::new())?;
        let is_result = |at: &usize| self.each[*at].measured;
        match entries.first() {
            Some(entry) if !chosen.iter().any(is_result) => Err(entry
                .place
                .conflict(format!("`{}` only warms caches: choose a test, too", entry.name))),
            _ => Ok(chosen),
        }
    }

    /// The tests that a step which only warms caches is for are there.
    pub(crate) fn check_before(&self, draft: &Draft<'_>) -> Result<()> {
        match draft.before.iter().find(|entry| {
            let is_it = |test: &Test| test.measured && test.name == entry.name;
            !self.each.iter().any(is_it)
        }) {
            None => Ok(()),
            Some(entry) => Err(self.unknown(entry)),
        }
    }

    /// The tests that all entries together mean. `below` are the sets that led here.
    fn expand<'a>(
        &'a self,
        entries: &'a [Mention],
        below: &mut Vec<&'a str>,
    ) -> Result<BTreeSet<usize>> {
        let mut chosen = BTreeSet::new();
        for entry in entries {
            let name = entry.name.as_str();
            let found = if let Some(set) = name.strip_prefix(SET) {
                self.of_set(entry, set, below)?
            } else if let Some(group) = name.strip_prefix(GROUP) {
                self.matching(|test| test.measured && test.group == group)
            } else {
                self.matching(|test| test.name == name)
            };
            if found.is_empty() {
                return Err(self.unknown(entry));
            }
            chosen.extend(found);
        }
        Ok(chosen)
    }

    fn of_set<'a>(
        &'a self,
        entry: &Mention,
        name: &str,
        below: &mut Vec<&'a str>,
    ) -> Result<BTreeSet<usize>> {
        if name == ALL {
            return Ok(self.all());
        }
        let Some((name, entries)) = self.sets.iter().find(|(set, _)| set == name) else {
            return Err(self.unknown(entry));
        };
        if below.contains(&name.as_str()) {
            return Err(entry
                .place
                .conflict(format!("set `{name}` is part of itself: {}", below.join(", "))));
        }
        below.push(name);
        let chosen = self.expand(entries, below);
        below.pop();
        chosen
    }

    fn groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = Vec::new();
        for test in self.each.iter().filter(|test| !test.group.is_empty()) {
            if !groups.contains(&test.group.as_str()) {
                groups.push(&test.group);
            }
        }
        groups
    }

    fn unknown(&self, entry: &Mention) -> PlanError {
        let name = entry.name.as_str();
        let (what, name, names) = if let Some(set) = name.strip_prefix(SET) {
            let sets = self.sets.iter().map(|(name, _)| name.as_str());
            ("set", set, sets.chain([ALL]).collect())
        } else if let Some(group) = name.strip_prefix(GROUP) {
            ("group", group, self.groups())
        } else {
            let tests = self.each.iter().filter(|test| test.measured);
            let tests = tests.map(|test| test.name.as_str());
            ("test", name, tests.collect())
        };
        PlanError::UnknownName {
            place: entry.place.to_string(),
            what: what.to_owned(),
            name: name.to_owned(),
            choices: Choices::new(name, names).listed_by(&self.listed_by),
        }
    }
}

pub(crate) struct Selection {
    names: BTreeSet<String>,
    /// Those with a measured time of their own.
    seconds: BTreeMap<String, u32>,
    warm_ups: bool,
}

impl Selection {
    pub(crate) fn new(tests: &Tests, options: &Options) -> Result<Self> {
        let chosen = match &options.tests {
            None => tests.all(),
            Some(entries) => tests.chosen(entries)?,
        };
        let mut seconds = BTreeMap::new();
        for (entry, own) in &options.seconds {
            let mut found = tests.expand(slice::from_ref(entry), &mut Vec::new())?;
            // Which of the steps that warm caches run depends on their tests.
            let may_warm = |at: usize| options.warm_ups && !tests.each[at].measured;
            found.retain(|at| chosen.contains(at) || may_warm(*at));
            if found.is_empty() {
                return Err(entry.place.conflict(format!(
                    "`{}` has seconds and is not among the tests that run",
                    entry.name
                )));
            }
            seconds.extend(found.into_iter().map(|at| (tests.each[at].name.clone(), *own)));
        }
        let names = chosen.into_iter().map(|at| tests.each[at].name.clone());
        Ok(Self { names: names.collect(), seconds, warm_ups: options.warm_ups })
    }

    pub(crate) fn seconds(&self, test: &str) -> Option<u32> {
        self.seconds.get(test).copied()
    }

    /// Does the step run? What only warms caches does so with whatever it is for.
    pub(crate) fn has(&self, draft: &Draft<'_>) -> bool {
        let is_chosen = |name: &str| self.names.contains(name);
        let is_needed = || {
            let mut before = draft.before.iter();
            draft.before.is_empty() || before.any(|test| is_chosen(&test.name))
        };
        draft.name().is_some_and(is_chosen) || (!draft.measured && self.warm_ups && is_needed())
    }
}
