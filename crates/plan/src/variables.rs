//! `variables/<dbms>.toml`: what is known of a server's variables.

use model::Version;

use crate::Result;
use crate::config::version;
use crate::document;
use crate::fields::{Fields, Item};

const CONTEXT: &str = "variables";
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

impl Pattern {
    /// Does `name` fit?
    pub fn fits(&self, name: &str) -> bool {
        let Some((head, tail)) = self.0.split_once('*') else {
            return self.0 == name;
        };
        let Some(rest) = name.strip_prefix(head) else {
            return false;
        };
        let mut parts: Vec<&str> = tail.split('*').collect();
        let last = parts.pop().unwrap_or_default();
        let mut rest = rest;
        for part in parts {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }

    pub fn is_name(&self) -> bool {
        !self.0.contains('*')
    }
}

/// Does any of `patterns` fit `name`?
pub fn any_fits(patterns: &[Pattern], name: &str) -> bool {
    patterns.iter().any(|pattern| pattern.fits(name))
}

impl VariableRules {
    /// Reads a file of the catalog, which people know as `origin`.
    pub fn parse(text: &str, origin: &str) -> Result<Self> {
        let root = document::parse(text, origin)?;
        let fields = Fields::new(&root, CONTEXT, &KEYS)?;
        Ok(Self {
            own: patterns(&fields, "own")?,
            written_at_init: patterns(&fields, "written_at_init")?,
            lists: patterns(&fields, "lists")?,
            groups: fields.each("group", group)?,
            notes: fields.each("note", note)?,
            renamed: fields.each("renamed", renamed)?,
            implied: fields.each("implied", implied)?,
            units: fields.each("unit", unit)?,
            same: fields.each("same", same)?,
        })
    }
}

/// The patterns under `key`; none where the key is not there.
fn patterns(fields: &Fields<'_>, key: &str) -> Result<Vec<Pattern>> {
    fields.get(key).map_or(Ok(Vec::new()), texts)
}

fn texts(list: Item<'_>) -> Result<Vec<Pattern>> {
    list.each(|item| item.text().map(|text| Pattern(text.to_owned())))
}

fn group(item: Item<'_>) -> Result<VariableGroup> {
    let fields = Fields::new(item.node, "group", &["name", "patterns"])?;
    Ok(VariableGroup {
        name: fields.text("name")?.to_owned(),
        patterns: texts(fields.need("patterns")?)?,
    })
}

fn note(item: Item<'_>) -> Result<VariableNote> {
    let fields = Fields::new(item.node, "note", &["names", "text", "new", "gone"])?;
    Ok(VariableNote {
        names: texts(fields.need("names")?)?,
        text: fields.text("text")?.to_owned(),
        new: fields.switch("new")?,
        gone: fields.switch("gone")?,
    })
}

fn renamed(item: Item<'_>) -> Result<Renamed> {
    let fields = Fields::new(item.node, "renamed", &["from", "to"])?;
    Ok(Renamed { from: fields.text("from")?.to_owned(), to: fields.text("to")?.to_owned() })
}

fn implied(item: Item<'_>) -> Result<Implied> {
    let fields = Fields::new(item.node, "implied", &["option", "variables"])?;
    Ok(Implied {
        option: fields.text("option")?.to_owned(),
        variables: texts(fields.need("variables")?)?,
    })
}

fn unit(item: Item<'_>) -> Result<VariableUnit> {
    let fields = Fields::new(item.node, "unit", &["unit", "patterns", "until"])?;
    let words = ["count", "B", "kB", "8kB", "MB", "16MB", "ms", "s", "min"].map(|w| (w, w));
    let unit = fields.need("unit")?.word("unit", &words)?;
    Ok(VariableUnit {
        unit: if unit == "count" { "" } else { unit }.to_owned(),
        patterns: texts(fields.need("patterns")?)?,
        until: version(&fields, "until")?,
    })
}

fn same(item: Item<'_>) -> Result<SameValues> {
    let fields = Fields::new(item.node, "same", &["patterns", "values"])?;
    Ok(SameValues {
        patterns: patterns(&fields, "patterns")?,
        // An empty value is one, too.
        values: fields.need("values")?.each(crate::config::scalar)?,
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
        assert_snapshot!(error("[[unit]]\nunit = \"KB\"\npatterns = [\"a\"]"), @"v.toml:2: no unit `KB`; nearest `B`; there are: count, B, kB, 8kB, MB, 16MB, ms, s, min");
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
