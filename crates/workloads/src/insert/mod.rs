//! The Insert Benchmark: ten steps over a queue-like table with three secondary indexes.
//!
//! Each client has a table of its own (or all share one): an inserter at the high end of the key, a
//! deleter at the low end in step with it, and query sessions. `docs/insert-benchmark.md` lists what is
//! done differently from the original, and why.

mod contents;
mod inserted;
pub(super) mod part;
mod query;
mod rows;
mod samples;
mod sql;
mod state;
mod writer;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{
    Check, Dialect, InsertKinds as Kinds, InsertSpec, InsertStage as Stage, Nanos, Note, NoteKind,
    Pacing, QueryKind, Rng, Statements, StepRecord, Tables, mix,
};

use self::inserted::{Batch, TableState};
use self::query::{LongTransaction, PointQueries, QuerySession, RangeQueries, Reads};
use self::rows::Rows;
use self::samples::Sampled;
use self::state::{State, TableLoad, TableReader};
use self::writer::{
    Coupling, Deleter, IndexBuilder, InsertStatement, Inserter, Pacer, Turn, Writer,
};
use data::statements::{around_index, takes_several_rows};
use data::{Found, Table, check, push_placeholder, settle, taken};
use load::{
    Client, Clients, Crew, End, Notes, Observer, OwnCrew, Pace, Result, Role, Schedule, StepError,
    Stop, Target, Window, Worker, Workload, Wrong, clients, run_paced,
};

/// A query step is given up after this many times its nominal length.
const OVERRUN: u64 = 10;

pub(super) struct Insert {
    spec: InsertSpec,
    seed: u64,
    stages: Vec<Stage>,
    tables: Vec<TableState>,
    /// Number of the next row of each client.
    next_row: Vec<u64>,
    loaded: Vec<TableLoad>,
}

/// A step being set up: its clients, and what they share.
struct Setup<'a> {
    target: &'a Target,
    stage: &'a Stage,
    kinds: Kinds,
    clients: Clients,
    wrong: Arc<Wrong>,
    notes: Notes,
    checks: Found,
    /// Rows that each table had before.
    table_rows: Vec<u64>,
    requested_rows: u64,
    expected_ops: Option<u64>,
    sampled: Vec<Sampled>,
}

impl Setup<'_> {
    fn add(&mut self, name: String, bounded: bool, client: impl Client + 'static) {
        self.clients.push((Role { name, bounded }, Box::new(client)));
    }

    fn own_crew(&mut self) -> OwnCrew {
        let (kinds, clients) = (self.kinds.0.clone(), std::mem::take(&mut self.clients));
        OwnCrew { kinds, clients, shared: None }
    }

    fn connect(&self, name: &str) -> Result<Worker> {
        Worker::connect(&*self.target.connector, name.to_owned())
    }

    fn connect_patient(&self, name: &str) -> Result<Worker> {
        Worker::connect(&*self.target.patient, name.to_owned())
    }
}

impl Insert {
    pub(super) fn new(spec: InsertSpec, seed: u64) -> Self {
        let tables = match spec.tables {
            Tables::Own => spec.clients,
            Tables::Shared => 1,
        };
        Self {
            stages: Stage::of_trial(&spec),
            tables: (0..tables).map(|_| TableState::default()).collect(),
            next_row: vec![0; spec.clients as usize],
            loaded: Vec::new(),
            spec,
            seed,
        }
    }

    fn table_of(&self, client: u32) -> u32 {
        if self.spec.tables == Tables::Own { client } else { 0 }
    }

    fn deletes(&self) -> bool {
        self.spec.deletes && self.spec.tables == Tables::Own
    }

    fn setup<'a>(&self, target: &'a Target, stage: &'a Stage, table_rows: Vec<u64>) -> Setup<'a> {
        Setup {
            target,
            stage,
            kinds: Kinds::of(stage, &self.spec),
            clients: Clients::new(),
            wrong: Arc::default(),
            notes: Arc::default(),
            checks: Arc::default(),
            table_rows,
            requested_rows: 0,
            expected_ops: None,
            sampled: if stage.is_query() { self.sampled() } else { Vec::new() },
        }
    }

