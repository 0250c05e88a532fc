//! What configs are made of: inheritance, modifiers, ranges, and what can be wrong with them.

use insta::assert_snapshot;

use crate::{Catalog, PlanError};
use model::{Config, Dbms, Engine};

use super::{CATALOG, HOST, build};

/// The embedded catalog with some files below `dbms/mysql/configs/`.
fn with(files: &[(&str, &str)]) -> Result<Catalog, PlanError> {
    let files = files.iter().map(|(name, text)| {
        let text = format!("summary = \"{name}\"\n{text}");
        (format!("dbms/mysql/configs/{name}.toml"), text)
    });
    Catalog::with(&files.collect::<Vec<_>>())
}

fn rendered(files: &[(&str, &str)], name: &str, version: &str) -> Result<Config, PlanError> {
    let file = with(files)?.config(Dbms::Mysql, name)?;
    file.render(&version.parse().unwrap(), Engine::Innodb, HOST)
}

fn lines(config: &Config) -> String {
    let settings = config.settings.iter().map(ToString::to_string);
    let left_out = config.left_out.iter().map(|option| format!("# {option}"));
    settings.chain(left_out).collect::<Vec<_>>().join("\n")
}

/// A setting of `name`; `more` are further lines.
fn setting(name: &str, value: u32, more: &str) -> String {
    format!("[[setting]]\nname = \"{name}\"\nvalue = {value}\n{more}\n")
}

