//! Every key, by its row: its default, what it refuses, and the reference in `docs/` that follows from it.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::keys::{Key, Takes};
use crate::reference::text;
use crate::{connection, course, document, file, insert, key_tables, keys, lua, sql, tpcc};

/// A plan with `line` as the only one between `before` and `after`.
struct Around {
    before: &'static str,
    after: &'static str,
}

const SYSTEM: &str = "[[system]]\nbuild = \"sqlite\"\n";

fn around(before: &'static str) -> Around {
    Around { before, after: SYSTEM }
}

impl Around {
    /// The error that the plan gets, and the line where the key stands.
    fn error(&self, line: &str) -> (String, usize) {
        // A table has each key once: the line takes the place of one that is there already.
        let key = line.split('=').next().unwrap_or_default();
        let before =
            self.before.lines().map(|other| if other.starts_with(key) { "#" } else { other });
        let before: String = before.flat_map(|line| [line, "\n"]).collect();
        let text = format!("{before}{line}\n{}", self.after);
        let at = self.before.lines().count() + 1;
        let error = crate::read(&text, "my.toml").expect_err(&text);
        (error.to_string(), at)
    }
}

/// Gives each key values that it must refuse. The error names the line, the key and what it takes.
fn refuse<T: 'static>(
    table: &str,
    keys: impl IntoIterator<Item = &'static Key<T>>,
    around: &Around,
) {
    for key in keys {
        let name = key.0;
        for (value, expected) in bad_values(table, key) {
            let (error, line) = around.error(&format!("{name} = {value}"));
            assert!(error.starts_with(&format!("my.toml:{line}: ")), "{name} = {value}: {error}");
            assert!(error.contains(&expected), "{name} = {value}: {error}, without {expected}");
        }
    }
}

fn bad_values<T>(table: &str, Key(key, takes): &Key<T>) -> Vec<(String, String)> {
    let number = |low: u64, high: u64| {
        let grouped = |n: u64| crate::error::grouped(n);
        let expected =
            format!("`{key}` must be a whole number from {} to {}", grouped(low), grouped(high));
        let mut values =
            vec!["\"x\"".to_owned(), "true".to_owned(), "1.5".to_owned(), "[1]".to_owned()];
        values.extend(low.checked_sub(1).map(|n| n.to_string()));
        values.push(if high < i64::MAX as u64 { (high + 1).to_string() } else { "-1".to_owned() });
        values.into_iter().map(|value| (value, expected.clone())).collect()
    };
    let must = format!("`{key}` must be ");
    match takes {
        Takes::Small(range, _) => number(u64::from(*range.start()), u64::from(*range.end())),
        Takes::Count(range, _) => number(*range.start(), *range.end()),
        Takes::Switch(_) => vec![("1".to_owned(), format!("{must}true or false, not 1"))],
        Takes::Word(what, _) => {
            let list: Vec<&str> = text(table, key, "takes")
                .split(", ")
                .map(|word| word.trim_matches(['`', '"']))
                .collect();
            let first = list[0];
            let near =
                format!("no {what} `{first}e`; nearest `{first}`; available: {}", list.join(", "));
            vec![(format!("\"{first}e\""), near), ("1".to_owned(), format!("{must}text, not 1"))]
        }
        // Nothing takes a date; the error says what it takes instead.
        Takes::Other(_) | Takes::Later => vec![("1979-05-27".to_owned(), must)],
    }
}

const HEAD: &str = "name = \"p\"\nrounds = 4\n";

#[test]
fn every_key_refuses_bad_values() {
    let whole = "workload = { kind = \"insert\", scale = \"tiny\" }\n";
    let after: &'static str = [whole, SYSTEM].concat().leak();
    refuse("plan", &course::KEYS[..1], &Around { before: "name = \"p\"\n", after });
    let (slice, others): (Vec<_>, Vec<_>) =
        course::KEYS[1..].iter().partition(|key| key.0 == "slice_ms");
    refuse("plan", others, &Around { before: HEAD, after });
    let sliced: &'static str = [HEAD, "interleave = \"slices\"\n"].concat().leak();
    refuse("plan", slice, &Around { before: sliced, after });
    let rest = [HEAD, whole].concat();
    let rest: &'static str = rest.leak();
    let (system, others): (Vec<_>, Vec<_>) = file::KEYS.iter().partition(|key| key.0 == "system");
    refuse("plan", others, &around(rest));
    refuse("plan", system, &Around { before: rest, after: "" });
    let after = [HEAD, whole, SYSTEM].concat().leak();
    refuse("system", file::SYSTEM_KEYS, &Around { before: after, after: "" });
    let quarantine: &'static str = [HEAD, whole, SYSTEM, "[quarantine]\n"].concat().leak();
    refuse("quarantine", course::LIMIT_KEYS, &Around { before: quarantine, after: "" });
    let connection: &'static str = [HEAD, whole, SYSTEM, "[connection]\n"].concat().leak();
    refuse("connection", connection::KEYS, &Around { before: connection, after: "" });
    let cpus: &'static str =
        [HEAD, whole, "[[system]]\nbuild = \"mariadb\"\n[system.cpus]\n"].concat().leak();
    refuse("cpus", crate::cpus::KEYS, &Around { before: cpus, after: "" });
}

