//! One step of a trial: what is read before and after it, what is watched meanwhile, its record.

use std::ops::ControlFlow;

use drivers::Session;
use load::{Observer, Quota, StepError, Stop, Workload};
use model::{Event, Moment, Nanos, Note, NoteKind, Program, Step, StepClass, StepRecord, System};
use probes::{Detail, Probe, Watch};
use profiles::{Counter, Sampler, Target, Watcher};

use super::trial::{Broken, Conductor, Halt, OpenSite, Result, clients_here, failed, place_client};
use crate::disturbance;
use crate::observer::{Profiled, Spent, StepObserver};
use crate::site::{Site, Watched};
use crate::template::Figure;

/// Why a step failed whose clients have not said so themselves; how the server ended is told after it.
const DIED: &str = "the server's process has ended";

/// What each client does in a window of a counted round, and before it to warm up; at most so long, for operations that
/// read a whole table. Reads are all alike. Of writes it is as many as are done in time on a busy host too: an operation
/// costs more, the more versions of rows those before it have left.
const fn quota(class: StepClass) -> Quota {
    let (operations, warm_up) = match class {
        StepClass::Reading => (300, 3_000),
        StepClass::Writing | StepClass::Loading => (1_000, 1_000),
    };
    Quota { operations, warm_up, at_most: Nanos::from_secs(8) }
}

/// What only threads of clients call while an embedded system is counted; the store's SQLite is used by other ways.
const EMBEDDED: [&str; 2] = [
    "<drivers::sqlite::SqliteSession as drivers::session::Session>::execute_prepared",
    "<drivers::sqlite::SqliteSession as drivers::session::Session>::query",
];

/// Notes of a step that are said at once: its numbers are not what the plan asked for.
const SAID_AT_ONCE: [NoteKind; 11] = [
    NoteKind::CutShort,
    NoteKind::Settle,
    NoteKind::NotDrained,
    NoteKind::NotSteady,
    NoteKind::RateNotSustained,
    NoteKind::LimitNotKept,
    NoteKind::CutOff,
    NoteKind::ConnectionsLost,
    NoteKind::RowsNotCounted,
    NoteKind::SentAsText,
    NoteKind::NoRowsFound,
];

