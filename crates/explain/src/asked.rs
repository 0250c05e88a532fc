//! What a system's config says of a variable.

use model::{Dialect, Setting};
use plan::{VariableRules, any_fits};

use crate::Facts;
use crate::value::Values;

/// Sources of PostgreSQL that somebody chose.
const CHOSEN: [&str; 7] = [
    "configuration file",
    "command line",
    "environment variable",
    "global",
    "database",
    "user",
    "database user",
];

/// What a config says of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The option of this name has the canonical value.
    Directly(String),
    /// An option of another name, and its canonical value, from which the server makes it.
    Through(String, String),
    /// A file that is not ours, or the like, sets it.
    Elsewhere,
}

/// What the config of a system says of the variable `name`; `None` where it leaves it alone.
pub(crate) fn asked(rules: &VariableRules, facts: &Facts, name: &str) -> Option<Asked> {
    let values = Values::of(rules, facts);
    let forms = |setting| forms(rules, facts.dbms.dialect(), setting);
    // The last one counts, as it does for the server.
    let settings = || facts.settings.iter().rev().flat_map(forms);
    if let Some((_, value)) = settings().find(|(form, _)| form.eq_ignore_ascii_case(name)) {
        return Some(Asked::Directly(values.canonical(name, &value)));
    }
    let through = settings().find(|(form, _)| {
        let mut implied = rules.implied.iter();
        implied.any(|i| i.option == *form && any_fits(&i.variables, name))
    });
    if let Some((option, value)) = through {
        let value = values.canonical(&option, &value);
        return Some(Asked::Through(option, value));
    }
    let reading = facts.variables.get(name)?;
    let is_chosen = reading.source.as_deref().is_some_and(|source| CHOSEN.contains(&source));
    (is_chosen && !any_fits(&rules.written_at_init, name)).then_some(Asked::Elsewhere)
}

/// The variables that a setting may mean, each with the value that it then has.
fn forms(rules: &VariableRules, dialect: Dialect, setting: &Setting) -> Vec<(String, String)> {
    let value = setting.value.clone().unwrap_or_else(|| "ON".to_owned());
    let mut forms = vec![(setting.name.clone(), value.clone())];
    if dialect == Dialect::Mysql {
        let name = setting.name.to_ascii_lowercase().replace('-', "_");
        let name = name.strip_prefix("loose_").unwrap_or(&name).to_owned();
        for prefix in ["skip_", "disable_"] {
            if let Some(stem) = name.strip_prefix(prefix) {
                let off = ["0", "OFF", "FALSE"].iter().any(|no| value.eq_ignore_ascii_case(no));
                let value = if off { "ON" } else { "OFF" };
                forms.push((stem.to_owned(), value.to_owned()));
            }
        }
        forms.push((name, value));
    }
    let renamed: Vec<(String, String)> = forms
        .iter()
        .flat_map(|(form, value)| {
            let renamed = rules.renamed.iter().filter(move |r| r.from == *form);
            renamed.map(|r| (r.to.clone(), value.clone()))
        })
        .collect();
    forms.extend(renamed);
    forms
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::{Dbms, Engine};

    use super::*;
    use crate::Reading;
    use crate::rules;

    fn facts(dbms: Dbms, settings: &[(&str, Option<&str>)]) -> Facts {
        Facts {
            system: "s".to_owned(),
            dbms,
            version: "10.0.1".parse().unwrap(),
            build: "b".to_owned(),
            engine: Engine::Innodb,
            settings: settings
                .iter()
                .map(|(name, value)| Setting {
                    name: (*name).to_owned(),
                    value: value.map(str::to_owned),
                })
                .collect(),
            variables: BTreeMap::new(),
            tls: None,
            connection: None,
        }
    }

    fn said(dbms: Dbms, settings: &[(&str, Option<&str>)], name: &str) -> Option<String> {
        let asked = asked(&rules(dbms), &facts(dbms, settings), name)?;
        Some(match asked {
            Asked::Directly(value) => format!("= {value}"),
            Asked::Through(option, value) => format!("{option} = {value}"),
            Asked::Elsewhere => "elsewhere".to_owned(),
        })
    }

    #[test]
    fn options_and_variables_have_other_names() {
        let table = [
            ("skip-log-bin", None, "log_bin", "= 0"),
            ("disable-log-bin", None, "log_bin", "= 0"),
            ("log_bin", Some("binlog"), "log_bin", "= binlog"),
            ("skip_ssl", None, "have_ssl", "ssl = 0"),
            ("ssl", Some("0"), "have_ssl", "ssl = 0"),
            ("loose-innodb-io-capacity", Some("200"), "innodb_io_capacity", "= 200"),
            ("INNODB_BUFFER_POOL_SIZE", Some("1G"), "innodb_buffer_pool_size", "= 1073741824"),
            (
                "innodb_buffer_pool_size",
                Some("1G"),
                "innodb_buffer_pool_chunk_size",
                "innodb_buffer_pool_size = 1073741824",
            ),
            ("large-pages", None, "large_pages", "= 1"),
            ("skip_large_pages", Some("0"), "large_pages", "= 1"),
            (
                "character_set_server",
                Some("latin1"),
                "collation_server",
                "character_set_server = latin1",
            ),
            ("tx_isolation", Some("SERIALIZABLE"), "transaction_isolation", "= serializable"),
        ];
        for (option, value, name, expected) in table {
            let found = said(Dbms::Mysql, &[(option, value)], name);
            assert_eq!(found.as_deref(), Some(expected), "{option} {name}");
        }
        let last = [("skip_log_bin", None), ("log_bin", Some("b"))];
        assert_eq!(said(Dbms::Mysql, &last, "log_bin").as_deref(), Some("= b"));
        assert_eq!(said(Dbms::Mysql, &last, "sync_binlog"), None);
        let postgres = [("skip_sort", Some("off"))];
        assert_eq!(said(Dbms::Postgres, &postgres, "sort"), None);
    }

    #[test]
    fn a_server_that_is_not_ours_says_what_its_file_sets() {
        let rules = rules(Dbms::Postgres);
        let mut facts = facts(Dbms::Postgres, &[]);
        let mut put = |name: &str, source: &str| {
            let reading = Reading { value: "1".to_owned(), source: Some(source.to_owned()) };
            facts.variables.insert(name.to_owned(), reading);
        };
        put("work_mem", "configuration file");
        put("fsync", "default");
        put("max_connections", "configuration file");
        let is_asked = |name| asked(&rules, &facts, name).is_some();
        assert!(is_asked("work_mem"));
        assert!(!is_asked("fsync"));
        assert!(!is_asked("max_connections"), "initdb wrote it");
    }
}
