//! The Insert Benchmark: ten steps over a queue-like table with three secondary indexes.
//!
//! Each client has a table of its own (or all share one): an inserter at the high end of the key, a
//! deleter at the low end in step with it, and query sessions. `docs/methodology.md` lists what is
//! done differently from the original, and why.

mod contents;
mod index;
mod inserted;
mod proof;
mod query;
mod rows;
mod samples;
mod sql;
mod stage;
mod state;
mod warm;
mod writer;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use model::{
    Check, Dialect, InsertSpec, Nanos, Pacing, QueryKind, Rng, Statements, StepId, StepNote,
    Tables, mix,
};

use self::index::IndexBuilder;
use self::inserted::{Batch, TableState};
use self::query::{LongTransaction, PointQueries, QuerySetup, RangeQueries, Reads};
use self::rows::Rows;
use self::samples::Sampled;
use self::stage::{Kinds, Stage, loading_stages, stages};
use self::state::{State, TableLoad};
use self::warm::TableReader;
use self::writer::{Coupling, Deleter, InsertStatement, Inserter, Pacer, Turn};
use super::settle::{self, Notes, taken};
use super::worker::{self, Worker, Wrong};
use crate::engine::{Client, End, Observer, Pace, Role, StepSetup, Stop, run};
use crate::{Schedule, StepClock, StepError, StepOutline, StepResult, Target, Workload};

/// A query step is given up after this many times its nominal length.
const OVERRUN: u64 = 10;

/// The workload in one trial.
pub(super) struct Insert {
    spec: InsertSpec,
    seed: u64,
    stages: Vec<Stage>,
    tables: Vec<TableState>,
    /// Number of the next row of each client.
    next_row: Vec<u64>,
    /// What another one loaded, where that is where this one begins.
    loaded: Vec<TableLoad>,
}

/// A step being set up: its clients, and what they share.
struct Cast<'a> {
    target: &'a Target,
    kinds: Kinds,
    clients: Vec<(Role, Box<dyn Client>)>,
    wrong: Arc<Wrong>,
    notes: Notes,
    checks: Arc<Mutex<Vec<Check>>>,
    requested_rows: u64,
    expected_ops: Option<u64>,
    /// Each table, where queries are sampled.
    sampled: Vec<Sampled>,
}

impl Insert {
    pub(super) fn new(spec: InsertSpec, seed: u64) -> Self {
        let tables = match spec.tables {
            Tables::Own => spec.clients,
            Tables::Shared => 1,
        };
        Self {
            stages: stages(&spec),
            tables: (0..tables).map(|_| TableState::default()).collect(),
            next_row: vec![0; spec.clients as usize],
            loaded: Vec::new(),
            spec,
            seed,
        }
    }

    fn table_of(&self, client: u32) -> u32 {
        match self.spec.tables {
            Tables::Own => client,
            Tables::Shared => 0,
        }
    }

    fn deletes(&self) -> bool {
        self.spec.deletes && self.spec.tables == Tables::Own
    }

    /// Rows that a table will have been given when all steps are done.
    fn rows_per_table(&self) -> u64 {
        let per_client: u64 = self.stages.iter().map(|s| s.rows(&self.spec)).sum();
        per_client * u64::from(self.spec.clients) / self.tables.len() as u64
    }

    fn create_tables(&self, target: &Target) -> Result<(), StepError> {
        if self.spec.partitions > 0 && target.dialect == Dialect::Sqlite {
            return Err(StepError::Unsupported(format!(
                "this database has no partitioned tables: leave out `partitions` = {}",
                self.spec.partitions
            )));
        }
        let mut worker = Worker::connect(&*target.connector, "create tables".to_owned())?;
        for table in 0..self.tables.len() as u32 {
            let name = sql::table_name(table);
            let rows = self.rows_per_table();
            for statement in
                sql::create_table(target.dialect, target.engine, &name, &self.spec, rows)
            {
                worker.run(&statement)?;
            }
        }
        Ok(())
    }