impl Conductor<'_> {
    /// Runs one step, with its stacks sampled where that is asked for; what it came to, if it is a result.
    pub(super) fn step(
        &mut self,
        workload: &mut dyn Workload,
        step: &Step,
        open: &mut OpenSite,
    ) -> Result<Option<Figure>> {
        self.begin_step(step, open)?;
        let target = open.site.target();
        let mut probes = self.probes(&*open.site);
        let is_watched = open.is_profiled && step.measured;
        let mut watcher = is_watched.then(|| self.watcher(step, open)).transpose()?;
        let quota = open.counts_in.is_some().then(|| quota(step.class));
        let _beside = if is_watched { self.beside_counting(step, open, &target)? } else { None };
        let (result, spent) = self.observe(step, &mut probes, &*open.site, |stop, observer| {
            let mut observer = Profiled { observer, watcher: watcher.as_mut() };
            workload.run(step.ordinal as usize, &target, &stop.with_quota(quota), &mut observer)
        })?;
        if let Some(watcher) = watcher {
            let profiles = watcher.finish();
            let profiles =
                profiles.map_err(|error| failed(Some(step), error.to_string(), Vec::new()))?;
            for profile in profiles {
                self.emit(&Event::Profiled { profile: Box::new(profile) })?;
            }
        }
        self.end_step(step, result, spent, open)
    }

    /// The session that stays open while instructions are counted, where the product needs one.
    fn beside_counting(
        &self,
        step: &Step,
        open: &OpenSite,
        target: &load::Target,
    ) -> Result<Option<Box<dyn Session>>> {
        let program = self.program(open).filter(|_| open.counts_in.is_some());
        let statement = program.map_or("", |program| &program.while_counted);
        if statement.is_empty() {
            return Ok(None);
        }
        let opened = target.connector.connect().and_then(|mut session| {
            session.execute(statement)?;
            Ok(session)
        });
        opened.map(Some).map_err(|error| {
            failed(Some(step), format!("{statement}: {error}"), open.site.log_tail())
        })
    }

    fn program(&self, open: &OpenSite) -> Option<&Program> {
        self.plan.system(&open.system).map(|system| &system.build.dbms.product().program)
    }

    /// Begins to count, or to sample, on any CPU that this process may use: those of the clients are for them.
    fn watcher(&self, step: &Step, open: &OpenSite) -> Result<Watcher> {
        let system = self.plan.system(&open.system);
        let program = self.program(open);
        let serving = program.map_or(&[][..], |program| &program.serving);
        if let Some(directory) = &open.counts_in {
            let clients = EMBEDDED.map(str::to_owned);
            let serving = if open.site.pid().is_some() { serving } else { &clients[..] };
            let spinning = program.map_or(&[][..], |program| &program.spinning);
            return Ok(Watcher::Counter(Counter::new(directory, serving, spinning)));
        }
        let place = |cpus: fn(&System) -> &str| {
            system.map_or(Ok(()), |system| place_client(system, cpus(system)))
        };
        place(|_| "")?;
        let started = Sampler::start(&stacks_of(&*open.site), serving);
        place(clients_here)?;
        let started = started.map(Watcher::Sampler);
        started.map_err(|error| failed(Some(step), error.to_string(), Vec::new()))
    }

    pub(super) fn begin_step(&mut self, step: &Step, open: &mut OpenSite) -> Result<()> {
        self.capture(open, step, Moment::Before)?;
        self.emit(&Event::StepStarted { step: Box::new(step.clone()) })?;
        Ok(())
    }

    /// Does `work` under the eyes of an observer, who tells of its intervals; what the probes saw of it.
    fn observe<T>(
        &mut self,
        step: &Step,
        probes: &mut [Box<dyn Probe>],
        site: &dyn Site,
        work: impl FnOnce(&Stop, &mut dyn Observer) -> Result<T, StepError>,
    ) -> Result<(T, Spent)> {
        let stop = self.stop;
        let mut emit = |event: Event| match self.emit(&event) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.store_failure = Some(error);
                ControlFlow::Break(())
            }
        };
        let has_died = || site.has_died();
        let mut observer = StepObserver::new(probes, step, Detail::Second, &has_died, &mut emit);
        let result = work(stop, &mut observer);
        let spent = observer.into_spent();
        if let Some(error) = self.store_failure.take() {
            return Err(error.into());
        }
        Ok((self.ended(step, result, site)?, spent))
    }

    /// What the work of a step came to, on a server that may have ended meanwhile.
    pub(super) fn ended<T>(
        &self,
        step: &Step,
        result: Result<T, StepError>,
        site: &dyn Site,
    ) -> Result<T> {
        let result = result.map_err(|error| self.broken(step, &error, site))?;
        if site.has_died() {
            self.unless_stopped()?;
            return Err(failed(Some(step), DIED.to_owned(), site.log_tail()));
        }
        Ok(result)
    }

    /// Tells that a step is over, and what it came to, if it is a result; fails where answers were wrong.
    pub(super) fn end_step(
        &mut self,
        step: &Step,
        result: StepRecord,
        spent: Spent,
        open: &mut OpenSite,
    ) -> Result<Option<Figure>> {
        let is_there = open.site.check();
        is_there.map_err(|error| failed(Some(step), error.reason, error.log_tail))?;
        for text in spent.failures {
            self.warn(format!("{}: {text}", step.id))?;
        }
        let mut counters = spent.counters;
        counters.add_beside(&result.counters);
        let drift = result.timed.then(|| spent.stretches.drift());
        let mut record = result.of_step(step);
        record.drift = drift.flatten();
        record.counters = disturbance::with_foreign(counters, &*open.site);
        record.sizes = open.site.sizes();
        record.before = std::mem::replace(&mut open.sizes, record.sizes);
        let limits = self.plan.course.quarantine;
        let disturbed = limits.and_then(|limits| disturbance::of_step(&record, &limits));
        open.disturbed.extend(disturbed);
        let wrong = wrong(&record);
        for Note { what, text } in &record.notes {
            if SAID_AT_ONCE.contains(what) {
                let is_of_itself = what.word() == step.id.0;
                let of = if is_of_itself { String::new() } else { format!("{}: ", step.id) };
                self.warn(format!("{of}{what}: {text}"))?;
            }
        }
        let figure = Figure::of(&record);
        self.emit(&Event::StepFinished { record: Box::new(record) })?;
        self.capture(open, step, Moment::After)?;
        if !wrong.is_empty() {
            let reason = format!("wrong answers: {}", wrong.join("; "));
            return Err(failed(Some(step), reason, open.site.log_tail()));
        }
        Ok(figure)
    }

    pub(super) fn probes(&self, site: &dyn Site) -> Vec<Box<dyn Probe>> {
        let mut probes = probes::all(&Watch { server: site.pid(), ..self.host_of(site) });
        probes.extend(site.probes());
        probes
    }

    pub(super) fn host_of(&self, site: &dyn Site) -> Watch {
        let watched = site.watched();
        Watch {
            server: None,
            host: watched != Watched::Nothing,
            device: self.device.clone().filter(|_| watched == Watched::HostAndDisk),
            is_elsewhere: false,
        }
    }

    pub(super) fn broken(&self, step: &Step, error: &StepError, site: &dyn Site) -> Broken {
        // A stop that was asked for makes other errors too: servers get the terminal's signals as well.
        if self.stop.is_asked() {
            return Halt::Interrupted.into();
        }
        let reason = match error {
            // Nobody asked to stop: it was given up because there is no server any more.
            StepError::Interrupted if site.has_died() => DIED.to_owned(),
            error => error.to_string(),
        };
        let log = site.log_tail();
        let reason = match servers::killed_backend(&log) {
            Some(killed) => format!("{reason}; {killed}"),
            None => reason,
        };
        failed(Some(step), reason, log)
    }

    fn capture(&mut self, open: &mut OpenSite, step: &Step, moment: Moment) -> Result<()> {
        let captures = match (moment, open.captured.take()) {
            // Nothing has happened since the step before this one ended.
            (Moment::Before, Some(captures)) => captures,
            (Moment::Before | Moment::After, _) => {
                let (captures, failures) = open.site.captures();
                let is_whole = failures.is_empty();
                // What cannot be taken fails at every step of every trial.
                for text in failures {
                    if self.told.insert(text.clone()) {
                        self.warn(text)?;
                    }
                }
                if is_whole && moment == Moment::After {
                    open.captured = Some(captures.clone());
                }
                captures
            }
        };
        for capture in captures {
            let step = step.id.clone();
            self.emit(&Event::Captured { step, moment, capture })?;
        }
        Ok(())
    }
}

/// The processes of a server; of an embedded system this thread, which starts its clients.
fn stacks_of(site: &dyn Site) -> Target {
    let processes = site.pid().map(|pid| probes::processes(pid).unwrap_or_default());
    processes.map_or(Target::OwnThreads, Target::Processes)
}

/// What was wrong in a step: the first wrong answer with its statement, and each check that does not hold.
fn wrong(record: &StepRecord) -> Vec<String> {
    let failed = record.checks.iter().filter(|check| !check.holds);
    let mut wrong: Vec<String> = failed
        .map(|c| format!("{}: expected {}, found {}", c.what, c.expected, c.actual))
        .collect();
    let first = record.notes.iter().find(|note| note.what == NoteKind::WrongAnswer);
    if let (Some(note), false) = (first, wrong.is_empty()) {
        wrong.insert(0, note.text.clone());
    }
    wrong
}
