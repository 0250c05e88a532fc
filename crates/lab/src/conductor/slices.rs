//! Rounds in slices: all systems of a round are up at once, and so are their trials under way. A step that
//! changes no data is measured in slices that alternate between the systems; any other is run whole, by one
//! system after the other.
//!
//! The trials get their outcomes together when the round is over, so that a round that was interrupted is done
//! again as a whole: slices are compared with those that ran beside them.

mod alternate;
mod order;
mod values;

use load::{StepOutline, Target, Workload};
use model::{Event, Nanos, Outcome, Trial, TrialKey};
use store::StoreError;

use super::step::OpenSite;
use super::{Broken, Conductor, place_client};
use crate::LabError;
use crate::disturbance;
use crate::template::Template;

/// A trial of the round.
struct Part<'r> {
    trial: &'r Trial,
    key: &'r TrialKey,
    /// How it failed, once it has: then its site is gone.
    going: Result<Going, Outcome>,
}

/// A trial that goes on.
struct Going {
    open: OpenSite,
    workload: Box<dyn Workload>,
}

impl Part<'_> {
    /// Where its workload runs; `None` when it has failed.
    fn target(&self) -> Option<Target> {
        let going = self.going.as_ref().ok()?;
        Some(going.open.site.target())
    }
}

/// Why a round was not carried to its end.
enum Halt {
    Interrupted,
    Lab(LabError),
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        Self::Lab(error.into())
    }
}

/// What has failed ends its trial, anything else ends the round.
fn apart<T>(result: Result<T, Broken>) -> Result<Result<T, Outcome>, Halt> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Broken::Failed(outcome)) => Ok(Err(outcome)),
        Err(Broken::Interrupted) => Err(Halt::Interrupted),
        Err(Broken::Lab(error)) => Err(Halt::Lab(error)),
    }
}

