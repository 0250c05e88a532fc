//! The conditions that must be equal, for every Dbms.

mod common;

use common::{defaults, put, rules, with};
use explain::{Facts, conditions, unequal};
use insta::assert_snapshot;
use model::{Dbms, Engine};

fn shown(facts: &Facts) -> String {
    let stands = conditions(rules(facts.dbms), facts);
    let lines = stands.iter().map(|stand| {
        let asked = if stand.is_asked { " (asked)" } else { "" };
        format!("{}: {}{asked}", stand.condition, stand.text)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn warnings(systems: &[&Facts]) -> String {
    let pairs: Vec<_> = systems.iter().map(|facts| (rules(facts.dbms), *facts)).collect();
    let lines = unequal(&pairs)
        .into_iter()
        .map(|warning| format!("{}: {}\n  {}", warning.condition, warning.line(), warning.text));
    lines.collect::<Vec<_>>().join("\n")
}

fn sqlite(journal_mode: &str, synchronous: &str) -> Facts {
    let name = format!("sqlite/{journal_mode}");
    let version = common::version("3.54.1");
    let mut facts = Facts::of(name, Dbms::Sqlite, version, std::collections::BTreeMap::new());
    put(&mut facts, "journal_mode", journal_mode);
    put(&mut facts, "synchronous", synchronous);
    put(&mut facts, "encoding", "UTF-8");
    facts
}

#[test]
fn of_mysql() {
    assert_snapshot!(shown(&defaults(Dbms::Mysql, "9.7.4")), @r"
    durability of a commit: survives a crash of the machine
    protection from torn pages: protected
    log for replicas: binary log of ROW, synced at each commit, with global transaction ids
    isolation level: REPEATABLE READ
    character set: UTF-8
    collation: utf8mb4_0900_ai_ci
    instrumentation: performance schema
    ");
    let mut old = with(defaults(Dbms::Mysql, "5.6.24"), &[("sync_binlog", "0"), ("log_bin", "ON")]);
    old.tls = Some("off".to_owned());
    // The binary log is not synced, and decides after a crash of the machine.
    assert_snapshot!(shown(&old), @r"
    durability of a commit: survives a crash of the server, not of the machine (asked)
    protection from torn pages: protected
    log for replicas: binary log of STATEMENT, not synced (asked)
    isolation level: REPEATABLE READ
    character set: latin1
    collation: latin1_swedish_ci
    TLS of the session: off
    instrumentation: performance schema
    ");
}

#[test]
fn of_mariadb() {
    assert_snapshot!(shown(&defaults(Dbms::Mariadb, "11.8.9")), @r"
    durability of a commit: survives a crash of the machine
    protection from torn pages: protected
    log for replicas: no binary log
    isolation level: REPEATABLE READ, writes checked against the snapshot
    character set: UTF-8
    collation: utf8mb4_uca1400_ai_ci
    instrumentation: no performance schema
    ");
    let mut rocks = defaults(Dbms::Mariadb, "11.8.9");
    rocks.engine = Engine::Myrocks;
    let rocks = with(rocks, &[("rocksdb_flush_log_at_trx_commit", "2")]);
    let lines = shown(&rocks);
    let first: Vec<&str> = lines.lines().take(4).collect();
    assert_snapshot!(first.join("\n"), @r"
    durability of a commit: survives a crash of the server, not of the machine
    protection from torn pages: protected
    log for replicas: no binary log
    isolation level: REPEATABLE READ
    ");
}

#[test]
fn of_postgres() {
    assert_snapshot!(shown(&defaults(Dbms::Postgres, "15.19")), @r"
    durability of a commit: survives a crash of the machine
    protection from torn pages: protected
    log for replicas: write-ahead log of level replica
    isolation level: READ COMMITTED
    character set: UTF-8
    collation: C (by bytes)
    instrumentation: counters only
    ");
    let set = [
        ("synchronous_commit", "off"),
        ("full_page_writes", "off"),
        ("wal_level", "minimal"),
        ("track_io_timing", "on"),
        ("shared_preload_libraries", "pg_stat_statements"),
    ];
    assert_snapshot!(shown(&with(defaults(Dbms::Postgres, "18.6"), &set)), @r"
    durability of a commit: may be lost in a crash of the server (asked)
    protection from torn pages: not protected (asked)
    log for replicas: write-ahead log of level minimal (asked)
    isolation level: READ COMMITTED
    character set: UTF-8
    instrumentation: counters, track_io_timing, pg_stat_statements (asked)
    ");
}

#[test]
fn of_sqlite() {
    assert_snapshot!(shown(&sqlite("wal", "1")), @r"
    durability of a commit: survives a crash of the server, not of the machine
    protection from torn pages: protected
    isolation level: SERIALIZABLE
    character set: UTF-8
    collation: BINARY (by bytes)
    ");
}

#[test]
fn durability_in_the_same_words() {
    let mysql = |flush: &str, log_bin: &str, sync: &str| {
        let set = [
            ("innodb_flush_log_at_trx_commit", flush),
            ("log_bin", log_bin),
            ("sync_binlog", sync),
        ];
        with(defaults(Dbms::Mysql, "8.0.33"), &set)
    };
    let postgres = |wait: &str, fsync: &str| {
        let set = [("synchronous_commit", wait), ("fsync", fsync)];
        with(defaults(Dbms::Postgres, "15.19"), &set)
    };
    let (machine, server, nothing) = ("of the machine", "not of the machine", "may be lost");
    let table = [
        (mysql("1", "OFF", "0"), machine),
        (mysql("1", "ON", "1"), machine),
        (mysql("1", "ON", "0"), server),
        (mysql("1", "ON", "100"), server),
        (mysql("2", "ON", "1"), server),
        (mysql("0", "OFF", "0"), nothing),
        (postgres("on", "on"), machine),
        (postgres("remote_apply", "on"), machine),
        (postgres("on", "off"), server),
        (postgres("off", "on"), nothing),
        (sqlite("delete", "2"), machine),
        (sqlite("delete", "1"), machine),
        (sqlite("wal", "2"), machine),
        (sqlite("wal", "NORMAL"), server),
        (sqlite("wal", "0"), server),
        (sqlite("memory", "2"), nothing),
    ];
    for (facts, expected) in table {
        let lines = shown(&facts);
        let first = lines.lines().next().unwrap();
        assert!(first.contains(expected), "{first}: {:?}", facts.settings);
        assert_eq!(first.contains("not of"), expected == server, "{first}");
    }
}

#[test]
fn equal_systems_give_no_warning() {
    let a = defaults(Dbms::Mysql, "5.7.22");
    let mut b = a.clone();
    b.system = "other".to_owned();
    assert_snapshot!(warnings(&[&a, &b]), @"");
    assert_snapshot!(warnings(&[&a]), @"");
    assert_snapshot!(warnings(&[]), @"");
}

#[test]
fn defaults_that_silently_differ() {
    let (a, b) = (defaults(Dbms::Mysql, "5.6.24"), defaults(Dbms::Mysql, "8.0.33"));
    let same = with(defaults(Dbms::Mysql, "5.7.22"), &[("character_set_server", "utf8mb4")]);
    assert_snapshot!(warnings(&[&a, &b, &same]), @r"
    log for replicas: no binary log (mysql-5.6.24/innodb/default, mysql-5.7.22/innodb/default); binary log of ROW, synced at each commit (mysql-8.0.33/innodb/default)
      It is written, and may be synced, at each commit. Not set by any config; the defaults differ. Settings that decide it: log_bin, sync_binlog, binlog_format.
    character set: latin1 (mysql-5.6.24/innodb/default); UTF-8 (mysql-8.0.33/innodb/default, mysql-5.7.22/innodb/default)
      It decides how many bytes text takes. Not set by the configs of mysql-5.6.24/innodb/default, mysql-8.0.33/innodb/default. Settings that decide it: character_set_server.
    collation: latin1_swedish_ci (mysql-5.6.24/innodb/default, mysql-5.7.22/innodb/default); utf8mb4_0900_ai_ci (mysql-8.0.33/innodb/default)
      It decides what sorting and indexing text costs. Not set by the configs of mysql-5.6.24/innodb/default, mysql-8.0.33/innodb/default. Settings that decide it: collation_server.
    ");
}

#[test]
fn across_dbms() {
    let mut maria = defaults(Dbms::Mariadb, "10.5.23");
    maria.tls = Some("off".to_owned());
    let mut postgres = defaults(Dbms::Postgres, "18.6");
    postgres.tls = Some("TLSv1.3".to_owned());
    let sqlite = with(sqlite("wal", "1"), &[("synchronous", "1"), ("journal_mode", "wal")]);
    // Logs for replicas and instruments are not comparable across Dbms, and are left out.
    assert_snapshot!(warnings(&[&maria, &postgres, &sqlite]), @r"
    durability of a commit: survives a crash of the machine (mariadb-10.5.23/innodb/default, postgres-18.6/default); survives a crash of the server, not of the machine (sqlite/wal)
      A commit that waits for the disk costs far more than one that does not. Not set by the configs of mariadb-10.5.23/innodb/default, postgres-18.6/default. Settings that decide it: innodb_flush_log_at_trx_commit, sync_binlog, synchronous_commit, fsync, synchronous, journal_mode.
    isolation level: REPEATABLE READ (mariadb-10.5.23/innodb/default); READ COMMITTED (postgres-18.6/default); SERIALIZABLE (sqlite/wal)
      It decides which row versions are kept and which locks are taken. Not set by any config; the defaults differ. Settings that decide it: transaction_isolation, innodb_snapshot_isolation, default_transaction_isolation.
    character set: latin1 (mariadb-10.5.23/innodb/default); UTF-8 (postgres-18.6/default, sqlite/wal)
      It decides how many bytes text takes. Not set by any config; the defaults differ. Settings that decide it: character_set_server.
    collation: latin1_swedish_ci (mariadb-10.5.23/innodb/default); BINARY (by bytes) (sqlite/wal)
      It decides what sorting and indexing text costs. Not set by any config; the defaults differ. Settings that decide it: collation_server.
    TLS of the session: off (mariadb-10.5.23/innodb/default); TLSv1.3 (postgres-18.6/default)
      Encryption costs CPU for every packet. Not set by any config; the defaults differ. Settings that decide it: skip_ssl, tls_version, ssl.
    ");
}

#[test]
fn what_is_not_known_is_not_held_against_a_system() {
    let empty = |dbms: Dbms, version: &str| {
        let name = format!("{dbms}-{version}");
        Facts::of(name, dbms, common::version(version), std::collections::BTreeMap::new())
    };
    let (a, b) = (empty(Dbms::Mysql, "8.0.33"), empty(Dbms::Postgres, "18.6"));
    assert_snapshot!(shown(&a), @"");
    assert_snapshot!(shown(&b), @"");
    assert_snapshot!(warnings(&[&a, &b, &defaults(Dbms::Mysql, "9.7.4")]), @"");
}

#[test]
fn clients_that_talk_in_different_ways() {
    let of = |name: &str, connection: &str| {
        let mut facts = defaults(Dbms::Mysql, "9.7.4");
        name.clone_into(&mut facts.system);
        facts.connection = Some(connection.to_owned());
        facts
    };
    assert_snapshot!(warnings(&[&of("a", "socket"), &of("b", "TCP, compressed")]), @"
    connection: socket (a); TCP, compressed (b)
      TCP, compression, pipelining and described portals change what each statement costs on both sides.
    ");
    assert_snapshot!(warnings(&[&of("a", "socket"), &of("b", "socket")]), @"");
}
