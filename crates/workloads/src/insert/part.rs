//! A share of the clients of a step, in a process that measures nothing itself, and what that process reports.

use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use super::inserted::TableState;
use super::samples::{Sampled, Samples};
use super::{Insert, Setup};
use crate::part::{Assignment, InsertAssignment, Part};
use data::state;
use load::{Crew, LoadHosts, Result, Share, Stop, Target, Wrong, lock};

#[derive(Serialize, Deserialize)]
struct Report {
    /// The rows that each client inserted, after its number.
    inserted: Vec<(u32, u64)>,
    /// The rows deleted from each table.
    deleted: Vec<u64>,
    wrong: u64,
    /// Of each table in a step with queries.
    samples: Vec<Samples>,
}

pub(crate) fn part(
    assignment: InsertAssignment,
    target: &Target,
    share: Share,
    stop: &Stop,
) -> Result<Part> {
    let InsertAssignment { spec, stage, seed, next_row, table_rows } = assignment;
    let mut insert = Insert { next_row, ..Insert::new(spec, seed) };
    let mut step = insert.setup(target, &stage, table_rows);
    insert.add_clients(&mut step, share.clients, stop)?;
    let crew = step.own_crew();
    let Setup { wrong, sampled, .. } = step;
    Ok(Part { crew, report: Box::new(move || report(&insert.tables, &wrong, &sampled)) })
}

/// The tables hold only what this share inserted and deleted.
fn report(tables: &[TableState], wrong: &Wrong, sampled: &[Sampled]) -> Result<String> {
    let batches = tables.iter().flat_map(|table| &table.batches);
    let samples = sampled.iter().map(|one| std::mem::take(&mut *lock(&one.samples)));
    state::write(&Report {
        inserted: batches.map(|batch| (batch.client, batch.rows())).collect(),
        deleted: tables.iter().map(TableState::deleted).collect(),
        wrong: wrong.count(),
        samples: samples.collect(),
    })
}

impl Insert {
    /// Lets the load hosts connect all clients of a step in which they write or query.
    pub(super) fn divide<'a>(
        &mut self,
        step: &mut Setup<'a>,
        hosts: &'a dyn LoadHosts,
    ) -> Result<Box<dyn Crew + 'a>> {
        let (kinds, clients) = (step.kinds.0.clone(), self.spec.clients);
        let sessions = step.stage.sessions(&self.spec) / clients.max(1);
        let crew = hosts.crew(self.assignment(step)?, kinds, clients, sessions)?;
        for client in 0..clients {
            self.next_batch(step, client);
        }
        Ok(crew)
    }

    fn assignment(&self, step: &Setup<'_>) -> Result<String> {
        state::write(&Assignment::Insert(InsertAssignment {
            spec: self.spec.clone(),
            stage: step.stage.clone(),
            seed: self.seed,
            next_row: self.next_row.clone(),
            table_rows: step.table_rows.clone(),
        }))
    }

    pub(super) fn take(&self, report: &str, step: &Setup<'_>) -> Result {
        let Report { inserted, deleted, wrong, samples } = state::read(report)?;
        for (client, rows) in inserted {
            let batches = &self.tables[self.table_of(client) as usize].batches;
            if let Some(batch) = batches.iter().rfind(|batch| batch.client == client) {
                batch.inserted.fetch_add(rows, Ordering::Relaxed);
            }
        }
        for (table, rows) in self.tables.iter().zip(deleted) {
            table.deleted.fetch_add(rows, Ordering::Relaxed);
        }
        step.wrong.add(wrong);
        for (sampled, more) in step.sampled.iter().zip(samples) {
            lock(&sampled.samples).add(more);
        }
        Ok(())
    }
}
