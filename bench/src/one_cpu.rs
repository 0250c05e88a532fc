//! A server and its clients on one CPU: each client sends one statement after the other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::{Context, Result};
use drivers::{Param, ParamType};
use lab::Site;
use load::Target;
use model::{Dialect, System};

use crate::Scratch;

const ROWS: u64 = 10_000;

/// A server on the last CPU that may be used, with a table `t` of 10,000 rows: `id` from 0 on, `k`, and words in `c`.
pub struct OneCpu {
    /// What the plan says of it.
    pub system: System,
    /// The server.
    pub site: Box<dyn Site>,
    cpu: usize,
    _scratch: Scratch,
}

impl OneCpu {
    /// Starts this build and fills its table.
    pub fn start(build: &str) -> Result<Self> {
        let cpu = *probes::allowed().last().context("no CPU may be used")?;
        let scratch = Scratch::new()?;
        let (plan, site) = scratch.open(&format!(
            r#"
            name = "one-cpu"
            rounds = 1
            quarantine = false
            workload = {{ kind = "insert", scale = "tiny" }}
            [[system]]
            build = "{build}"
            config = "quick"
            cpus = {{ server = "{cpu}" }}
            "#
        ))?;
        let system = plan.systems.into_iter().next().context("no system")?;
        fill(&site.target())?;
        Ok(Self { system, site, cpu, _scratch: scratch })
    }

    /// A client beside it.
    pub fn client(&self) -> Client {
        Client { target: self.site.target(), cpu: self.cpu }
    }

    /// Ends the server and removes its files.
    pub fn stop(mut self) -> Result<()> {
        self.site.stop()?;
        Ok(self.site.remove()?)
    }
}

/// Sends statements from the server's CPU.
pub struct Client {
    target: Target,
    cpu: usize,
}

impl Client {
    /// Sends a statement, prepared, with one key after the other at its end, `first` before all others, until it is
    /// over; counts in `done`.
    pub fn send(
        &self,
        statement: &str,
        first: u64,
        done: &AtomicU64,
        is_over: &AtomicBool,
    ) -> Result<()> {
        probes::pin_self(&[self.cpu])?;
        let mut session = self.target.connector.connect()?;
        let place = if self.target.dialect == Dialect::Postgres { "$1" } else { "?" };
        let statement = session.prepare(&format!("{statement}{place}"), &[ParamType::Int])?;
        let mut id = first;
        while !is_over.load(Ordering::Relaxed) {
            id = (id + 7919) % ROWS;
            session.count_prepared(statement, &[Param::Int(id as i64)])?;
            done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn fill(target: &Target) -> Result<()> {
    let mut session = target.connector.connect()?;
    session.execute("CREATE TABLE t (id INT PRIMARY KEY, k INT, c CHAR(120))")?;
    for first in (0..ROWS).step_by(1000) {
        let rows: Vec<String> =
            (first..first + 1000).map(|id| format!("({id}, {id}, 'some words')")).collect();
        session.execute(&format!("INSERT INTO t VALUES {}", rows.join(", ")))?;
    }
    Ok(())
}
