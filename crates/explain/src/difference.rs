//! Two systems, variable by variable.

use std::collections::{BTreeMap, BTreeSet};

use plan::{VariableRules, any_fits};
use serde::Serialize;

use crate::facts::{Facts, Reading};
use crate::value::{Asked, EMPTY, Values, asked, parts};

/// The group of variables that are in none.
const OTHER: &str = "other";
/// What stands for a value that is not there.
pub const NOTHING: &str = "–";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Reason {
    /// Both configs ask for the same value, and the servers run with different ones.
    #[serde(rename = "not as set")]
    NotAsSet,
    /// No config asks for it: the versions have other defaults.
    #[serde(rename = "changed default")]
    ChangedDefault,
    /// No config asks for it and the build is the same: the server made it from other settings.
    #[serde(rename = "follows from others")]
    Follows,
    /// Only the second system has it.
    #[serde(rename = "new")]
    New,
    /// Only the first system has it.
    #[serde(rename = "gone")]
    Gone,
    /// A config asks for it.
    #[serde(rename = "on purpose")]
    OnPurpose,
}

impl Reason {
    /// All of them, what needs a look first.
    pub const ALL: [Self; 6] = [
        Self::NotAsSet,
        Self::ChangedDefault,
        Self::Follows,
        Self::New,
        Self::Gone,
        Self::OnPurpose,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::NotAsSet => "not as set",
            Self::ChangedDefault => "changed default",
            Self::Follows => "follows from others",
            Self::New => "new",
            Self::Gone => "gone",
            Self::OnPurpose => "on purpose",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its name; where it was renamed, the new one.
    pub name: String,
    /// The name that one of the two systems still has.
    pub was: Option<String>,
    pub kind: Reason,
    /// What it belongs to: `memory`.
    pub group: String,
    /// The value in the first system as its server tells it; `None` where it has no such variable.
    pub a: Option<String>,
    pub b: Option<String>,
    /// Both values as a person reads them: sizes in units, of lists the parts that differ.
    #[serde(skip)]
    pub shown: (String, String),
    pub set_by: SetBy,
    /// Why it is known to matter for performance.
    pub matters: Option<String>,
    /// Its place: what matters most has the lowest.
    #[serde(skip)]
    pub(crate) order: Order,
}

impl Difference {
    /// Is it worth a row of its own, or is it one name among many new and gone ones?
    pub(crate) fn is_whole(&self) -> bool {
        self.matters.is_some() || !matches!(self.kind, Reason::New | Reason::Gone)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SetBy {
    pub a: bool,
    pub b: bool,
}

/// Is it unknown whether it matters? Is it on purpose? Then the note, the place of the name within it, and the group.
type Order = (bool, bool, (usize, usize), usize);

#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    pub a: String,
    pub b: String,
    /// Can variables be compared one by one? Those of MySQL and PostgreSQL cannot.
    pub comparable: bool,
    /// What is known to matter first, then by group.
    pub differences: Vec<Difference>,
}

impl Explanation {
    pub fn of(&self, kind: Reason) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(move |d| d.kind == kind)
    }
}

/// Compares two systems. Left out are variables that name an instance, or were renamed and kept their value, and all
/// where two products have nothing in common.
pub fn explain(rules: &VariableRules, a: &Facts, b: &Facts) -> Explanation {
    let pair = Pair { rules, a, b };
    let comparable = a.dbms.dialect() == b.dbms.dialect();
    let (of_a, of_b) = if comparable { pair.under_common_names() } else { Default::default() };
    let names: BTreeSet<&str> = of_a.keys().chain(of_b.keys()).copied().collect();
    let mut differences: Vec<Difference> = names
        .into_iter()
        .filter(|name| !any_fits(&rules.own, name))
        .filter_map(|name| pair.difference(name, [&of_a, &of_b].map(|of| of.get(name).copied())))
        .collect();
    differences.sort_by(|x, y| x.order.cmp(&y.order).then_with(|| x.name.cmp(&y.name)));
    Explanation { a: a.system.clone(), b: b.system.clone(), comparable, differences }
}

/// A variable under the name that the server has for it.
#[derive(Clone, Copy)]
struct Named<'a> {
    name: &'a str,
    reading: &'a Reading,
}

type Both<T> = [Option<T>; 2];

/// The variables of a system under the names that both systems may share.
type Common<'a> = BTreeMap<&'a str, Named<'a>>;

struct Pair<'a> {
    rules: &'a VariableRules,
    a: &'a Facts,
    b: &'a Facts,
}

impl<'a> Pair<'a> {
    /// Where one of the systems has the new name of a variable, both get it.
    fn under_common_names(&self) -> (Common<'a>, Common<'a>) {
        let of = |facts: &'a Facts| -> Common<'a> {
            let variables = facts.variables.iter();
            variables.map(|(name, reading)| (name.as_str(), Named { name, reading })).collect()
        };
        let (mut of_a, mut of_b) = (of(self.a), of(self.b));
        for renamed in &self.rules.renamed {
            let (from, to) = (renamed.from.as_str(), renamed.to.as_str());
            if !of_a.contains_key(to) && !of_b.contains_key(to) {
                continue;
            }
            for side in [&mut of_a, &mut of_b] {
                if let Some(old) = side.remove(from) {
                    side.entry(to).or_insert(old);
                }
            }
        }
        (of_a, of_b)
    }