#[test]
fn every_key_of_a_workload_refuses_bad_values() {
    let workload = |keys: &str| -> Around { around(format!("{HEAD}[workload]\n{keys}\n").leak()) };
    refuse("insert", insert::KEYS, &workload("kind = \"insert\"\nscale = \"tiny\""));
    let (file, others): (Vec<_>, Vec<_>) =
        sql::options::KEYS.iter().partition(|key| key.0 == "file");
    refuse("sql", others, &workload("kind = \"micro\""));
    refuse("sql", file, &workload("kind = \"sql\""));
    refuse("tpcc", tpcc::KEYS, &workload("kind = \"tpcc\"\nwarehouses = 1"));
    refuse("tpcc", tpcc::PACE_KEYS, &workload("kind = \"tpcc\"\nwarehouses = 1"));
    refuse("lua", lua::KEYS, &workload("kind = \"lua\"\nscript = \"a.lua\""));
    refuse("queue", sql::pace::QUEUE_KEYS, &workload("kind = \"micro\"\nrate = 5"));
    refuse("ramp", sql::pace::RAMP_KEYS, &workload("kind = \"micro\"\n[workload.ramp]\nfrom = 5"));
    refuse("load", sql::options::LOAD_KEYS, &workload("kind = \"micro\"\n[workload.load]"));
    refuse("errors", sql::options::ERROR_KEYS, &workload("kind = \"micro\"\n[workload.errors]"));
}

/// A default that is a value changes nothing when a plan gives it.
fn keep<T: Clone + PartialEq + std::fmt::Debug>(table: &str, keys: &[Key<T>], usual: &T) {
    for Key(key, _) in keys {
        let default = text(table, key, "default");
        let Ok(root) = document::parse(&format!("{key} = {default}"), "x") else {
            assert!(!default.starts_with(['"', '[', '{']), "{key}: {default}");
            continue;
        };
        let mut given = usual.clone();
        keys::read(keys, &root, "x", &mut given).unwrap();
        assert_eq!(given, *usual, "{key} = {default}");
    }
}

#[test]
fn defaults_are_what_they_are() {
    let mut usual = model::InsertSpec::usual();
    usual.settle = model::Settle::Formula;
    keep("insert", insert::KEYS, &usual);
    keep(
        "sql",
        sql::options::KEYS,
        &sql::options::Options { clients: vec![1], ..sql::options::Options::usual(1) },
    );
    keep("load", sql::options::LOAD_KEYS, &model::LoadSpec::usual(8));
    keep("tpcc", tpcc::KEYS, &model::TpccSpec::usual(1, model::LoadSpec::usual(8)));
    keep("lua", lua::KEYS, &model::LuaSpec::usual("", ""));
    keep("connection", connection::KEYS, &model::Connection::default());
    keep("queue", sql::pace::QUEUE_KEYS, &sql::pace::Queue::default());
    keep("errors", sql::options::ERROR_KEYS, &model::ErrorRules::usual());
}

fn reference(name: &str) -> String {
    let tables = key_tables();
    let table = tables.iter().find(|table| table.name == name);
    let table = table.unwrap_or_else(|| panic!("a table of the reference: {name}"));
    let mut text = "| key | takes | default | meaning |\n|---|---|---|---|\n".to_owned();
    for key in &table.keys {
        let (name, takes) = (key.key, &key.takes);
        writeln!(text, "| `{name}` | {takes} | {} | {} |", key.default, key.meaning).unwrap();
    }
    text
}

const BEGIN: &str = "<!-- keys: ";
const END: &str = "<!-- end of keys -->\n";

/// The page with each table between its marks made anew.
fn renewed(page: &str, seen: &mut Vec<String>) -> String {
    let mut text = String::new();
    let mut parts = page.split(BEGIN);
    text += parts.next().unwrap();
    for part in parts {
        let (name, rest) = part.split_once(" -->\n").unwrap();
        let (_, rest) = rest.split_once(END).unwrap();
        write!(text, "{BEGIN}{name} -->\n{}{END}{rest}", reference(name)).unwrap();
        seen.push(name.to_owned());
    }
    text
}

/// `BLESS=1 cargo test -p plan reference` writes the pages.
#[test]
fn the_reference_is_that_of_the_rows() {
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut seen = Vec::new();
    for page in fs::read_dir(docs).unwrap() {
        let path = page.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let renewed = renewed(&text, &mut seen);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, renewed).unwrap();
        } else {
            assert!(
                text == renewed,
                "{path:?} is out of date: run BLESS=1 cargo test -p plan reference"
            );
        }
    }
    let all: Vec<&str> = key_tables().iter().map(|table| table.name).collect();
    let missing: Vec<&&str> = all.iter().filter(|name| !seen.iter().any(|s| s == *name)).collect();
    assert!(missing.is_empty(), "no page has {missing:?}");
}

#[test]
fn every_row_says_what_it_is() {
    for table in key_tables() {
        for key in table.keys {
            assert!(!key.takes.is_empty() && !key.default.is_empty(), "{} {}", table.name, key.key);
            assert!(
                !key.meaning.is_empty() && !key.meaning.ends_with('.'),
                "{} {}",
                table.name,
                key.key
            );
            assert!(!key.meaning.contains('|') && !key.takes.contains('|'), "{}", key.key);
        }
    }
}

#[test]
fn every_text_is_of_a_key_that_needs_it() {
    let texts: toml::Table = include_str!("../keys.toml").parse().unwrap();
    let tables = key_tables();
    for (table, rows) in &texts {
        for (name, fields) in rows.as_table().unwrap() {
            // The keys of `queue` stand in the tables of two workloads.
            let mut found = tables.iter().filter(|known| known.name == table || table == "queue");
            let key = found.find_map(|known| known.keys.iter().find(|key| key.key == name));
            let key = key.unwrap_or_else(|| panic!("{table}.{name}"));
            for (field, text) in fields.as_table().unwrap() {
                assert!(
                    ["takes", "default", "meaning"].contains(&field.as_str()),
                    "{name}.{field}"
                );
                assert!(field != "takes" || text.as_str() == Some(&key.takes), "{table}.{name}");
            }
        }
    }
}
