//! One system's side of a step in turns: a thread that carries it out, and what that tells.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use load::{Observer, StepError, Stop, Target, Turns, Workload};
use model::{Edge, Event, Interval, Step, StepRecord, System};
use probes::{Detail, Probe};

use super::gap::Gap;
use super::values::Values;
use crate::LabError;
use crate::conductor::trial::{Due, OpenSite, place_client};
use crate::observer::{Spent, StepObserver, read_backwards};
use crate::site::SiteError;

pub(super) enum Told {
    /// It waits before its window, or after it.
    Waits(Edge),
    Event(Event),
    Done(Box<Done>),
}

pub(super) struct Done {
    pub(super) result: Result<StepRecord, StepError>,
    pub(super) spent: Spent,
}

pub(super) struct Side<'p> {
    pub(super) place: usize,
    pub(super) due: &'p Due,
    pub(super) open: &'p mut OpenSite,
    pub(super) stop: Stop,
    pub(super) told: Receiver<Told>,
    pub(super) gap: Gap,
    /// What the gaps are read with.
    pub(super) host: Vec<Box<dyn Probe>>,
    pub(super) values: Values,
    /// Does it wait for the others, before its window or after it?
    pub(super) waits: bool,
    /// Is its window closed, and its clients gone? It may have something left to check.
    pub(super) has_closed: bool,
    pub(super) done: Option<Done>,
    /// Why it could not be frozen or thawed.
    pub(super) lost: Option<String>,
}

impl Side<'_> {
    pub(super) fn turns(&self) -> &Turns {
        self.stop.turns()
    }

    /// Does it have something left to do that it may do now?
    pub(super) const fn plays(&self) -> bool {
        self.done.is_none() && !self.waits
    }

    /// Is its window still to come, or open?
    pub(super) const fn measures(&self) -> bool {
        self.done.is_none() && !self.has_closed
    }

    /// Its turn is over, or has not begun.
    pub(super) fn begin_gap(&mut self) {
        self.gap.begin(probes::read_all(&mut self.host, Detail::Edge));
    }

    /// Ends a turn. Clock and counters stop as soon as the kernel is told: its threads may stand still a while later.
    pub(super) fn freeze(&mut self) -> Result<(), SiteError> {
        let Self { open, stop, gap, host, .. } = self;
        open.site.freeze(&mut || {
            stop.turns().end(Duration::ZERO);
            gap.begin(probes::read_all(host, Detail::Edge));
        })
    }

    /// Its next turn begins. Our CPU time is read first when a gap begins and last when it ends: reading adds little.
    pub(super) fn end_gap(&mut self) {
        self.gap.end(read_backwards(&mut self.host));
    }

    /// Asks it to stop, and lets it run until it has: a frozen system cannot be ended.
    pub(super) fn abandon(&mut self) {
        self.stop.ask();
        self.release();
    }

    /// Lets it work on without turns, to its end if it is asked to stop.
    pub(super) fn release(&mut self) {
        self.end_gap();
        // As at a turn: its clock goes while any of its threads may.
        self.turns().release();
        if let Err(error) = self.open.site.thaw() {
            self.stop.ask();
            self.give_up(error.reason);
        }
    }

    /// Ends a server that cannot be frozen or thawed, so that no client waits for it.
    pub(super) fn give_up(&mut self, why: String) {
        let more = match self.lost.take() {
            // It could not be thawed either.
            Some(earlier) => Some(earlier),
            None => self.open.site.give_up().unwrap_or_else(|error| Some(error.reason)),
        };
        self.lost = Some(match more {
            Some(more) => format!("{why}; {more}"),
            None => why,
        });
    }
}

pub(super) struct Task<'p> {
    pub(super) system: &'p System,
    pub(super) step: &'p Step,
    pub(super) workload: &'p mut dyn Workload,
    pub(super) target: Target,
    pub(super) stop: Stop,
    pub(super) probes: Vec<Box<dyn Probe>>,
    pub(super) gap: Gap,
    pub(super) tell: Sender<Told>,
}

impl Task<'_> {
    pub(super) fn perform(mut self) {
        let stop = self.stop.clone();
        let turns = stop.turns();
        // Also where this thread panics: nobody waits for it.
        let _leaving = Leaving(turns);
        let working = turns.work();
        turns.await_turn();
        let (result, spent) = match place_client(self.system, &self.system.cpus.client) {
            Ok(()) => self.run(),
            Err(error) => (Err(refused(&error)), Spent::default()),
        };
        // Before others hear of it, and stop the clock.
        drop(working);
        // Nobody listens where the round is given up.
        let _ = self.tell.send(Told::Done(Box::new(Done { result, spent })));
    }

    fn run(&mut self) -> (Result<StepRecord, StepError>, Spent) {
        let tell = &self.tell;
        let mut emit = |event| match tell.send(Told::Event(event)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        // The conductor looks whether the server has died.
        let probes = &mut self.probes;
        let step = StepObserver::new(probes, self.step, Detail::Edge, &|| false, &mut emit);
        let (turns, gap) = (self.stop.turns(), &self.gap);
        let cheaply = self.step.window.is_none();
        let mut observer = InTurns { step, turns, gap, tell, cheaply };
        let index = self.step.ordinal as usize;
        let result = self.workload.run(index, &self.target, &self.stop, &mut observer);
        (result, observer.step.into_spent())
    }
}

fn refused(error: &LabError) -> StepError {
    StepError::Unsupported(error.to_string())
}

struct Leaving<'a>(&'a Turns);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Opens the window in a turn that has just begun, and ends a turn with each interval, whose reading is nobody's time.
struct InTurns<'a> {
    step: StepObserver<'a>,
    turns: &'a Turns,
    gap: &'a Gap,
    tell: &'a Sender<Told>,
    /// Without turns, reading takes its time from the window. A step whose turns are compared reads all the same.
    cheaply: bool,
}

impl InTurns<'_> {
    fn wait_at(&self, edge: Edge) {
        // Messages are read at the end of a turn, and nobody reads them in another system's.
        self.turns.hand_over_with(|| _ = self.tell.send(Told::Waits(edge)));
        self.turns.have_read();
        self.turns.await_turn();
    }
}

impl Observer for InTurns<'_> {
    fn edge(&mut self, edge: Edge) {
        if edge == Edge::Open {
            self.wait_at(edge);
            self.gap.restart();
        }
        self.step.edge(edge);
    }

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        self.turns.hand_over();
        if self.cheaply && self.turns.is_released() {
            self.step.read_with(Detail::Second);
        }
        let flow = self.step.interval(interval);
        self.turns.have_read();
        flow
    }

    fn ended(&mut self) {
        self.wait_at(Edge::Close);
    }
}