    /// Rows that a table will have been given when all steps are done.
    fn rows_per_table(&self) -> u64 {
        let per_client: u64 = self.stages.iter().map(|s| s.rows(&self.spec)).sum();
        per_client * u64::from(self.spec.clients) / self.tables.len() as u64
    }

    fn table(&self, number: u32, target: &Target) -> Table {
        sql::table(target, number, &self.spec, self.rows_per_table())
    }

    fn create_tables(&self, step: &Setup<'_>) -> Result {
        let dialect = step.target.dialect;
        if self.spec.partitions > 0 && dialect == Dialect::Sqlite {
            return Err(StepError::Unsupported(format!(
                "this database has no partitioned tables: leave out `partitions` = {}",
                self.spec.partitions
            )));
        }
        let version = &step.target.version;
        if !takes_several_rows(dialect, version) {
            return Err(StepError::Unsupported(format!(
                "SQLite {version} takes one row per INSERT, this workload gives several: use 3.7.11 or later"
            )));
        }
        let mut worker = step.connect("create tables")?;
        for number in 0..self.tables.len() as u32 {
            for statement in self.table(number, step.target).create(dialect) {
                worker.run(&statement)?;
            }
        }
        Ok(())
    }

    /// The rows that this client inserts in the step: they follow those of its earlier steps.
    fn next_batch(&mut self, step: &mut Setup<'_>, client: u32) -> Batch {
        let rows_per_commit = step.stage.rows_per_commit(&self.spec);
        let rows = step.stage.statements(&self.spec) * u64::from(rows_per_commit);
        let first = self.next_row[client as usize];
        self.next_row[client as usize] += rows;
        step.requested_rows += rows;
        let inserted = Arc::default();
        let batch = Batch { client, seed: self.seed, first, rows_per_commit, inserted };
        let table = self.table_of(client) as usize;
        self.tables[table].batches.push(batch.clone());
        batch
    }

    fn inserter(&mut self, step: &mut Setup<'_>, client: u32, turn: Turn) -> Result<Inserter> {
        let mut worker = step.connect(&format!("insert {}", client + 1))?;
        let table_number = self.table_of(client);
        let table = self.table(table_number, step.target);
        let statement = if self.spec.writes == Statements::Prepared {
            let rows = turn.rows_per_commit as usize;
            let (sql, types) = table.insert_prepared(step.target.dialect, false, rows);
            InsertStatement::Prepared(worker.prepare(&sql, &types)?)
        } else {
            let sql = table.insert_head();
            InsertStatement::Text { head: sql.len(), sql }
        };
        let Batch { first, inserted, .. } = self.next_batch(step, client);
        Ok(Inserter {
            writer: Writer {
                worker,
                turn,
                kind: step.kinds.place("insert"),
                wrong: Arc::clone(&step.wrong),
                written: inserted,
            },
            rows: Rows::new(&self.spec, self.seed, client),
            first_row: first,
            statement,
        })
    }

    fn deleter(
        &self,
        step: &Setup<'_>,
        client: u32,
        turn: Turn,
        lo: &Arc<AtomicU64>,
    ) -> Result<Deleter> {
        let mut worker = step.connect(&format!("delete {}", client + 1))?;
        let table_number = self.table_of(client);
        let table = sql::table_name(table_number);
        let dialect = step.target.dialect;
        let mut prepared = None;
        if self.spec.writes == Statements::Prepared {
            let mut lo = String::new();
            push_placeholder(&mut lo, dialect, 1);
            let sql = sql::delete(dialect, &table, &lo, turn.rows_per_commit);
            prepared = Some(worker.prepare(&sql, &[drivers::ParamType::Int])?);
        }
        Ok(Deleter {
            writer: Writer {
                worker,
                turn,
                kind: step.kinds.place("delete"),
                wrong: Arc::clone(&step.wrong),
                written: Arc::clone(&self.tables[table_number as usize].deleted),
            },
            scout: step.connect(&format!("min {}", client + 1))?,
            min_kind: step.kinds.place("min_pk"),
            dialect,
            table,
            min_resync: self.spec.min_resync,
            prepared,
            lo: Arc::clone(lo),
        })
    }

