//! The crash check: a system is killed with SIGKILL under load, started again on the same data, and all
//! that it had acknowledged is looked for.
//!
//! [`CrashCheck::begin`] makes the system ready and loads a small TPC-C-like database. Then, as often as is
//! wanted: [`CrashCheck::kill`], [`CrashCheck::recover`], [`CrashCheck::verify`]. [`CrashCheck::end`] removes
//! it. Terminals run in this process, which outlives the server; those of SQLite, which has no server, in
//! a process of their own, which is killed instead ([`run_terminals`]).
//!
//! SIGKILL takes from a server what it held itself. What it had given to the kernel is kept, so nothing
//! here tells what a crash of the machine would leave.

mod child;
mod victim;

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use load::{Blind, StepError, Stop, Target};
use model::{
    Check, ErrorRules, LoadSpec, Nanos, Rng, Settle, System, TpccCardinality, TpccSpec, mix,
};
use workloads::{LoggedRun, Present, Survived};

pub use self::child::run_terminals;
use self::victim::{BEGIN_LIMIT, Victim};
use crate::capacity;
use crate::directory::{CRASHED, Claim};
use crate::kept::{self, Ending, Kept};
use crate::site::{Result, SiteError};
use crate::variables::Told;

/// Nothing is killed earlier after the first commit.
pub const LEAST_LOAD: Duration = Duration::from_secs(1);
/// The log of the acknowledged commits, in the directory of the instance.
const LOG: &str = "acknowledged.log";

#[derive(Clone, Copy)]
pub struct CrashSpec<'a> {
    pub system: &'a System,
    /// What it is loaded with, and what its terminals do: [`crash_workload`].
    pub workload: &'a TpccSpec,
    pub seed: u64,
    /// The kill comes at a random moment so long after the first commit, and no earlier than [`LEAST_LOAD`].
    pub within: Duration,
    /// Makes a command that calls [`run_terminals`] with its standard input.
    pub terminals: &'a dyn Fn() -> Command,
}

pub struct CrashCheck<'a> {
    spec: CrashSpec<'a>,
    claim: &'a Claim,
    name: String,
    victim: Box<dyn Victim>,
    log: PathBuf,
}

#[derive(Debug)]
pub struct Killed {
    /// Which time it was, from 1.
    round: u32,
    /// What was there before its terminals began.
    before: Present,
    after: Nanos,
    /// When its last process had ended, on the clock of [`load::monotonic`].
    at: Nanos,
}

#[derive(Clone, Debug)]
pub struct Crash {
    pub round: u32,
    pub after: Nanos,
    /// From the start until the system answered again.
    pub recovery: Nanos,
    pub survived: Survived,
    /// How long before the kill the oldest of the missing commits was acknowledged.
    pub oldest: Option<Nanos>,
    pub conditions: Vec<Check>,
}

impl Crash {
    pub fn broken(&self) -> impl Iterator<Item = &Check> {
        self.conditions.iter().filter(|condition| !condition.holds)
    }
}

impl<'a> CrashCheck<'a> {
    /// Makes the system ready and loads its database. Of what fails, the log and cores are kept, as the error says.
    pub fn begin(spec: CrashSpec<'a>, claim: &'a Claim, stop: &Stop) -> Result<Self> {
        let timeout = spec.workload.statement_timeout();
        capacity::raise_limits(&spec.workload.trial_steps(), &[spec.system], false)?;
        let (name, directory) = claim.instance(CRASHED, "");
        let opened = victim::open(spec.system, &directory, timeout, stop);
        let victim = opened.map_err(|error| kept::settle(error, &claim.logs, &name))?;
        let check = Self { log: directory.join(LOG), spec, claim, name, victim };
        match load_database(spec.workload, spec.seed, &check.target(), stop) {
            Ok(()) => Ok(check),
            Err(error) => {
                let error = check.step_failed(&error);
                kept::end_after(check.victim, &claim.logs, &check.name, Err(error))
            }
        }
    }

    pub fn told(&mut self) -> Told {
        let (captures, missing) = self.victim.captures();
        Told { captures, provenance: self.victim.provenance(), missing }
    }

    pub fn target(&self) -> Target {
        self.victim.target()
    }

