//! One step, measured in slices that alternate between the systems of a round.

use load::{SlicedStep, StepOutline, Target};
use model::{Event, Interleave, Nanos, Outcome, Trial, TrialKey};
use probes::Probe;

use super::order::{cut, laps};
use super::values::{Values, result};
use super::{Going, Halt, Part, apart};
use crate::conductor::step::OpenSite;
use crate::conductor::{Broken, Conductor};
use crate::observer::Spent;

/// A trial's side of the step.
struct Side<'p> {
    /// Place of the trial in the round.
    place: usize,
    trial: &'p Trial,
    key: &'p TrialKey,
    open: &'p mut OpenSite,
    /// Its clients, connected; how the trial failed, once it has.
    step: Result<Box<dyn SlicedStep + 'p>, Outcome>,
    probes: Vec<Box<dyn Probe>>,
    /// What its slices spent so far; `None` before the first.
    spent: Option<Spent>,
    values: Values,
}

impl Conductor<'_> {
    /// Measures a step of this length on all systems that go on, in slices. A trial that fails leaves the
    /// others to it.
    pub(super) fn alternate(
        &mut self,
        parts: &mut [Part<'_>],
        ordinal: u32,
        outline: &StepOutline,
        length: Nanos,
    ) -> Result<(), Halt> {
        let targets: Vec<Option<Target>> = parts.iter().map(Part::target).collect();
        let mut sides = Vec::new();
        for (place, (part, target)) in parts.iter_mut().zip(&targets).enumerate() {
            if let Some(target) = target {
                sides.extend(self.side(place, part, target, ordinal, outline)?);
            }
        }
        self.slices(&mut sides, ordinal, outline, length)?;
        let mut failed = Vec::new();
        for side in sides {
            let place = side.place;
            if let Err(outcome) = apart(self.conclude(side, ordinal, outline))? {
                failed.push((place, outcome));
            }
        }
        for (place, outcome) in failed {
            if let Some(part) = parts.get_mut(place) {
                self.leave(part, outcome)?;
            }
        }
        Ok(())
    }

    /// Begins the step of one system, if it goes on: connects its clients and warms up.
    fn side<'p>(
        &mut self,
        place: usize,
        part: &'p mut Part<'_>,
        target: &'p Target,
        ordinal: u32,
        outline: &StepOutline,
    ) -> Result<Option<Side<'p>>, Halt> {
        let Ok(Going { open, workload }) = &mut part.going else {
            return Ok(None);
        };
        let begun = self
            .turn_to(part.trial, part.key)
            .and_then(|()| self.begin_step(ordinal, outline, open));
        let step = match begun {
            Ok(()) => workload
                .open_slices(ordinal as usize, target, self.stop)
                .map_err(|error| self.broken(outline, &error, &*open.site)),
            Err(broken) => Err(broken),
        };
        Ok(Some(Side {
            place,
            trial: part.trial,
            key: part.key,
            step: apart(step)?,
            probes: self.probes(&*open.site),
            open,
            spent: None,
            values: Values::of(&outline.subject.kind),
        }))
    }

    /// Measures all slices, lap by lap.
    fn slices(
        &mut self,
        sides: &mut [Side<'_>],
        ordinal: u32,
        outline: &StepOutline,
        length: Nanos,
    ) -> Result<(), Halt> {
        // All systems of a round have the same seed.
        let seed = sides.first().map_or(0, |side| side.trial.seed);
        let most = match self.plan.course.interleave {
            Interleave::Slices(most) => most,
            Interleave::Trials => length,
        };
        let (count, each) = cut(length, most);
        for lap in laps(seed, ordinal, sides.len()).take(count) {
            for index in lap {
                if let Some(side) = sides.get_mut(index) {
                    let measured = self.slice(side, ordinal, outline, each);
                    if let Err(outcome) = apart(measured)? {
                        // Its clients are gone with it.
                        side.step = Err(outcome);
                    }
                }
            }
        }
        Ok(())
    }

    /// Measures one slice of a system that has not failed.
    fn slice(
        &mut self,
        side: &mut Side<'_>,
        ordinal: u32,
        outline: &StepOutline,
        length: Nanos,
    ) -> Result<(), Broken> {
        let Ok(step) = &mut side.step else {
            return Ok(());
        };
        self.turn_to(side.trial, side.key)?;
        let (window, spent) = self.observe(
            outline,
            &mut side.probes,
            &*side.open.site,
            |stop, observer| step.slice(length, stop, observer),
        )?;
        let mut record = self.record(outline, ordinal, result(window));
        record.counters = spent.counters.clone();
        side.values.add(&record);
        match &mut side.spent {
            Some(all) => all.add(spent),
            None => side.spent = Some(spent),
        }
        Ok(())
    }

    /// Ends the step of a system; fails with what failed before.
    fn conclude(
        &mut self,
        side: Side<'_>,
        ordinal: u32,
        outline: &StepOutline,
    ) -> Result<(), Broken> {
        let step = side.step.map_err(Broken::Failed)?;
        self.turn_to(side.trial, side.key)?;
        let finished = step.finish();
        let result = finished.map_err(|error| self.broken(outline, &error, &*side.open.site))?;
        self.emit(&Event::Sliced {
            series: side.values.series(),
        })?;
        let spent = side.spent.unwrap_or_default();
        self.end_step(ordinal, outline, result, spent, side.open)?;
        Ok(())
    }
}
