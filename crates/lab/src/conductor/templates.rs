//! Loads each system once, where the plan asks for that, and has its template ready for its trials.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use model::{Bytes, Event, Fact, Outcome, Plan, RunData, System};

use super::step::OpenSite;
use super::{Broken, Conductor, failed, place_client};
use crate::LabError;
use crate::directory::now;
use crate::template::{
    FORMAT, Figure, Found, Inventory, Record, Shelf, Template, data_of, keys, loading_seed, remove,
};

/// The templates of a run.
pub(super) struct Templates {
    shelf: Shelf,
    /// The key of each system, in the plan's order.
    keys: Vec<String>,
    /// Sizes as they were estimated, in the plan's order.
    estimates: Vec<Bytes>,
    /// Keys that trials of this run still need.
    needed: BTreeSet<String>,
    /// Systems that could not be loaded, and why. Not tried again in this session: it may take hours.
    failed: BTreeMap<usize, Outcome>,
    /// The templates that earlier trials of this run began with, by system.
    before: BTreeMap<String, String>,
    /// The templates that were announced in this session, by system.
    announced: BTreeMap<String, String>,
}

impl Templates {
    /// What the plan needs for the systems `left`, which still have trials, of a run of which so much is
    /// `done`. An error when that is more than templates may take.
    pub(super) fn of(
        plan: &Plan,
        left: &[usize],
        done: &RunData,
        shelf: Shelf,
    ) -> Result<Self, LabError> {
        let keys = keys(plan)?;
        let estimates = plan::estimate(plan).templates;
        let estimates: Vec<Bytes> = estimates.into_iter().map(|one| one.disk).collect();
        let needed: BTreeMap<&String, Bytes> = left
            .iter()
            .map(|&system| {
                let key = &keys[system];
                (key, shelf.disk(key).unwrap_or(estimates[system]))
            })
            .collect();
        let need = Bytes(needed.values().map(|size| size.0).sum());
        if need > shelf.budget() {
            return Err(LabError::TemplateBudget { need, budget: shelf.budget() });
        }
        let needed = needed.into_keys().cloned().collect();
        Ok(Self {
            shelf,
            needed,
            keys,
            estimates,
            failed: BTreeMap::new(),
            before: templates_of(done),
            announced: BTreeMap::new(),
        })
    }

    /// Evicts what this run does not need until there is room for so much more.
    fn make_room(&self, need: Bytes) -> Result<(), LabError> {
        self.shelf.make_room(need, &self.needed)
    }
}

/// The template that the trials of each system began with so far, as their records say.
fn templates_of(done: &RunData) -> BTreeMap<String, String> {
    let trials = done.trials.iter().filter_map(|trial| {
        let name = trial.provenance.get(&Fact::Template)?;
        Some((trial.system.clone(), name.to_owned()))
    });
    trials.collect()
}

