//! A workload file as it was read; what it means depends on what a plan asks of it.

use std::sync::Arc;

use model::{SqlSpec, SqlStep};

use super::draft::Draft;
use super::names::{check_new, label};
use super::operation::Parts;
use super::options::{MAX_ROWS, Options, default_fields};
use super::scope::Scope;
use super::select::{Selection, Tests};
use super::steps;
use super::{check, table};
use crate::document::{self, Node};
use crate::fields::{Fields, Item};
use crate::{PlanError, Result};

const KEYS: [&str; 9] =
    ["name", "summary", "defaults", "vars", "table", "block", "operation", "step", "sets"];

/// Clients of a load where nobody asked for a number and no host is known.
const LOAD_CLIENTS: u32 = 1;

/// A workload file: TOML, read and found to make sense with its own defaults.
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

    pub(crate) fn summary(&self) -> &str {
        &self.summary
    }

    fn fields(&self) -> Result<Fields<'_>> {
        Fields::new(&self.root, "the workload", &KEYS)
    }

    /// Every test and operation makes sense, in both forms where the original differs.
    fn check(&self) -> Result<()> {
        for compat in [false, true] {
            let mut options = self.options(None, LOAD_CLIENTS)?;
            options.tests = None;
            options.compat = compat;
            self.spec(&options, None)?;
        }
        let tests = self.tests()?;
        tests.check_sets()?;
        for draft in self.drafts()? {
            tests.check_before(&draft)?;
        }
        self.resolve(None, LOAD_CLIENTS)?;
        self.check_operations()
    }

    /// An operation or block that nothing uses would never be looked at.
    fn check_operations(&self) -> Result<()> {
        let fields = self.fields()?;
        let operations = Fields::named(fields.need("operation")?, "operation")?;
        let drafts = self.drafts()?;
        let is_sent = |name: &str| drafts.iter().any(|draft| draft.sends(name));
        if let Some(item) = operations.all().find(|item| !is_sent(item.key)) {
            return Err(item.conflict(format!("no step has the operation `{}`", item.key)));
        }
        let Some(blocks) = fields.get("block") else {
            return Ok(());
        };
        let mut named = Vec::new();
        for operation in operations.all() {
            if let Some(list) = Fields::named(operation, "an operation")?.get("blocks") {
                let list = list.list()?;
                named.extend(list.iter().filter_map(|block| block.text().ok()));
            }
        }
        let mut all = Fields::named(blocks, "block")?.all();
        match all.find(|block| !named.contains(&block.key)) {
            None => Ok(()),
            Some(item) => Err(item.conflict(format!("no operation has the block `{}`", item.key))),
        }
    }

    /// The spec that a plan's `workload` table asks for; the file's defaults where there is none.
    /// `load_clients` is how many load at the same time where nobody says.
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

    pub(crate) fn everything(&self) -> Result<SqlSpec> {
        let mut options = self.options(None, LOAD_CLIENTS)?;
        options.tests = None;
        options.warm_ups = true;
        options.fresh = false;
        options.clients.truncate(1);
        self.spec(&options, None)
    }

    /// Its sets with the tests of each, the one that is used without asking first.
    pub(crate) fn sets(&self) -> Result<Vec<(String, Vec<String>)>> {
        let tests = self.tests()?;
        let usual = self.options(None, LOAD_CLIENTS)?.tests;
        let usual = usual.and_then(|tests| {
            let first = tests.first()?;
            Some(first.name.strip_prefix("set:")?.to_owned())
        });
        let mut sets = tests.sets()?;
        sets.sort_by_key(|(name, _)| Some(name) != usual.as_ref());
        Ok(sets)
    }

    fn options(&self, plan: Option<&Fields<'_>>, load_clients: u32) -> Result<Options> {
        let mut options = Options::usual(load_clients);
        if let Some(defaults) = self.fields()?.get("defaults") {
            options.apply(&default_fields(defaults)?)?;
        }
        options.rows_place = None;
        let Some(plan) = plan else {
            return Ok(options);
        };
        let has = |key| match key {
            "rows" => options.rows.is_some(),
            _ => options.tables.is_some(),
        };
        for key in ["rows", "tables"] {
            if let (Some(item), false) = (plan.get(key), has(key)) {
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
        let Some(vars) = self.fields()?.get("vars") else {
            return Ok(String::new());
        };
        let names = Fields::named(vars, "vars")?.all().map(|item| item.key);
        let names: Vec<&str> = names.collect();
        Ok(format!(", or set one of its own variables in `vars`: {}", names.join(", ")))
    }

    fn scope(&self, options: &Options, plan: Option<&Fields<'_>>) -> Result<Scope> {
        let mut scope = Scope::new(options.compat, options.rows_place.clone());
        if let Some(rows) = options.rows {
            scope.set("rows", rows as i64);
        }
        if let Some(tables) = options.tables {
            scope.set("tables", i64::from(tables));
        }
        for (name, seconds) in [
            ("read_seconds", options.read_seconds),
            ("write_seconds", options.write_seconds),
            ("scan_seconds", options.scan_seconds),
            ("warmup_seconds", options.warmup_seconds),
        ] {
            scope.set(name, i64::from(seconds));
        }
        let fields = self.fields()?;
        let own = fields.get("vars");
        let own = own.map(|vars| Fields::named(vars, "vars")).transpose()?;
        let wanted = plan.and_then(|plan| plan.get("vars"));
        let wanted = wanted.map(|vars| Fields::named(vars, "vars")).transpose()?;
        let own: Vec<Item<'_>> = own.iter().flat_map(Fields::all).collect();
        if let Some(item) = wanted.iter().flat_map(Fields::all).find(|item| !has(&own, item.key)) {
            return Err(item.unknown("variable", item.key, own.iter().map(|own| own.key)));
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
            if let Some(name) = draft.name() {
                let others = drafts.iter().filter_map(Draft::name);
                check_new(&item.place(), "step", name, others)?;
            }
            drafts.push(draft);
        }
        Ok(drafts)
    }

    fn tests(&self) -> Result<Tests> {
        let fields = self.fields()?;
        Tests::new(self.known_as(), &self.drafts()?, fields.get("sets"))
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
        let tests = self.tests()?;
        let selection = Selection::new(&tests, options)?;
        let blocks = fields.get("block");
        let parts = Parts {
            tables: &tables,
            blocks: blocks.map(|blocks| Fields::named(blocks, "block")).transpose()?,
            options,
        };
        let operations = Fields::named(fields.need("operation")?, "operation")?;
        let steps: Vec<SqlStep> = steps::steps(&drafts, &selection, &operations, &scope, &parts)?;
        let spec = SqlSpec {
            name: self.name.clone(),
            load: options.load.clone(),
            steps,
            statements: options.statements,
            errors: options.errors.clone(),
            statement_timeout: options.statement_timeout,
            compat: options.compat,
            tables,
        };
        check::check(&spec, &fields, options.rows_place.as_ref())?;
        Ok(spec)
    }
}

fn has(items: &[Item<'_>], key: &str) -> bool {
    items.iter().any(|item| item.key == key)
}
