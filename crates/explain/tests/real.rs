//! Explanations of real servers.

mod common;

use common::{defaults, text};
use insta::assert_snapshot;
use model::Dbms;

#[test]
fn mysql_8_0_33_and_9_7_4() {
    let (a, b) = (defaults(Dbms::Mysql, "8.0.33"), defaults(Dbms::Mysql, "9.7.4"));
    assert_snapshot!("mysql_8.0.33_9.7.4_at_80", text(&a, &b, 80, false));
    assert_snapshot!("mysql_8.0.33_9.7.4_at_120", text(&a, &b, 120, true));
}

#[test]
fn mysql_5_6_24_and_5_7_22() {
    let (a, b) = (defaults(Dbms::Mysql, "5.6.24"), defaults(Dbms::Mysql, "5.7.22"));
    assert_snapshot!("mysql_5.6.24_5.7.22", text(&a, &b, 100, false));
}

#[test]
fn mariadb_10_5_23_and_11_8_9() {
    let (a, b) = (defaults(Dbms::Mariadb, "10.5.23"), defaults(Dbms::Mariadb, "11.8.9"));
    assert_snapshot!("mariadb_10.5.23_11.8.9", text(&a, &b, 100, false));
}

#[test]
fn postgres_15_19_and_18_6() {
    let (a, b) = (defaults(Dbms::Postgres, "15.19"), defaults(Dbms::Postgres, "18.6"));
    assert_snapshot!("postgres_15.19_18.6", text(&a, &b, 100, false));
}
