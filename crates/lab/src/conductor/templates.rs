//! Loads each system once, where the plan asks for that, and has its template ready for its trials.

use std::time::Instant;

use model::{Bytes, Event, Outcome, System};
use obtain::now;
use servers::PathError;

use super::trial::{
    Broken, Conductor, Halt, OpenSite, Result, apart, failed, place_client, retold,
};
use crate::template::{
    FORMAT, Figure, Inventory, Record, Template, Templates, data_of, loading_seed, remove,
};

impl Conductor<'_> {
    /// Makes what is missing before the first trial. What cannot be loaded fails its system's trials in their turn.
    pub(super) fn make_templates(&mut self, left: &[usize]) -> Result<(), Halt> {
        for &system in left {
            if let Err(Outcome::Failed { reason, .. }) = apart(self.template(system))? {
                self.warn(format!("{}: {reason}", self.plan.systems[system].name))?;
            }
        }
        Ok(())
    }

    /// The template of a system, made where there is none that holds; `None` where the plan asks for none.
    pub(super) fn template(&mut self, system: usize) -> Result<Option<Template>> {
        let Some(mut templates) = self.templates.take() else { return Ok(None) };
        let result = self.template_in(&mut templates, system);
        self.templates = Some(templates);
        result.map(Some)
    }

    fn template_in(&mut self, templates: &mut Templates, system: usize) -> Result<Template> {
        if let Some(outcome) = templates.failed.get(&system) {
            return Err(Broken::Failed(outcome.clone()));
        }
        match templates.shelf.find(&templates.keys[system]) {
            Ok(Some(template)) => {
                return self.announce(templates, system, template, "used again");
            }
            Ok(None) => {}
            Err(reason) => {
                let name = &self.plan.systems[system].name;
                self.warn(format!(
                    "the template of {name} is damaged, backslide makes it again: {reason}"
                ))?;
            }
        }
        let template = self.make(templates, system)?;
        self.announce(templates, system, template, "made now")
    }

    /// Says which template a system has, once in a session or when it is another one, and that it is used.
    fn announce(
        &mut self,
        templates: &mut Templates,
        system: usize,
        mut template: Template,
        whence: &str,
    ) -> Result<Template> {
        let system = &self.plan.systems[system].name;
        if templates.announced.get(system) != Some(&template.name()) {
            templates.announced.insert(system.clone(), template.name());
            templates.shelf.touch(&mut template, now())?;
            self.emit(&Event::TemplateReady {
                system: system.clone(),
                summary: format!("{}, {whence}", template.summary()),
            })?;
        }
        let before = templates.before.insert(system.clone(), template.name());
        if before.is_some_and(|before| before != template.name()) {
            self.warn(format!(
                "the template of {system} differs from the one that earlier trials began with: it has the \
                 same rows, not the same bytes"
            ))?;
        }
        Ok(template)
    }

    fn make(&mut self, templates: &mut Templates, index: usize) -> Result<Template> {
        let system = &self.plan.systems[index];
        self.emit(&Event::TemplateStarted { system: system.name.clone() })?;
        apart(self.load(templates, index))?.map_err(|outcome| {
            let tell = |reason| format!("its template could not be loaded: {reason}");
            let outcome = retold(outcome, tell);
            templates.failed.insert(index, outcome.clone());
            Broken::Failed(outcome)
        })
    }

    fn load(&mut self, templates: &Templates, index: usize) -> Result<Template> {
        let begin = Instant::now();
        let (system, key) = (&self.plan.systems[index], &templates.keys[index]);
        templates.shelf.discard(key)?;
        templates.shelf.make_room(templates.estimates[index], &templates.needed)?;
        // Where trials have their round, which counts from 1.
        let name = format!("{}-0-{}", self.run, index + 1);
        let mut open = self.open(system, name, None)?;
        let (loading, state) = match self.load_on(system, &mut open) {
            Ok(loaded) => loaded,
            Err(broken) => return self.end(open, Err(broken)),
        };
        let staged = templates.shelf.stage(key)?;
        let data = data_of(&staged);
        let site = &mut open.site;
        let moved = site.stop().and_then(|()| site.move_data(&data));
        if let Err(broken) = self.end(open, moved.map_err(Broken::from)) {
            remove(&staged)?;
            return Err(broken);
        }
        let made = now();
        let (inventory, disk) = Inventory::of(&data).map_err(PathError::of("read", &data))?;
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
        let template = templates.shelf.put(&staged, record)?;
        // It may be larger than was estimated.
        templates.shelf.make_room(Bytes(0), &templates.needed)?;
        Ok(template)
    }

    /// Runs the loading steps; what they came to, and what the workload remembers of them.
    fn load_on(&mut self, system: &System, open: &mut OpenSite) -> Result<(Vec<Figure>, String)> {
        place_client(system, &system.cpus.client)?;
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