    /// The writers of one client: an inserter and, where there are deletes, a deleter in step.
    fn add_writers(&mut self, step: &mut Setup<'_>, client: u32, lo: &Arc<AtomicU64>) -> Result {
        let rows_per_commit = step.stage.rows_per_commit(&self.spec);
        let statements = step.stage.statements(&self.spec);
        let with_deletes = self.deletes() && step.stage.has_deletes();
        let coupling = with_deletes.then(|| Arc::new(Coupling::new(self.spec.queue)));
        let (pacer, delete_pacer) = self.pacers(step.stage, client);
        let turn = Turn { statements, rows_per_commit, pacer, coupling };
        let inserter = self.inserter(step, client, turn.clone())?;
        if with_deletes {
            let turn = Turn { pacer: delete_pacer, ..turn };
            let deleter = self.deleter(step, client, turn, lo)?;
            step.add(format!("delete {}", client + 1), true, deleter);
        }
        step.add(format!("insert {}", client + 1), true, inserter);
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
                let pacer = Pacer::Burst { size: rate.div_ceil(rows).max(1), since: Nanos(0) };
                (Some(pacer.clone()), Some(pacer))
            }
        }
    }

    fn add_queries(
        &self,
        step: &mut Setup<'_>,
        client: u32,
        (kind, rate): (QueryKind, u32),
        lo: &Arc<AtomicU64>,
    ) -> Result {
        let (spec, number) = (&self.spec, self.table_of(client));
        for session in 0..spec.query_sessions {
            let name = format!("query {}.{}", client + 1, session + 1);
            let mut worker = step.connect(&name)?;
            let table = sql::table_name(number);
            if session == 0 && !spec.compat {
                // The original asks from zero until the first delete; those keys do not exist.
                let lowest = worker.number(&format!("SELECT MIN(transactionid) FROM {table}"))?;
                lo.store(lowest, Ordering::Relaxed);
            }
            let salt = [u64::from(client), 2, u64::from(session), u64::from(rate), kind as u64];
            let session = QuerySession {
                worker,
                dialect: step.target.dialect,
                table,
                kind: step.kinds.place("query"),
                rng: Rng::new(mix(self.seed, &salt)),
                limit: spec.rows_per_query,
                reads: reads(spec, step.target.dialect),
                wrong: Arc::clone(&step.wrong),
                table_rows: step.table_rows[number as usize],
                of_table: spec.query_sessions * spec.clients / self.tables.len() as u32,
                samples: Arc::clone(&step.sampled[number as usize].samples),
            };
            match kind {
                QueryKind::Range => {
                    step.add(name, false, RangeQueries::new(session, spec.secondary_indexes)?);
                }
                QueryKind::Point => {
                    let max = (step.kinds.place("max_pk"), spec.max_refresh);
                    step.add(name, false, PointQueries::new(session, max, Arc::clone(lo))?);
                }
            }
        }
        Ok(())
    }

    fn add_index_builders(&mut self, step: &mut Setup<'_>) -> Result {
        let mut expected = 0;
        for number in 0..self.tables.len() as u32 {
            let statements = sql::create_indexes(step.target, &self.table(number, step.target));
            expected += statements.len() as u64;
            let rows_per_commit = self.spec.i0_rows_per_commit;
            let turn = Turn { statements: 1, rows_per_commit, pacer: None, coupling: None };
            let first = self.inserter(step, number, turn)?;
            let name = format!("create index {}", number + 1);
            let builder = IndexBuilder {
                worker: step.connect_patient(&name)?,
                kind: step.kinds.place("create_index"),
                statements,
                rows: self.tables[number as usize].inserted() + u64::from(rows_per_commit),
                first,
            };
            step.add(name, true, builder);
        }
        step.expected_ops = Some(expected);
        Ok(())
    }

    fn add_settling(&self, step: &mut Setup<'_>) -> Result {
        let tables: Vec<String> = (0..self.tables.len() as u32).map(sql::table_name).collect();
        let rows = self.spec.rows * u64::from(self.spec.clients);
        let at_least = settle::length(self.spec.settle, rows);
        step.clients = settle::clients(step.target, &tables, at_least, &step.notes)?;
        Ok(())
    }

    fn add_readers(&self, step: &mut Setup<'_>) -> Result {
        for (load, number) in self.loaded.iter().zip(0..) {
            let table = self.table(number, step.target);
            let (role, dialect) = (format!("read {}", table.name), step.target.dialect);
            let mut worker = step.connect_patient(&role)?;
            for statement in around_index(dialect).0 {
                worker.run(statement)?;
            }
            let (load, checks) = (load.clone(), Arc::clone(&step.checks));
            let reader = TableReader { worker, dialect, table, load, checks };
            step.add(role, true, reader);
        }
        Ok(())
    }

    /// The clients, connected: those that write and query on the load hosts if the target has some, otherwise here.
    fn crew<'a>(&mut self, step: &mut Setup<'a>, stop: &Stop) -> Result<Box<dyn Crew + 'a>> {
        if *step.stage == Stage::Load {
            self.create_tables(step)?;
        }
        match (step.stage, &step.target.load_hosts) {
            (Stage::Index, _) => self.add_index_builders(step)?,
            (Stage::Settle, _) => self.add_settling(step)?,
            (Stage::Warm, _) => self.add_readers(step)?,
            (Stage::Load | Stage::Random { .. } | Stage::Query { .. }, Some(hosts)) => {
                return self.divide(step, &**hosts);
            }
            (Stage::Load | Stage::Random { .. } | Stage::Query { .. }, None) => {
                self.add_clients(step, 0..self.spec.clients, stop)?;
            }
        }
        Ok(Box::new(step.own_crew()))
    }

    /// Connects the clients of a stage that writes or queries.
    fn add_clients(&mut self, step: &mut Setup<'_>, clients: Range<u32>, stop: &Stop) -> Result {
        for client in clients {
            if stop.is_asked() {
                return Err(StepError::Interrupted);
            }
            let lo = Arc::new(AtomicU64::new(0));
            self.add_writers(step, client, &lo)?;
            if let Stage::Query { kind, rate } = *step.stage {
                self.add_queries(step, client, (kind, rate), &lo)?;
            }
            if self.spec.htap_seconds > 0 {
                let name = format!("long transaction {}", client + 1);
                let long = LongTransaction {
                    worker: step.connect(&name)?,
                    kind: step.kinds.place("long"),
                    table: sql::table_name(self.table_of(client)),
                    seconds: self.spec.htap_seconds,
                };
                step.add(name, false, long);
            }
        }
        Ok(())
    }

    fn pace(&self, step: &Setup<'_>, rows_per_second: u64) -> Pace {
        let statement = u64::from(step.stage.rows_per_commit(&self.spec));
        Pace {
            kind: step.kinds.place("insert"),
            rows_per_second,
            slack: statement * u64::from(self.spec.clients),
            tolerance_percent: 100 - u64::from(self.spec.sla_percent.min(100)),
            catches_up: self.spec.pacing == Pacing::Even,
        }
    }

    fn checks(&self, step: &Setup<'_>, window: &StepRecord) -> Vec<Check> {
        let mut checks =
            vec![check("statements with a wrong answer".to_owned(), 0, step.wrong.count())];
        checks.extend(taken(&step.checks));
        if step.stage.is_measured() && !window.cut_short {
            let inserted = window.kinds[step.kinds.place("insert")].sums.rows;
            checks.push(check("rows inserted".to_owned(), step.requested_rows, inserted));
        }
        if let Some(expected) = step.expected_ops {
            let built = window.kinds[step.kinds.place("create_index")].sums.ops;
            checks.push(check("indexes built".to_owned(), expected, built));
        }
        if let Stage::Query { .. } = step.stage {
            // Queries that never find a row are no answer, however fast they are; nor are none at all.
            let found = window.kinds[step.kinds.place("query")].sums.rows;
            checks.push(Check {
                what: "rows that queries found".to_owned(),
                expected: "more than 0".to_owned(),
                actual: found.to_string(),
                holds: found > 0,
            });
        }
        let sampled = step.sampled.iter().zip(&self.tables);
        checks.extend(sampled.map(|(sampled, table)| sampled.check(&self.spec, table)));
        checks
    }

    fn notes(&self, step: &Setup<'_>, window: &StepRecord) -> Vec<Note> {
        let mut notes = Vec::new();
        if window.cut_short {
            let text = format!("given up after {OVERRUN} times its nominal length");
            notes.push(Note::new(NoteKind::CutShort, text));
        }
        if let Stage::Query { .. } = step.stage {
            let query = &window.kinds[step.kinds.place("query")].sums;
            if query.ops > 0 {
                let mean = query.rows as f64 / query.ops as f64;
                let text = format!("{mean:.3} of {}", self.spec.rows_per_query);
                notes.push(Note::new("rows per query", text));
            }
        }
        if self.deletes() && step.stage.has_deletes() {
            let min = &window.kinds[step.kinds.place("min_pk")].sums;
            let mean = min.service.mean().unwrap_or_default();
            notes.push(Note::new("min(pk) queries", format!("{}, mean {mean}", min.ops)));
        }
        notes
    }
}

