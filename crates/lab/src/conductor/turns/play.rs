//! One step, carried out by the systems of a round in turns.

use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use load::{StepError, Stop, Turns};
use model::{Edge, Event, Interleave, Nanos, Note, Orders, Step, StepRecord, StepTask, mix};

use super::gap::Gap;
use super::side::{Done, Side, Task, Told};
use super::values::Values;
use super::{Going, Part};
use crate::conductor::trial::{Conductor, Halt, Result, apart, failed, in_step};
use crate::observer::{Spent, add_new};

/// How often a system without turns is looked after.
const NAP: Duration = Duration::from_millis(50);
/// Turns of a step that loads or builds indexes, if it takes as long as estimated; most take half of that or less. In a
/// load of two half-second turns, the second system was up to a third slower: the disk still wrote the first one's data.
const TURNS_OF_LOADING: u64 = 32;
/// In shorter turns, freezing would take more than a tenth of the time.
const SHORTEST_OF_LOADING: Nanos = Nanos::from_millis(50);
/// How long the reading of counters between two turns may take.
const READING: Duration = Duration::from_secs(1);

impl Conductor<'_> {
    /// Carries a step out on all systems that go on. A trial that fails leaves the others to it.
    pub(super) fn in_turns(&mut self, parts: &mut [Part<'_>], step: &Step) -> Result<(), Halt> {
        for part in &mut *parts {
            let Ok(Going { open, .. }) = &mut part.going else { continue };
            let begun = self.attend(part.due, open);
            let begun = begun.and_then(|()| self.begin_step(step, open));
            let begun = begun.and_then(|()| self.dismiss(open));
            if let Err(outcome) = apart(in_step(step, begun))? {
                self.leave(part, outcome)?;
            }
        }
        let begin = Instant::now();
        let mut failures = Vec::new();
        let sides = self.play(parts, step)?;
        let share = between(&sides, begin.elapsed());
        for side in sides {
            let place = side.place;
            let concluded = self.conclude(side, step, share);
            if let Err(outcome) = apart(in_step(step, concluded))? {
                failures.push((place, outcome));
            }
        }
        for (place, outcome) in failures {
            if let Some(part) = parts.get_mut(place) {
                self.leave(part, outcome)?;
            }
        }
        Ok(())
    }

    fn play<'p>(
        &mut self,
        parts: &'p mut [Part<'_>],
        step: &'p Step,
    ) -> Result<Vec<Side<'p>>, Halt> {
        let plan = self.plan;
        let length = self.length(step);
        thread::scope(|scope| {
            let mut sides = Vec::new();
            for (place, part) in parts.iter_mut().enumerate() {
                let Ok(Going { open, workload }) = &mut part.going else { continue };
                let gap = Gap::default();
                let (tell, told) = mpsc::channel();
                let turns = Turns::new(length, !self.is_frozen(&*open.site));
                let stop = Stop::in_turns(turns);
                let probes = self.probes(&*open.site).into_iter();
                let task = Task {
                    system: &plan.systems[part.due.trial.system],
                    step,
                    workload: &mut **workload,
                    target: open.site.target(),
                    stop: stop.clone(),
                    probes: probes.map(|probe| gap.spare(probe)).collect(),
                    gap: gap.clone(),
                    tell,
                };
                let name = part.due.key.system.clone();
                let spawned =
                    thread::Builder::new().name(name).spawn_scoped(scope, move || task.perform());
                let mut host = probes::all(&self.host_of(&*open.site));
                // Counters of a server's own host also run during the turns of others.
                host.extend(open.site.probes());
                let mut side = Side {
                    place,
                    due: part.due,
                    host,
                    open,
                    stop,
                    told,
                    gap,
                    values: Values::of(&step.subject.kind),
                    waits: false,
                    has_closed: false,
                    done: None,
                    lost: None,
                };
                if let Err(error) = spawned {
                    side.lost = Some(format!("cannot start a thread for this system: {error}"));
                    side.done = Some(Done::nothing());
                }
                side.begin_gap();
                sides.push(side);
            }
            let played = self.laps(&mut sides, step);
            if played.is_err() {
                sides.iter_mut().for_each(Side::abandon);
            }
            played.map(|()| sides)
        })
    }

    /// Length of a turn: equal turns fill a window of known length; loading and indexing get a share of their estimate.
    fn length(&self, step: &Step) -> Nanos {
        let most = match self.plan.course.interleave {
            Interleave::Slices(most) | Interleave::Turns(most) => most,
            Interleave::Trials => return Nanos::SECOND,
        };
        match (step.slices, step.task) {
            (Some(window), _) => cut(window, most).1,
            (None, StepTask::Load | StepTask::Index) => {
                let expected =
                    plan::step_times(self.plan).into_iter().find(|(id, _)| *id == step.id);
                let share = expected.map_or(most, |(_, time)| Nanos(time.0 / TURNS_OF_LOADING));
                most.min(share.max(SHORTEST_OF_LOADING))
            }
            (None, _) => most,
        }
    }

    fn laps(&mut self, sides: &mut [Side<'_>], step: &Step) -> Result<(), Halt> {
        // All systems of a round have the same seed.
        let seed = sides.first().map_or(0, |side| side.due.trial.seed);
        let systems = sides.len();
        let new_order = || laps(seed, step.ordinal, systems);
        let mut order = new_order();
        while sides.iter().any(|side| side.done.is_none()) {
            // The windows of all open in the same lap, the first of two that mirror each other. What a system does
            // after its window waits until those of all are closed.
            if !sides.iter().any(Side::plays) {
                for side in &mut *sides {
                    side.waits = false;
                }
                order = new_order();
            }
            // At most one measures: not so before the end of a lap in which windows close.
            let is_alone = sides.iter().filter(|side| side.measures()).count() < 2;
            for index in order.next().unwrap_or_default() {
                let Some(side) = sides.get_mut(index).filter(|side| side.plays()) else { continue };
                if is_alone {
                    self.whole(side, step)?;
                } else {
                    self.turn(side, step)?;
                }
            }
        }
        Ok(())
    }

    /// Runs the rest of a step without turns, once no other system measures.
    fn whole(&mut self, side: &mut Side<'_>, step: &Step) -> Result<(), Halt> {
        side.release();
        self.until_done(side, step)?;
        // Others may have something left to do. `conclude` reports a server that cannot be frozen.
        let _ = self.dismiss(side.open);
        Ok(())
    }

    fn turn(&mut self, side: &mut Side<'_>, step: &Step) -> Result<(), Halt> {
        side.end_gap();
        // Its clock goes while any of its threads may: they thaw one by one.
        side.turns().begin();
        if let Err(error) = side.open.site.thaw() {
            return self.lose(side, step, error.reason);
        }
        let length = Duration::from(side.turns().length());
        // It ends its turns itself while its window is open.
        side.turns().wait_over(length + length / 4);
        if side.open.site.has_died() {
            side.abandon();
            return self.until_done(side, step);
        }
        if self.is_frozen(&*side.open.site) {
            if let Err(error) = side.freeze() {
                return self.lose(side, step, error.reason);
            }
        } else {
            // One at the gate may block another: it opens in between, then is shut for longer, or clients wait forever.
            let mut shut = 2 * length;
            while !side.turns().end(shut) {
                self.unless_stopped()?;
                side.turns().wait_over(length);
                shut = (2 * shut).min(16 * length);
            }
            side.begin_gap();
        }
        side.turns().wait_read(READING);
        self.hear(side, step)?;
        self.unless_stopped()
    }

    /// Gives a system up whose turns cannot be given or ended.
    fn lose(&mut self, side: &mut Side<'_>, step: &Step, why: String) -> Result<(), Halt> {
        side.abandon();
        side.give_up(why);
        self.until_done(side, step)
    }

    /// Follows a system that has no turns any more to the end of its step.
    fn until_done(&mut self, side: &mut Side<'_>, step: &Step) -> Result<(), Halt> {
        while side.done.is_none() {
            match side.told.recv_timeout(NAP) {
                Ok(told) => self.take(side, step, told)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => side.done = Some(Done::nothing()),
            }
            self.unless_stopped()?;
            if side.open.site.has_died() {
                side.stop.ask();
            }
        }
        // Stop its clock: the turns of others are not its time.
        side.turns().end(Duration::ZERO);
        Ok(())
    }

    fn hear(&mut self, side: &mut Side<'_>, step: &Step) -> Result<(), Halt> {
        loop {
            match side.told.try_recv() {
                Ok(told) => self.take(side, step, told)?,
                Err(TryRecvError::Empty) => return Ok(()),
                Err(TryRecvError::Disconnected) => {
                    side.done.get_or_insert_with(Done::nothing);
                    return Ok(());
                }
            }
        }
    }

    fn take(&mut self, side: &mut Side<'_>, step: &Step, told: Told) -> Result<(), Halt> {
        match told {
            Told::Waits(edge) => {
                side.waits = true;
                side.has_closed |= edge == Edge::Close;
            }
            Told::Event(event) => {
                if let Event::IntervalClosed { interval } = &event
                    && interval.length == side.turns().length()
                {
                    side.values.add(step, interval);
                }
                self.emit(&Event::Turn { trial: side.due.key.clone() })?;
                self.emit(&event)?;
            }
            Told::Done(done) => {
                if done.result.is_err() {
                    // By the time that all are done, others may have made room.
                    side.open.free = probes::nearly_full(&self.instances);
                }
                side.done = Some(*done);
            }
        }
        Ok(())
    }

    /// Ends the step of a system; returns an earlier failure.
    fn conclude(&mut self, side: Side<'_>, step: &Step, between: f64) -> Result<()> {
        let Side { due, open, stop, done, values, lost, gap, .. } = side;
        if let Some(why) = lost {
            return Err(failed(Some(step), why, open.site.log_tail()));
        }
        self.attend(due, open)?;
        let Done { result, mut spent } = done.unwrap_or_else(Done::nothing);
        add_new(&mut spent.failures, gap.failures());
        let mut result = self.ended(step, result, &*open.site)?;
        if result.timed {
            self.emit(&Event::Sliced { series: values.series() })?;
        }
        let length = stop.turns().length();
        // A window may exceed its turns by some nanoseconds: that is not another turn.
        let turns = result.window.0.saturating_sub(1_000).div_ceil(length.0);
        let text = format!("{turns} of {length}, {between:.1} % of the time between them");
        result.notes.push(Note::new("turns", text));
        self.end_step(step, result, spent, open)?;
        self.dismiss(open)
    }
}

