//! Tries a build: does it start here, keep its rows, and stop cleanly?

use std::time::{Duration, Instant};

use load::Stop;
use model::{Nanos, System};

use crate::directory::{Claim, TRYOUT};
use crate::kept;
use crate::own::Own;
use crate::site::{Result, Site, SiteError};

/// Rows that a build must keep over a restart.
pub const TRYOUT_ROWS: u64 = 10_000;
const ROWS_PER_STATEMENT: u64 = 1_000;
const TIMEOUT: Duration = Duration::from_mins(1);
const TABLE: &str = "tryout";

#[derive(Clone, Debug)]
pub struct Tryout {
    pub server_version: String,
    pub init: Nanos,
    pub start: Nanos,
    /// Inserting [`TRYOUT_ROWS`] rows and reading them back.
    pub load: Nanos,
    pub stop: Nanos,
    pub restart: Nanos,
}

/// Starts the system, inserts [`TRYOUT_ROWS`] rows, restarts it, checks every row and removes it. Of what fails, the
/// log and cores are kept; the error says where.
pub fn try_out(system: &System, claim: &Claim) -> Result<Tryout> {
    let (name, directory) = claim.instance(TRYOUT, "");
    let begin = Instant::now();
    let opened = Own::open(system, &directory, TIMEOUT, &Stop::default(), None);
    let mut own = opened.map_err(|error| kept::settle(error, &claim.logs, &name))?;
    let opened = Nanos::from(begin.elapsed());
    let result = exercise(&mut own, system, opened);
    kept::end_after(Box::new(own), &claim.logs, &name, result)
}

fn exercise(own: &mut Own, system: &System, opened: Nanos) -> Result<Tryout> {
    let start = own.started_in;
    let begin = Instant::now();
    insert(own, system)?;
    check(own)?;
    let load = begin.elapsed().into();
    let (stop, restart) = own.restart()?;
    check(own)?;
    Ok(Tryout {
        server_version: own.sessions.info.server_version.clone(),
        init: Nanos(opened.0.saturating_sub(start.0)),
        start,
        load,
        stop,
        restart,
    })
}

/// `k` of row `id`: any number that its place in the table does not tell.
const fn key(id: u64) -> u64 {
    (id * 7_919) % 5_003
}

fn insert(own: &Own, system: &System) -> Result<()> {
    let engine = system.engine.ddl_name().map_or(String::new(), |name| format!(" ENGINE = {name}"));
    let mut statements = vec![
        format!(
            "CREATE TABLE {TABLE} (id INT PRIMARY KEY, k INT NOT NULL, c VARCHAR(120) NOT NULL){engine}"
        ),
        format!("CREATE INDEX k ON {TABLE} (k)"),
    ];
    for first in (1..=TRYOUT_ROWS).step_by(ROWS_PER_STATEMENT as usize) {
        let rows: Vec<String> = (first..first + ROWS_PER_STATEMENT)
            .map(|id| format!("({id}, {}, '{id:0>100}')", key(id)))
            .collect();
        statements.push(format!("INSERT INTO {TABLE} VALUES {}", rows.join(", ")));
    }
    let mut session = own.target().connector.connect().map_err(failed(own))?;
    for statement in &statements {
        session.execute(statement).map_err(failed(own))?;
    }
    Ok(())
}

/// Every row by count, sum and one range over the index.
fn check(own: &Own) -> Result<()> {
    let sum: u64 = (1..=TRYOUT_ROWS).map(key).sum();
    let range = (1..=TRYOUT_ROWS).filter(|id| (100..=200).contains(&key(*id)));
    let range = range.count();
    let expected = format!("{TRYOUT_ROWS} {sum} {range}");
    let sql = format!(
        "SELECT COUNT(*), SUM(k), (SELECT COUNT(*) FROM {TABLE} WHERE k BETWEEN 100 AND 200) \
         FROM {TABLE}"
    );
    let mut found = String::new();
    let mut session = own.target().connector.connect().map_err(failed(own))?;
    session
        .query(&sql, &mut |row| {
            let values = (0..row.len()).map(|i| row.value(i).to_text().unwrap_or_default());
            found = values.collect::<Vec<_>>().join(" ");
        })
        .map_err(failed(own))?;
    if found == expected {
        return Ok(());
    }
    let reason =
        format!("rows, sum of keys and rows of a range: expected {expected}, found {found}");
    Err(SiteError::with_log(reason, own.log_tail()))
}

fn failed(own: &Own) -> impl Fn(drivers::SessionError) -> SiteError + '_ {
    |error| SiteError::with_log(error.to_string(), own.log_tail())
}
