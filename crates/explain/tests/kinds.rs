//! What kind of difference each variable is.

mod common;

use common::{defaults, put, rules, with};
use explain::{Difference, Explanation, Facts, Reason, explain};
use insta::assert_snapshot;
use model::Dbms;

fn compare(a: &Facts, b: &Facts) -> Explanation {
    explain(rules(a.dbms), a, b)
}

fn find<'a>(explanation: &'a Explanation, name: &str) -> Option<&'a Difference> {
    explanation.differences.iter().find(|d| d.name == name)
}

fn kind(explanation: &Explanation, name: &str) -> Option<Reason> {
    find(explanation, name).map(|difference| difference.kind)
}

fn mysql(version: &str) -> Facts {
    defaults(Dbms::Mysql, version)
}

/// What the expert found by comparing listings by eye, after months of measuring without it.
#[test]
fn gtid_comes_first() {
    let explanation = compare(&mysql("8.0.33"), &mysql("9.7.4"));
    let first: Vec<&Difference> = explanation.differences.iter().take(2).collect();
    let names: Vec<&str> = first.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["gtid_mode", "enforce_gtid_consistency"]);
    for difference in first {
        assert_eq!(difference.kind, Reason::ChangedDefault);
        assert_eq!(difference.group, "binary log");
        assert_eq!(difference.a.as_deref(), Some("OFF"));
        assert_eq!(difference.b.as_deref(), Some("ON"));
        assert!(difference.matters.is_some());
    }
}

#[test]
fn a_config_that_pins_it_makes_it_equal() {
    let pinned = [("gtid_mode", "OFF"), ("enforce-gtid-consistency", "OFF")];
    let mut b = with(mysql("9.7.4"), &pinned);
    put(&mut b, "enforce_gtid_consistency", "OFF");
    let explanation = compare(&mysql("8.0.33"), &b);
    assert_eq!(kind(&explanation, "gtid_mode"), None);
    assert_eq!(kind(&explanation, "enforce_gtid_consistency"), None);
}

/// One config sets what is the other's default: both run alike, and it is no difference. Where they run
/// differently the config that asks is named.
#[test]
fn on_purpose_says_whose() {
    let a = mysql("8.0.33");
    let b = with(mysql("9.7.4"), &[("innodb_flush_method", "fsync")]);
    assert_eq!(kind(&compare(&a, &b), "innodb_flush_method"), None);

    let b = with(mysql("9.7.4"), &[("innodb_flush_method", "O_DIRECT")]);
    let explanation = compare(&a, &b);
    let difference = find(&explanation, "innodb_flush_method").unwrap();
    assert_eq!(difference.kind, Reason::OnPurpose);
    assert!(!difference.set_by.a && difference.set_by.b);
    // What nobody asked for comes first, on purpose after it, both before what is not known to matter.
    let at = |name: &str| {
        let place = explanation.differences.iter().position(|d| d.name == name);
        place.unwrap()
    };
    assert!(at("caching_sha2_password_digest_rounds") < at("innodb_flush_method"));
    assert!(at("innodb_flush_method") < at("explain_format"));
}

#[test]
fn options_that_are_no_variables_count_as_purpose() {
    let mut a = with(mysql("5.7.22"), &[("skip_ssl", "ON")]);
    a.variables.remove("skip_ssl");
    let b = mysql("8.0.33");
    let explanation = compare(&a, &b);
    assert_eq!(kind(&explanation, "have_ssl"), Some(Reason::OnPurpose));

    let mut a = with(mysql("8.0.33"), &[("skip-log-bin", "ON")]);
    put(&mut a, "log_bin", "OFF");
    let explanation = compare(&a, &mysql("8.0.33"));
    assert_eq!(kind(&explanation, "log_bin"), Some(Reason::OnPurpose));
}

#[test]
fn set_alike_and_yet_different_is_told() {
    let set = [("innodb_flush_method", "O_DIRECT_NO_FSYNC")];
    let a = with(defaults(Dbms::Mariadb, "10.5.23"), &set);
    let mut b = with(defaults(Dbms::Mariadb, "11.8.9"), &set);
    put(&mut b, "innodb_flush_method", "O_DIRECT");
    let explanation = compare(&a, &b);
    assert_eq!(kind(&explanation, "innodb_flush_method"), Some(Reason::NotAsSet));
    assert_eq!(explanation.differences[0].name, "innodb_flush_method");
}

#[test]
fn a_variable_that_was_renamed_keeps_its_value() {
    // 5.6 has tx_isolation only, 5.7 has both names, 8.0 the new one.
    for (a, b) in [("5.6.24", "5.7.22"), ("5.6.24", "8.0.33"), ("5.7.22", "9.7.4")] {
        let explanation = compare(&mysql(a), &mysql(b));
        assert_eq!(kind(&explanation, "tx_isolation"), None, "{a} {b}");
        assert_eq!(kind(&explanation, "transaction_isolation"), None, "{a} {b}");
    }
    let mut a = mysql("5.6.24");
    put(&mut a, "tx_isolation", "READ-COMMITTED");
    let explanation = compare(&a, &mysql("8.0.33"));
    let difference = find(&explanation, "transaction_isolation").unwrap();
    assert_eq!(difference.kind, Reason::ChangedDefault);
    assert_eq!(difference.was.as_deref(), Some("tx_isolation"));
    // An option under the old name is a purpose, too.
    let a = with(mysql("5.6.24"), &[("tx_isolation", "READ-COMMITTED")]);
    let explanation = compare(&a, &mysql("8.0.33"));
    assert_eq!(kind(&explanation, "transaction_isolation"), Some(Reason::OnPurpose));
}