    /// Runs terminals and kills the system under them, for the `round`-th time.
    pub fn kill(&mut self, round: u32, stop: &Stop) -> Result<Killed> {
        let before = Present::read(&self.target()).map_err(|error| self.step_failed(&error))?;
        match fs::remove_file(&self.log) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let log = self.log.display();
                return Err(SiteError::new(format!("cannot remove {log}: {error}")));
            }
            Ok(()) | Err(_) => {}
        }
        let after = self.moment(round);
        let CrashSpec { workload, seed, .. } = self.spec;
        let run = LoggedRun {
            spec: workload,
            number: round,
            seed: mix(seed, &[u64::from(round)]),
            rows_seed: seed,
            log: &self.log,
        };
        let at = self.victim.kill(self.spec.terminals, &run, after, stop)?;
        Ok(Killed { round, before, after: after.into(), at })
    }

    /// Starts the system again on the data that the kill left; how long it took until it answered.
    pub fn recover(&mut self) -> Result<Nanos> {
        self.victim.recover(self.spec.workload.statement_timeout())
    }

    /// Looks for all that was acknowledged, and proves the conditions.
    pub fn verify(&self, killed: Killed, recovery: Nanos, stop: &Stop) -> Result<Crash> {
        let target = self.target();
        let CrashSpec { workload, seed, .. } = self.spec;
        let survived = workloads::survived(&self.log, killed.before, &target)
            .map_err(|error| self.step_failed(&error))?;
        let conditions = workloads::check_conditions(workload, seed, &target, stop)
            .map_err(|error| self.step_failed(&error))?;
        Ok(Crash {
            round: killed.round,
            after: killed.after,
            recovery,
            oldest: survived.oldest.map(|at| killed.at.saturating_sub(at)),
            survived,
            conditions,
        })
    }

    /// Ends the system and removes it. `found` is what is wrong with it, if anything is: then its whole log,
    /// cores and the log of the acknowledged commits are kept, and `found` is returned with their places.
    pub fn end(self, found: Option<String>) -> Result<Option<String>> {
        let (logs, name) = (&self.claim.logs, &self.name);
        let commits = if found.is_some() && self.log.is_file() {
            Kept::of(logs, name, std::slice::from_ref(&self.log))
        } else {
            Kept::default()
        };
        let Ending { trouble, kept, .. } = kept::end(self.victim, logs, name, found.is_some());
        match (found, trouble) {
            (None, None) => Ok(None),
            (None, Some(error)) => Err(SiteError { reason: kept.told_in(&error.reason), ..error }),
            (Some(found), trouble) => {
                let text = match trouble {
                    Some(error) => format!("{found}; {}", error.reason),
                    None => found,
                };
                Ok(Some(kept.told_in(&commits.told_in(&text))))
            }
        }
    }

    fn moment(&self, round: u32) -> Duration {
        const SALT: u64 = u32::from_be_bytes(*b"kill") as u64;
        let mut rng = Rng::new(mix(self.spec.seed, &[SALT, u64::from(round)]));
        let span = Nanos::from(self.spec.within.saturating_sub(LEAST_LOAD));
        LEAST_LOAD + Duration::from_nanos(rng.below(span.0.max(1)))
    }

    fn step_failed(&self, error: &StepError) -> SiteError {
        SiteError::with_log(error.to_string(), self.victim.log_tail())
    }
}

/// Sessions that load, and that prove the conditions.
const LOADERS: u32 = 2;
/// How much longer terminals could go on than until the latest kill: what killing takes at the most.
const SPARE: Duration = Duration::from_mins(1);

/// The workload of a crash check: the standard's transactions without waits, killed `within` that time after the
/// first commit. A lost connection ends it.
pub fn crash_workload(
    warehouses: u32,
    clients: u32,
    within: Duration,
    cardinality: TpccCardinality,
) -> TpccSpec {
    let longest = (BEGIN_LIMIT + within + SPARE).as_secs();
    let load = LoadSpec { indexes_first: true, ..LoadSpec::usual(LOADERS) };
    let usual = TpccSpec::usual(warehouses, load).with_few_indexes();
    TpccSpec {
        cardinality,
        settle: Settle::Seconds(0),
        clients,
        steps: 1,
        seconds: u32::try_from(longest).unwrap_or(u32::MAX),
        warmup_seconds: 0,
        errors: ErrorRules { tries: 10_000, ..ErrorRules::usual() },
        ..usual
    }
}

/// Loads the database and proves what was loaded; the error says what is wrong.
fn load_database(
    spec: &TpccSpec,
    seed: u64,
    target: &Target,
    stop: &Stop,
) -> Result<(), StepError> {
    let mut workload = workloads::workload(&spec.clone().into(), seed);
    for step in spec.trial_steps().iter().filter(|step| step.loads) {
        let result = workload.run(step.ordinal as usize, target, stop, &mut Blind)?;
        if let Some(wrong) = result.checks.iter().find(|check| !check.holds) {
            return Err(StepError::Load(format!(
                "wrong after the load: {}: expected {}, found {}",
                wrong.what, wrong.expected, wrong.actual
            )));
        }
    }
    Ok(())
}
