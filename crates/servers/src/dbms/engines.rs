//! Engines of a product: what turns them on, and where they keep their files.

use std::path::PathBuf;

use model::{Build, Engine};

use super::family::Files;
use crate::installation::Installation;
use crate::refusal::EngineMissing;

/// Said wherever `TokuDB` is measured.
pub const TOKUDB_UNVERIFIED: &str = "TokuDB is unverified: backslide has not been tried with any build that has it, because it \
     is in no build of the catalog and its vendors have dropped it; check `SHOW ENGINES`, the sizes and the \
     captures yourself";

/// Options of an engine: a name each, and a value of those that take one.
pub(crate) type Lines = &'static [Vec<String>];

/// The options that turn an engine on, and make it the default.
pub(crate) fn lines(
    build: &Build,
    engine: Engine,
    installation: &Installation,
) -> Result<Lines, EngineMissing> {
    let Some(facts) = build.dbms.product().engine.get(&engine) else {
        return Ok(&[]);
    };
    let Some(plugin) = &facts.plugin else {
        return Ok(&facts.options);
    };
    let place = installation.plugins.as_ref();
    let is_it = |path: &PathBuf| path.file_name().is_some_and(|name| name == plugin.as_str());
    if installation.engine_plugins.iter().any(is_it) {
        return Ok(&facts.options);
    }
    let line = build.version_line.to_lowercase();
    let says_so = |built_in: &&model::BuiltIn| {
        built_in.since.holds(&build.version) && built_in.banner.iter().any(|b| line.contains(b))
    };
    if let Some(built_in) = facts.built_in.as_ref().filter(says_so) {
        return Ok(&built_in.options);
    }
    Err(EngineMissing {
        build: build.id(),
        engine,
        why: match place {
            Some(place) => format!("{plugin} is not in {}", place.display()),
            None => format!("it has no directory of plugins below {}", installation.base.display()),
        },
        who: facts.missing.clone(),
    })
}

/// Where the tables of the benchmark and the logs are.
pub(crate) fn files(build: &Build, engine: Engine) -> Files {
    let product = build.dbms.product();
    let data = product.engine.get(&engine).map_or_else(Vec::new, |facts| {
        let is_before = !facts.also_before.holds(&build.version);
        let has_also = facts.also_before != model::Since::Never && is_before;
        let also = facts.also.iter().filter(|_| has_also);
        facts.data.iter().chain(also).cloned().collect()
    });
    Files { data, log: product.server.log_files.clone() }
}

#[cfg(test)]
mod tests {
    use model::Dbms;

    use super::*;

    fn build(dbms: Dbms, version: &str, line: &str) -> Build {
        let source = model::BuildSource::Path("/b".to_owned());
        Build {
            version_line: line.to_owned(),
            ..Build::new(dbms, version.parse().unwrap(), source)
        }
    }

    fn installation(plugins: &[&str]) -> Installation {
        let directory = PathBuf::from("/b/lib/plugin");
        Installation {
            program: "/b/bin/mysqld".into(),
            base: "/b".into(),
            share: None,
            scripts: Vec::new(),
            engine_plugins: plugins.iter().map(|name| directory.join(name)).collect(),
            plugins: Some(directory),
            libraries: None,
            tools: Vec::new(),
            seed: None,
        }
    }

    fn text(build: &Build, engine: Engine, plugins: &[&str]) -> String {
        match lines(build, engine, &installation(plugins)) {
            Ok(lines) => lines.iter().map(|line| line.join("=")).collect::<Vec<_>>().join(" "),
            Err(missing) => missing.to_string(),
        }
    }