#[test]
fn names_of_an_instance_are_no_difference() {
    let mut b = mysql("8.0.33");
    for (name, value) in [
        ("server_uuid", "x"),
        ("hostname", "y"),
        ("datadir", "/elsewhere/"),
        ("general_log_file", "/elsewhere/vm.log"),
        ("slow_query_log_file", "/elsewhere/vm-slow.log"),
        ("log_error", "/elsewhere/error.log"),
    ] {
        put(&mut b, name, value);
    }
    let b = Facts::of(b.system, b.dbms, b.version, b.variables);
    let explanation = compare(&mysql("8.0.33"), &b);
    assert_eq!(explanation.differences, []);
}

#[test]
fn what_follows_from_other_settings_is_no_changed_default() {
    let set = [("innodb_buffer_pool_size", "10G")];
    let mut b = with(mysql("8.0.33"), &set);
    put(&mut b, "innodb_buffer_pool_size", "10737418240");
    put(&mut b, "innodb_buffer_pool_instances", "8");
    put(&mut b, "innodb_old_blocks_time", "7");
    let explanation = compare(&mysql("8.0.33"), &b);
    let kinds = explanation.differences.iter();
    let kinds: Vec<(&str, Reason, &str)> =
        kinds.map(|d| (d.name.as_str(), d.kind, d.shown.1.as_str())).collect();
    assert_eq!(
        kinds,
        [
            ("innodb_buffer_pool_size", Reason::OnPurpose, "10G"),
            ("innodb_buffer_pool_instances", Reason::OnPurpose, "8"),
            ("innodb_old_blocks_time", Reason::Follows, "7"),
        ]
    );
}

#[test]
fn units_that_changed_are_no_difference() {
    let (a, b) = (defaults(Dbms::Postgres, "9.6.24"), defaults(Dbms::Postgres, "10.23"));
    let explanation = compare(&a, &b);
    for name in ["max_wal_size", "min_wal_size", "wal_segment_size"] {
        assert_eq!(kind(&explanation, name), None, "{name}");
    }
    let names: Vec<&str> =
        explanation.of(Reason::ChangedDefault).map(|d| d.name.as_str()).collect();
    assert_snapshot!(names.join(" "), @"wal_level max_parallel_workers_per_gather password_encryption hot_standby max_replication_slots max_wal_senders log_directory log_line_prefix");
}

/// A row of `overview` stands for a variable in all systems.
#[test]
fn several_against_a_base() {
    let base = mysql("5.6.24");
    let others = [mysql("5.7.22"), mysql("8.0.33"), mysql("9.7.4")];
    let others: Vec<&Facts> = others.iter().collect();
    let overview = explain::overview(rules(Dbms::Mysql), &base, &others);
    assert_eq!(overview.systems.len(), 4);
    let shown = |name: &str| {
        let row = overview.rows.iter().find(|row| row.name == name).unwrap();
        format!("{:?} {:?} {}", row.kinds, row.values, row.group)
    };
    assert_snapshot!(shown("gtid_mode"), @r#"[ChangedDefault] ["OFF", "OFF", "OFF", "ON"] binary log"#);
    assert_snapshot!(shown("innodb_change_buffer_max_size"), @r#"[ChangedDefault] ["25", "25", "25", "5"] adaptive hash index and change buffer"#);
    assert_snapshot!(shown("innodb_redo_log_capacity"), @r#"[New] ["–", "–", "100M", "100M"] redo, undo and purge"#);
    assert!(overview.names.iter().any(|names| names.kind == Reason::New));
    assert!(overview.rows.iter().all(|row| row.values.len() == 4));
}

#[test]
fn variables_of_unlike_dbms_are_not_compared() {
    let (a, b) = (mysql("9.7.4"), defaults(Dbms::Postgres, "18.6"));
    let explanation = compare(&a, &b);
    assert!(!explanation.comparable);
    assert_eq!(explanation.differences, []);
    let maria = compare(&a, &defaults(Dbms::Mariadb, "11.8.9"));
    assert_eq!(kind(&maria, "gtid_mode"), Some(Reason::Gone));
    assert_eq!(kind(&maria, "performance_schema"), Some(Reason::ChangedDefault));
}

/// Both configs ask for the same; what follows from it differs by version, and that is not on purpose.
#[test]
fn the_same_option_in_both_is_no_purpose() {
    let set = [("performance_schema", "ON"), ("character_set_server", "utf8mb4")];
    let (a, b) = (with(mysql("5.7.22"), &set), with(mysql("9.7.4"), &set));
    let explanation = compare(&a, &b);
    let difference = find(&explanation, "performance_schema_max_rwlock_classes").unwrap();
    assert_eq!(difference.kind, Reason::ChangedDefault);
    assert!(!difference.set_by.a && !difference.set_by.b);
    assert_eq!(kind(&explanation, "collation_server"), Some(Reason::ChangedDefault));
    assert_eq!(kind(&explanation, "performance_schema_max_logger_classes"), Some(Reason::New));
}

/// `instances/NAME/data` is ours, and what lies beside it belongs to the instance, too.
#[test]
fn directories_of_an_instance_are_no_difference() {
    let at = |place: &str| {
        let mut facts = mysql("8.0.33");
        put(&mut facts, "datadir", &format!("/lab/{place}/data/"));
        put(&mut facts, "tmpdir", &format!("/lab/{place}/tmp"));
        put(&mut facts, "general_log_file", &format!("/lab/{place}/data/vm.log"));
        Facts::of(facts.system, facts.dbms, facts.version, facts.variables)
    };
    assert_eq!(compare(&at("a"), &at("b")).differences, []);
    let mut other = at("b");
    put(&mut other, "tmpdir", "/dev/shm");
    assert_eq!(compare(&at("a"), &other).differences.len(), 1);
}
