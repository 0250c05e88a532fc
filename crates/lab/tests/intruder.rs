//! Another user of this host tries to log in to servers on TCP while they are made and started.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::{Bench, every_server, expand_with};
use drivers::{Address, Endpoint, Login, ServerEndpoint, SessionError};
use lab::{Builds, Provider, Providers};
use model::Dialect;

/// Threads that try at the same time.
const INTRUDERS: usize = 2;
/// The longest wait for one attempt.
const LIMIT: Duration = Duration::from_secs(5);

/// The ports that children of this process were told to listen on, as their command lines tell everybody.
fn ports() -> Vec<u16> {
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let told = processes.filter_map(|process| {
        let stat = fs::read_to_string(process.path().join("stat")).ok()?;
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?;
        let line = fs::read_to_string(process.path().join("cmdline")).ok()?;
        let mut words = line.split('\0');
        let port = words.find_map(|word| {
            let word = word.strip_prefix("--").unwrap_or(word);
            word.strip_prefix("port=")?.parse().ok()
        })?;
        (parent == own).then_some(port)
    });
    told.collect()
}

/// The intruders' results.
#[derive(Debug, Default)]
struct Met {
    refused: u64,
    got_in: Vec<String>,
}

/// Tries every account that could be without a password, again and again.
fn intrude(dialect: Dialect, is_over: &AtomicBool) -> Met {
    let users: &[&str] = match dialect {
        Dialect::Mysql => &["root", "", "backslide"],
        Dialect::Postgres | Dialect::Sqlite => &["postgres"],
    };
    let mut met = Met::default();
    while !is_over.load(Ordering::Relaxed) {
        for port in ports() {
            for user in users {
                match attempt(dialect, user, port) {
                    Ok(()) => met.got_in.push(format!("`{user}`@127.0.0.1:{port}")),
                    Err(SessionError::Login { .. }) => met.refused += 1,
                    // Nobody listens there yet, or any more.
                    Err(_) => {}
                }
            }
        }
    }
    met
}

fn attempt(dialect: Dialect, user: &str, port: u16) -> Result<(), SessionError> {
    let host = "127.0.0.1".to_owned();
    let login = Login {
        user: user.to_owned(),
        password: String::new(),
        database: match dialect {
            Dialect::Mysql => String::new(),
            Dialect::Postgres | Dialect::Sqlite => "postgres".to_owned(),
        },
    };
    let server = ServerEndpoint::plain(Address::Tcp { host, port }, login, LIMIT);
    let endpoint = match dialect {
        Dialect::Mysql => Endpoint::Mysql(server),
        Dialect::Postgres | Dialect::Sqlite => Endpoint::Postgres(server),
    };
    drivers::connector(&endpoint).connect().map(drop)
}

#[test]
fn nobody_logs_in_over_tcp_without_a_password_while_a_server_is_made_and_started() {
    let builds = Builds::of_user().unwrap();
    let servers = every_server(&builds);
    if servers.is_empty() {
        testkit::skipped("no server");
    }
    for build in servers {
        let plan = expand_with(
            &builds,
            &format!(
                "name = \"t\"\nworkload = {{ kind = \"insert\", scale = \"tiny\" }}\nrounds = 1\n\
                 [[system]]\nbuild = \"{}\"\nconnection = {{ transport = \"tcp\" }}",
                build.id()
            ),
        );
        let bench = Bench::new();
        let is_over = AtomicBool::new(false);
        let dialect = build.dbms.dialect();
        let provider = Providers::default();
        let directory = bench.lab.instances().join("x");
        let (opened, met) = thread::scope(|scope| {
            let begin = || scope.spawn(|| intrude(dialect, &is_over));
            let intruders: Vec<_> = (0..INTRUDERS).map(|_| begin()).collect();
            let opened =
                provider.open(&plan.systems[0], plan.statement_timeout(), &directory, None);
            // Before it stops: MySQL 5.7.22 may never end while clients keep knocking.
            is_over.store(true, Ordering::Relaxed);
            let met: Vec<Met> = intruders.into_iter().map(|i| i.join().unwrap()).collect();
            (opened, met)
        });
        let refused: u64 = met.iter().map(|met| met.refused).sum();
        let got_in: Vec<&String> = met.iter().flat_map(|met| &met.got_in).collect();
        eprintln!("{}: {refused} refused, {} got in", build.id(), got_in.len());
        assert!(got_in.is_empty(), "{}: {got_in:?}", build.id());
        let mut site = opened.map_err(|error| error.with_lines()).unwrap();
        site.stop().unwrap();
        site.remove().unwrap();
        assert!(refused > 0, "{}: nobody knocked in time", build.id());
    }
}
