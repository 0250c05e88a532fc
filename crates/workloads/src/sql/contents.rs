//! What is known of the tables' contents while a trial runs, and the checks that hold the server to it.
//!
//! After each step a few rows of each table are read. Each must hold what the seed and the statements so far
//! allow; a column that the step did not write must be as it was when these rows were read last. Before
//! tables are made anew and at the end of the trial, where no measurement can suffer from it, all rows are
//! read. A sum that statements keep is read before a step that makes it unknown.

use std::collections::BTreeMap;
use std::sync::Arc;

use drivers::Row;
use model::{Check, Dialect, Rng, SqlColumn, SqlRun, SqlSpec, StepId, mix};

use super::effects;
use data::rows::Rows;
use data::schema::copies;
use data::{
    Against, Batch, Cells, Fate, Fates, Judge, ReadWork, Replaced, RowCounts, RowHash, Seen, Table,
    TableCopy, check, schema, statements,
};
use load::{Result, Stop, Target, Worker};

/// Places of a table where rows are read after a step: its first and last rows, and others between.
const PLACES: u64 = 8;

/// Rows that are read at each place.
const ROWS: u64 = 32;

#[derive(Default)]
pub(super) struct Contents {
    /// The seed of the rows; `None` before they are loaded.
    seed: Option<u64>,
    /// What the steps since then may have done.
    fates: Vec<Fates>,
    /// The step after which the checks held last.
    whole_after: Option<StepId>,
    /// The sampled rows of each copy as they were then.
    rows: BTreeMap<usize, SampledRows>,
}

/// Hashes of the columns of rows, by number.
type SampledRows = BTreeMap<i64, Vec<u64>>;

/// What follows on a step.
#[derive(Clone, Copy)]
pub(super) enum Next<'a> {
    Run(&'a SqlRun),
    /// What changes no row.
    Same,
    /// Nothing, or tables are made anew: what is not proved now never is.
    End,
}

pub(super) struct Edge<'a> {
    pub(super) spec: &'a SqlSpec,
    pub(super) target: &'a Target,
    pub(super) counts: &'a Arc<RowCounts>,
    pub(super) step: &'a StepId,
    pub(super) run: Option<&'a SqlRun>,
    pub(super) next: Next<'a>,
}

#[derive(Default)]
struct Sample {
    seen: Seen,
    rows: SampledRows,
    others: Vec<String>,
}

impl Contents {
    /// All tables hold what `seed` says, and that was checked in this step.
    pub(super) fn set_loaded(&mut self, spec: &SqlSpec, seed: u64, step: &StepId) {
        self.seed = Some(seed);
        self.fates = spec.tables.iter().map(Fates::untouched).collect();
        self.whole_after = Some(step.clone());
        self.rows.clear();
    }

    pub(super) fn begin(&mut self, spec: &SqlSpec, run: &SqlRun, dialect: Dialect) {
        merge(&mut self.fates, &effects::of_run(spec, run, dialect));
    }

    /// Must rows be counted now because they never can be again?
    pub(super) const fn is_due(&self, next: Next<'_>) -> bool {
        self.seed.is_some() && matches!(next, Next::End)
    }

    pub(super) fn last_right(&self) -> String {
        match &self.whole_after {
            Some(step) => format!("last found right after `{step}`"),
            None => "never found right before".to_owned(),
        }
    }

    pub(super) fn judges(&self, spec: &SqlSpec) -> Vec<Option<Judge>> {
        let tables = spec.tables.iter().zip(&self.fates).enumerate();
        let judge = |(index, (table, fates))| Judge::new(table, index, self.seed?, fates);
        tables.map(judge).collect()
    }

