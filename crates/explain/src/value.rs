//! Values: which are the same, how they read, and what a config says of them.

use model::{Dbms, Dialect, Setting, Version};
use plan::{VariableRules, any_fits};

use crate::Facts;

pub(crate) const EMPTY: &str = "(empty)";

const KIB: u128 = 1 << 10;
/// Sizes from here on are no sizes but a way to say "no limit".
const LARGEST_SIZE: u128 = 1 << 50;
/// Units of time, the largest first, in milliseconds.
const TIMES: [(&str, u128); 4] = [("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1)];

#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    rules: &'a VariableRules,
    dbms: Dbms,
    version: &'a Version,
}

/// What a plain number of a variable counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Count,
    Bytes(u128),
    Milliseconds(u128),
}

impl<'a> Values<'a> {
    pub(crate) const fn of(rules: &'a VariableRules, facts: &'a Facts) -> Self {
        Self { rules, dbms: facts.dbms, version: &facts.version }
    }

    /// Two values with the same canonical form mean the same.
    pub(crate) fn canonical(&self, name: &str, value: &str) -> String {
        if self.is_list(name) {
            let mut parts = parts(&value.to_ascii_lowercase());
            parts.sort();
            return parts.join(",");
        }
        let word = self.same(name, &word(value));
        if let Ok(number) = word.parse::<i128>() {
            return match self.unit(name) {
                Unit::Bytes(each) | Unit::Milliseconds(each) if number > 0 => {
                    (number * each as i128).to_string()
                }
                Unit::Count | Unit::Bytes(_) | Unit::Milliseconds(_) => number.to_string(),
            };
        }
        if let Some(number) = decimal(&word) {
            return number.to_string();
        }
        if let Some(amount) = amount(&word) {
            return amount.to_string();
        }
        match word.as_str() {
            "on" | "yes" | "true" => "1".to_owned(),
            "off" | "no" | "false" => "0".to_owned(),
            _ => word,
        }
    }

    /// The value as a person reads it: sizes and times in the largest unit that is exact.
    pub(crate) fn shown(&self, name: &str, value: &str) -> String {
        let value = self.in_words(name, value.trim());
        if value.is_empty() {
            return EMPTY.to_owned();
        }
        self.in_units(name, value).unwrap_or_else(|| {
            decimal(value).map_or_else(|| value.to_owned(), |number| number.to_string())
        })
    }

    /// The word that a number stands for: `normal` for the 1 of SQLite's `synchronous`.
    fn in_words<'v>(&'v self, name: &str, value: &'v str) -> &'v str {
        let is_number = value.parse::<u64>().is_ok();
        let same = self.rules.same.iter().find(|same| {
            is_number && any_fits(&same.patterns, name) && same.values.iter().any(|v| v == value)
        });
        same.and_then(|same| same.values.last()).map_or(value, String::as_str)
    }

    /// A number of bytes or milliseconds in the largest unit that is exact; `None` for all else.
    fn in_units(&self, name: &str, value: &str) -> Option<String> {
        let number: u128 = value.trim().parse().ok()?;
        match self.unit(name) {
            Unit::Count => None,
            Unit::Bytes(each) => self.size(number.checked_mul(each)?),
            Unit::Milliseconds(each) => time(number.checked_mul(each)?),
        }
    }

    /// Is it a number that units would leave out, so that others beside it are better left as they are?
    pub(crate) fn is_odd(&self, name: &str, value: &str) -> bool {
        let is_amount = value.trim().parse::<u64>().is_ok_and(|number| number > 0);
        is_amount && self.unit(name) != Unit::Count && self.in_units(name, value).is_none()
    }

    pub(crate) fn is_list(&self, name: &str) -> bool {
        any_fits(&self.rules.lists, name)
    }

    /// The first of the values that mean the same as `word`.
    fn same(&self, name: &str, word: &str) -> String {
        let same = self.rules.same.iter().find(|same| {
            (same.patterns.is_empty() || any_fits(&same.patterns, name))
                && same.values.iter().any(|value| value.eq_ignore_ascii_case(word))
        });
        same.and_then(|same| same.values.first())
            .map_or_else(|| word.to_owned(), |value| value.to_ascii_lowercase())
    }

    fn unit(&self, name: &str) -> Unit {
        let unit = self.rules.units.iter().find(|unit| {
            let over = unit.until.as_ref();
            any_fits(&unit.patterns, name)
                && over.is_none_or(|until| self.version.parts() < until.parts())
        });
        match unit.map_or("", |unit| unit.unit.as_str()) {
            "B" => Unit::Bytes(1),
            "kB" => Unit::Bytes(KIB),
            "8kB" => Unit::Bytes(8 * KIB),
            "MB" => Unit::Bytes(KIB * KIB),
            "16MB" => Unit::Bytes(16 * KIB * KIB),
            "ms" => Unit::Milliseconds(1),
            "s" => Unit::Milliseconds(1000),
            "min" => Unit::Milliseconds(60_000),
            _ => Unit::Count,
        }
    }

    /// As the server's own options take it: `64M`, of PostgreSQL `64MB`. `None` where no unit is exact.
    fn size(&self, bytes: u128) -> Option<String> {
        if !(KIB..LARGEST_SIZE).contains(&bytes) || !bytes.is_multiple_of(KIB) {
            return None;
        }
        let sizes = &self.dbms.product().options.sizes;
        let mut size = bytes / KIB;
        let mut unit = 0;
        while size.is_multiple_of(KIB) && unit + 1 < sizes.len() {
            size /= KIB;
            unit += 1;
        }
        let suffix = sizes.get(unit)?;
        Some(format!("{size}{suffix}"))
    }
}

