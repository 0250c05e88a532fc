//! Rounds whose systems alternate: all of them are up at once, and so are their trials under way. A step is
//! carried out in turns where the plan and the systems allow it; any other is run whole, by one system after the
//! other. Where every server can be frozen and the plan wants turns, those stand still that nobody attends to.
//!
//! The trials get their outcomes together when the round is over, so that a round that was interrupted is done
//! again as a whole: turns are compared with those that ran beside them.

mod gap;
mod play;
mod side;
mod values;

use load::Workload;
use model::{Event, Interleave, Outcome, Step, Trial, TrialKey};
use store::StoreError;

use super::trial::{Broken, Conductor, Halt, OpenSite, apart, place_client};
use crate::disturbance;
use crate::site::Idle;
use crate::template::Template;

struct Part<'r> {
    trial: &'r Trial,
    key: &'r TrialKey,
    /// How it failed, once it has: then its site is gone.
    going: Result<Going, Outcome>,
}

struct Going {
    open: OpenSite,
    workload: Box<dyn Workload>,
}

impl Conductor<'_> {
    /// Runs the trials of a round side by side, `trials` with their numbers in the run; their outcomes.
    pub(super) fn trials_at_once(
        &mut self,
        trials: &[(u32, Trial, TrialKey)],
        of: u32,
    ) -> Result<Vec<Outcome>, Halt> {
        // Before the trials begin: loading is not part of them.
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
        let played = played.and_then(|()| self.hold_still(&mut parts));
        let played = played.and_then(|()| self.steps_of_round(&mut parts));
        let outcomes = self.close(parts, played)?;
        self.finish_together(trials, &outcomes)?;
        Ok(outcomes)
    }

    fn part<'r>(
        &mut self,
        index: u32,
        of: u32,
        (trial, key): (&'r Trial, &'r TrialKey),
        template: Result<Option<Template>, Outcome>,
    ) -> Result<Part<'r>, Halt> {
        // Opening the sites of all systems may take minutes.
        self.unless_stopped()?;
        self.emit(&Event::TrialStarted { trial: key.clone(), index, of })?;
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

    /// Freezes all servers, where the plan wants that and it can be.
    fn hold_still(&mut self, parts: &mut [Part<'_>]) -> Result<(), Halt> {
        let can_freeze = |part: &Part<'_>| match &part.going {
            Ok(going) => going.open.site.idle() == Idle::CanFreeze,
            Err(_) => true,
        };
        let wanted = matches!(self.plan.course.interleave, Interleave::Turns(_));
        self.freezes = wanted && parts.iter().all(can_freeze);
        for part in parts {
            let Ok(Going { open, .. }) = &mut part.going else { continue };
            if let Err(outcome) = apart(self.dismiss(open))? {
                self.leave(part, outcome)?;
            }
        }
        Ok(())
    }

    fn steps_of_round(&mut self, parts: &mut [Part<'_>]) -> Result<(), Halt> {
        for step in self.plan.trial_steps(self.templates.is_some()) {
            if self.takes_turns(parts, &step) {
                self.in_turns(parts, &step)?;
            } else {
                self.one_after_the_other(parts, &step)?;
            }
        }
        Ok(())
    }

    /// Is a step carried out in turns? Where the work of idle servers would go on, only one that makes none.
    fn takes_turns(&self, parts: &[Part<'_>], step: &Step) -> bool {
        let mut going = parts.iter().filter_map(|part| part.going.as_ref().ok());
        let is_still = match self.plan.course.interleave {
            Interleave::Trials => return false,
            Interleave::Slices(_) => false,
            Interleave::Turns(_) => {
                self.freezes || going.clone().all(|going| going.open.site.idle() == Idle::Rests)
            }
        };
        // It takes two to alternate.
        going.nth(1).is_some() && (is_still || step.slices.is_some())
    }

    fn one_after_the_other(&mut self, parts: &mut [Part<'_>], step: &Step) -> Result<(), Halt> {
        for part in parts {
            let Ok(Going { open, workload }) = &mut part.going else {
                continue;
            };
            let done = self.attend(part.trial, part.key, open);
            let done = done.and_then(|()| self.step(&mut **workload, step, open));
            let done = done.and_then(|_| self.dismiss(open));
            if let Err(outcome) = apart(done)? {
                self.leave(part, outcome)?;
            }
        }
        Ok(())
    }

    /// Turns to a trial: the following events belong to it, its clients run on its system's CPUs, and its server
    /// runs.
    fn attend(&mut self, trial: &Trial, key: &TrialKey, open: &mut OpenSite) -> Result<(), Broken> {
        open.site.thaw()?;
        self.emit(&Event::Turn { trial: key.clone() })?;
        let system = &self.plan.systems[trial.system];
        Ok(place_client(system, &system.cpus.client)?)
    }

    fn dismiss(&self, open: &mut OpenSite) -> Result<(), Broken> {
        if self.freezes {
            open.site.freeze()?;
        }
        Ok(())
    }

    /// Ends the site of a trial that has failed; the others go on.
    fn leave(&mut self, part: &mut Part<'_>, outcome: Outcome) -> Result<(), Halt> {
        let system = &self.plan.systems[part.trial.system];
        let name = self.instance(part.key);
        let going = std::mem::replace(&mut part.going, Err(outcome.clone()));
        if let Ok(Going { mut open, .. }) = going {
            // One that cannot be thawed is told when it is ended.
            let _ = open.site.thaw();
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
            let mut open = match going {
                Ok(Going { open, .. }) => open,
                Err(outcome) => {
                    outcomes.push(outcome);
                    continue;
                }
            };
            let _ = open.site.thaw();
            let result = match halted {
                None => Ok(disturbance::outcome(&open.disturbed)),
                Some(_) => Err(Halt::Interrupted.into()),
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
            (self.listen)(&Event::TrialFinished { trial: trial.clone(), outcome: outcome.clone() });
        }
        Ok(())
    }
}