    fn difference(&self, name: &str, [a, b]: Both<Named<'a>>) -> Option<Difference> {
        let sides = [(self.a, a), (self.b, b)];
        let canonical = sides.map(|(facts, named)| {
            let named = named?;
            Some(Values::of(self.rules, facts).canonical(named.name, &named.reading.value))
        });
        if canonical[0] == canonical[1] {
            return None;
        }
        let asked = sides
            .map(|(facts, named)| asked(self.rules, facts, named.map_or(name, |named| named.name)));
        let kind = self.kind([a, b], &asked);
        let is_set = matches!(kind, Reason::OnPurpose | Reason::NotAsSet);
        let (note, matters) = self.note(name, kind);
        let (group, group_name) = group(self.rules, name);
        let was = [a, b].into_iter().flatten().find(|n| n.name != name);
        let value = |named: Named<'a>| named.reading.value.as_str();
        let told = sides.map(|(facts, named)| Some((facts, named?.name, value(named?))));
        let mut both = shown(self.rules, &told).into_iter();
        let shown = (both.next().unwrap_or_default(), both.next().unwrap_or_default());
        Some(Difference {
            name: name.to_owned(),
            was: was.map(|named| named.name.to_owned()),
            kind,
            group: group_name,
            a: a.map(|named| named.reading.value.clone()),
            b: b.map(|named| named.reading.value.clone()),
            shown,
            set_by: SetBy { a: is_set && asked[0].is_some(), b: is_set && asked[1].is_some() },
            order: (matters.is_none(), kind == Reason::OnPurpose, note, group),
            matters,
        })
    }

    fn kind(&self, there: Both<Named<'_>>, asked: &Both<Asked>) -> Reason {
        let is_same = asked[0] == asked[1] && matches!(asked[0], Some(Asked::Directly(_)));
        match there {
            [Some(_), Some(_)] if is_same => Reason::NotAsSet,
            _ if is_purpose(asked) => Reason::OnPurpose,
            [None, _] => Reason::New,
            [_, None] => Reason::Gone,
            _ if self.a.build == self.b.build && self.a.version == self.b.version => {
                Reason::Follows
            }
            _ => Reason::ChangedDefault,
        }
    }

    /// The place and the text of the note that says why `name` matters.
    fn note(&self, name: &str, kind: Reason) -> ((usize, usize), Option<String>) {
        let notes = &self.rules.notes;
        let found = notes.iter().enumerate().find(|(_, note)| {
            let counts = match kind {
                Reason::New => note.new,
                Reason::Gone => note.gone,
                Reason::NotAsSet | Reason::ChangedDefault | Reason::Follows | Reason::OnPurpose => {
                    true
                }
            };
            counts && any_fits(&note.names, name)
        });
        match found {
            Some((place, note)) => {
                let within = note.names.iter().position(|pattern| pattern.fits(name));
                ((place, within.unwrap_or_default()), Some(note.text.clone()))
            }
            None => ((notes.len(), 0), None),
        }
    }
}

/// Do configs make two systems differ? Configs that ask for the same do not.
fn is_purpose(asked: &Both<Asked>) -> bool {
    match asked {
        [Some(Asked::Elsewhere), Some(Asked::Elsewhere)] => true,
        [a, b] => a != b,
    }
}

fn group(rules: &VariableRules, name: &str) -> (usize, String) {
    let groups = &rules.groups;
    match groups.iter().enumerate().find(|(_, group)| any_fits(&group.patterns, name)) {
        Some((place, group)) => (place, group.name.clone()),
        None => (groups.len(), OTHER.to_owned()),
    }
}

/// A value, the name that the server has for the variable, and the server.
pub(crate) type Told<'a> = (&'a Facts, &'a str, &'a str);

/// One variable in several systems as a person reads it: of a list only the parts that they do not share.
pub(crate) fn shown(rules: &VariableRules, values: &[Option<Told<'_>>]) -> Vec<String> {
    let known = || values.iter().flatten();
    let is_list = known().any(|(facts, name, _)| Values::of(rules, facts).is_list(name));
    if is_list && known().count() > 1 {
        return unshared(values);
    }
    let is_odd = known().any(|(facts, name, value)| Values::of(rules, facts).is_odd(name, value));
    let shown = |value: &Option<Told<'_>>| match value {
        None => NOTHING.to_owned(),
        Some((_, _, value)) if is_odd && !value.trim().is_empty() => (*value).to_owned(),
        Some((facts, name, value)) => Values::of(rules, facts).shown(name, value),
    };
    values.iter().map(shown).collect()
}

fn unshared(values: &[Option<Told<'_>>]) -> Vec<String> {
    let lists: Vec<Option<Vec<String>>> =
        values.iter().map(|value| value.map(|(_, _, value)| parts(value))).collect();
    let has = |list: &[String], part: &str| list.iter().any(|p| p.eq_ignore_ascii_case(part));
    let is_shared = |part: &String| lists.iter().flatten().all(|list| has(list, part));
    let shown = |list: &Option<Vec<String>>| {
        let own = list.iter().flatten().filter(|part| !is_shared(part));
        let own: Vec<&str> = own.map(String::as_str).collect();
        match list {
            Some(list) if list.is_empty() => EMPTY.to_owned(),
            _ if own.is_empty() => NOTHING.to_owned(),
            _ => own.join(", "),
        }
    };
    lists.iter().map(shown).collect()
}