impl Conductor<'_> {
    /// Runs the trials of a round in slices, `trials` with their numbers in the run; their outcomes, or `None`
    /// when the user asked to stop.
    pub(super) fn trials_in_slices(
        &mut self,
        trials: &[(u32, Trial, TrialKey)],
        of: u32,
    ) -> Result<Option<Vec<Outcome>>, LabError> {
        match self.round_in_slices(trials, of) {
            Ok(outcomes) => Ok(Some(outcomes)),
            Err(Halt::Interrupted) => Ok(None),
            Err(Halt::Lab(error)) => Err(error),
        }
    }

    fn round_in_slices(
        &mut self,
        trials: &[(u32, Trial, TrialKey)],
        of: u32,
    ) -> Result<Vec<Outcome>, Halt> {
        // Before the trials begin: what is loaded is no part of them.
        let mut templates = Vec::new();
        for (_, trial, _) in trials {
            templates.push(apart(self.template(trial.system))?);
        }
        let mut parts = Vec::new();
        let mut played = Ok(());
        for ((index, trial, key), template) in trials.iter().zip(templates) {
            match self.part(*index, of, (trial, key), template) {
                Ok(part) => parts.push(part),
                Err(halt) => {
                    played = Err(halt);
                    break;
                }
            }
        }
        let played = played.and_then(|()| self.steps_of_round(&mut parts));
        let outcomes = self.close(parts, played)?;
        self.finish_together(trials, &outcomes)?;
        Ok(outcomes)
    }

    /// Begins a trial of the round and opens its site.
    fn part<'r>(
        &mut self,
        index: u32,
        of: u32,
        (trial, key): (&'r Trial, &'r TrialKey),
        template: Result<Option<Template>, Outcome>,
    ) -> Result<Part<'r>, Halt> {
        // Opening the sites of all systems may take minutes.
        if self.stop.is_asked() {
            return Err(Halt::Interrupted);
        }
        self.emit(&Event::TrialStarted {
            trial: key.clone(),
            index,
            of,
        })?;
        let going = match template {
            Ok(template) => apart(self.go(trial, key, template.as_ref()))?,
            Err(outcome) => Err(outcome),
        };
        Ok(Part { trial, key, going })
    }

    fn go(
        &mut self,
        trial: &Trial,
        key: &TrialKey,
        template: Option<&Template>,
    ) -> Result<Going, Broken> {
        let system = &self.plan.systems[trial.system];
        let name = self.instance(key);
        let open = self.open(system, &name, template)?;
        match self.begin(trial, &open, template) {
            Ok(workload) => Ok(Going { open, workload }),
            Err(broken) => self.end(system, &name, open, Err(broken)),
        }
    }

    fn steps_of_round(&mut self, parts: &mut [Part<'_>]) -> Result<(), Halt> {
        // All have the same workload, and begin it at the same step.
        let first = parts.iter().find_map(|part| part.going.as_ref().ok());
        let outlines = first.map(|going| going.workload.steps());
        for (ordinal, outline) in (0..).zip(outlines.unwrap_or_default()) {
            match sliceable(parts, ordinal) {
                Some(length) => self.alternate(parts, ordinal, &outline, length)?,
                None => self.one_after_the_other(parts, ordinal, &outline)?,
            }
        }
        Ok(())
    }

    fn one_after_the_other(
        &mut self,
        parts: &mut [Part<'_>],
        ordinal: u32,
        outline: &StepOutline,
    ) -> Result<(), Halt> {
        for part in parts {
            let Ok(Going { open, workload }) = &mut part.going else {
                continue;
            };
            let turn = self.turn_to(part.trial, part.key);
            let done = turn.and_then(|()| self.step(&mut **workload, ordinal, outline, open));
            if let Err(outcome) = apart(done)? {
                self.leave(part, outcome)?;
            }
        }
        Ok(())
    }

    /// What follows is of this trial, and its clients run where its system wants them.
    fn turn_to(&mut self, trial: &Trial, key: &TrialKey) -> Result<(), Broken> {
        self.emit(&Event::Turn { trial: key.clone() })?;
        let system = &self.plan.systems[trial.system];
        place_client(system, &system.cpus.client).map_err(Broken::Lab)
    }

    /// Ends the site of a trial that has failed; the others go on.
    fn leave(&mut self, part: &mut Part<'_>, outcome: Outcome) -> Result<(), Halt> {
        let system = &self.plan.systems[part.trial.system];
        let name = self.instance(part.key);
        let going = std::mem::replace(&mut part.going, Err(outcome.clone()));
        if let Ok(Going { open, .. }) = going {
            let result: Result<(), Broken> = Err(Broken::Failed(outcome));
            if let Err(outcome) = apart(self.end(system, &name, open, result))? {
                part.going = Err(outcome);
            }
        }
        Ok(())
    }

    /// Ends all sites that are still open; the outcomes, in the order of the round.
    fn close(
        &mut self,
        parts: Vec<Part<'_>>,
        played: Result<(), Halt>,
    ) -> Result<Vec<Outcome>, Halt> {
        let mut halted = played.err();
        let mut outcomes = Vec::new();
        for Part { trial, key, going } in parts {
            let open = match going {
                Ok(Going { open, .. }) => open,
                Err(outcome) => {
                    outcomes.push(outcome);
                    continue;
                }
            };
            let result = match halted {
                None => Ok(disturbance::outcome(&open.disturbed)),
                Some(_) => Err(Broken::Interrupted),
            };
            let system = &self.plan.systems[trial.system];
            let name = self.instance(key);
            match apart(self.end(system, &name, open, result)) {
                Ok(Ok(outcome) | Err(outcome)) => outcomes.push(outcome),
                Err(halt) => {
                    halted.get_or_insert(halt);
                }
            }
        }
        match halted {
            None => Ok(outcomes),
            Some(halt) => Err(halt),
        }
    }

    /// Gives all trials of the round their outcomes: the store has all of them, or none.
    fn finish_together(
        &mut self,
        trials: &[(u32, Trial, TrialKey)],
        outcomes: &[Outcome],
    ) -> Result<(), StoreError> {
        let keys = trials.iter().map(|(_, _, key)| key);
        let ended: Vec<(&TrialKey, &Outcome)> = keys.zip(outcomes).collect();
        self.keeper.finish_trials(&ended)?;
        for (trial, outcome) in ended {
            (self.listen)(&Event::TrialFinished {
                trial: trial.clone(),
                outcome: outcome.clone(),
            });
        }
        Ok(())
    }
}

/// Length of the window of a step that is measured in slices; `None` where it is run whole. It takes two to
/// alternate.
fn sliceable(parts: &[Part<'_>], ordinal: u32) -> Option<Nanos> {
    let mut going = parts.iter().filter_map(|part| part.going.as_ref().ok());
    let (first, _second) = (going.next()?, going.next()?);
    first.workload.sliceable(ordinal as usize)
}
