//! The steps before transactions: make and fill the tables, build the indexes, settle; after a restore, read all.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::{Check, Dialect, NoteKind, StepRecord, TpccForm, TpccSpec, TpccStage};

use super::population::Population;
use super::scale::Scale;
use super::tables::{self, Table, tables};
use super::{meta, procedures};
use data::{Against, Found, IndexBuilder, LoadWork, ReadWork, Source, loaders, statements, taken};
use load::{
    Client, ClientContext, Clients, Notes, Observer, Result, StepError, Stop, Target, Worker,
    bounded, clients, fixed_work,
};

/// All tables, those that take longest first, so that clients end together.
const LONGEST_FIRST: [Table; 9] = [
    Table::OrderLine,
    Table::Stock,
    Table::Customer,
    Table::History,
    Table::Orders,
    Table::Item,
    Table::NewOrder,
    Table::District,
    Table::Warehouse,
];

/// What a step with a fixed amount of work is about.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) spec: &'a TpccSpec,
    pub(super) rows_seed: u64,
    pub(super) target: &'a Target,
    pub(super) stop: &'a Stop,
}

impl Setting<'_> {
    /// Runs the clients that `connect` connects, whose notes stand under `name`.
    pub(super) fn work(
        &self,
        stage: TpccStage,
        name: &NoteKind,
        observer: &mut dyn Observer,
        connect: impl FnOnce(&Notes) -> Result<Clients>,
    ) -> Result<StepRecord> {
        let (clock, notes) = (self.stop.clock(), Notes::default());
        let (kinds, clients) = (stage.kinds(self.spec), connect(&notes)?);
        let record = fixed_work(&kinds, clients, &clock, self.stop, observer)?;
        Ok(StepRecord { notes: clients::taken(&notes, name), ..record })
    }

    pub(super) fn population(&self) -> Population {
        Population::new(Scale::of(self.spec), self.rows_seed)
    }

    pub(super) fn worker(&self, name: &str) -> Result<Worker> {
        Worker::connect(&*self.target.patient, name.to_owned())
    }

    /// Makes the tables, which must not exist, fills them, makes the procedures where the plan wants them, and
    /// writes down last what was loaded: without it, a load did not end.
    pub(super) fn load(&self, observer: &mut dyn Observer) -> Result<StepRecord> {
        let Setting { spec, target, .. } = *self;
        Scale::of(spec).check()?;
        let population = self.population();
        let mut result = self.work(TpccStage::Load, &"load".into(), observer, |notes| {
            let mut worker = self.worker("create tables")?;
            refuse_existing(&mut worker, target.dialect)?;
            let work = LoadWork {
                source: population,
                tables: tables(spec, target)?,
                spec: spec.load.clone(),
                errors: spec.errors.clone(),
                order: LONGEST_FIRST.map(|table| table as usize).to_vec(),
                parts: spec.load.clients.max(1),
                with_times: true,
            };
            loaders(&work.begin(target, &target.connector, worker, notes)?)
        })?;
        let mut worker = self.worker("end the load")?;
        if spec.form == TpccForm::Procedures {
            for sql in procedures::create(spec, target.dialect) {
                worker.run(&sql)?;
            }
        }
        for sql in meta::create(spec, self.rows_seed, target)? {
            worker.run(&sql)?;
        }
        result.requested_rows = (0..Table::ALL.len()).map(|table| population.total(table)).sum();
        Ok(result)
    }

    /// Builds the indexes that the load has not built: one client for each table that has something left, and one for
    /// the foreign keys, which come when all indexes are there. The rows of a table count once, about.
    pub(super) fn index(&self, observer: &mut dyn Observer) -> Result<StepRecord> {
        self.work(TpccStage::Index, &"index".into(), observer, |_| self.builders())
    }

    fn builders(&self) -> Result<Clients> {
        let Setting { spec, target, .. } = *self;
        let scale = Scale::of(spec);
        let rows = Table::ALL.into_iter().map(|table| scale.rows(table));
        let unbuilt = tables(spec, target)?.into_iter().zip(rows);
        let unbuilt = unbuilt.filter(|_| !spec.load.indexes_first);
        let left = Arc::default();
        let mut clients = IndexBuilder::of_tables(unbuilt, &left, target)?;
        let statements = tables::foreign_keys(spec.schema);
        if !statements.is_empty() || clients.is_empty() {
            let name = "add foreign keys";
            let mut worker = self.worker(name)?;
            for sql in tables::before_foreign_keys(target.dialect) {
                worker.run(sql)?;
            }
            clients.push(bounded(name.to_owned(), KeyBuilder { worker, statements, left }));
        }
        Ok(clients)
    }

    pub(super) fn settle(&self, observer: &mut dyn Observer) -> Result<StepRecord> {
        let scale = Scale::of(self.spec);
        let rows = Table::ALL.into_iter().map(|table| scale.rows(table)).sum();
        let length = data::settle::length(self.spec.settle, rows);
        let names = Table::ALL.map(|table| table.name().to_owned());
        self.work(TpccStage::Settle, &NoteKind::Settle, observer, |notes| {
            data::settle::clients(self.target, &names, length, notes)
        })
    }

    /// Reads all rows and indexes of a database that another trial has loaded, so that the caches hold what fits, as
    /// they do after a load; compares each row with what was to be loaded.
    pub(super) fn warm(&self, observer: &mut dyn Observer) -> Result<StepRecord> {
        let found = Found::default();
        let mut result = self.work(TpccStage::Warm, &"read".into(), observer, |_| {
            self.reading(true)?.clients(self.target, &found)
        })?;
        result.checks = taken(&found);
        Ok(result)
    }

    /// Compares all rows with those that the seed makes, by as many sessions as load.
    pub(super) fn checks(&self) -> Result<Vec<Check>> {
        self.reading(false)?.checks(self.target, self.stop)
    }

    fn reading(&self, with_indexes: bool) -> Result<ReadWork<Population>> {
        let mut worker = self.worker("look at the load")?;
        meta::refuse_other(&mut *worker.session, self.spec, self.rows_seed)?;
        Ok(ReadWork {
            source: self.population(),
            tables: tables(self.spec, self.target)?,
            against: Against::Source,
            every: 1,
            with_indexes,
            with_counts: true,
            clients: self.spec.load.clients,
            errors: self.spec.errors.clone(),
        })
    }
}