impl Workload for Insert {
    fn run(
        &mut self,
        index: usize,
        target: &Target,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord> {
        let clock = stop.clock();
        let stage = &self.stages[index].clone();
        let table_rows = self.tables.iter().map(TableState::rows).collect();
        let mut step = self.setup(target, stage, table_rows);
        let mut crew = self.crew(&mut step, stop)?;
        let paced = stage.rate().map(|rate| u64::from(rate) * u64::from(self.spec.clients));
        let longest = Nanos::from_secs(u64::from(self.spec.query_seconds) * OVERRUN);
        let end = End::AllDone { limit: paced.map(|_| longest) };
        let pace = paced.map(|rows_per_second| self.pace(&step, rows_per_second));
        let window = Window { end, per_second: None, measured: true };
        let measured = run_paced(&mut *crew, pace, window, stop, observer)?;
        for report in crew.end()? {
            self.take(&report, &step)?;
        }
        let elapsed = clock.now();
        let mut checks = self.checks(&step, &measured);
        checks.extend(self.prove(index, target, stop)?);
        let mut notes = clients::taken(&step.notes, &NoteKind::Settle);
        notes.extend(self.notes(&step, &measured));
        Ok(StepRecord { elapsed, requested_rows: step.requested_rows, checks, notes, ..measured })
    }

    fn state(&self, target: &Target) -> Result<String> {
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
            tables: tables.collect::<Result<_>>()?,
            next_row: self.next_row.clone(),
            seed: self.seed,
        };
        data::state::write(&state)
    }

    fn restore(&mut self, state: &str) -> Result {
        let state = State::read(state, self.tables.len(), self.next_row.len())?;
        let done = Stage::loading(&self.stages);
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

/// All of `spec` that decides what loading leaves. The rows of all steps decide the bounds of partitions.
pub(super) fn loading(spec: &InsertSpec) -> Result<String> {
    let rows = Insert::new(spec.clone(), 0).rows_per_table();
    let bounds = (spec.partitions > 0).then_some(rows);
    data::state::write(&(state::VERSION, state::of_loading(spec), bounds))
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