    pub(super) fn check(&mut self, edge: &Edge<'_>, stop: &Stop) -> Result<Vec<Check>> {
        if self.seed.is_none() {
            return Ok(Vec::new());
        }
        let mut worker = Worker::connect(&*edge.target.patient, "check contents".to_owned())?;
        for sql in statements::before_reading(edge.target.dialect) {
            worker.run(sql)?;
        }
        let mut checks = self.sample(edge, &mut worker)?;
        checks.append(&mut self.sums(edge, &mut worker)?);
        drop(worker);
        if let Next::End = edge.next {
            let Edge { spec, target, .. } = edge;
            let known = Against::Known(self.judges(spec), copies(&spec.tables));
            checks.extend(ReadWork::of_sql(spec, 0, target, known)?.checks(target, stop)?);
        }
        let last = self.last_right();
        for check in checks.iter_mut().filter(|check| !check.holds) {
            check.expected = format!("{} ({last})", check.expected);
        }
        if checks.iter().all(|check| check.holds) {
            self.whole_after = Some(edge.step.clone());
        }
        Ok(checks)
    }

    /// Reads some rows of each copy. One check says that all are right, or one per copy says what is wrong.
    fn sample(&mut self, edge: &Edge<'_>, worker: &mut Worker) -> Result<Vec<Check>> {
        let judges = self.judges(edge.spec);
        let dialect = edge.target.dialect;
        let step = edge.run.map(|run| effects::of_run(edge.spec, run, dialect));
        let tables = schema::tables(&edge.spec.tables, dialect, edge.target.engine)?;
        let (mut checks, mut rows) = (Vec::new(), 0);
        for (index, copy) in copies(&edge.spec.tables).into_iter().enumerate() {
            let Some(judge) = &judges[copy.table] else {
                continue;
            };
            if !tables[index].is_in_order() {
                continue;
            }
            let mut sample = self.read(dialect, worker, judge, (&copy, &tables[index]))?;
            let untouched = Fates::untouched(&edge.spec.tables[copy.table]);
            let step = step.as_ref().and_then(|step| step.get(copy.table));
            let columns = &edge.spec.tables[copy.table].columns;
            if let Some(before) = self.rows.get(&index) {
                sample.compare(before, step.unwrap_or(&untouched), columns);
            }
            rows += sample.seen.rows;
            checks.extend(sample.failure(&copy.name));
            self.rows.insert(index, sample.rows);
        }
        if checks.is_empty() && rows > 0 {
            checks.push(check("sampled rows that are right".to_owned(), rows, rows));
        }
        Ok(checks)
    }

    fn read(
        &self,
        dialect: Dialect,
        worker: &mut Worker,
        judge: &Judge,
        (copy, table): (&TableCopy, &Table),
    ) -> Result<Sample> {
        let mut sample = Sample::default();
        let mut cells = Cells::new(dialect);
        for (first, last) in places(copy, self.seed.unwrap_or_default()) {
            let batch = Batch { table: 0, group: [0; 2], first, last };
            let sql = table.read(dialect, table.condition(&batch).as_deref());
            let mut seen = Seen::default();
            worker.rows(&sql, &mut |row: &dyn Row| {
                let judged = judge.see(copy.number, row, &mut cells);
                if let Some(number) = row.value(judge.number).as_int() {
                    let columns = 0..table.columns.len();
                    let hash = |column| RowHash::of(judge.form(column), row.value(column));
                    sample.rows.insert(number, columns.map(hash).collect());
                }
                seen.row(judge, judged);
            })?;
            if judge.fates.is_complete() {
                sample.others.extend(seen.misfit(first, last));
            }
            sample.seen.add(seen);
        }
        if judge.fates.inserted.is_none() {
            let (name, number) = (&table.name, table.number.as_deref().unwrap_or_default());
            let beyond = worker.number(&format!(
                "SELECT COUNT(*) FROM {name} WHERE {number} < 1 OR {number} > {}",
                copy.rows
            ))?;
            if beyond > 0 {
                let what = format!("{beyond} rows have a number that no loaded row has");
                sample.others.push(what);
            }
        }
        Ok(sample)
    }

