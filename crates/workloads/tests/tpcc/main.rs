//! The TPC-C-like workload proves its answers: on SQLite, and on the MariaDB and PostgreSQL of this machine.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "the helpers of a test fail like the test, and say why it was skipped"
)]

mod beginning;
mod damage;
mod full;
mod hosts;
mod locks;
mod mistakes;
mod outages;
mod proofs;
#[path = "../common/shares.rs"]
mod shares;
mod spec;
mod spoiled;
mod storms;
mod strangers;
mod trial;

use model::Dbms;
use testkit::databases::Backend;

#[test]
fn everything_holds_on_sqlite() {
    proofs::on(&Backend::sqlite());
}

#[test]
fn every_mistake_is_caught_on_sqlite() {
    mistakes::on(&Backend::sqlite());
}

#[test]
fn damage_behind_the_workload_is_found_on_sqlite() {
    damage::on(&Backend::sqlite());
}

#[test]
fn locks_that_somebody_keeps_are_waited_for_on_sqlite() {
    locks::on(&Backend::sqlite());
}

#[test]
fn a_full_disk_fails_the_step_and_spoils_nothing_on_sqlite() {
    full::on(&Backend::sqlite());
}

#[test]
fn a_database_of_another_plan_is_refused_on_sqlite() {
    strangers::on(&Backend::sqlite());
}

#[test]
fn everything_holds_and_every_mistake_is_caught_on_mariadb() {
    server(Dbms::Mariadb);
}

#[test]
fn everything_holds_and_every_mistake_is_caught_on_postgres() {
    server(Dbms::Postgres);
}

/// A server takes seconds to make: it is made once.
fn server(dbms: Dbms) {
    if let Some(backend) = Backend::server(dbms) {
        proofs::on(&backend);
        mistakes::on(&backend);
        damage::on(&backend);
        storms::on(&backend);
        locks::on(&backend);
        outages::on(&backend);
    }
}
