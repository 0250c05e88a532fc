//! The configs that backslide brings along, for every version of their family.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use insta::assert_snapshot;

use crate::PlanError;
use model::{Bytes, Config, Dbms, Engine, HostShape, Version};

use super::CATALOG;

/// The builds for which configs are shown in full; each was started with them.
const MYSQL: [&str; 11] = [
    "5.5.9", "5.5.34", "5.6.14", "5.6.24", "5.7.19", "5.7.22", "8.0.12", "8.0.15", "8.0.31",
    "8.0.33", "9.7.4",
];
const MARIADB: [&str; 12] = [
    "10.1.8", "10.1.13", "10.1.23", "10.2.11", "10.5.23", "10.5.29", "10.11.5", "10.11.18",
    "10.11.19", "11.4.5", "11.8.6", "11.8.9",
];
/// 18.6 twice in the catalog of builds; settings depend on the version alone.
const POSTGRES: [&str; 11] = [
    "9.6.24", "10.23", "11.22", "12.22", "13.23", "14.24", "15.19", "16.15", "17.11", "18.6",
    "19rc1",
];

const HOST: HostShape = HostShape { cpus: 8, memory: Bytes(32 << 30) };

fn version(text: &str) -> Version {
    text.parse().unwrap()
}

fn render(dbms: Dbms, name: &str, version_text: &str, engine: Engine) -> Result<Config, PlanError> {
    CATALOG.config(dbms, name)?.render(&version(version_text), engine, HOST)
}

fn of(dbms: Dbms, name: &str, version: &str) -> Config {
    render(dbms, name, version, dbms.default_engine()).unwrap()
}

fn value<'a>(config: &'a Config, name: &str) -> Option<&'a str> {
    let setting = config.settings.iter().find(|s| s.name == name)?;
    Some(setting.value.as_deref().unwrap_or(""))
}

/// The configs of all builds of a family, one after the other.
fn shown(dbms: Dbms, names: &[&str], versions: &[&str], engine: Engine) -> String {
    let mut text = String::new();
    for version in versions {
        for name in names {
            let config = render(dbms, name, version, engine).unwrap();
            let _ = writeln!(text, "# {dbms}-{version}/{engine}/{name}");
            if config.settings.is_empty() {
                text.push_str("# nothing set: the server's own defaults\n");
            }
            for setting in &config.settings {
                let _ = writeln!(text, "{setting}");
            }
            for option in &config.left_out {
                let _ = writeln!(text, "# left out: {option}");
            }
            text.push('\n');
        }
    }
    text
}

#[test]
fn rendered_for_mysql() {
    let text = shown(Dbms::Mysql, &["default", "z12a"], &MYSQL, Engine::Innodb);
    assert_snapshot!("mysql", text);
}

#[test]
fn rendered_for_mariadb() {
    let names = ["default", "z12a"];
    let text = shown(Dbms::Mariadb, &names, &MARIADB, Engine::Innodb);
    assert_snapshot!("mariadb", text);
}

#[test]
fn rendered_for_myrocks() {
    let with_plugin = ["10.5.23", "10.11.18", "10.11.19", "11.8.6", "11.8.9"];
    let text = shown(Dbms::Mariadb, &["z12a"], &with_plugin, Engine::Myrocks);
    assert_snapshot!("myrocks", text);
}

#[test]
fn rendered_for_postgres() {
    let names = ["default", "x10a"];
    let text = shown(Dbms::Postgres, &names, &POSTGRES, Engine::Heap);
    assert_snapshot!("postgres", text);
}

/// Versions of every kind: those above, first and last ones of series, some that nobody has yet.
fn all_versions(dbms: Dbms) -> Vec<Version> {
    let more: &[&str] = match dbms {
        Dbms::Mysql => {
            &["5.5.62", "5.6.51", "5.7.44", "8.0.22", "8.0.29", "8.4.0", "8.4.7", "9.0.1", "9.5.0"]
        }
        Dbms::Mariadb => {
            &["10.3.39", "10.4.34", "10.6.17", "10.6.25", "10.8.3", "11.0.6", "11.3.2", "12.3.1"]
        }
        Dbms::Postgres => &["9.6.0", "10.0", "15.0", "19.1", "20.0"],
        _ => &["3.51.1"],
    };
    let booted: &[&str] = match dbms {
        Dbms::Mysql => &MYSQL,
        Dbms::Mariadb => &MARIADB,
        Dbms::Postgres => &POSTGRES,
        _ => &[],
    };
    let recipes = CATALOG.recipes().iter().filter(|r| r.dbms == dbms);
    booted
        .iter()
        .chain(more)
        .map(|text| version(text))
        .chain(recipes.map(|recipe| recipe.version.clone()))
        .collect()
}

/// Every config by itself, and with each of the modifiers.
fn all_names(dbms: Dbms) -> Vec<String> {
    let words = CATALOG.modifier_names(dbms);
    let with_modifiers = |name: &str| {
        let words = words.iter().map(|word| format!("{name}_{word}"));
        std::iter::once(name.to_owned()).chain(words).collect::<Vec<_>>()
    };
    let names = CATALOG.config_names(dbms);
    names.into_iter().flat_map(with_modifiers).collect()
}