    /// Reads the sums that are known now and are not after the next step.
    fn sums(&self, edge: &Edge<'_>, worker: &mut Worker) -> Result<Vec<Check>> {
        let mut checks = Vec::new();
        if !edge.counts.is_known() {
            return Ok(checks);
        }
        let mut next = self.fates.clone();
        let is_last = match edge.next {
            Next::End => true,
            Next::Same => return Ok(checks),
            Next::Run(run) => {
                merge(&mut next, &effects::of_run(edge.spec, run, edge.target.dialect));
                false
            }
        };
        for copy in copies(&edge.spec.tables) {
            let table = &edge.spec.tables[copy.table];
            for (index, column) in table.columns.iter().enumerate() {
                let is_due = is_last || !next[copy.table].has_sum(index);
                if !is_due || !self.fates[copy.table].has_sum(index) {
                    continue;
                }
                let rows = Rows::new(table, copy.table, self.seed.unwrap_or_default());
                let loaded = rows.column_sum(copy.number, index, copy.rows);
                let added = edge.counts.added(copy.table as u32, copy.number, index);
                let expected = loaded.wrapping_add(added);
                let mut actual = None;
                let sql = format!("SELECT SUM({}) FROM {}", column.name, copy.name);
                worker.rows(&sql, &mut |row| actual = row.value(0).as_int())?;
                checks.push(Check {
                    what: format!("sum of {} in {}", column.name, copy.name),
                    expected: expected.to_string(),
                    actual: actual.map_or("none".to_owned(), |sum| sum.to_string()),
                    holds: actual == Some(expected),
                });
            }
        }
        Ok(checks)
    }
}

impl Sample {
    /// Compares what was read with what was read last, in columns that the step did not write.
    fn compare(&mut self, before: &SampledRows, step: &Fates, columns: &[SqlColumn]) {
        if step.unknown || step.replaced == Replaced::Yes {
            return;
        }
        let mut changed = Vec::new();
        for (number, hashes) in &self.rows {
            let before = before.get(number).into_iter().flatten();
            for (((before, now), fate), column) in
                before.zip(hashes).zip(&step.columns).zip(columns)
            {
                if *fate == Fate::Kept && before != now {
                    changed.push(format!("row {number}: {} has changed", column.name));
                }
            }
        }
        let mut gone = before.keys().filter(|number| !self.rows.contains_key(number));
        if let (false, Some(number)) = (step.removed, gone.next()) {
            changed.push(format!("row {number} is missing"));
        }
        if let [first, ..] = changed.as_slice() {
            self.others.push(format!(
                "{} values differ that no statement of the step writes: {first}",
                changed.len()
            ));
        }
    }

    fn failure(&self, copy: &str) -> Option<Check> {
        let first = self.seen.first.iter().map(ToString::to_string);
        let wrong: Vec<String> = first.chain(self.others.iter().cloned()).collect();
        let rows = self.seen.rows;
        (!wrong.is_empty()).then(|| Check {
            what: format!("sampled rows of {copy}"),
            expected: "rows as the seed and the clients' statements say".to_owned(),
            actual: format!("{} of {rows} right; {}", rows - self.seen.wrong, wrong.join("; ")),
            holds: false,
        })
    }
}

fn merge(all: &mut [Fates], others: &[Fates]) {
    for (own, other) in all.iter_mut().zip(others) {
        own.merge(other);
    }
}

/// The ranges of rows that are read of a copy: at both ends and at places between that the seed decides.
fn places(copy: &TableCopy, seed: u64) -> Vec<(u64, u64)> {
    if copy.rows <= PLACES * ROWS {
        return vec![(1, copy.rows)];
    }
    let mut rng = Rng::new(mix(seed, &[copy.table as u64, u64::from(copy.number)]));
    // Each place is within its own part of the table, so that none is read twice.
    let part = copy.rows / PLACES;
    let place = |n: u64| {
        let first = match n {
            0 => 1,
            _ if n == PLACES - 1 => copy.rows - ROWS + 1,
            _ => 1 + n * part + rng.below(part - ROWS + 1),
        };
        (first, first + ROWS - 1)
    };
    (0..PLACES).map(place).collect()
}