    /// An inserter of `statements` statements for one client.
    fn inserter(
        &mut self,
        cast: &mut Cast<'_>,
        client: u32,
        rows_per_commit: u32,
        turn: Turn,
    ) -> Result<Inserter, StepError> {
        let name = format!("insert {}", client + 1);
        let mut worker = Worker::connect(&*cast.target.connector, name)?;
        let table_number = self.table_of(client);
        let table = sql::table_name(table_number);
        let statement = if writes_prepared(&self.spec) {
            InsertStatement::prepare(&mut worker, cast.target.dialect, &table, rows_per_commit)?
        } else {
            InsertStatement::text(&table)
        };
        let first_row = self.next_row[client as usize];
        let rows = turn.statements * u64::from(rows_per_commit);
        self.next_row[client as usize] += rows;
        cast.requested_rows += rows;
        let inserted = Arc::new(AtomicU64::new(0));
        let state = &mut self.tables[table_number as usize];
        state.batches.push(Batch {
            client,
            seed: self.seed,
            first: first_row,
            rows_per_commit,
            inserted: Arc::clone(&inserted),
        });
        Ok(Inserter {
            worker,
            turn,
            kind: cast.kinds.insert,
            rows: Rows::new(&self.spec, self.seed, client),
            first_row,
            rows_per_commit,
            statement,
            wrong: Arc::clone(&cast.wrong),
            inserted,
        })
    }

    fn deleter(
        &self,
        cast: &Cast<'_>,
        client: u32,
        rows_per_commit: u32,
        turn: Turn,
        lo: &Arc<AtomicU64>,
    ) -> Result<Deleter, StepError> {
        let connect =
            |role: &str| Worker::connect(&*cast.target.connector, format!("{role} {}", client + 1));
        let mut worker = connect("delete")?;
        let table = sql::table_name(self.table_of(client));
        let dialect = cast.target.dialect;
        let prepared = if writes_prepared(&self.spec) {
            let mut lo = String::new();
            sql::placeholder(&mut lo, dialect, 1);
            let sql = sql::delete(dialect, &table, &lo, rows_per_commit);
            let id = worker.session.prepare(&sql, &[drivers::ParamType::Int]);
            Some(id.map_err(|source| StepError::Session {
                client: worker.name.clone(),
                source,
            })?)
        } else {
            None
        };
        Ok(Deleter {
            worker,
            scout: connect("min")?,
            turn,
            kind: cast.kinds.delete,
            min_kind: cast.kinds.min_pk,
            dialect,
            table,
            rows_per_commit,
            min_resync: self.spec.min_resync,
            prepared,
            wrong: Arc::clone(&cast.wrong),
            deleted: Arc::clone(&self.tables[self.table_of(client) as usize].deleted),
            lo: Arc::clone(lo),
        })
    }

    /// The writers of one client: an inserter and, where there are deletes, a deleter in step.
    fn add_writers(
        &mut self,
        cast: &mut Cast<'_>,
        client: u32,
        stage: &Stage,
        lo: &Arc<AtomicU64>,
    ) -> Result<(), StepError> {
        let rows_per_commit = stage.rows_per_commit(&self.spec);
        let statements = stage.rows(&self.spec).div_ceil(u64::from(rows_per_commit));
        let with_deletes = self.deletes() && stage.has_deletes();
        let coupling = with_deletes.then(|| Arc::new(Coupling::new(self.spec.queue)));
        let (pacer, delete_pacer) = self.pacers(stage, client);
        let turn = Turn {
            statements,
            pacer,
            coupling,
        };
        let inserter = self.inserter(cast, client, rows_per_commit, turn.clone())?;
        if with_deletes {
            let turn = Turn {
                pacer: delete_pacer,
                ..turn
            };
            let deleter = self.deleter(cast, client, rows_per_commit, turn, lo)?;
            cast.add(format!("delete {}", client + 1), true, Box::new(deleter));
        }
        cast.add(format!("insert {}", client + 1), true, Box::new(inserter));
        Ok(())
    }

    /// What the inserter and the deleter of a client keep to, where the step has a rate.
    fn pacers(&self, stage: &Stage, client: u32) -> (Option<Pacer>, Option<Pacer>) {
        let Some(rate) = stage.rate().map(u64::from) else {
            return (None, None);
        };
        let rows = u64::from(stage.rows_per_commit(&self.spec));
        match self.spec.pacing {
            Pacing::Even => {
                let schedule = Schedule::new(rate, rows, client, self.spec.clients);
                let between = schedule.half_a_period_away();
                (Some(Pacer::Even(schedule)), Some(Pacer::Even(between)))
            }
            Pacing::Burst => {
                let pacer = Pacer::burst(rate, rows);
                (Some(pacer.clone()), Some(pacer))
            }
        }
    }