/// A trial begins with an empty database; what is in it is somebody else's, or of a load that did not end.
fn refuse_existing(worker: &mut Worker, dialect: Dialect) -> Result {
    let mut existing = Vec::new();
    for name in Table::ALL.map(Table::name).into_iter().chain([meta::NAME]) {
        if worker.number(&statements::count_tables(dialect, name))? > 0 {
            existing.push(name);
        }
    }
    if existing.is_empty() {
        return Ok(());
    }
    let what = if existing.contains(&meta::NAME) {
        "was loaded before"
    } else {
        "has tables of a load that did not end, or of somebody else"
    };
    // Those that refer to others come before these.
    let drops = existing.iter().rev().map(|name| format!("DROP TABLE {name}"));
    Err(StepError::Load(format!(
        "the database {what}: drop its tables ({}) or give another database",
        drops.collect::<Vec<_>>().join("; ")
    )))
}

/// Adds the foreign keys when all indexes are there: one after the other, because each locks two tables.
struct KeyBuilder {
    worker: Worker,
    statements: Vec<String>,
    /// Tables whose indexes are not all there.
    left: Arc<AtomicUsize>,
}

impl Client for KeyBuilder {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        while self.left.load(Ordering::Relaxed) > 0 && !context.is_over() {
            context.nap();
        }
        self.worker.build_indexes(context, 0, &self.statements, 0)
    }
}
