//! `variables/<dbms>.toml`: what is known of a server's variables.

use model::Version;

use crate::Result;
use crate::config::{scalar, version};
use crate::document;
use crate::fields::{Fields, Item};

const KEYS: [&str; 9] =
    ["own", "written_at_init", "lists", "group", "note", "renamed", "implied", "unit", "same"];

/// What is known of the variables of a family: MariaDB and MySQL share theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableRules {
    /// Variables that name an instance or a build: different in any two.
    pub own: Vec<Pattern>,
    pub written_at_init: Vec<Pattern>,
    pub lists: Vec<Pattern>,
    /// The first group that has a pattern for a variable has the variable.
    pub groups: Vec<VariableGroup>,
    /// Variables known to matter, those that matter most first.
    pub notes: Vec<VariableNote>,
    pub renamed: Vec<Renamed>,
    pub implied: Vec<Implied>,
    /// What numbers count; the first that has a pattern for a variable counts.
    pub units: Vec<VariableUnit>,
    pub same: Vec<SameValues>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableGroup {
    /// `memory`.
    pub name: String,
    pub patterns: Vec<Pattern>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableNote {
    pub names: Vec<Pattern>,
    /// The reason, in a short sentence without a full stop.
    pub text: String,
    /// Does it matter as well that one of two servers has the variable only, not just that values differ?
    pub new: bool,
    /// Does it matter as well that the newer of two servers does not have it any more?
    pub gone: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    pub from: String,
    pub to: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implied {
    /// The option as the config names it, with `_`.
    pub option: String,
    pub variables: Vec<Pattern>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableUnit {
    /// `B`, `8kB`, `ms`; empty for a plain count.
    pub unit: String,
    pub patterns: Vec<Pattern>,
    /// The first version in which it is another one.
    pub until: Option<Version>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameValues {
    /// Of which variables; of all where there are none.
    pub patterns: Vec<Pattern>,
    pub values: Vec<String>,
}

/// A variable's name in which `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl Pattern {
    pub fn fits<'t>(&self, name: &'t str) -> bool {
        let Some((head, tail)) = self.0.split_once('*') else { return self.0 == name };
        let Some(rest) = name.strip_prefix(head) else { return false };
        let (middle, last) = tail.rsplit_once('*').unwrap_or(("", tail));
        let after = |rest: &'t str, part: &str| rest.find(part).map(|at| &rest[at + part.len()..]);
        middle.split('*').try_fold(rest, after).is_some_and(|rest| rest.ends_with(last))
    }
}

pub fn any_fits(patterns: &[Pattern], name: &str) -> bool {
    patterns.iter().any(|pattern| pattern.fits(name))
}

impl VariableRules {
    pub fn parse(text: &str, origin: &str) -> Result<Self> {
        let root = document::parse(text, origin)?;
        let fields = Fields::new(&root, "variables", &KEYS)?;
        Ok(Self {
            own: fields.each("own", pattern)?,
            written_at_init: fields.each("written_at_init", pattern)?,
            lists: fields.each("lists", pattern)?,
            groups: fields.tables("group", &["name", "patterns"], |group| {
                Ok(VariableGroup {
                    name: group.text("name")?.to_owned(),
                    patterns: group.need("patterns")?.each(pattern)?,
                })
            })?,
            notes: fields.tables("note", &["names", "text", "new", "gone"], |note| {
                Ok(VariableNote {
                    names: note.need("names")?.each(pattern)?,
                    text: note.text("text")?.to_owned(),
                    new: note.switch("new")?,
                    gone: note.switch("gone")?,
                })
            })?,
            renamed: fields.tables("renamed", &["from", "to"], |it| {
                Ok(Renamed { from: it.text("from")?.to_owned(), to: it.text("to")?.to_owned() })
            })?,
            implied: fields.tables("implied", &["option", "variables"], |implied| {
                Ok(Implied {
                    option: implied.text("option")?.to_owned(),
                    variables: implied.need("variables")?.each(pattern)?,
                })
            })?,
            units: fields.tables("unit", &["unit", "patterns", "until"], unit)?,
            same: fields.tables("same", &["patterns", "values"], |same| {
                Ok(SameValues {
                    patterns: same.each("patterns", pattern)?,
                    // An empty value is one, too.
                    values: same.need("values")?.each(scalar)?,
                })
            })?,
        })
    }
}

fn pattern(item: Item<'_>) -> Result<Pattern> {
    item.text().map(|text| Pattern(text.to_owned()))
}

fn unit(fields: &Fields<'_>) -> Result<VariableUnit> {
    let words = ["count", "B", "kB", "8kB", "MB", "16MB", "ms", "s", "min"].map(|w| (w, w));
    let unit = fields.need("unit")?.word("unit", &words)?;
    Ok(VariableUnit {
        unit: if unit == "count" { "" } else { unit }.to_owned(),
        patterns: fields.need("patterns")?.each(pattern)?,
        until: fields.maybe("until", version)?,
    })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use model::Dbms;

    use super::*;
    use crate::Catalog;

    #[test]
    fn a_star_stands_for_any_text() {
        let table = [
            ("gtid_mode", "gtid_mode", true),
            ("gtid_mode", "gtid_modes", false),
            ("gtid*", "gtid_mode", true),
            ("*", "", true),
            ("*_size", "sort_buffer_size", true),
            ("*_size", "size", false),
            ("innodb_*_threads", "innodb_purge_threads", true),
            ("innodb_*_threads", "innodb_threads", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c", false),
            ("*é*", "x", false),
        ];
        for (pattern, name, fits) in table {
            assert_eq!(Pattern(pattern.to_owned()).fits(name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let error = |text: &str| VariableRules::parse(text, "v.toml").unwrap_err().to_string();
        assert_snapshot!(error("owns = [\"a\"]"), @"v.toml:1: unknown key `owns` in variables, did you mean `own`?");
        assert_snapshot!(error("[[group]]\nname = \"g\"\npatterns = []"), @"v.toml:3: `patterns` must be a list with at least one value, not an empty one");
        assert_snapshot!(error("[[note]]\nnames = [\"a\"]"), @"v.toml:1: note needs the key `text`");
        assert_snapshot!(error("[[unit]]\nunit = \"KB\"\npatterns = [\"a\"]"), @"v.toml:2: no unit `KB`; nearest `B`; available: count, B, kB, 8kB, MB, 16MB, ms, s, min");
    }

    #[test]
    fn every_family_has_its_variables() {
        let catalog = Catalog::embedded().unwrap();
        for dbms in Dbms::all() {
            let rules = catalog.variables(dbms);
            assert!(!rules.groups.is_empty(), "{dbms}");
            assert!(!rules.notes.is_empty(), "{dbms}");
        }
        assert_eq!(catalog.variables(Dbms::Mysql), catalog.variables(Dbms::Mariadb));
    }

    /// A second entry for a name would never be seen.
    #[test]
    fn nothing_is_said_twice() {
        let catalog = Catalog::embedded().unwrap();
        for dbms in Dbms::all() {
            let rules = catalog.variables(dbms);
            let noted = rules.notes.iter().flat_map(|note| &note.names);
            let mut names: Vec<&String> = noted.map(|pattern| &pattern.0).collect();
            names.sort();
            let twice: Vec<_> = names.windows(2).filter(|w| w[0] == w[1]).collect();
            assert!(twice.is_empty(), "{dbms}: {twice:?}");
            for note in &rules.notes {
                assert!(!note.text.ends_with('.'), "{}", note.text);
            }
        }
    }
}
