//! The steps whose clients have a fixed amount of work: loading, and what comes around it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::{KindSpec, NoteKind, Settle, SqlRun, SqlSpec, SqlWork, StepRecord};

use data::loading::{LoadWork, Loader, bounded_loader, name};
use data::reading::{Against, Found, ReadWork, taken};
use data::row_counts::RowCounts;
use data::rows::SqlRows;
use data::schema::{self, rows_of};
use data::settle;
use data::source::Source;
use data::state::Loaded;
use data::statements::count_tables;
use data::table::Table;
use load::clients::FixedWork;
use load::clients::{Clients, Notes, bounded, note};
use load::engine::{Observer, Stop};
use load::worker::Worker;
use load::{Client, ClientContext, StepError, Target};

#[derive(Clone, Debug)]
pub(super) enum Work {
    OfSpec(SqlWork),
    /// Reads what another trial loaded.
    Read,
}

impl Work {
    /// Can it be done once for many trials, where it comes before all others?
    pub(super) const fn is_loading(&self) -> bool {
        match self {
            Self::OfSpec(work) => work.is_loading(),
            Self::Read => false,
        }
    }

    /// The operations that it runs, if it runs any.
    pub(super) const fn run(&self) -> Option<&SqlRun> {
        match self {
            Self::OfSpec(work) => work.run(),
            Self::Read => None,
        }
    }
}

/// A step whose clients have a fixed amount of work, about to be run.
pub(super) struct Job<'a> {
    pub(super) spec: &'a SqlSpec,
    pub(super) rows_seed: u64,
    pub(super) counts: &'a RowCounts,
    /// What another trial loaded, where that is read.
    pub(super) loaded: Option<&'a Loaded>,
    pub(super) work: &'a Work,
    pub(super) target: &'a Target,
}

