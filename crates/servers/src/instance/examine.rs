//! Asks a build whether it takes the settings of an instance, before one is made.

use std::fs;

use model::{RefusedSetting, System};
use rustix::process::Signal;

use super::{Instance, InstanceSpec, StopFlag, works_in_namespace};
use crate::dbms::check_settings;
use crate::discover::printed;
use crate::error::{Result, ServerError};

impl Instance {
    /// The first setting that no build of the family could be given; needs no installed build.
    pub fn check_settings(system: &System) -> Option<RefusedSetting> {
        let error = check_settings(system).err()?;
        Some(RefusedSetting::Refused { option: error.name, problem: error.problem.to_owned() })
    }

    /// Has the build itself judge its configuration file; the first setting that it does not take. Nothing
    /// is initialised, no server serves, and the directory is removed again. Servers do not look at every
    /// value, so that a start may still fail.
    pub fn examine(spec: InstanceSpec) -> Result<Option<RefusedSetting>> {
        let instance = Self::lay_out(spec, StopFlag::default(), works_in_namespace)?;
        instance.prepare()?;
        let refusal = instance.judged();
        instance.clear();
        refusal
    }

    fn judged(&self) -> Result<Option<RefusedSetting>> {
        self.furnish_data()?;
        let arguments = self.family.examine(&self.system.build, &self.layout);
        let answer = self.ask(&arguments)?;
        let Some(objection) = self.family.objection(&answer) else {
            return Ok(None);
        };
        let option = objection.option;
        if let Some(problem) = objection.problem {
            return Ok(Some(RefusedSetting::Refused { option, problem }));
        }
        let answer = self.ask(&self.family.list_settings(&self.layout))?;
        let known = self.family.listed(&answer).into_iter();
        Ok(Some(RefusedSetting::Unknown { option, known: known.map(str::to_owned).collect() }))
    }

    /// What the configuration file takes for granted.
    fn furnish_data(&self) -> Result<()> {
        let data = self.layout.data();
        fs::create_dir(&data).map_err(ServerError::io("create", &data))?;
        if let Some(path) = self.family.shipped_config(&self.layout) {
            fs::write(&path, "").map_err(ServerError::io("write", &path))?;
        }
        self.give_all(&data)
    }

    fn ask(&self, arguments: &[String]) -> Result<String> {
        let program = &self.layout.installation.program;
        let launch = self.launch_of(program, arguments, Signal::KILL);
        let (_, answer) = printed(&launch).map_err(ServerError::cannot_execute(program))?;
        Ok(answer)
    }
}
