//! Rounds whose systems alternate: all of them are up at once, and so are their trials under way. A step is
//! carried out in turns where the plan and the systems allow it; any other is run whole, by one system after the
//! other. Where every server can be frozen and the plan wants turns, servers are frozen outside their turns;
//! embedded engines need no freezing.
//!
//! The trials get their outcomes together when the round is over, so that a round that was interrupted is done
//! again as a whole: turns are compared with those that ran beside them.

mod gap;
mod play;
mod side;
mod values;

use load::Workload;
use model::{Event, Interleave, Outcome, Step, TrialKey};
use store::StoreError;

use super::trial::{Broken, Conductor, Due, Halt, OpenSite, Result, apart, in_step, place_client};
use crate::disturbance;
use crate::site::{Idle, Site};
use crate::template::Template;

struct Part<'r> {
    due: &'r Due,
    /// How it failed, once it has: then its site is gone.
    going: Result<Going, Outcome>,
}

struct Going {
    open: OpenSite,
    workload: Box<dyn Workload>,
}

impl Conductor<'_> {
    pub(super) fn trials_at_once(&mut self, round: &[Due]) -> Result<Vec<Outcome>, Halt> {
        // Before the trials begin: loading is not part of them.
        let mut templates = Vec::new();
        for due in round {
            templates.push(apart(self.template(due.trial.system))?);
        }
        let mut parts = Vec::new();
        let mut played = Ok(());
        for (due, template) in round.iter().zip(templates) {
            played = self.part(due, template).and_then(|part| {
                parts.push(part);
                self.hold_still(&mut parts)
            });
            if played.is_err() {
                break;
            }
        }
        let played = played.and_then(|()| self.steps_of_round(&mut parts));
        let outcomes = self.close(parts, played)?;
        self.finish_together(round, &outcomes)?;
        Ok(outcomes)
    }

    fn part<'r>(
        &mut self,
        due: &'r Due,
        template: Result<Option<Template>, Outcome>,
    ) -> Result<Part<'r>, Halt> {
        // Opening the sites of all systems may take minutes.
        self.unless_stopped()?;
        self.announce_trial(due)?;
        let going = match template {
            Ok(template) => apart(self.go(due, template.as_ref()))?,
            Err(outcome) => Err(outcome),
        };
        Ok(Part { due, going })
    }

    fn go(&mut self, due: &Due, template: Option<&Template>) -> Result<Going> {
        let (system, name) = self.place_of(due);
        let open = self.open(system, name, template)?;
        match self.begin(&due.trial, &open, template) {
            Ok(workload) => Ok(Going { open, workload }),
            Err(broken) => self.end(open, Err(broken)),
        }
    }

    /// Freezes all servers, where the plan wants it and it can be; at once, or the first would be ahead of the last.
    fn hold_still(&mut self, parts: &mut [Part<'_>]) -> Result<(), Halt> {
        let can_freeze = |part: &Part<'_>| match &part.going {
            Ok(going) => going.open.site.idle() != Idle::Works,
            Err(_) => true,
        };
        let wanted = matches!(self.plan.course.interleave, Interleave::Turns(_));
        self.all_rest = wanted && parts.iter().all(can_freeze);
        for part in parts {
            let Ok(Going { open, .. }) = &mut part.going else { continue };
            let held = if self.all_rest {
                self.dismiss(open)
            } else {
                open.site.thaw().map_err(Into::into)
            };
            if let Err(outcome) = apart(held)? {
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
            Interleave::Turns(_) => self.all_rest,
        };
        // It takes two to alternate.
        going.nth(1).is_some() && (is_still || step.slices.is_some())
    }

    fn one_after_the_other(&mut self, parts: &mut [Part<'_>], step: &Step) -> Result<(), Halt> {
        for part in parts {
            let Ok(Going { open, workload }) = &mut part.going else { continue };
            let done = self.attend(part.due, open);
            let done = done.and_then(|()| self.step(&mut **workload, step, open));
            let done = done.and_then(|_| self.dismiss(open));
            if let Err(outcome) = apart(in_step(step, done))? {
                self.leave(part, outcome)?;
            }
        }
        Ok(())
    }

    /// Turns to a trial: events belong to it, clients run on its system's CPUs, and its server runs.
    fn attend(&mut self, due: &Due, open: &mut OpenSite) -> Result<()> {
        open.site.thaw()?;
        self.emit(&Event::Turn { trial: due.key.clone() })?;
        let system = &self.plan.systems[due.trial.system];
        Ok(place_client(system, &system.cpus.client)?)
    }

    /// Is its server frozen while nobody attends to it?
    fn is_frozen(&self, site: &dyn Site) -> bool {
        self.all_rest && site.idle() == Idle::CanFreeze
    }

    fn dismiss(&self, open: &mut OpenSite) -> Result<()> {
        if self.is_frozen(&*open.site) {
            open.site.freeze(&mut || {})?;
        }
        Ok(())
    }

    /// Ends the site of a trial that has failed; the others go on.
    fn leave(&mut self, part: &mut Part<'_>, outcome: Outcome) -> Result<(), Halt> {
        let going = std::mem::replace(&mut part.going, Err(outcome.clone()));
        if let Ok(Going { mut open, .. }) = going {
            // One that cannot be thawed is told when it is ended.
            let _ = open.site.thaw();
            if let Err(outcome) = apart(self.end::<()>(open, Err(Broken::Failed(outcome))))? {
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
        for part in parts {
            let mut open = match part.going {
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
            match apart(self.end(open, result)) {
                Ok(Ok(outcome) | Err(outcome)) => outcomes.push(outcome),
                Err(halt) => {
                    halted.get_or_insert(halt);
                }
            }
        }
        halted.map_or(Ok(outcomes), Err)
    }

    /// Gives all trials of the round their outcomes: the store has all of them, or none.
    fn finish_together(&mut self, round: &[Due], outcomes: &[Outcome]) -> Result<(), StoreError> {
        let keys = round.iter().map(|due| &due.key);
        let ended: Vec<(&TrialKey, &Outcome)> = keys.zip(outcomes).collect();
        self.keeper.finish_trials(&ended)?;
        for (trial, outcome) in ended {
            (self.listen)(&Event::TrialFinished { trial: trial.clone(), outcome: outcome.clone() });
        }
        Ok(())
    }
}
