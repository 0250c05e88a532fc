//! A workload file as it was read; what it means depends on what a plan asks of it.

use std::sync::Arc;

use model::{Dbms, SqlBlock, SqlPiece, SqlRun, SqlSpec, SqlStatement, SqlStep, Statements, Verb};

use super::draft::Draft;
use super::names::{check_new, label};
use super::operation::Parts;
use super::options::{MAX_ROWS, Options, SET, default_fields};
use super::scan::is_word;
use super::scope::Scope;
use super::select::{Selection, Tests, WorkloadSet};
use super::{steps, table};
use crate::document::{self, Node};
use crate::error::grouped;
use crate::fields::{Fields, Item};
use crate::{Place, PlanError, Result};

const KEYS: [&str; 9] =
    ["name", "summary", "defaults", "vars", "table", "block", "operation", "step", "sets"];

/// Clients of a load where nobody asked for a number and no host is known.
const LOAD_CLIENTS: u32 = 1;
/// More rows than this would take weeks to load.
const MAX_TOTAL_ROWS: u128 = 1_000_000_000_000;
/// Parameters of a prepared statement in the protocols of MySQL and PostgreSQL, which count them in 16 bits.
const MAX_PARAMETERS: u64 = 65_535;

/// A workload file as people look at it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadListing {
    /// Its name in plans: `micro`, or the path of a user's own.
    pub name: String,
    pub summary: String,
    /// Its sets; the one that a plan gets without asking comes first. Empty where the file has none.
    pub sets: Vec<WorkloadSet>,
    /// All of its tests and phases in order, with the file's own defaults and one number of clients.
    pub spec: SqlSpec,
}