    fn add_queries(
        &self,
        cast: &mut Cast<'_>,
        client: u32,
        stage: &Stage,
        lo: &Arc<AtomicU64>,
    ) -> Result<(), StepError> {
        let Stage::Query { kind, rate } = *stage else {
            return Ok(());
        };
        let table = sql::table_name(self.table_of(client));
        for session in 0..self.spec.query_sessions {
            let name = format!("query {}.{}", client + 1, session + 1);
            let mut worker = Worker::connect(&*cast.target.connector, name.clone())?;
            if session == 0 && !self.spec.compat {
                // The original asks from zero until the first delete; those keys do not exist.
                lo.store(
                    worker.number(&format!("SELECT MIN(transactionid) FROM {table}"))?,
                    Ordering::Relaxed,
                );
            }
            let salt = [
                u64::from(client),
                2,
                u64::from(session),
                u64::from(rate),
                kind as u64,
            ];
            let setup = QuerySetup {
                dialect: cast.target.dialect,
                table: &table,
                kind: cast.kinds.query,
                rng: Rng::new(mix(self.seed, &salt)),
                rows_per_query: self.spec.rows_per_query,
                reads: reads(&self.spec, cast.target.dialect),
                wrong: Arc::clone(&cast.wrong),
                table_rows: self.tables[self.table_of(client) as usize].rows(),
                samples: cast.samples(self.table_of(client), self.sessions_of_table()),
            };
            let client: Box<dyn Client> = match kind {
                QueryKind::Range => Box::new(RangeQueries::new(
                    worker,
                    setup,
                    self.spec.secondary_indexes,
                )?),
                QueryKind::Point => {
                    let lo = Arc::clone(lo);
                    let max_kind = cast.kinds.max_pk;
                    let refresh = self.spec.max_refresh;
                    Box::new(PointQueries::new(worker, setup, max_kind, refresh, lo)?)
                }
            };
            cast.add(name, false, client);
        }
        Ok(())
    }

    fn add_long_transaction(&self, cast: &mut Cast<'_>, client: u32) -> Result<(), StepError> {
        if self.spec.htap_seconds > 0 {
            let name = format!("long transaction {}", client + 1);
            let worker = Worker::connect(&*cast.target.connector, name.clone())?;
            let long = LongTransaction {
                worker,
                kind: cast.kinds.long,
                table: sql::table_name(self.table_of(client)),
                seconds: self.spec.htap_seconds,
            };
            cast.add(name, false, Box::new(long));
        }
        Ok(())
    }

    fn cast_index_step(&mut self, cast: &mut Cast<'_>) -> Result<(), StepError> {
        let (dialect, engine) = (cast.target.dialect, cast.target.engine);
        let mut expected = 0;
        for table in 0..self.tables.len() as u32 {
            let name = sql::table_name(table);
            let statements =
                sql::create_indexes(dialect, engine, &name, self.spec.secondary_indexes);
            expected += statements.len() as u64;
            let rows_per_commit = self.spec.i0_rows_per_commit;
            let turn = Turn {
                statements: 1,
                pacer: None,
                coupling: None,
            };
            let first = Box::new(self.inserter(cast, table, rows_per_commit, turn)?);
            let held = self.tables[table as usize].inserted();
            let worker =
                Worker::connect(&*cast.target.patient, format!("create index {}", table + 1))?;
            let builder = IndexBuilder {
                worker,
                kind: cast.kinds.index,
                statements,
                rows: held + u64::from(rows_per_commit),
                first,
            };
            cast.add(
                format!("create index {}", table + 1),
                true,
                Box::new(builder),
            );
        }
        cast.expected_ops = Some(expected);
        Ok(())
    }

    fn cast_settle_step(&self, cast: &mut Cast<'_>) -> Result<(), StepError> {
        let tables: Vec<String> = (0..self.tables.len() as u32).map(sql::table_name).collect();
        let rows = self.spec.rows * u64::from(self.spec.clients);
        let at_least = settle::length(self.spec.settle, rows);
        let clients = settle::clients(cast.target, &tables, at_least, &cast.notes)?;
        cast.clients.extend(clients);
        Ok(())
    }

    fn cast_warm_step(&self, cast: &mut Cast<'_>) -> Result<(), StepError> {
        for (load, table) in self.loaded.iter().zip(0..) {
            let table = sql::table_name(table);
            let role = format!("read {table}");
            let worker = Worker::connect(&*cast.target.patient, role.clone())?;
            let dialect = cast.target.dialect;
            let indexes = self.spec.secondary_indexes as usize;
            let reader = TableReader::new(worker, dialect, &table, indexes, load, &cast.checks)?;
            cast.add(role, true, Box::new(reader));
        }
        Ok(())
    }