#[test]
fn a_config_changes_its_parent() {
    let base = setting("a", 1, "") + &setting("b", 1, "topic = \"t\"") + &setting("c", 1, "");
    let base = base + &setting("d", 1, "topic = \"t\"");
    let child = format!(
        "extends = \"base\"\ndrop = [\"a\"]\n{}{}{}",
        setting("e", 2, ""),
        setting("b", 2, "topic = \"t\""),
        setting("f", 2, "topic = \"t\"")
    );
    let grandchild = format!("extends = \"child\"\n{}", setting("c", 3, ""));
    let files =
        [("base", base.as_str()), ("child", child.as_str()), ("grandchild", grandchild.as_str())];
    assert_snapshot!(lines(&rendered(&files, "child", "8.0.33").unwrap()), @r"
    b = 2
    f = 2
    c = 1
    e = 2
    ");
    assert_snapshot!(lines(&rendered(&files, "grandchild", "8.0.33").unwrap()), @r"
    b = 2
    f = 2
    c = 3
    e = 2
    ");
}

#[test]
fn modifiers_follow_in_order() {
    let base = setting("a", 1, "") + &setting("b", 1, "");
    let (x, y) = (setting("a", 2, ""), setting("a", 3, "") + &setting("c", 3, ""));
    let y = format!("drop = [\"b\", \"none\"]\n{y}");
    let files = [
        ("base", base.as_str()),
        ("base_x", base.as_str()),
        ("modifiers/x", x.as_str()),
        ("modifiers/y", y.as_str()),
    ];
    let config = rendered(&files, "base_y_x", "8.0.33").unwrap();
    assert_eq!((config.name.as_str(), lines(&config).as_str()), ("base_y_x", "a = 2\nc = 3"));
    assert_eq!(config.summary, "base; modifiers/y; modifiers/x");
    assert_eq!(lines(&rendered(&files, "base_x_y", "8.0.33").unwrap()), "a = 3\nc = 3");
    // The longest name that there is.
    assert_eq!(lines(&rendered(&files, "base_x", "8.0.33").unwrap()), "a = 1\nb = 1");
}

#[test]
fn names_that_are_no_config() {
    let error = |name| CATALOG.config(Dbms::Postgres, name).unwrap_err();
    assert_snapshot!(error("x10a_fpw"), @"catalog: no postgres config `x10a_fpw`; nearest `_fpw0`; available: default, quick, x10a, x10b, x10c, x10d, _fpw0, _wallz4");
    assert_snapshot!(error("x11a_fpw0"), @"catalog: no postgres config `x11a_fpw0`; nearest `x10a`; available: default, quick, x10a, x10b, x10c, x10d, _fpw0, _wallz4");
    assert_snapshot!(error("x10a_"), @"catalog: no postgres config `x10a_`; available: default, quick, x10a, x10b, x10c, x10d, _fpw0, _wallz4");
    assert_snapshot!(error(""), @"catalog: no postgres config ``; available: default, quick, x10a, x10b, x10c, x10d, _fpw0, _wallz4");
    assert_snapshot!(CATALOG.config(Dbms::Sqlite, "wal_x").unwrap_err(), @"catalog: no sqlite config `wal_x`; available: default, rollback, wal");
}

#[test]
fn files_that_lead_nowhere() {
    let error = |files: &[(&str, &str)]| with(files).unwrap_err();
    assert_snapshot!(error(&[("m", "extends = \"z21a\"")]), @"catalog/dbms/mysql/configs/m.toml:2: no mysql config `z21a`; nearest `z11a`; available: default, m, quick, z10a, z11a, z11b, z11c, z11d, z11e, z11f, z12a, z12b, za1");
    assert_snapshot!(error(&[("m", "extends = \"m\"")]), @"catalog/dbms/mysql/configs/m.toml:2: `extends` goes round: m -> m");
    let round =
        [("m1", "extends = \"m2\""), ("m2", "extends = \"m3\""), ("m3", "extends = \"m2\"")];
    assert_snapshot!(error(&round), @"catalog/dbms/mysql/configs/m3.toml:2: `extends` goes round: m1 -> m2 -> m3 -> m2");
    assert_snapshot!(error(&[("m", "extends = \"z10a\"\ndrop = [\"sync_binlog\", \"sync_binlgo\"]")]), @"catalog/dbms/mysql/configs/m.toml:3: `drop`: `z10a` has no setting of the topic `sync_binlgo`");
    assert_snapshot!(error(&[("m", "drop = [\"sync_binlog\"]")]), @"catalog/dbms/mysql/configs/m.toml:2: `drop` without `extends`: there is nothing to drop");
    assert_snapshot!(error(&[("modifiers/m", "extends = \"z10a\"")]), @"catalog/dbms/mysql/configs/modifiers/m.toml:2: unknown key `extends` in modifier, which has: summary, drop, setting");
    assert_snapshot!(error(&[("modifiers/a_b", "")]), @"dbms/mysql/configs/modifiers/a_b.toml: not a file of the catalog, which has dbms/<name>/product.toml, builds.toml and variables.toml there, dbms/<name>/configs/<name>.toml, dbms/<name>/configs/modifiers/<word>.toml, plans/<name>.toml, workloads/<name>.toml, helpers.toml, layers.toml, noise.toml and scales.toml");
}

#[test]
fn what_a_version_lacks_is_told() {
    let optional = setting("a", 1, "since = \"5.7\"\noptional = true")
        + &setting("b", 1, "since = [\"5.6.27\", \"5.7.9\"]\noptional = true")
        + &setting("c", 1, "until = \"5.5\"\noptional = true")
        + &setting("c", 1, "since = \"8.0\"\noptional = true")
        + &setting("d", 1, "from = \"5.7\"\noptional = true");
    assert_snapshot!(lines(&rendered(&[("m", &optional)], "m", "5.6.24").unwrap()), @r"
    # a (since 5.7)
    # b (since 5.6.27, 5.7.9)
    # c (until 5.5 or since 8.0)
    # d = 1 (since 5.7)
    ");
    assert_eq!(
        lines(&rendered(&[("m", &optional)], "m", "5.6.51").unwrap()).lines().next(),
        Some("b = 1")
    );
    let error = |rule: &str| rendered(&[("m", rule)], "m", "5.6.24").unwrap_err();
    assert_snapshot!(error(&setting("a", 1, "since = \"5.7\"")), @"catalog/dbms/mysql/configs/m.toml:2: mysql 5.6.24 does not know `a`, which exists since 5.7; use another config, add an alternative for this version, or mark the setting `optional = true`");
    assert_snapshot!(error(&setting("a", 1, "since = \"5.5\"\nfrom = \"5.7\"")), @"catalog/dbms/mysql/configs/m.toml:2: mysql 5.6.24 does not know `a = 1`, which exists since 5.7; use another config, add an alternative for this version, or mark the setting `optional = true`");
}

#[test]
fn a_set_option_must_be_known() {
    let expand = |build_name: &str, version: &str, set: &str| {
        let text = format!(
            "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"insert\", scale = \"tiny\" }}\n\
             [[system]]\nbuild = \"{build_name}\"\nset = {{ {set} }}"
        );
        let file = crate::read(&text, "my.toml").unwrap();
        crate::expand(&file, &CATALOG, &|request| Ok(build(request, version)), HOST)
    };
    assert_snapshot!(expand("mysql", "8.0.15", "innodb-redo-log-capacity = \"1G\"").unwrap_err(), @"my.toml:6: mysql 8.0.15 does not know `innodb-redo-log-capacity`, which exists since 8.0.30; leave it out");
    assert_snapshot!(expand("postgres", "17.11", "io_method = \"sync\"").unwrap_err(), @"my.toml:6: postgres 17.11 does not know `io_method`, which exists since 18; leave it out");
    // Known, though no config uses it there any more.
    assert!(expand("mysql", "8.0.33", "innodb_log_file_size = \"1G\"").is_ok());
    assert!(expand("mariadb", "11.8.9", "innodb_flush_method = \"fsync\"").is_ok());
    // Unknown to the catalog: for the server to judge.
    assert!(expand("mysql", "8.0.33", "innodb_spin_wait_delay = 6").is_ok());
}

#[test]
fn ranges_and_shares_are_checked() {
    let error = |text: &str| with(&[("m", text)]).unwrap_err();
    assert_snapshot!(error(&setting("a", 1, "from = \"8.0\"\nbefore = \"5.7\"")), @"catalog/dbms/mysql/configs/m.toml:2: the versions in `from` and `before` of `a` do not rise (since 8.0, until 5.7)");
    assert_snapshot!(error(&setting("a", 1, "since = [\"5.7.9\", \"5.6.27\"]")), @"catalog/dbms/mysql/configs/m.toml:2: the versions in `since` and `until` of `a` do not rise (since 5.7.9, 5.6.27)");
    assert_snapshot!(error(&setting("a", 1, "since = [\"new\"]")), @r#"catalog/dbms/mysql/configs/m.toml:5: `since` must be a version such as "8.0.33", not "new""#);
    assert_snapshot!(error("[[setting]]\nname = \"a\"\nmemory_percent = 40\nstep = 1"), @r#"catalog/dbms/mysql/configs/m.toml:5: `step` must be text, not 1"#);
}

#[test]
fn configs_can_be_shown() {
    let files = [
        ("m", "extends = \"b\"\n[[setting]]\nname = \"c\"\ncores_percent = 50\nmax = 8"),
        (
            "b",
            "[[setting]]\nname = \"a\"\nmemory_percent = 40\nmin = \"128M\"\nstep = \"1G\"\nengine = \"innodb\"\n\
             [[setting]]\nname = \"b\"\nbare = true\nuntil = \"9.7\"\nbefore = \"8.4\"\noptional = true",
        ),
    ];
    assert_snapshot!(with(&files).unwrap().config(Dbms::Mysql, "m").unwrap().show(), @r"
    m for mysql: m
      a = 40 % of memory, at least 128 MiB, in steps of 1.00 GiB    # innodb only
      b    # until 9.7, used until 8.4
      c = 50 % of the CPUs, at least 1, at most 8
    ");
    assert_snapshot!(CATALOG.config(Dbms::Sqlite, "default").unwrap().show(), @r"
    default for sqlite: SQLite with its own defaults, which differ between versions
      (the server's own defaults)
    ");
}