    #[test]
    fn each_family_has_its_own_way_to_an_engine() {
        let mariadb = build(Dbms::Mariadb, "10.5.23", "mariadbd  Ver 10.5.23-MariaDB");
        let percona = build(
            Dbms::Mysql,
            "8.0.33",
            "mysqld  Ver 8.0.33-25 for Linux on x86_64 (Percona Server (GPL), Release 25)",
        );
        let facebook = build(
            Dbms::Mysql,
            "8.0.28",
            "mysqld  Ver 8.0.28-20230131 for Linux on x86_64 (Source distribution)",
        );
        let both = &["ha_rocksdb.so", "ha_tokudb.so"];
        insta::assert_snapshot!(text(&mariadb, Engine::Myrocks, both), @"plugin-load-add=ha_rocksdb default-storage-engine=ROCKSDB default-tmp-storage-engine=InnoDB");
        insta::assert_snapshot!(text(&percona, Engine::Myrocks, both), @"plugin-load-add=ha_rocksdb.so default-storage-engine=ROCKSDB default-tmp-storage-engine=InnoDB");
        insta::assert_snapshot!(text(&facebook, Engine::Myrocks, &[]), @"rocksdb default-storage-engine=rocksdb default-tmp-storage-engine=MyISAM");
        insta::assert_snapshot!(text(&mariadb, Engine::Tokudb, both), @"plugin-load-add=ha_tokudb default-storage-engine=TokuDB");
        insta::assert_snapshot!(text(&percona, Engine::Tokudb, both), @"plugin-load-add=ha_tokudb.so default-storage-engine=TokuDB");
        insta::assert_snapshot!(text(&percona, Engine::Innodb, &[]), @"");
    }

    #[test]
    fn a_build_without_the_engine_is_refused_and_told_who_has_it() {
        let old = build(Dbms::Mariadb, "10.1.8", "mysqld  Ver 10.1.8-MariaDB");
        let oracle = build(
            Dbms::Mysql,
            "8.0.33",
            "mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)",
        );
        insta::assert_snapshot!(text(&old, Engine::Myrocks, &["ha_tokudb.so"]), @"mariadb-10.1.8 has no myrocks: ha_rocksdb.so is not in /b/lib/plugin; MariaDB has it from 10.2 on where ha_rocksdb.so is in its plugin directory, as in Debian's builds of the catalog with mariadb-plugin-rocksdb (10.5.23, 10.11, 11.8); Percona Server and FB MySQL have it, too, and can be added with `backslide add`");
        let refused = text(&oracle, Engine::Myrocks, &[]);
        assert!(
            refused.starts_with("mysql-8.0.33 has no myrocks: ha_rocksdb.so is not in"),
            "{refused}"
        );
        let refused = text(&oracle, Engine::Tokudb, &["ha_rocksdb.so"]);
        assert!(
            refused.starts_with("mysql-8.0.33 has no tokudb: ha_tokudb.so is not in"),
            "{refused}"
        );
        // Before 5.6 nobody had it.
        let ancient =
            build(Dbms::Mysql, "5.5.9", "mysqld  Ver 5.5.9 for Linux (Source distribution)");
        assert!(text(&ancient, Engine::Myrocks, &[]).contains("has no myrocks"));
    }

    #[test]
    fn sizes_and_status_are_those_of_the_engine() {
        let mariadb = build(Dbms::Mariadb, "11.8.9", "");
        let mysql = |version| build(Dbms::Mysql, version, "");
        let data = |build: &Build, engine| files(build, engine).data.join(" ");
        assert_eq!(data(&mariadb, Engine::Innodb), "ib");
        assert_eq!(data(&mariadb, Engine::Myrocks), "ib #rocksdb");
        assert_eq!(data(&mysql("8.0.28"), Engine::Myrocks), "ib .rocksdb");
        assert_eq!(data(&mysql("5.7.22"), Engine::Tokudb), "ib *.tokudb tokudb.*");
        assert_eq!(data(&mysql("5.6.24"), Engine::Innodb), "ib");
        assert_eq!(data(&mysql("5.5.34"), Engine::Innodb), "ib ibdata*");
        let names = Engine::ALL.map(|engine| {
            let mut all = Dbms::Mysql.product().captures(&mariadb.version, engine);
            all.nth(3).map(|(name, _)| name)
        });
        assert_eq!(names, [None, Some("rocksdb_status"), Some("tokudb_status"), None, None]);
    }
}