    fn cast(&mut self, stage: &Stage, cast: &mut Cast<'_>, stop: &Stop) -> Result<(), StepError> {
        match stage {
            Stage::Index => return self.cast_index_step(cast),
            Stage::Settle => return self.cast_settle_step(cast),
            Stage::Warm => return self.cast_warm_step(cast),
            Stage::Load => self.create_tables(cast.target)?,
            Stage::Random { .. } => {}
            Stage::Query { .. } => cast.sampled = self.sampled(),
        }
        for client in 0..self.spec.clients {
            if stop.is_asked() {
                return Err(StepError::Interrupted);
            }
            let lo = Arc::new(AtomicU64::new(0));
            self.add_writers(cast, client, stage, &lo)?;
            self.add_queries(cast, client, stage, &lo)?;
            self.add_long_transaction(cast, client)?;
        }
        Ok(())
    }
}

impl Workload for Insert {
    fn steps(&self) -> Vec<StepOutline> {
        self.stages
            .iter()
            .map(|stage| StepOutline {
                step: StepId::new(stage.name()),
                measured: stage.is_measured(),
                kinds: Kinds::of(stage, &self.spec)
                    .specs
                    .into_iter()
                    .map(|k| k.name)
                    .collect(),
                subject: stage.subject(),
                clients: self.spec.clients,
            })
            .collect()
    }

    fn run(
        &mut self,
        index: usize,
        target: &Target,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepResult, StepError> {
        let clock = StepClock::start();
        let stage = self.stages[index].clone();
        let mut cast = Cast {
            target,
            kinds: Kinds::of(&stage, &self.spec),
            clients: Vec::new(),
            wrong: Arc::default(),
            notes: Arc::default(),
            checks: Arc::default(),
            requested_rows: 0,
            expected_ops: None,
            sampled: Vec::new(),
        };
        self.cast(&stage, &mut cast, stop)?;
        let Cast {
            kinds,
            clients,
            wrong,
            notes,
            checks: found,
            requested_rows,
            expected_ops,
            sampled,
            ..
        } = cast;
        let paced = stage
            .rate()
            .map(|rate| u64::from(rate) * u64::from(self.spec.clients));
        let setup = StepSetup {
            kinds: kinds.specs.clone(),
            clients,
            pace: paced.map(|rows_per_second| self.pace(&stage, &kinds, rows_per_second)),
            end: End::AllDone {
                limit: paced
                    .map(|_| Nanos::from_secs(u64::from(self.spec.query_seconds) * OVERRUN)),
            },
            warmup: Nanos(0),
        };
        let window = run(setup, stop, observer)?;
        let elapsed = clock.now();
        let mut checks = vec![check("statements with a wrong answer", 0, wrong.count())];
        checks.extend(take(&found));
        if stage.is_measured() && !window.cut_short {
            let inserted = window.kinds[kinds.insert].sums.rows;
            checks.push(check("rows inserted", requested_rows, inserted));
        }
        if let Some(expected) = expected_ops {
            let built = window.kinds[kinds.index].sums.ops;
            checks.push(check("indexes built", expected, built));
        }
        if let Stage::Query { .. } = stage {
            checks.push(found_rows(&window.kinds[kinds.query].sums));
        }
        let sampled = sampled.iter().zip(&self.tables);
        checks.extend(sampled.map(|(sampled, table)| sampled.check(&self.spec, table)));
        checks.extend(self.prove(index, target, stop)?);
        let mut notes = taken(&notes, StepNote::SETTLE);
        notes.extend(self.notes(&stage, &kinds, &window));
        Ok(StepResult {
            window,
            elapsed,
            target_rate: paced,
            requested_rows,
            open_loop: None,
            tpcc: None,
            checks,
            notes,
        })
    }

    fn loading_steps(&self) -> usize {
        loading_stages(&self.stages)
    }

    fn state(&self, target: &Target) -> Result<String, StepError> {
        let mut worker = Worker::connect(&*target.patient, "ends of the tables".to_owned())?;
        let mut end = |end: &str, table: &str| {
            worker.number(&format!("SELECT {end}(transactionid) FROM {table}"))
        };
        let tables = self.tables.iter().zip(0..).map(|(table, number)| {
            let name = sql::table_name(number);
            Ok(TableLoad {
                inserted: table.inserted(),
                deleted: table.deleted(),
                lowest: end("MIN", &name)?,
                highest: end("MAX", &name)?,
            })
        });
        let state = State {
            tables: tables.collect::<Result<_, StepError>>()?,
            next_row: self.next_row.clone(),
            seed: self.seed,
        };
        state.write()
    }

    fn restore(&mut self, state: &str) -> Result<(), StepError> {
        let state = State::read(state, self.tables.len(), self.next_row.len())?;
        let done = loading_stages(&self.stages);
        for (number, load) in (0..).zip(&state.tables) {
            let clients = match self.spec.tables {
                Tables::Own => number..number + 1,
                Tables::Shared => 0..self.spec.clients,
            };
            let table = &mut self.tables[number as usize];
            table.batches = inserted::loaded(&self.spec, &self.stages[..done], state.seed, clients);
            table.deleted.store(load.deleted, Ordering::Relaxed);
            if table.inserted() != load.inserted {
                return Err(StepError::State(format!(
                    "{} rows were inserted into {}; the plan inserts {}",
                    load.inserted,
                    sql::table_name(number),
                    table.inserted()
                )));
            }
        }
        self.next_row = state.next_row;
        self.loaded = state.tables;
        self.stages.splice(..done, [Stage::Warm]);
        Ok(())
    }
}

/// All of `spec` that decides what loading leaves. The bounds of partitions depend on the rows of all
/// steps.
pub(super) fn loading(spec: &InsertSpec) -> Result<String, StepError> {
    let rows = Insert::new(spec.clone(), 0).rows_per_table();
    let bounds = (spec.partitions > 0).then_some(rows);
    serde_json::to_string(&(state::VERSION, state::of_loading(spec), bounds))
        .map_err(|error| StepError::State(error.to_string()))
}

impl Insert {
    fn pace(&self, stage: &Stage, kinds: &Kinds, rows_per_second: u64) -> Pace {
        let statement = u64::from(stage.rows_per_commit(&self.spec));
        Pace {
            kind: kinds.insert,
            rows_per_second,
            slack: statement * u64::from(self.spec.clients),
            tolerance_percent: 100 - u64::from(self.spec.sla_percent.min(100)),
            catches_up: self.spec.pacing == Pacing::Even,
        }
    }

