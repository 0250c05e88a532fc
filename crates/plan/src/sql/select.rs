//! Which tests run: by name, by group, or by a set of the file.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use super::draft::Draft;
use super::options::{Options, SET};
use crate::error::Choices;
use crate::fields::{Fields, Item, Mention};
use crate::{PlanError, Result};

const GROUP: &str = "group:";
const ALL: &str = "all";

#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadSet {
    /// `32`.
    pub name: String,
    /// Names of its tests, in the order in which they run. What only warms caches is in no set.
    pub tests: Vec<String>,
}

/// The tests of a file: its steps that are no phases. Those that are not measured warm caches, and belong to no set.
pub(crate) struct Tests<'a> {
    drafts: &'a [Draft<'a>],
    sets: Vec<(&'a str, Vec<Mention>)>,
    listed_by: String,
}

impl<'a> Tests<'a> {
    /// Of the steps of a file, which has `[sets]`. People know the workload as `workload`.
    pub(crate) fn new(workload: &str, drafts: &'a [Draft<'a>], file: &Fields<'a>) -> Result<Self> {
        let sets = file.maybe("sets", Fields::named)?;
        let sets = sets.iter().flat_map(Fields::all).map(|item| match item.key {
            ALL => Err(item.conflict("the set `all` is there already, with all tests")),
            name => Ok((name, item.each(Item::mention)?)),
        });
        let sets = sets.collect::<Result<_>>()?;
        Ok(Self { drafts, sets, listed_by: format!("backslide workloads {workload}") })
    }

    /// All that sets and steps name is there: of a step which only warms caches, the tests that it is for.
    pub(crate) fn check(&self) -> Result<()> {
        self.sets()?;
        let is_test = |name: &str| {
            let mut tests = self.drafts.iter().filter(|draft| draft.measured);
            tests.any(|test| test.has_name(name))
        };
        let mut before = self.drafts.iter().flat_map(|draft| &draft.before);
        before.find(|entry| !is_test(&entry.name)).map_or(Ok(()), |entry| Err(self.unknown(entry)))
    }

    /// The sets, in the order of the file, `all` at the end; none where the file has none.
    pub(crate) fn sets(&self) -> Result<Vec<WorkloadSet>> {
        let named = |name: &str, chosen: BTreeSet<usize>| WorkloadSet {
            name: name.to_owned(),
            tests: self.names(chosen).map(str::to_owned).collect(),
        };
        let sets = self
            .sets
            .iter()
            .map(|(name, entries)| Ok(named(name, self.expand(entries, &mut vec![name])?)));
        let all = (!self.sets.is_empty()).then(|| Ok(named(ALL, self.all())));
        sets.chain(all).collect()
    }

    fn names(&self, chosen: BTreeSet<usize>) -> impl Iterator<Item = &'a str> {
        chosen.into_iter().filter_map(|at| self.drafts[at].name.as_deref())
    }

    fn all(&self) -> BTreeSet<usize> {
        self.matching(|test| test.measured)
    }

    fn matching(&self, wanted: impl Fn(&Draft<'_>) -> bool) -> BTreeSet<usize> {
        (0..self.drafts.len()).filter(|at| wanted(&self.drafts[*at])).collect()
    }

    /// What a plan chooses; one result at least must be among it.
    fn chosen(&self, entries: &[Mention]) -> Result<BTreeSet<usize>> {
        let chosen = self.expand(entries, &mut Vec::new())?;
        match entries.first() {
            Some(entry) if !chosen.iter().any(|at| self.drafts[*at].measured) => Err(entry
                .place
                .conflict(format!("`{}` only warms caches: choose a test, too", entry.name))),
            _ => Ok(chosen),
        }
    }

    /// The tests that all entries together mean. `below` are the sets that led here.
    fn expand(&self, entries: &[Mention], below: &mut Vec<&'a str>) -> Result<BTreeSet<usize>> {
        let mut chosen = BTreeSet::new();
        for entry in entries {
            let name = entry.name.as_str();
            let found = if let Some(set) = name.strip_prefix(SET) {
                self.of_set(entry, set, below)?
            } else if let Some(group) = name.strip_prefix(GROUP) {
                self.matching(|test| test.measured && test.group == group)
            } else {
                self.matching(|test| test.has_name(name))
            };
            if found.is_empty() {
                return Err(self.unknown(entry));
            }
            chosen.extend(found);
        }
        Ok(chosen)
    }

    fn of_set(
        &self,
        entry: &Mention,
        name: &str,
        below: &mut Vec<&'a str>,
    ) -> Result<BTreeSet<usize>> {
        if name == ALL {
            return Ok(self.all());
        }
        let found = self.sets.iter().find(|(set, _)| *set == name);
        let (name, entries) = found.ok_or_else(|| self.unknown(entry))?;
        if below.contains(name) {
            let message = format!("set `{name}` is part of itself: {}", below.join(", "));
            return Err(entry.place.conflict(message));
        }
        below.push(name);
        let chosen = self.expand(entries, below);
        below.pop();
        chosen
    }

    fn unknown(&self, entry: &Mention) -> PlanError {
        let name = entry.name.as_str();
        let (what, name, names) = if let Some(set) = name.strip_prefix(SET) {
            ("set", set, self.sets.iter().map(|(name, _)| *name).chain([ALL]).collect())
        } else if let Some(group) = name.strip_prefix(GROUP) {
            let mut groups: Vec<&str> = Vec::new();
            for draft in self.drafts {
                if !draft.group.is_empty() && !groups.contains(&draft.group.as_str()) {
                    groups.push(&draft.group);
                }
            }
            ("group", group, groups)
        } else {
            ("test", name, self.names(self.all()).collect())
        };
        PlanError::UnknownName {
            place: entry.place.to_string(),
            what: what.to_owned(),
            name: name.to_owned(),
            choices: Choices::new(name, names).listed_by(&self.listed_by),
        }
    }
}

pub(crate) struct Selection<'a> {
    names: BTreeSet<&'a str>,
    /// Those with a measured time of their own.
    pub(crate) seconds: BTreeMap<&'a str, u32>,
    warm_ups: bool,
}

impl<'a> Selection<'a> {
    pub(crate) fn new(tests: &Tests<'a>, options: &Options) -> Result<Self> {
        let chosen = match &options.tests {
            None => tests.all(),
            Some(entries) => tests.chosen(entries)?,
        };
        let mut seconds = BTreeMap::new();
        for (entry, own) in &options.seconds {
            let mut found = tests.expand(slice::from_ref(entry), &mut Vec::new())?;
            // Which of the steps that warm caches run depends on their tests.
            let may_warm = |at: usize| options.warm_ups && !tests.drafts[at].measured;
            found.retain(|at| chosen.contains(at) || may_warm(*at));
            if found.is_empty() {
                return Err(entry.place.conflict(format!(
                    "`{}` has seconds and is not among the tests that run",
                    entry.name
                )));
            }
            seconds.extend(tests.names(found).map(|name| (name, *own)));
        }
        Ok(Self { names: tests.names(chosen).collect(), seconds, warm_ups: options.warm_ups })
    }

    /// Does the step run? What only warms caches does so with whatever it is for.
    pub(crate) fn has(&self, draft: &Draft<'_>) -> bool {
        let is_chosen = |name: &str| self.names.contains(name);
        let is_needed = || {
            let mut before = draft.before.iter();
            draft.before.is_empty() || before.any(|test| is_chosen(&test.name))
        };
        draft.name.as_deref().is_some_and(is_chosen)
            || (!draft.measured && self.warm_ups && is_needed())
    }
}
