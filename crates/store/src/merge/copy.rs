//! Moves trials, with all that is below them, from the attached file `part` into `main`.

use rusqlite::Connection;

use crate::error::Fault;

/// Temporary tables: the ids of what is copied next.
pub(super) const PICKED: &str = "CREATE TEMP TABLE picked (trial INTEGER PRIMARY KEY);
     CREATE TEMP TABLE picked_step (step INTEGER PRIMARY KEY);";

/// A trial that has an outcome.
pub(super) struct Trial {
    id: i64,
    pub(super) round: u32,
    pub(super) system: String,
    pub(super) started: String,
}

/// The trials of a run in the file attached as `schema`, in execution order.
pub(super) fn trials(state: &Connection, schema: &str, run: i64) -> Result<Vec<Trial>, Fault> {
    let mut query = state.prepare(&format!(
        "SELECT id, round, system, started FROM {schema}.trial
         WHERE run = ?1 AND outcome IS NOT NULL ORDER BY id"
    ))?;
    let trials = query.query_map([run], |row| {
        let (id, round, system) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Trial { id, round, system, started: row.get(3)? })
    })?;
    Ok(trials.collect::<rusqlite::Result<_>>()?)
}

/// The trials to copy.
#[derive(Default)]
pub(super) struct Picked(pub(super) Vec<Trial>);

impl Picked {
    /// In ascending order, each once for each of its trials.
    pub(super) fn rounds(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|trial| trial.round)
    }

    /// Gives them to a run; how many there are. Ids of the first file stay: if they were moved, they would double with
    /// every merge.
    pub(super) fn copy(&self, state: &Connection, run: i64, keeps_ids: bool) -> Result<u32, Fault> {
        state.execute_batch("DELETE FROM picked; DELETE FROM picked_step")?;
        for trial in &self.0 {
            state.prepare_cached("INSERT INTO picked VALUES (?1)")?.execute([trial.id])?;
        }
        state.execute(
            "INSERT INTO picked_step SELECT id FROM part.step
             WHERE trial IN (SELECT trial FROM picked)",
            [],
        )?;
        // From the first that is picked to the next that is free.
        let shift = |next: &str, first: &str| {
            let query = format!("SELECT coalesce(({next}), 0) + 1 - coalesce(({first}), 1)");
            state.query_row(&query, [], |row| row.get::<_, i64>(0))
        };
        let (trials, steps) = if keeps_ids {
            (0, 0)
        } else {
            (
                shift("SELECT max(id) FROM main.trial", "SELECT min(trial) FROM picked")?,
                shift("SELECT max(id) FROM main.step", "SELECT min(step) FROM picked_step")?,
            )
        };
        for copy in copies(run, trials, steps) {
            state.execute(&copy, [])?;
        }
        Ok(self.0.len() as u32)
    }
}

/// What is copied, in an order that only ever appends. Ids are moved by `trials` and `steps`, behind those that are
/// taken. Joins begin with `picked_step`: its order and that of each table's key need no sort, through which most of a
/// lab would go.
fn copies(run: i64, trials: i64, steps: i64) -> [String; 9] {
    let of_trials = "WHERE trial IN (SELECT trial FROM picked) ORDER BY id";
    let of_steps = |table: &str, columns: &str, key: &str| {
        format!(
            "INSERT INTO main.{table} SELECT below.step + {steps}, {columns}
             FROM picked_step CROSS JOIN part.{table} AS below ON below.step = picked_step.step
             ORDER BY picked_step.step, {key}"
        )
    };
    [
        format!(
            "INSERT INTO main.trial SELECT id + {trials}, {run}, round, position, system, started,
                 provenance, completed, outcome, duration_ns
             FROM part.trial WHERE id IN (SELECT trial FROM picked) ORDER BY id"
        ),
        format!(
            "INSERT INTO main.step SELECT id + {steps}, trial + {trials}, ordinal, name, kinds,
                 measured, record
             FROM part.step {of_trials}"
        ),
        of_steps("interval", "below.number, numbers", "below.number"),
        of_steps("interval_detail", "below.number, latency, readings", "below.number"),
        of_steps("histogram", "kind, response, latency", "kind, response"),
        of_steps("measurement", "below.place, metric, unit, value", "below.place"),
        of_steps("slice", "metric, series", "metric"),
        of_steps("profile", "stacks", "below.rowid"),
        format!(
            "INSERT INTO main.capture (trial, step, moment, name, listing)
             SELECT trial + {trials}, step, moment, name, listing FROM part.capture {of_trials}"
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn nothing_below_a_step_is_sorted() {
        let directory = tempfile::tempdir().unwrap();
        let [main, part] = ["main", "part"].map(|name| directory.path().join(name));
        drop(Store::open(&part).unwrap());
        let state = Store::open(&main).unwrap().connection;
        state.execute("ATTACH ?1 AS part", [part.to_str().unwrap()]).unwrap();
        state.execute_batch(PICKED).unwrap();
        let below = copies(1, 2, 3).into_iter().filter(|copy| copy.contains("picked_step"));
        assert_eq!(below.clone().count(), 6);
        for copy in below {
            let mut plan = state.prepare(&format!("EXPLAIN QUERY PLAN {copy}")).unwrap();
            let steps = plan.query_map([], |row| row.get::<_, String>(3)).unwrap();
            let steps: Vec<String> = steps.map(Result::unwrap).collect();
            assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{copy}: {steps:?}");
        }
    }
}