impl Conductor<'_> {
    /// Makes what is missing before the first trial, so that nothing comes between the trials of a round.
    /// What cannot be loaded fails the trials of its system when their turn comes.
    pub(super) fn make_templates(&mut self, left: &[usize]) -> Result<(), Broken> {
        for &system in left {
            match self.template(system) {
                Ok(_) => {}
                Err(Broken::Failed(Outcome::Failed { reason, .. })) => {
                    let text = format!("{}: {reason}", self.plan.systems[system].name);
                    self.emit(&Event::Warning { text })?;
                }
                Err(broken) => return Err(broken),
            }
        }
        Ok(())
    }

    /// The template of a system, looked at, and made where there is none that holds; `None` where the plan
    /// asks for none.
    pub(super) fn template(&mut self, system: usize) -> Result<Option<Template>, Broken> {
        let Some(mut templates) = self.templates.take() else {
            return Ok(None);
        };
        let result = self.template_in(&mut templates, system);
        self.templates = Some(templates);
        result.map(Some)
    }

    fn template_in(
        &mut self,
        templates: &mut Templates,
        system: usize,
    ) -> Result<Template, Broken> {
        if let Some(outcome) = templates.failed.get(&system) {
            return Err(Broken::Failed(outcome.clone()));
        }
        let template = match templates.shelf.find(&templates.keys[system]) {
            Found::Whole(template) => {
                return self.announce(templates, system, *template, "used again");
            }
            Found::Absent => self.make(templates, system)?,
            Found::Damaged(reason) => {
                let name = &self.plan.systems[system].name;
                let text = format!("the template of {name} is damaged and made anew: {reason}");
                self.emit(&Event::Warning { text })?;
                self.make(templates, system)?
            }
        };
        self.announce(templates, system, template, "made now")
    }

    /// Says which template a system has, once in a session or when it is another one, and that it is used.
    fn announce(
        &mut self,
        templates: &mut Templates,
        system: usize,
        mut template: Template,
        whence: &str,
    ) -> Result<Template, Broken> {
        let system = &self.plan.systems[system].name;
        if templates.announced.get(system) != Some(&template.name()) {
            templates.announced.insert(system.clone(), template.name());
            templates.shelf.touch(&mut template, now()).map_err(Broken::Lab)?;
            self.emit(&Event::TemplateReady {
                system: system.clone(),
                summary: format!("{}, {whence}", template.summary()),
            })?;
        }
        let before = templates.before.insert(system.clone(), template.name());
        if before.is_some_and(|before| before != template.name()) {
            let text = format!(
                "the template of {system} is not the one that its trials began with so far: it has the \
                 same rows, not the same bytes"
            );
            self.emit(&Event::Warning { text })?;
        }
        Ok(template)
    }

    /// Loads a system and keeps its data as a template.
    fn make(&mut self, templates: &mut Templates, index: usize) -> Result<Template, Broken> {
        let system = &self.plan.systems[index];
        self.emit(&Event::TemplateStarted { system: system.name.clone() })?;
        match self.load(templates, index) {
            Err(Broken::Failed(outcome)) => {
                let outcome = of_template(outcome);
                templates.failed.insert(index, outcome.clone());
                Err(Broken::Failed(outcome))
            }
            other => other,
        }
    }

    fn load(&mut self, templates: &Templates, index: usize) -> Result<Template, Broken> {
        let begin = Instant::now();
        let (system, key) = (&self.plan.systems[index], &templates.keys[index]);
        templates
            .shelf
            .discard(key)
            .and_then(|()| templates.make_room(templates.estimates[index]))
            .map_err(Broken::Lab)?;
        // Where trials have their round, which counts from 1.
        let name = format!("{}-0-{}", self.run, index + 1);
        let mut open = self.open(system, &name, None)?;
        let (loading, state) = match self.load_on(system, &mut open) {
            Ok(loaded) => loaded,
            Err(broken) => return self.end(system, &name, open, Err(broken)),
        };
        let staged = templates.shelf.stage(key).map_err(Broken::Lab)?;
        let data = data_of(&staged);
        let site = &mut open.site;
        let moved = site.stop().and_then(|()| site.move_data(&data));
        let moved = moved.map_err(|error| failed(None, error.reason, error.log_tail));
        if let Err(broken) = self.end(system, &name, open, moved) {
            remove(&staged).map_err(Broken::Lab)?;
            return Err(broken);
        }
        let made = now();
        let (inventory, disk) = Inventory::of(&data)
            .map_err(LabError::directory("read", &data))
            .map_err(Broken::Lab)?;
        let record = Record {
            format: FORMAT,
            key: key.clone(),
            system: system.name.clone(),
            used: made.clone(),
            made,
            inventory,
            disk,
            took: begin.elapsed().into(),
            loading,
            state,
        };
        let template = templates.shelf.put(&staged, record);
        // It may be larger than was estimated.
        template
            .and_then(|template| templates.make_room(Bytes(0)).map(|()| template))
            .map_err(Broken::Lab)
    }

    /// Runs the loading steps; what they came to, and what the workload remembers of them.
    fn load_on(
        &mut self,
        system: &System,
        open: &mut OpenSite,
    ) -> Result<(Vec<Figure>, String), Broken> {
        place_client(system, &system.cpus.client).map_err(Broken::Lab)?;
        let mut workload = workloads::workload(&self.plan.workload, loading_seed(self.plan));
        let mut figures = Vec::new();
        for step in self.plan.steps.iter().filter(|step| step.loads) {
            figures.extend(self.step(&mut *workload, step, open)?);
        }
        match workload.state(&open.site.target()) {
            Ok(state) => Ok((figures, state)),
            Err(error) => Err(failed(None, error.to_string(), open.site.log_tail())),
        }
    }
}

/// How a trial ends whose template could not be made.
fn of_template(outcome: Outcome) -> Outcome {
    match outcome {
        whole @ (Outcome::Completed | Outcome::Quarantined { .. }) => whole,
        Outcome::Failed { step, reason, log_tail } => Outcome::Failed {
            step,
            reason: format!("its template could not be loaded: {reason}"),
            log_tail,
        },
    }
}
