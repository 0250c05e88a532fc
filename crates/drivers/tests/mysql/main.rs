//! The MySQL client against real servers: the MariaDB of this machine (or the server whose socket
//! `BACKSLIDE_TEST_MYSQL_SOCKET` names), and every build that backslide has installed.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail like the test")]

mod basics;
mod load;
mod pipeline;
mod server;
mod wire;

use server::{Server, installed};

#[test]
fn the_server_of_this_machine() {
    match Server::of_this_machine() {
        Some(server) => all(&server),
        None => testkit::skipped("no server"),
    }
}

#[test]
fn the_servers_that_are_installed() {
    let builds = installed();
    if builds.is_empty() {
        eprintln!("skipped: no server is installed by backslide");
    }
    for build in builds {
        eprintln!("{}", build.id());
        all(&Server::start(&build));
    }
}

/// Everything, in a database of its own.
fn all(server: &Server) {
    let mut session = server.session("");
    session.execute("drop database if exists backslide_test").unwrap();
    session.execute("create database backslide_test").unwrap();
    // A password that is not remembered must let in over the socket.
    wire::passwords(server, &mut *session);
    let mut session = server.session("backslide_test");
    basics::says_who_it_is(&mut *session);
    basics::text_insert_and_range(&mut *session);
    basics::prepared_insert(&mut *session);
    basics::decimals(&mut *session);
    basics::every_kind_of_value(&mut *session);
    basics::columns_that_change(&mut *session);
    wire::known_columns(&mut *session);
    basics::errors_have_codes(server, &mut *session);
    basics::several_results(&mut *session);
    basics::long_messages(&mut *session);
    pipeline::many_ahead(&mut *session);
    pipeline::an_error_in_the_middle(&mut *session);
    pipeline::long_answers(&mut *session);
    load::every_escape(&mut *session);
    load::none_and_many(&mut *session);
    load::what_is_not_taken_as_it_is(&mut *session);
    load::refused(&mut *session);
    wire::compression(server);
    wire::tls(server);
    wire::tcp(server);
    basics::the_server_hangs_or_hangs_up(server);
    session.execute("drop database backslide_test").unwrap();
}
