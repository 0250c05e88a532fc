//! What is proved of the tables and of the answers, and when.

use std::sync::{Arc, Mutex};

use model::{Check, InsertStage as Stage};

use super::samples::{Sampled, Samples};
use super::{Insert, StepClients, contents, sql};
use data::row_counts::check;
use load::engine::Stop;
use load::worker::Worker;
use load::{StepError, Target};

impl Insert {
    pub(super) fn sampled(&self) -> Vec<Sampled> {
        let tables = self.tables.iter().zip(0..);
        let sampled = tables.map(|(table, number)| Sampled {
            table: sql::table_name(number),
            before: table.now(),
            samples: Arc::default(),
        });
        sampled.collect()
    }

    pub(super) fn sessions_of_table(&self) -> u32 {
        self.spec.query_sessions * self.spec.clients / self.tables.len() as u32
    }

    /// What the tables hold against what they must hold, after a step: their rows counted, and at the end
    /// compared. Both reads whole tables and so warms the cache: it is done only before the settle phase and
    /// at the end.
    pub(super) fn prove(
        &self,
        index: usize,
        target: &Target,
        stop: &Stop,
    ) -> Result<Vec<Check>, StepError> {
        match self.stages.get(index + 1) {
            None => {
                let mut checks = self.count_rows(target)?;
                checks.extend(contents::checks(&self.spec, &self.tables, target, stop)?);
                Ok(checks)
            }
            Some(Stage::Settle) => self.count_rows(target),
            Some(
                Stage::Load
                | Stage::Index
                | Stage::Random { .. }
                | Stage::Warm
                | Stage::Query { .. },
            ) => Ok(Vec::new()),
        }
    }

    fn count_rows(&self, target: &Target) -> Result<Vec<Check>, StepError> {
        let mut worker = Worker::connect(&*target.patient, "count rows".to_owned())?;
        let tables = self.tables.iter().zip(0..);
        tables
            .map(|(state, number)| {
                let table = sql::table_name(number);
                let actual = worker.number(&format!("SELECT COUNT(*) FROM {table}"))?;
                Ok(check(format!("rows in {table}"), state.rows(), actual))
            })
            .collect()
    }
}

impl StepClients<'_> {
    /// Where the answers of a table's query sessions are kept, and the number of sessions.
    pub(super) fn samples(&self, table: u32, sessions: u32) -> (Arc<Mutex<Samples>>, u32) {
        let sampled = self.sampled.get(table as usize);
        let samples = sampled.map(|sampled| Arc::clone(&sampled.samples));
        (samples.unwrap_or_default(), sessions)
    }
}