pub fn read_workload(text: &str, origin: &str) -> Result<WorkloadListing> {
    WorkloadFile::parse(text, origin)?.listing(origin)
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WorkloadFile {
    name: String,
    summary: String,
    root: Arc<Node>,
}

impl WorkloadFile {
    /// Reads `text`, which people know as `origin`. All that it says is checked, with its own defaults.
    pub(crate) fn parse(text: &str, origin: &str) -> Result<Self> {
        let root = document::parse(text, origin)?;
        let fields = Fields::new(&root, "the workload", &KEYS)?;
        let name = fields.need("name")?;
        if name.text()? == "insert" {
            return Err(name.conflict("`name = \"insert\"` is the Insert Benchmark's"));
        }
        let file = Self {
            name: label(name)?,
            summary: fields.need("summary")?.text()?.to_owned(),
            root: Arc::new(root),
        };
        file.check()?;
        Ok(file)
    }

    fn fields(&self) -> Result<Fields<'_>> {
        Fields::new(&self.root, "the workload", &KEYS)
    }

    /// Every test and operation makes sense, in both forms where the original differs.
    fn check(&self) -> Result<()> {
        for compat in [false, true] {
            let mut options = self.options(None, LOAD_CLIENTS)?;
            options.tests = None;
            options.spec.compat = compat;
            self.spec(&options, None)?;
        }
        let drafts = self.drafts()?;
        self.tests(&drafts)?.check()?;
        self.resolve(None, LOAD_CLIENTS)?;
        self.check_operations(&drafts)
    }

    /// An operation or block that nothing uses would never be looked at.
    fn check_operations(&self, drafts: &[Draft<'_>]) -> Result<()> {
        let fields = self.fields()?;
        let operations = Fields::named(fields.need("operation")?)?;
        let is_sent = |name: &str| drafts.iter().any(|draft| draft.sends(name));
        if let Some(item) = operations.all().find(|item| !is_sent(item.key)) {
            return Err(item.conflict(format!("no step has the operation `{}`", item.key)));
        }
        let mut named = Vec::new();
        for operation in operations.all() {
            let list = Fields::named(operation)?.maybe("blocks", Item::list)?.unwrap_or_default();
            named.extend(list.iter().filter_map(|block| block.text().ok()));
        }
        let blocks = fields.maybe("block", Fields::named)?;
        match blocks.iter().flat_map(Fields::all).find(|block| !named.contains(&block.key)) {
            None => Ok(()),
            Some(item) => Err(item.conflict(format!("no operation has the block `{}`", item.key))),
        }
    }

    /// The spec that a plan's `workload` table asks for; `load_clients` load where nobody says how many.
    pub(crate) fn resolve(&self, plan: Option<&Fields<'_>>, load_clients: u32) -> Result<SqlSpec> {
        let options = self.options(plan, load_clients)?;
        match self.spec(&options, plan) {
            Err(PlanError::TooFewRows { place, message, .. }) => Err(PlanError::TooFewRows {
                place,
                message,
                enough: self.enough_rows(&options, plan),
            }),
            other => other,
        }
    }

    /// The fewest `rows` that all tests take, more than the options say; `None` where no number helps.
    fn enough_rows(&self, options: &Options, plan: Option<&Fields<'_>>) -> Option<u64> {
        let with = |rows| {
            let options = Options { rows: Some(rows), ..options.clone() };
            self.spec(&options, plan)
        };
        let is_few = |rows| matches!(with(rows), Err(PlanError::TooFewRows { .. }));
        let (mut few, mut enough) = (options.rows?, options.rows?);
        while is_few(enough) {
            few = enough;
            enough = enough.checked_mul(2).filter(|rows| *rows <= MAX_ROWS)?;
        }
        while enough - few > 1 {
            let middle = few.midpoint(enough);
            if is_few(middle) {
                few = middle;
            } else {
                enough = middle;
            }
        }
        with(enough).is_ok().then_some(enough)
    }

    pub(crate) fn listing(&self, name: &str) -> Result<WorkloadListing> {
        let mut options = self.options(None, LOAD_CLIENTS)?;
        let usual = options.tests.take().and_then(|tests| tests.into_iter().next());
        let usual = usual.as_ref().and_then(|first| first.name.strip_prefix(SET));
        let mut sets = self.tests(&self.drafts()?)?.sets()?;
        sets.sort_by_key(|set| Some(set.name.as_str()) != usual);
        options.warm_ups = true;
        options.fresh = false;
        options.clients.truncate(1);
        let spec = self.spec(&options, None)?;
        Ok(WorkloadListing { name: name.to_owned(), summary: self.summary.clone(), sets, spec })
    }

    fn options(&self, plan: Option<&Fields<'_>>, load_clients: u32) -> Result<Options> {
        let mut options = Options::usual(load_clients);
        if let Some(defaults) = self.fields()?.get("defaults") {
            options.apply(&default_fields(defaults)?)?;
        }
        options.rows_place = None;
        let Some(plan) = plan else { return Ok(options) };
        for (key, is_there) in
            [("rows", options.rows.is_some()), ("tables", options.tables.is_some())]
        {
            if let (Some(item), false) = (plan.get(key), is_there) {
                return Err(item.conflict(format!(
                    "workload `{}` does not depend on `{key}`: leave it out{}",
                    self.name,
                    self.variables_to_set()?
                )));
            }
        }
        options.apply(plan)?;
        Ok(options)
    }

    fn variables_to_set(&self) -> Result<String> {
        let vars = self.fields()?.maybe("vars", Fields::named)?;
        Ok(vars.map_or_else(String::new, |vars| {
            let names: Vec<&str> = vars.all().map(|item| item.key).collect();
            format!(", or set one of its own variables in `vars`: {}", names.join(", "))
        }))
    }

    fn scope(&self, options: &Options, plan: Option<&Fields<'_>>) -> Result<Scope> {
        let mut scope = Scope::new(options.spec.compat, options.rows_place.clone());
        let given = [
            ("rows", options.rows),
            ("tables", options.tables.map(u64::from)),
            ("read_seconds", Some(options.read_seconds.into())),
            ("write_seconds", Some(options.write_seconds.into())),
            ("scan_seconds", Some(options.scan_seconds.into())),
            ("warmup_seconds", Some(options.warmup_seconds.into())),
        ];
        for (name, value) in given {
            if let Some(value) = value {
                scope.set(name, value as i64);
            }
        }
        let own = self.fields()?.maybe("vars", Fields::named)?;
        let wanted = plan.map_or(Ok(None), |plan| plan.maybe("vars", Fields::named))?;
        let own: Vec<Item<'_>> = own.iter().flat_map(Fields::all).collect();
        for item in wanted.iter().flat_map(Fields::all) {
            item.one_of("variable", item.key, own.iter().map(|own| own.key))?;
        }
        for item in own {
            let value = wanted.as_ref().and_then(|wanted| wanted.get(item.key));
            scope.declare(item, value.unwrap_or(item))?;
        }
        Ok(scope)
    }

    fn drafts(&self) -> Result<Vec<Draft<'_>>> {
        let mut drafts: Vec<Draft<'_>> = Vec::new();
        for item in self.fields()?.need("step")?.list()? {
            let draft = Draft::read(item)?;
            if let Some(name) = &draft.name {
                let others = drafts.iter().filter_map(|other| other.name.as_deref());
                check_new(&item.place(), "step", name, others)?;
            }
            drafts.push(draft);
        }
        Ok(drafts)
    }

    fn tests<'a>(&'a self, drafts: &'a [Draft<'a>]) -> Result<Tests<'a>> {
        Tests::new(self.known_as(), drafts, &self.fields()?)
    }

    /// What `backslide workloads` takes for it: the path of a user's file, the name of one of the catalog.
    fn known_as(&self) -> &str {
        let origin = self.root.place.origin();
        if origin.starts_with("catalog/") { &self.name } else { origin }
    }

    fn spec(&self, options: &Options, plan: Option<&Fields<'_>>) -> Result<SqlSpec> {
        let fields = self.fields()?;
        let scope = self.scope(options, plan)?;
        let tables = table::tables(fields.need("table")?, &scope, options.secondary)?;
        let drafts = self.drafts()?;
        let selection = Selection::new(&self.tests(&drafts)?, options)?;
        let parts = Parts {
            tables: &tables,
            blocks: fields.maybe("block", Fields::named)?,
            operations: Fields::named(fields.need("operation")?)?,
            options,
        };
        let steps = steps::steps(&drafts, &selection, &scope, &parts)?;
        let spec = SqlSpec { name: self.name.clone(), steps, tables, ..options.spec.clone() };
        check(&spec, &fields, options.rows_place.as_ref())?;
        Ok(spec)
    }
}

