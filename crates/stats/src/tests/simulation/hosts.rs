//! Runs merged from several hosts: are the verdicts as certain as they say, where hosts favour systems?

use model::{Host, HostRounds, Rng, RunData, Verdict};
use testkit::fixtures::{cell, empty_run};

use super::normal;
use crate::{Options, compare};

const STEPS: u32 = 12;

#[derive(Clone, Copy)]
struct Truth {
    hosts: u32,
    /// Rounds of each host.
    rounds: u32,
    /// How far the systems of a host are apart by the host alone: a standard deviation.
    host: f64,
    /// The part of that variance that all steps of a host share.
    shared: f64,
    /// The same of a round.
    round: f64,
    /// Effect of the candidate in every step.
    effect: f64,
}

/// Four hosts with four rounds each that favour systems by as much as a round does.
const USUAL: Truth =
    Truth { hosts: 4, rounds: 4, host: 0.01, shared: 0.5, round: 0.01, effect: 0.0 };

impl Truth {
    fn run(&self, rng: &mut Rng) -> RunData {
        let mut data = empty_run(&["a", "b"]);
        for host in 0..self.hosts {
            let rounds: Vec<u32> = (1..=self.rounds).map(|r| host * self.rounds + r).collect();
            let shared = self.shared.sqrt() * normal(rng);
            for step in 0..STEPS {
                let of_host = self.host * (shared + (1.0 - self.shared).sqrt() * normal(rng));
                for round in &rounds {
                    let log = self.effect + of_host + self.round * normal(rng);
                    let name = format!("s{step}");
                    data.cells.push(cell(*round, "a", &name, "rate", 1000.0));
                    data.cells.push(cell(*round, "b", &name, "rate", 1000.0 * log.exp()));
                }
            }
            let host = Host { name: format!("n{host}"), ..Host::default() };
            data.info.hosts.push(HostRounds { host, rounds });
        }
        data
    }
}

/// What is found in simulated runs.
#[derive(Default)]
struct Found {
    /// Share of runs in which a step is called regressed.
    regressed: f64,
    /// Share of steps called regressed.
    steps: f64,
    /// Share of intervals that cover the truth.
    covered: f64,
}

/// `by_host`: with the hosts of the rounds, as `compare` does it, or as if there were one.
fn simulate(truth: Truth, by_host: bool, runs: u32) -> Found {
    let mut rng = Rng::new(5);
    let mut found = Found::default();
    for _ in 0..runs {
        let mut data = truth.run(&mut rng);
        if !by_host {
            data.info.hosts.clear();
        }
        let compared = compare(&data, &Options::default()).unwrap();
        let regressed = compared.iter().filter(|c| c.verdict == Verdict::Regressed).count();
        let covers = |low: f64, high: f64| (low..=high).contains(&truth.effect.exp());
        let covered = compared.iter().filter(|c| covers(c.low.unwrap(), c.high.unwrap())).count();
        found.regressed += f64::from(u8::from(regressed > 0)) / f64::from(runs);
        found.steps += regressed as f64 / f64::from(runs * STEPS);
        found.covered += covered as f64 / f64::from(runs * STEPS);
    }
    eprintln!(
        "{} hosts × {} rounds, sd of hosts {} % ({} shared), by {}: {:.4} of runs and {:.4} of steps regressed, {:.4} covered",
        truth.hosts,
        truth.rounds,
        100.0 * truth.host,
        truth.shared,
        if by_host { "host" } else { "round" },
        found.regressed,
        found.steps,
        found.covered,
    );
    found
}

#[test]
fn hosts_that_favour_systems_raise_no_false_alarms() {
    for hosts in [3, 4, 8] {
        let truth = Truth { hosts, host: 0.03, shared: 1.0, ..USUAL };
        assert!(simulate(truth, true, 300).regressed <= 0.02);
        // As if one host had measured all rounds, they would.
        assert!(simulate(truth, false, 300).regressed > 0.05);
    }
}

#[test]
fn the_interval_is_that_of_all_hosts_like_these() {
    for (hosts, host, shared) in
        [(3, 0.01, 0.5), (8, 0.01, 0.5), (3, 0.03, 1.0), (4, 0.03, 1.0), (4, 0.0, 0.5)]
    {
        let truth = Truth { hosts, host, shared, effect: 0.05, ..USUAL };
        let covered = simulate(truth, true, 600).covered;
        assert!((0.93..0.97).contains(&covered), "{covered}");
    }
}

#[test]
fn where_hosts_do_not_matter_few_of_them_find_less() {
    let found = |hosts, by_host| {
        let truth = Truth { hosts, rounds: 16 / hosts, host: 0.0, effect: -0.03, ..USUAL };
        simulate(truth, by_host, 200).steps
    };
    assert!(found(4, false) > 0.95);
    assert!(found(8, true) > 0.95);
    assert!(found(4, true) > 0.8);
}

#[test]
fn two_hosts_are_judged_by_round() {
    let truth = Truth { hosts: 2, rounds: 8, ..USUAL };
    let (by_host, by_round) = (simulate(truth, true, 50), simulate(truth, false, 50));
    assert!((by_host.covered - by_round.covered).abs() < 1e-12);
}