    fn notes(&self, stage: &Stage, kinds: &Kinds, window: &crate::Window) -> Vec<(String, String)> {
        let mut notes = Vec::new();
        if window.cut_short {
            let text = format!("given up after {OVERRUN} times its nominal length");
            notes.push((StepNote::CUT_SHORT.to_owned(), text));
        }
        if let Stage::Query { .. } = stage {
            let query = &window.kinds[kinds.query].sums;
            if query.ops > 0 {
                let mean = query.rows as f64 / query.ops as f64;
                let text = format!("{mean:.3} of {}", self.spec.rows_per_query);
                notes.push(("rows per query".to_owned(), text));
            }
        }
        if self.deletes() && stage.has_deletes() {
            let min = &window.kinds[kinds.min_pk].sums;
            let mean = min.service.mean().unwrap_or_default();
            notes.push((
                "min(pk) queries".to_owned(),
                format!("{}, mean {mean}", min.ops),
            ));
        }
        notes
    }
}

impl Cast<'_> {
    fn add(&mut self, name: String, bounded: bool, client: Box<dyn Client>) {
        self.clients.push((Role { name, bounded }, client));
    }
}

fn take<T>(shared: &Mutex<Vec<T>>) -> Vec<T> {
    shared
        .lock()
        .map(|mut shared| std::mem::take(&mut *shared))
        .unwrap_or_default()
}

fn check(what: &str, expected: u64, actual: u64) -> Check {
    Check {
        what: what.to_owned(),
        expected: expected.to_string(),
        actual: actual.to_string(),
        holds: expected == actual,
    }
}

/// Queries that never find a row are no answer, however fast they are; nor are none at all.
fn found_rows(query: &model::KindInterval) -> Check {
    Check {
        what: "rows that queries found".to_owned(),
        expected: "more than 0".to_owned(),
        actual: query.rows.to_string(),
        holds: query.rows > 0,
    }
}

fn writes_prepared(spec: &InsertSpec) -> bool {
    spec.writes == Statements::Prepared
}

/// How queries go unless the plan says so itself: on PostgreSQL the original sends `execute` as text.
fn reads(spec: &InsertSpec, dialect: Dialect) -> Reads {
    match (spec.reads, dialect) {
        (Statements::Text, _) | (Statements::Usual, Dialect::Mysql) => Reads::Text,
        (Statements::Usual, Dialect::Postgres) if spec.compat => Reads::ByName,
        (Statements::Prepared, _) | (Statements::Usual, Dialect::Postgres | Dialect::Sqlite) => {
            Reads::Prepared
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