impl Job<'_> {
    pub(super) fn run(
        &self,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord, StepError> {
        let Self { spec, counts, .. } = *self;
        let (clock, notes, found) = (stop.clock(), Notes::default(), Found::default());
        let (clients, about) = self.clients(&notes, &found)?;
        let kinds = match self.work {
            Work::OfSpec(work) => work.kinds(),
            Work::Read => vec![KindSpec::unscheduled("scan")],
        };
        let work = FixedWork { kinds, clients, clock, notes: (about, &notes) };
        let mut result = work.run(stop, observer)?;
        result.checks = taken(&found);
        if let Work::OfSpec(SqlWork::Load | SqlWork::Reset) = self.work {
            result.checks.extend(counts.check(spec, self.target)?);
            let work = ReadWork::of_sql(spec, self.rows_seed, self.target, Against::Source)?;
            result.checks.extend(work.checks(self.target, stop)?);
        }
        if let Work::OfSpec(SqlWork::Load) = self.work {
            result.requested_rows = rows_of(&spec.tables);
        }
        Ok(result)
    }

    /// Connects the clients, and says what their notes are about.
    fn clients(&self, notes: &Notes, found: &Found) -> Result<(Clients, NoteKind), StepError> {
        let clients = match (self.work, self.loaded) {
            (Work::OfSpec(SqlWork::Load), _) => self.load(notes)?,
            (Work::OfSpec(SqlWork::Index), _) => return Ok((self.index(notes)?, "index".into())),
            (Work::OfSpec(SqlWork::Settle(length)), _) => {
                return Ok((self.settle(*length, notes)?, NoteKind::Settle));
            }
            (Work::OfSpec(SqlWork::Reset), _) => self.reset(notes)?,
            (Work::Read, Some(loaded)) => {
                // Everything is read once; the last client to end leaves the checks.
                let against = Against::Loaded(loaded.sums());
                let work = ReadWork::of_sql(self.spec, loaded.seed, self.target, against)?;
                ReadWork { every: 1, with_indexes: true, ..work }.clients(self.target, found)?
            }
            (Work::OfSpec(SqlWork::Run(_)) | Work::Read, _) => {
                return Err(StepError::State("there is none".to_owned()));
            }
        };
        Ok((clients, "load".into()))
    }

    /// Makes all tables, which must not exist, and connects the clients that load them: as many as the spec
    /// says. Their operation kind, the first of the step, is the statement that adds rows. From now on the counts
    /// say that everything is loaded.
    fn load(&self, notes: &Notes) -> Result<Clients, StepError> {
        let Self { spec, counts, .. } = *self;
        let mut worker = Worker::connect(&*self.target.patient, "create tables".to_owned())?;
        let work = LoadWork::of_sql(spec, self.rows_seed, self.target)?;
        // A trial begins with an empty database; what is in it is somebody else's.
        for Table { name, .. } in &work.tables {
            if worker.number(&count_tables(self.target.dialect, name))? > 0 {
                let rows = worker.number(&format!("SELECT COUNT(*) FROM {name}"))?;
                return Err(StepError::Load(format!(
                    "table {name} exists already and has {rows} rows, and would be loaded; drop it \
                     (DROP TABLE {name}) or give another database"
                )));
            }
        }
        let load = work.begin(self.target, &self.target.connector, &mut worker, notes)?;
        counts.set_loaded();
        // Its session ends here: a step holds no more sessions than it has clients.
        drop(worker);
        (0..spec.load.clients.max(1)).map(|number| bounded_loader(&load, number)).collect()
    }

    /// Connects the clients that build all secondary indexes: one for each copy of a table that has some left
    /// to build. Where none has, one that has nothing to do, which is noted. Their operation kind, the first of
    /// the step, is the statement that builds an index; the rows of a copy count once.
    fn index(&self, notes: &Notes) -> Result<Clients, StepError> {
        let Self { spec, target, .. } = *self;
        let client = |name: String, statements, rows| -> Result<_, StepError> {
            let worker = Worker::connect(&*target.patient, name.clone())?;
            Ok(bounded(name, IndexBuilder { worker, statements, rows }))
        };
        let mut clients = Clients::new();
        let tables = schema::tables(&spec.tables, target.dialect, target.engine)?;
        for (copy, table) in schema::copies(&spec.tables).into_iter().zip(&tables) {
            let statements = table.create_indexes();
            if !statements.is_empty() && !spec.load.indexes_first {
                let name = format!("create index {}", copy.name);
                clients.push(client(name, statements, copy.rows)?);
            }
        }
        if clients.is_empty() {
            note(notes, "no index was left to build".to_owned());
            clients.push(client("create index".to_owned(), Vec::new(), 0)?);
        }
        Ok(clients)
    }

    /// Connects the clients that settle all tables: one for each copy, and one that leads. Their operation
    /// kind is the first of the step.
    fn settle(&self, length: Settle, notes: &Notes) -> Result<Clients, StepError> {
        let tables = &self.spec.tables;
        let names: Vec<String> = schema::copies(tables).into_iter().map(|copy| copy.name).collect();
        settle::clients(self.target, &names, settle::length(length, rows_of(tables)), notes)
    }

    /// Drops all tables, makes them again and connects the clients that load them, build their indexes and
    /// analyse them: as many as the spec says. Their operation kinds are `insert`, the first of the step, and
    /// `create_index`. From now on the counts say that everything is loaded.
    fn reset(&self, notes: &Notes) -> Result<Clients, StepError> {
        let Self { spec, counts, target, .. } = *self;
        let mut worker = Worker::connect(&*target.patient, "make tables anew".to_owned())?;
        let work = LoadWork::of_sql(spec, self.rows_seed, target)?;
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
        let load = work.begin(target, &target.patient, &mut worker, notes)?;
        counts.set_loaded();
        drop(worker);
        let clients = (0..count).map(|number| {
            let loader = Loader::connect(&load, number)?;
            Ok(bounded(name(number), Resetter { loader, rest: Arc::clone(&rest) }))
        });
        clients.collect()
    }
}

/// Builds the indexes of one copy of a table, one after the other.
struct IndexBuilder {
    worker: Worker,
    statements: Vec<String>,
    rows: u64,
}

impl Client for IndexBuilder {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        self.worker.build_indexes(context, 0, &self.statements, self.rows)
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

/// What is done to one copy.
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
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
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
