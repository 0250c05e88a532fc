//! The variables of real servers with their own defaults, each started by itself on one machine.
//!
//! A fixture has a line for each variable and a column for each version: `=` stands for the value to the
//! left, `∅` for no such variable.

#![allow(clippy::unwrap_used, reason = "the fixtures are whole")]
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(unreachable_pub, reason = "a module of tests")]
#![allow(clippy::allow_attributes, reason = "not every user of this module leaves parts unused")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use explain::{Facts, Reading, TextLine};
use model::{Dbms, Dialect, Setting, Version};
use plan::VariableRules;

const FIXTURES: [(Dbms, &str); 3] = [
    (Dbms::Mysql, include_str!("../fixtures/mysql.tsv")),
    (Dbms::Mariadb, include_str!("../fixtures/mariadb.tsv")),
    (Dbms::Postgres, include_str!("../fixtures/postgres.tsv")),
];

/// A server of the fixtures with its own defaults.
pub fn defaults(dbms: Dbms, version: &str) -> Facts {
    let (_, text) = FIXTURES.iter().find(|(family, _)| *family == dbms).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let column = head.iter().position(|name| *name == version);
    let column = column.unwrap_or_else(|| panic!("no {dbms} {version} in the fixtures"));
    let mut variables = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let mut value = "∅";
        for cell in &cells[1..=column] {
            if *cell != "=" {
                value = cell;
            }
        }
        if value != "∅" {
            let reading = Reading { value: value.to_owned(), source: None };
            variables.insert(cells[0].to_owned(), reading);
        }
    }
    let engine = dbms.default_engine();
    let system = if dbms.has_engines() {
        format!("{dbms}-{version}/{engine}/default")
    } else {
        format!("{dbms}-{version}/default")
    };
    Facts::of(system, dbms, self::version(version), variables)
}

pub fn version(text: &str) -> Version {
    text.parse().unwrap()
}

/// All servers of the fixtures.
pub fn all() -> Vec<Facts> {
    FIXTURES
        .iter()
        .flat_map(|(dbms, text)| {
            let head = text.lines().next().unwrap();
            head.split('\t').skip(1).map(|version| defaults(*dbms, version))
        })
        .collect()
}

/// The same server with a config that sets `settings`, and with the values that it then has.
pub fn with(mut facts: Facts, settings: &[(&str, &str)]) -> Facts {
    for (name, value) in settings {
        facts.settings.push(Setting { name: (*name).to_owned(), value: Some((*value).to_owned()) });
        put(&mut facts, name, value);
    }
    facts
}

/// A variable with another value.
pub fn put(facts: &mut Facts, name: &str, value: &str) {
    let reading = Reading { value: value.to_owned(), source: None };
    facts.variables.insert(name.to_owned(), reading);
}

/// What the catalog knows of the variables of a Dbms.
pub fn rules(dbms: Dbms) -> &'static VariableRules {
    static RULES: LazyLock<[VariableRules; 3]> = LazyLock::new(|| {
        [
            include_str!("../../../../catalog/dbms/mysql/variables.toml"),
            include_str!("../../../../catalog/dbms/postgres/variables.toml"),
            include_str!("../../../../catalog/dbms/sqlite/variables.toml"),
        ]
        .map(|text| VariableRules::parse(text, "catalog").unwrap())
    });
    match dbms.dialect() {
        Dialect::Mysql => &RULES[0],
        Dialect::Postgres => &RULES[1],
        Dialect::Sqlite => &RULES[2],
    }
}

/// The explanation of two servers as a terminal shows it; headings are marked.
pub fn text(a: &Facts, b: &Facts, width: usize, all: bool) -> String {
    let rules = rules(a.dbms);
    let explanation = explain::explain(rules, a, b);
    let warnings = explain::unequal(&[(rules, a), (rules, b)]);
    let lines = explain::text(&explanation, &warnings, width, all);
    let lines = lines.into_iter().map(|line| match line {
        TextLine::Heading(line) => format!("#{line}"),
        TextLine::Text(line) => format!(" {line}"),
    });
    let lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}
