//! `serve`: pages over HTTP, asked for as browsers, scripts and attackers do.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::thread;
use std::time::Duration;

use common::{Bench, end, plan, signal, wait_for};
use rustix::process::Signal;

/// A server that ends with its test.
struct Serving {
    child: Child,
    address: String,
    /// What follows the address: `/`, and a token.
    rest: String,
}

impl Serving {
    fn start(bench: &Bench, arguments: &[&str]) -> Self {
        let mut child = bench.start(&[&["serve", "--port", "0"], arguments].concat());
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap().to_owned();
        let (address, rest) = address.split_once('/').unwrap();
        Self { child, rest: format!("/{rest}"), address: address.replace("0.0.0.0", "127.0.0.1") }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream
    }

    /// Sends a request as it is; status line, headers and body of the answer.
    fn send(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn ask(&self, method: &str, path: &str, headers: &str) -> String {
        let host = &self.address;
        let fixed = "Connection: close\r\n";
        self.send(&format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{fixed}{headers}\r\n"))
    }

    fn get(&self, path: &str) -> String {
        self.ask("GET", path, "")
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

/// A lab with one run of two systems, one of which has markup in its name.
fn measured() -> Bench {
    let bench = Bench::new();
    let systems = [
        "build = \"sqlite\"\nconfig = \"wal\"",
        "build = \"sqlite\"\nconfig = \"rollback\"\nlabel = \"<i>slow & new\"",
    ];
    bench.write("plan.toml", &plan(common::WORKLOAD, 2, &systems));
    bench.run(&["run", "plan.toml"]).fine();
    bench
}

#[test]
fn pages_are_served_to_those_who_may_read_them() {
    let bench = measured();
    let serving = Serving::start(&bench, &[]);
    for (path, expected) in [
        ("/", "<a href=\"/runs/r1\">r1</a>"),
        ("/?plan=tiny&state=finished", "1 of 1 run"),
        ("/?plan=other", "0 of 1 run"),
        ("/runs/r1", "</html>"),
        ("/runs/1?brief=1", "</html>"),
        ("/runs/r1?base=%3Ci%3Eslow%20%26%20new", "Base: sqlite/wal"),
        ("/runs/r1/live", "The run is finished."),
        ("/compare", "Choose a base and a system"),
        ("/compare?base=r1/sqlite/wal&system=r1/%3Ci%3Eslow%20%26%20new", "Base: &lt;i&gt;slow"),
        ("/changes", "regression"),
        ("/controls", "0 of 0 control comparisons"),
        ("/builds", "postgres-"),
        ("/history?runs=r1", "</html>"),
        ("/history?plan=tiny&metric=server.cpu/o", ""),
        ("/metrics?run=r1", "# EOF"),
    ] {
        let answer = serving.get(path);
        let shown = answer.get(..400).unwrap_or(&answer);
        assert!(answer.contains(expected), "{path}: {shown}");
        let is_page = answer.contains("text/html");
        assert!(!is_page || !answer.contains("<i>slow"), "{path}: a name is not escaped");
    }
    // The page of `report`, with links to the others.
    let report = bench.run(&["report", "-o", "-"]).fine();
    // But for the minute in which it was made.
    let body = |text: &str| {
        let body = &text[text.find("<main>").unwrap()..text.find("<footer>").unwrap()];
        let (before, made) = body.split_once("<dt>report</dt>").unwrap();
        format!("{before}{}", made.split_once("</dd>").unwrap().1)
    };
    assert_eq!(body(&serving.get("/runs/r1")), body(&report));
    // What is not there, and what must not be done.
    for (path, code) in [
        ("/runs/r9", "404"),
        ("/nothing", "404"),
        ("/../../etc/passwd", "404"),
        ("/%2e%2e/lab.sqlite", "404"),
        ("/runs/r1?base=none", "400"),
        ("/compare?base=r1&system=r1/sqlite/wal", "400"),
        ("/compare?base=r1/sqlite/wal&system=r1/none", "400"),
        ("/compare?base=r1/sqlite/wal&system=r9/none", "404"),
        ("/runs/r9/events", "404"),
        ("/changes?runs=-1", "400"),
        ("/changes?runs=0", "400"),
    ] {
        let answer = serving.get(path);
        assert_eq!(status(&answer), code, "{path}: {answer}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let answer = serving.ask(method, "/", "");
        assert_eq!(status(&answer), "405", "{answer}");
        assert!(answer.to_lowercase().contains("allow: get, head"), "{answer}");
    }
    let head = serving.ask("HEAD", "/", "");
    assert!(status(&head) == "200" && !head.contains("<html"), "{head}");
    for host in ["Host: evil.example\r\n", "Host: 127.0.0.1.evil.example:80\r\n", ""] {
        let answer = serving.send(&format!("GET / HTTP/1.1\r\n{host}Connection: close\r\n\r\n"));
        assert!(["403", "400"].contains(&status(&answer)), "{host}: {answer}");
    }
    assert!(status(&serving.send("nonsense\r\n\r\n")) == "400");
}

#[test]
fn systems_of_two_runs_are_compared() {
    let bench = measured();
    let serving = Serving::start(&bench, &[]);
    // Another run, of the same builds: they tell by how much the days differ.
    bench.run(&["run", "plan.toml"]).fine();
    let slow = "%3Ci%3Eslow%20%26%20new";
    let answer = serving.get(&format!("/compare?base=r1/sqlite/wal&system=r2/{slow}"));
    assert!(answer.contains("r2/&lt;i&gt;slow &amp; new over r1/sqlite/wal"), "{answer}");
    assert!(answer.contains("<td") && answer.contains(" ["), "no ratio has an interval: {answer}");
    let same = serving.get("/compare?base=r1/sqlite/wal&system=r2/sqlite/wal");
    assert!(status(&same) == "400" && same.contains("the same build"), "{same}");
}

#[test]
fn an_address_for_others_needs_the_token() {
    let bench = measured();
    let serving = Serving::start(&bench, &["--address", "0.0.0.0", "--host", "lab.example"]);
    assert!(serving.rest.starts_with("/?token=") && serving.rest.len() > 40, "{}", serving.rest);
    assert_eq!(status(&serving.get("/")), "401");
    assert_eq!(status(&serving.get("/?token=wrong")), "401");
    let answer = serving.get(&serving.rest);
    assert_eq!(status(&answer), "303", "{answer}");
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(status(&serving.ask("GET", "/", &format!("Cookie: {cookie}\r\n"))), "200");
    let token = serving.rest.trim_start_matches("/?token=");
    let bearer = format!("Authorization: Bearer {token}\r\n");
    assert_eq!(status(&serving.ask("GET", "/runs/r1", &bearer)), "200");
    let request =
        format!("GET / HTTP/1.1\r\nHost: lab.example\r\nConnection: close\r\n{bearer}\r\n");
    assert_eq!(status(&serving.send(&request)), "200");
    let refused = bench.run(&["serve", "--token", "short"]);
    assert_eq!(refused.code(), 1, "{refused:?}");
}

#[test]
fn a_run_is_seen_while_it_is_measured_and_a_stuck_browser_does_not_hold_it_up() {
    let bench = measured();
    let serving = Serving::start(&bench, &[]);
    let running = bench.start(&["run", "plan.toml"]);
    wait_for("the second run", || serving.get("/").contains("/runs/r2").then_some(()));
    // One browser reads nothing, others look at once.
    let mut stuck = serving.connect();
    let request = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", serving.address);
    stuck.write_all(request("/runs/r2/events").as_bytes()).unwrap();
    thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| assert_eq!(status(&serving.get("/runs/r1")), "200"));
        }
    });
    let mut watching = serving.connect();
    watching.write_all(request("/runs/r2/events").as_bytes()).unwrap();
    let mut lines = BufReader::new(watching).lines().map(Result::unwrap);
    let events: Vec<String> = lines.by_ref().take_while(|line| line != "event: over").collect();
    let last = lines.next().unwrap();
    assert!(last.contains("The run is finished."), "{last}");
    assert!(events.iter().any(|line| line.contains("of 4 ended.")), "{events:?}");
    assert_eq!(end(running).code(), 0);
}

#[test]
fn a_port_in_use_and_a_lab_that_is_not_there_are_told() {
    let bench = measured();
    let serving = Serving::start(&bench, &[]);
    let (_, port) = serving.address.rsplit_once(':').unwrap();
    let second = bench.run(&["serve", "--port", port]);
    assert_eq!(second.code(), 1);
    assert!(second.stderr.contains("another port: --port"), "{}", second.stderr);
    let none = bench.run(&["--lab", "nowhere", "serve", "--port", "0"]);
    assert!(none.code() == 1 && none.stderr.contains("no lab in"), "{none:?}");
    signal(&serving.child, Signal::TERM);
    let mut serving = serving;
    assert!(!serving.child.wait().unwrap().success());
}