/// The share of this time, in per cent, in which none of them had a turn.
fn between(sides: &[Side<'_>], took: Duration) -> f64 {
    let active = sides.iter().map(|side| side.stop.turns().active().as_secs_f64()).sum::<f64>();
    100.0 * (1.0 - active / took.as_secs_f64().max(1e-9)).max(0.0)
}

impl Done {
    fn nothing() -> Self {
        let result: Result<StepRecord, StepError> = Err(StepError::Interrupted);
        Self { result, spent: Spent::default() }
    }
}

/// Makes the order of slices independent of other draws from a trial's seed.
const SALT: u32 = u32::from_be_bytes(*b"slic");

/// The orders of the laps of step `ordinal` in a round with this seed: each lap has one slice of every system.
pub(super) fn laps(seed: u64, ordinal: u32, systems: usize) -> Orders {
    let salt = [u64::from(SALT), u64::from(ordinal)];
    Orders::new(mix(seed, &salt), systems)
}

/// How many slices a window of this length is cut into, and how long they are: all alike, and at most `most`.
pub(super) fn cut(length: Nanos, most: Nanos) -> (usize, Nanos) {
    let count = length.0.div_ceil(most.0.max(1)).max(1);
    (count as usize, Nanos(length.0 / count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_a_function_of_seed_and_step() {
        let order = |seed, ordinal| -> Vec<_> { laps(seed, ordinal, 3).take(200).collect() };
        assert_eq!(order(7, 3), order(7, 3));
        assert_ne!(order(7, 3), order(8, 3));
        assert_ne!(order(7, 3), order(7, 4));
    }

    #[test]
    fn a_window_is_cut_into_equal_slices() {
        let millis = |(count, each): (usize, Nanos)| (count, each.0 / 1_000_000);
        let cut = |length, most| cut(Nanos::from_millis(length), Nanos::from_millis(most));
        assert_eq!(millis(cut(10_000, 250)), (40, 250));
        assert_eq!(millis(cut(1_000, 300)), (4, 250));
        assert_eq!(millis(cut(1_000, 5_000)), (1, 1_000));
        assert_eq!(cut(0, 250), (1, Nanos(0)));
        assert_eq!(cut(1, 0).0, 1_000_000);
    }
}