fn time(milliseconds: u128) -> Option<String> {
    let (unit, each) = TIMES
        .iter()
        .find(|(_, each)| milliseconds >= *each && milliseconds.is_multiple_of(*each))?;
    Some(format!("{}{unit}", milliseconds / each))
}

/// A value in small letters; NULL is empty, a directory has no slash at its end.
fn word(value: &str) -> String {
    let word = value.trim().to_ascii_lowercase();
    if word == "null" {
        return String::new();
    }
    match word.strip_suffix('/') {
        Some(directory) if !directory.is_empty() => directory.to_owned(),
        _ => word,
    }
}

pub(crate) fn parts(list: &str) -> Vec<String> {
    list.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// `0.900000`: a number with a decimal point.
fn decimal(text: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    if !text.contains('.') || !text.chars().all(plain) {
        return None;
    }
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// `128m`, `1gb`, `30min` as a config writes it: in bytes or milliseconds.
fn amount(word: &str) -> Option<u128> {
    let end = word.find(|c: char| !c.is_ascii_digit())?;
    let (digits, unit) = word.split_at(end);
    let number: u128 = digits.parse().ok()?;
    let each = match unit.trim_start() {
        "k" | "kb" => KIB,
        "m" | "mb" => KIB * KIB,
        "g" | "gb" => KIB * KIB * KIB,
        "t" | "tb" => KIB * KIB * KIB * KIB,
        "ms" => 1,
        "s" => 1000,
        "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(each)
}

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
        rules.implied.iter().any(|i| i.option == *form && any_fits(&i.variables, name))
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
    use super::*;
    use crate::rules;

    fn canonical(dbms: Dbms, version: &str, name: &str, value: &str) -> String {
        with(dbms, version, |values| values.canonical(name, value))
    }

    fn shown(dbms: Dbms, version: &str, name: &str, value: &str) -> String {
        with(dbms, version, |values| values.shown(name, value))
    }

    fn with(dbms: Dbms, version: &str, ask: impl Fn(Values<'_>) -> String) -> String {
        ask(Values { rules: &rules(dbms), dbms, version: &version.parse().unwrap() })
    }

    #[test]
    fn the_same_in_other_words() {
        let same = [
            ("log_bin", "ON", "1"),
            ("have_ssl", "DISABLED", "no"),
            ("innodb_flush_method", "", "fsync"),
            ("innodb_flush_method", "NULL", ""),
            ("innodb_buffer_pool_size", "134217728", "128M"),
            ("innodb_max_dirty_pages_pct", "90.000000", "90.0"),
            ("innodb_undo_directory", "./", "."),
            ("character_set_system", "utf8", "utf8mb3"),
            ("sql_mode", "A,B", "b, a"),
            ("innodb_checksum_algorithm", "INNODB", "innodb"),
        ];
        for (name, a, b) in same {
            let canonical = |value| canonical(Dbms::Mysql, "8.0.33", name, value);
            assert_eq!(canonical(a), canonical(b), "{name}: {a} {b}");
        }
        let different = [
            ("sync_binlog", "1", "1000"),
            ("innodb_flush_method", "", "O_DIRECT"),
            ("character_set_server", "utf8mb3", "utf8mb4"),
            ("max_seeks_for_key", "18446744073709551615", "18446744073709551614"),
            ("tls_version", "", "TLSv1.2"),
        ];
        for (name, a, b) in different {
            let canonical = |value| canonical(Dbms::Mysql, "8.0.33", name, value);
            assert_ne!(canonical(a), canonical(b), "{name}: {a} {b}");
        }
    }

    #[test]
    fn units_of_postgres() {
        let postgres = |version, name, value| canonical(Dbms::Postgres, version, name, value);
        assert_eq!(
            postgres("18.6", "shared_buffers", "16384"),
            postgres("18.6", "shared_buffers", "128MB")
        );
        assert_eq!(
            postgres("18.6", "checkpoint_timeout", "300"),
            postgres("18.6", "checkpoint_timeout", "5min")
        );
        // The same gigabyte, counted in segments and in megabytes.
        assert_eq!(
            postgres("9.6.24", "max_wal_size", "64"),
            postgres("10.23", "max_wal_size", "1024")
        );
        assert_eq!(postgres("18.6", "log_temp_files", "-1"), "-1");
    }

    #[test]
    fn values_as_people_read_them() {
        let mysql = |name, value| shown(Dbms::Mysql, "8.0.33", name, value);
        assert_eq!(mysql("innodb_log_buffer_size", "16777216"), "16M");
        assert_eq!(mysql("innodb_log_buffer_size", "16777217"), "16777217");
        assert_eq!(mysql("innodb_change_buffer_max_size", "25"), "25");
        assert_eq!(mysql("binlog_max_cache_size", "18446744073709547520"), "18446744073709547520");
        assert_eq!(mysql("innodb_max_dirty_pages_pct", "90.000000"), "90");
        assert_eq!(mysql("tls_version", ""), "(empty)");
        assert_eq!(shown(Dbms::Sqlite, "3.54.1", "synchronous", "1"), "normal");
        let postgres = |name, value| shown(Dbms::Postgres, "18.6", name, value);
        assert_eq!(postgres("shared_buffers", "16384"), "128MB");
        assert_eq!(postgres("work_mem", "4096"), "4MB");
        assert_eq!(postgres("vacuum_cost_delay", "0"), "0");
        assert_eq!(postgres("wal_writer_delay", "200"), "200ms");
        assert_eq!(postgres("checkpoint_timeout", "1800"), "30min");
    }
}

#[cfg(test)]
mod tests_of_asked {
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
