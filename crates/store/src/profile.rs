//! The stacks of steps in profiled rounds.

use model::{Profile, ProfiledStep, Resource, RunId};
use rusqlite::params;

use crate::Store;
use crate::error::Result;
use crate::load::finished::finished_steps;
use crate::pack::{pack, unpack};
use crate::read::{blob, row_of};
use crate::write::{StepRowId, still_there};

impl Store {
    pub fn add_profile(&mut self, step: StepRowId, profile: &Profile) -> Result<()> {
        self.write("saving the stacks of a step", |change| {
            let saved = change.execute(
                "INSERT INTO profile (step, stacks) SELECT id, ?2 FROM step WHERE id = ?1",
                params![step.0, pack(profile)?],
            )?;
            still_there(saved, "step")
        })
    }

    /// The profiled steps of a run, in execution order; without those of trials that failed.
    pub fn profiles(&self, run: &RunId) -> Result<Vec<ProfiledStep>> {
        self.read("reading profiles", |state| {
            let mut query = state.prepare(
                "SELECT stacks FROM profile JOIN step ON step.id = profile.step
                 JOIN trial ON trial.id = step.trial
                 WHERE step = ?1 AND outcome LIKE '{\"outcome\":\"profiled\"%' ORDER BY profile.rowid",
            )?;
            let mut profiled = Vec::new();
            for step in finished_steps(state, row_of(state, run)?)? {
                let mut rows = query.query([step.id])?;
                while let Some(row) = rows.next()? {
                    let what = || format!("the stacks of {}", step.name);
                    let mut profile: Profile = unpack(blob(row, 0)?, what)?;
                    // Earlier versions did not say of what they are.
                    if profile.hertz == 0 && profile.of == Resource::Cpu {
                        profile.of = Resource::Instructions;
                    }
                    let (trial, record) = (step.trial(), step.record.clone());
                    profiled.push(ProfiledStep { trial, record, profile });
                }
            }
            Ok(profiled)
        })
    }
}