/// Configs that are for the newest versions only, as their summaries say.
fn is_for_all(name: &str) -> bool {
    !["z12c", "x10c", "x10d"].contains(&name)
}

#[test]
fn every_config_renders_or_says_what_is_missing() {
    for dbms in Dbms::all() {
        let engines = || Engine::ALL.into_iter().filter(|engine| engine.fits(dbms));
        for name in all_names(dbms) {
            let file = CATALOG.config(dbms, &name).unwrap();
            let is_plain = CATALOG.config_names(dbms).contains(&name.as_str());
            for version in all_versions(dbms) {
                for engine in engines() {
                    let place = format!("{dbms}-{version}/{engine}/{name}");
                    match file.render(&version, engine, HOST) {
                        Ok(config) => has_each_option_once(&config, &place),
                        Err(error) => {
                            assert!(!(is_plain && is_for_all(&name)), "{place}: {error}");
                            names_option_and_range(&error, dbms, &version);
                        }
                    }
                }
            }
        }
    }
}

fn has_each_option_once(config: &Config, place: &str) {
    let names: Vec<&str> = config.settings.iter().map(|s| s.name.as_str()).collect();
    let once: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(names.len(), once.len(), "an option twice: {place}");
}

fn names_option_and_range(error: &PlanError, dbms: Dbms, version: &Version) {
    let PlanError::UnknownOption { option, build, range, .. } = error else {
        panic!("{error}");
    };
    assert!(!option.is_empty() && range.contains(|c: char| c.is_ascii_digit()));
    assert_eq!(*build, format!("{dbms} {version}"));
}

#[test]
fn the_z_family_says_what_must_be_equal() {
    for (dbms, versions) in [(Dbms::Mysql, &MYSQL[..]), (Dbms::Mariadb, &MARIADB[..])] {
        for text in versions {
            let config = of(dbms, "z12a", text);
            for (name, wanted) in [
                ("character_set_server", "latin1"),
                ("collation_server", "latin1_swedish_ci"),
                ("transaction_isolation", "REPEATABLE-READ"),
                ("innodb_flush_log_at_trx_commit", "2"),
                ("sync_binlog", "0"),
                ("innodb_autoinc_lock_mode", "2"),
                ("innodb_buffer_pool_size", "12288M"),
            ] {
                assert_eq!(value(&config, name), Some(wanted), "{dbms}-{text}: {name}");
            }
            let no_tls = value(&config, "skip_ssl").or(value(&config, "tls_version"));
            let is_5_5 = dbms == Dbms::Mysql && text.starts_with("5.5.");
            assert_eq!(no_tls, (!is_5_5).then_some(""), "{dbms}-{text}");
        }
    }
}

#[test]
fn the_change_buffer_of_z11d_is_opposite() {
    let buffering = |dbms, name| {
        let config = of(dbms, name, if dbms == Dbms::Mysql { "8.0.33" } else { "10.5.23" });
        value(&config, "innodb_change_buffering").map(str::to_owned)
    };
    assert_eq!(buffering(Dbms::Mysql, "z11a").as_deref(), Some("all"));
    assert_eq!(buffering(Dbms::Mysql, "z11d").as_deref(), Some("none"));
    assert_eq!(buffering(Dbms::Mariadb, "z11a").as_deref(), Some("none"));
    assert_eq!(buffering(Dbms::Mariadb, "z11d").as_deref(), Some("all"));
}

#[test]
fn an_engine_gets_the_memory() {
    let sizes = |engine| {
        let config = render(Dbms::Mariadb, "z12a", "10.11.19", engine).unwrap();
        let size = |name| value(&config, name).unwrap_or("-").to_owned();
        [
            size("innodb_buffer_pool_size"),
            size("rocksdb_block_cache_size"),
            size("tokudb_cache_size"),
        ]
    };
    assert_eq!(sizes(Engine::Innodb), ["12288M", "-", "-"]);
    assert_eq!(sizes(Engine::Myrocks), ["128M", "12288M", "-"]);
    assert_eq!(sizes(Engine::Tokudb), ["128M", "-", "12288M"]);
}

