//! The steps whose clients have a fixed amount of work: loading, and what comes around it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::{KindSpec, NoteKind, Settle, SqlWork, StepRecord};

use super::Sql;
use data::loading::name;
use data::schema::{self, rows_of};
use data::statements::count_tables;
use data::{
    Against, Found, IndexBuilder, LoadWork, Loader, ReadWork, Source, SqlRows, Table, loaders,
    settle, taken,
};
use load::{
    Client, ClientContext, Clients, Notes, Observer, Result, StepError, Stop, Target, Worker,
    bounded, clients, fixed_work, note,
};

impl Sql {
    /// Runs a step whose clients have a fixed amount of work; `None` reads what another trial loaded.
    pub(super) fn run_fixed(
        &self,
        work: Option<&SqlWork>,
        target: &Target,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord> {
        let (clock, notes, found) = (stop.clock(), Notes::default(), Found::default());
        let (clients, about) = self.clients(work, target, &notes, &found)?;
        let kinds = work.map_or_else(|| vec![KindSpec::unscheduled("scan")], SqlWork::kinds);
        let mut result = fixed_work(&kinds, clients, &clock, stop, observer)?;
        result.notes = clients::taken(&notes, &about);
        result.checks = taken(&found);
        if let Some(SqlWork::Load | SqlWork::Reset) = work {
            result.checks.extend(self.counts.check(&self.spec, target)?);
            let work = ReadWork::of_sql(&self.spec, self.rows_seed(), target, Against::Source)?;
            result.checks.extend(work.checks(target, stop)?);
        }
        if let Some(SqlWork::Load) = work {
            result.requested_rows = rows_of(&self.spec.tables);
        }
        Ok(result)
    }

    /// Connects the clients, and says what their notes are about.
    fn clients(
        &self,
        work: Option<&SqlWork>,
        target: &Target,
        notes: &Notes,
        found: &Found,
    ) -> Result<(Clients, NoteKind)> {
        let clients = match (work, &self.loaded) {
            (Some(SqlWork::Load), _) => self.load(target, notes)?,
            (Some(SqlWork::Index), _) => return Ok((self.index(target, notes)?, "index".into())),
            (Some(SqlWork::Settle(length)), _) => {
                return Ok((self.settle(*length, target, notes)?, NoteKind::Settle));
            }
            (Some(SqlWork::Reset), _) => self.reset(target, notes)?,
            (None, Some(loaded)) => {
                // Everything is read once; the last client to end leaves the checks.
                let against = Against::Loaded(loaded.sums());
                let work = ReadWork::of_sql(&self.spec, loaded.seed, target, against)?;
                ReadWork { every: 1, with_indexes: true, ..work }.clients(target, found)?
            }
            (Some(SqlWork::Run(_)) | None, _) => {
                return Err(StepError::State("there is none".to_owned()));
            }
        };
        Ok((clients, "load".into()))
    }

    /// Makes all tables, which must not exist, and connects the clients that load them. From now on the counts say that
    /// everything is loaded.
    fn load(&self, target: &Target, notes: &Notes) -> Result<Clients> {
        let mut worker = Worker::connect(&*target.patient, "create tables".to_owned())?;
        let work = LoadWork::of_sql(&self.spec, self.rows_seed(), target)?;
        // A trial begins with an empty database; what is in it is somebody else's.
        for Table { name, .. } in &work.tables {
            if worker.number(&count_tables(target.dialect, name))? > 0 {
                let rows = worker.number(&format!("SELECT COUNT(*) FROM {name}"))?;
                return Err(StepError::Load(format!(
                    "table {name} exists already and has {rows} rows, and would be loaded; drop it \
                     (DROP TABLE {name}) or give another database"
                )));
            }
        }
        let load = work.begin(target, &target.connector, worker, notes)?;
        self.counts.set_loaded();
        loaders(&load)
    }

    /// Connects the clients that build all secondary indexes: one for each copy of a table that has some left to build.
    /// Where none has, one that has nothing to do, which is noted.
    fn index(&self, target: &Target, notes: &Notes) -> Result<Clients> {
        let spec = &self.spec;
        let tables = schema::tables(&spec.tables, target.dialect, target.engine)?.into_iter();
        let rows = schema::copies(&spec.tables).into_iter().map(|copy| copy.rows);
        let unbuilt = tables.zip(rows).filter(|_| !spec.load.indexes_first);
        let left = Arc::default();
        let mut clients = IndexBuilder::of_tables(unbuilt, &left, target)?;
        if clients.is_empty() {
            note(notes, "no index was left to build".to_owned());
            let name = "create index".to_owned();
            let worker = Worker::connect(&*target.patient, name.clone())?;
            let builder = IndexBuilder { worker, statements: Vec::new(), rows: 0, left };
            clients.push(bounded(name, builder));
        }
        Ok(clients)
    }

    /// Connects the clients that settle all tables: one for each copy, and one that leads. Their kind is 0.
    fn settle(&self, length: Settle, target: &Target, notes: &Notes) -> Result<Clients> {
        let tables = &self.spec.tables;
        let names: Vec<String> = schema::copies(tables).into_iter().map(|copy| copy.name).collect();
        settle::clients(target, &names, settle::length(length, rows_of(tables)), notes)
    }

    /// Drops all tables, makes them again and connects the clients that load them, build their indexes and analyse
    /// them. From now on the counts say that everything is loaded.
    fn reset(&self, target: &Target, notes: &Notes) -> Result<Clients> {
        let spec = &self.spec;
        let mut worker = Worker::connect(&*target.patient, "make tables anew".to_owned())?;
        let work = LoadWork::of_sql(spec, self.rows_seed(), target)?;
        for Table { name, .. } in &work.tables {
            worker.run(&format!("DROP TABLE IF EXISTS {name}"))?;
        }
        let settle = settle::work(target.dialect, target.engine, &target.version);
        let copies = work.tables.iter().enumerate().map(|(index, table)| CopyRest {
            rows: work.source.total(index),
            indexes: if spec.load.indexes_first { Vec::new() } else { table.create_indexes() },
            settle: settle.of_table(&table.name),
        });
        let count = spec.load.clients.max(1);
        let rest = Arc::new(Rest {
            loading: AtomicUsize::new(count as usize),
            next: AtomicUsize::new(0),
            copies: copies.collect(),
        });
        // Index builds may take longer than other statements may.
        let load = work.begin(target, &target.patient, worker, notes)?;
        self.counts.set_loaded();
        let clients = (0..count).map(|number| {
            let loader = Loader::connect(&load, number)?;
            Ok(bounded(name(number), Resetter { loader, rest: Arc::clone(&rest) }))
        });
        clients.collect()
    }
}

/// The kind of index builds when tables are made anew; that of INSERTs is the first.
const CREATE_INDEX: usize = 1;

/// What is done when everything is loaded anew. Shared by all clients.
struct Rest {
    loading: AtomicUsize,
    next: AtomicUsize,
    copies: Vec<CopyRest>,
}

struct CopyRest {
    rows: u64,
    indexes: Vec<String>,
    /// Statements that the settle phase begins with: statistics, dead rows, the map of visible ones.
    settle: Vec<String>,
}

/// A client that loads and then helps with the rest.
struct Resetter {
    loader: Loader<SqlRows>,
    rest: Arc<Rest>,
}

impl Client for Resetter {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        self.loader.run(context)?;
        let rest = &*self.rest;
        rest.loading.fetch_sub(1, Ordering::Relaxed);
        while rest.loading.load(Ordering::Relaxed) > 0 && !context.is_over() {
            context.nap();
        }
        let worker = self.loader.worker();
        while !context.is_over()
            && let Some(copy) = rest.copies.get(rest.next.fetch_add(1, Ordering::Relaxed))
        {
            worker.build_indexes(context, CREATE_INDEX, &copy.indexes, copy.rows)?;
            for sql in &copy.settle {
                worker.repeat(context, sql)?;
            }
        }
        Ok(())
    }
}