/// Checks what needs no system. `rows_place` is where the plan says how many rows there are, if it does.
fn check(spec: &SqlSpec, fields: &Fields<'_>, rows_place: Option<&Place>) -> Result<()> {
    if !runs(spec).any(|(_, run)| run.measured) {
        return Err(fields
            .place_of(&["step"])
            .conflict("no step that runs is measured: there would be no result"));
    }
    let each = spec.tables.iter();
    let total = each.map(|table| u128::from(table.rows) * u128::from(table.copies));
    let total: u128 = total.sum();
    if total > MAX_TOTAL_ROWS {
        return Err(rows_place.map_or_else(|| fields.place_of(&["table"]), Place::clone).conflict(
            format!(
                "all tables together have {} rows, more than {}",
                grouped(total),
                grouped(MAX_TOTAL_ROWS)
            ),
        ));
    }
    fields.place_of(&["step"]).refuse(too_many_parameters(spec, MAX_PARAMETERS))
}

/// Checks what a system must be able to do. `place` is where the plan has the system.
pub(crate) fn check_for(spec: &SqlSpec, dbms: Dbms, place: &Place) -> Result<()> {
    let product = dbms.product();
    let unnumbered = || product.features.numbers_rows_by_key_only.then(|| cannot_number(spec))?;
    let message = too_many_parameters(spec, product.limits.max_parameters).or_else(unnumbered);
    place.refuse(message.map(|message| format!("{dbms}: {message}")))
}

fn runs(spec: &SqlSpec) -> impl Iterator<Item = (&SqlStep, &SqlRun)> {
    spec.steps.iter().filter_map(|step| Some((step, step.work.run()?)))
}

pub(crate) fn statements(run: &SqlRun) -> impl Iterator<Item = (&SqlBlock, &SqlStatement)> {
    let blocks = run.operations.iter().flat_map(|operation| &operation.blocks);
    blocks.flat_map(|block| block.statements.iter().map(move |statement| (block, statement)))
}

fn too_many_parameters(spec: &SqlSpec, most: u64) -> Option<String> {
    if spec.statements == Statements::Text {
        return None;
    }
    let parameters = |block: &SqlBlock, statement: &SqlStatement| {
        let pieces = statement.text.sqlite.iter();
        let counts = pieces.map(|piece| match piece {
            SqlPiece::Draw(index) => block.draws.get(*index as usize).map_or(0, |d| d.count),
            SqlPiece::Text(_) | SqlPiece::Table => 0,
        });
        counts.map(u64::from).sum::<u64>()
    };
    runs(spec).find_map(|(step, run)| {
        let sent = statements(run).filter(|(_, statement)| !statement.always_text);
        let counts = sent.map(|(block, statement)| parameters(block, statement));
        let largest = counts.max().filter(|largest| *largest > most)?;
        Some(format!(
            "step `{}` has a statement with {} parameters, and a prepared one has at most {}: \
             make its lists shorter, or write `statements = \"text\"`",
            step.id,
            grouped(largest),
            grouped(most)
        ))
    })
}

/// SQLite numbers rows by their primary key only, and a table with `secondary` has none.
fn cannot_number(spec: &SqlSpec) -> Option<String> {
    runs(spec).find_map(|(step, run)| {
        let mut inserts = statements(run).filter(|(_, s)| s.verb == Verb::Insert);
        let unnumbered = inserts.find_map(|(block, statement)| {
            let table = spec.tables.get(block.table as usize)?;
            let auto = table.columns.iter().find(|column| column.auto)?;
            let is_numbered = !table.primary_key.is_empty() || names(statement, &auto.name);
            (!is_numbered).then_some(&auto.name)
        })?;
        Some(format!(
            "step `{}` leaves `{unnumbered}` to the server, which cannot number rows without a \
             primary key (`secondary = true`): choose other `tests`",
            step.id
        ))
    })
}

fn names(statement: &SqlStatement, column: &str) -> bool {
    statement.text.sqlite.iter().any(|piece| match piece {
        SqlPiece::Text(text) => {
            text.split(|c| !is_word(c)).any(|word| word.eq_ignore_ascii_case(column))
        }
        SqlPiece::Table | SqlPiece::Draw(_) => false,
    })
}