/// The lines that two configs of a version do not share.
fn difference(dbms: Dbms, version: &str, old: &str, new: &str) -> String {
    let lines = |name| {
        let settings = of(dbms, name, version).settings;
        settings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let (old, new) = (lines(old), lines(new));
    let only = |a: &[String], b: &[String], sign: &str| {
        let lines = a.iter().filter(|line| !b.contains(line));
        lines.fold(String::new(), |text, line| format!("{text}{sign}{line}\n"))
    };
    only(&old, &new, "-") + &only(&new, &old, "+")
}

#[test]
fn the_family_of_mysql_differs_as_published() {
    let mysql = |old, new| difference(Dbms::Mysql, "8.0.33", old, new);
    assert_snapshot!(mysql("z10a", "z11a"), @r"
    +innodb_max_purge_lag = 500000
    +innodb_max_purge_lag_delay = 1000000
    ");
    assert_snapshot!(mysql("z11a", "z11b"), @r"
    -innodb_flush_method = O_DIRECT_NO_FSYNC
    +innodb_flush_method = O_DIRECT
    ");
    assert_snapshot!(mysql("z11a", "z11c"), @r"
    -innodb_flush_method = O_DIRECT_NO_FSYNC
    +innodb_flush_method = fsync
    ");
    assert_snapshot!(mysql("z11a", "z11e"), @r"
    -innodb_doublewrite_pages = 4
    +innodb_doublewrite_pages = 128
    ");
    assert_snapshot!(mysql("z11a", "z11f"), @r"
    -innodb_doublewrite = 1
    -innodb_doublewrite_pages = 4
    +innodb_doublewrite = 0
    ");
    assert_snapshot!(mysql("z11a", "z12a"), @r"
    -innodb_log_buffer_size = 16M
    -innodb_use_fdatasync = OFF
    -innodb_doublewrite_pages = 4
    -innodb_numa_interleave = OFF
    +innodb_log_buffer_size = 64M
    +innodb_use_fdatasync = ON
    +innodb_doublewrite_pages = 128
    +innodb_numa_interleave = ON
    +innodb_buffer_pool_instances = 4
    +innodb_change_buffer_max_size = 25
    ");
    assert_snapshot!(mysql("z12a", "z12a_gtid"), @r"
    -gtid_mode = OFF
    -enforce_gtid_consistency = OFF
    +gtid_mode = ON
    +enforce_gtid_consistency = ON
    ");
    assert_snapshot!(mysql("z12a", "z12a_nogtid"), @"");
    assert_snapshot!(mysql("z12a_nobl", "z12a_nobl_sync"), @r"
    -innodb_flush_log_at_trx_commit = 2
    +innodb_flush_log_at_trx_commit = 1
    +sync_binlog = 1
    ");
}

#[test]
fn the_families_of_mariadb_and_postgres_differ_as_published() {
    let mariadb = |old, new| difference(Dbms::Mariadb, "10.11.19", old, new);
    let newer = |old, new| difference(Dbms::Mariadb, "11.8.9", old, new);
    assert_snapshot!(mariadb("z11a", "z12a"), @r"
    -innodb_log_buffer_size = 16M
    +innodb_log_buffer_size = 64M
    +innodb_log_write_ahead_size = 4096
    ");
    assert_snapshot!(mariadb("z12a", "z12b"), @r"
    -innodb_flush_method = O_DIRECT_NO_FSYNC
    +innodb_flush_method = O_DIRECT
    ");
    assert_snapshot!(newer("z12a", "z12b"), @r"
    -innodb_doublewrite = fast
    +innodb_doublewrite = ON
    ");
    assert_snapshot!(newer("z11a", "z11c"), @r"
    -innodb_data_file_buffering = OFF
    -innodb_doublewrite = fast
    +innodb_data_file_buffering = ON
    +innodb_doublewrite = ON
    ");
    assert_snapshot!(mariadb("z12a", "z12a_md1_dw0_pl0"), @r"
    -innodb_max_dirty_pages_pct = 90
    -innodb_max_dirty_pages_pct_lwm = 80
    -innodb_doublewrite = ON
    -innodb_max_purge_lag = 500000
    -innodb_max_purge_lag_delay = 1000000
    +innodb_max_dirty_pages_pct = 1
    +innodb_max_dirty_pages_pct_lwm = 0.1
    +innodb_doublewrite = OFF
    +innodb_max_purge_lag = 0
    +innodb_max_purge_lag_delay = 0
    ");
    assert_snapshot!(difference(Dbms::Postgres, "18.6", "x10b", "x10d_fpw0_wallz4"), @r"
    -wal_compression = off
    -full_page_writes = on
    -io_method = sync
    +wal_compression = lz4
    +full_page_writes = off
    +io_method = io_uring
    ");
}

#[test]
fn what_a_modifier_drops_is_in_some_config() {
    // A modifier is for any config, so that a misspelt topic in its `drop` would never be noticed.
    let dropped = |dbms, version, with: &str, option: &str| {
        let (name, _) = with.rsplit_once('_').unwrap();
        assert!(value(&of(dbms, name, version), option).is_some(), "{option}");
        assert_eq!(value(&of(dbms, with, version), option), None, "{option}");
    };
    for option in
        ["server_id", "binlog_format", "sync_binlog", "max_binlog_size", "binlog_checksum"]
    {
        dropped(Dbms::Mysql, "8.0.33", "z12a_nobl", option);
        dropped(Dbms::Mariadb, "10.11.19", "z12a_nobl", option);
    }
    dropped(Dbms::Mysql, "8.0.33", "z12a_nobl", "binlog_expire_logs_seconds");
    dropped(Dbms::Mysql, "5.7.22", "z12a_nobl", "expire_logs_days");
    dropped(Dbms::Mariadb, "10.11.19", "z12a_nobl", "expire_logs_days");
    dropped(Dbms::Mysql, "8.0.33", "z12a_dw0", "innodb_doublewrite_pages");
}
