//! The steps of a workload of SQL statements. Their names come from its file.

use crate::step::{INDEXES, SETTLES, placed};
use crate::{
    Counts, KindSpec, Nanos, ResponseLimit, SqlOperation, SqlPace, SqlRun, SqlSpec, SqlStep,
    SqlWork, Step, StepClass, StepPace, StepTask, Subject, Verb, grouped,
};

pub(super) fn steps(spec: &SqlSpec) -> Vec<Step> {
    let loading = spec.steps.iter().position(|step| !step.work.is_loading());
    // Nothing would be left to do where all steps load.
    placed(spec.steps.iter().map(|step| of(spec, step)), loading.unwrap_or(0))
}

fn of(spec: &SqlSpec, step: &SqlStep) -> Step {
    let loaders = spec.load.clients.saturating_add(1);
    let tables: u32 = spec.tables.iter().map(|table| table.copies).sum();
    let (task, counts, sessions, description) = match &step.work {
        SqlWork::Load => {
            (StepTask::Load, Counts::Rows, loaders, "Makes the tables and loads their rows.")
        }
        SqlWork::Index => (StepTask::Index, Counts::Rows, tables, INDEXES),
        SqlWork::Settle(_) => {
            (StepTask::Settle, Counts::Operations, tables.saturating_add(1), SETTLES)
        }
        SqlWork::Reset => (StepTask::Reset, Counts::Rows, loaders, "Loads all tables anew."),
        SqlWork::Run(run) => return of_run(spec, step, run),
    };
    let kinds = step.work.kinds();
    let kind = kinds.first().map(|kind| kind.name.clone()).unwrap_or_default();
    Step {
        test: step.test.clone(),
        task,
        class: StepClass::Loading,
        group: step.group.clone(),
        measured: step.work.is_result(),
        sessions,
        kinds,
        compat: spec.compat,
        description: description.to_owned(),
        ..Step::new(step.id.clone(), 0, step.clients, Subject { kind, counts })
    }
}

fn of_run(spec: &SqlSpec, step: &SqlStep, run: &SqlRun) -> Step {
    let SqlKinds { specs, subject, .. } = SqlKinds::of(run);
    let pace = pace(&run.pace);
    Step {
        test: step.test.clone(),
        class: if run.writes { StepClass::Writing } else { StepClass::Reading },
        group: step.group.clone(),
        measured: run.measured,
        kinds: specs,
        metric: pace.deciding(&subject),
        pace,
        window: Some(Nanos::from_secs(run.seconds.into())),
        slices: slices(run),
        compat: spec.compat,
        description: [counted(run, subject.counts), paced("Operations", &run.pace)]
            .join(" ")
            .trim_end()
            .to_owned(),
        ..Step::new(step.id.clone(), 0, step.clients, subject)
    }
}

impl SqlWork {
    pub fn kinds(&self) -> Vec<KindSpec> {
        let names: &[&str] = match self {
            Self::Load => &["insert"],
            Self::Index => &["create_index"],
            Self::Settle(_) => &["settle"],
            Self::Reset => &["insert", "create_index"],
            Self::Run(run) => return SqlKinds::of(run).specs,
        };
        names.iter().map(|name| KindSpec::unscheduled(name)).collect()
    }

    /// Can it be done once for many trials, where it comes before all others?
    pub const fn is_loading(&self) -> bool {
        matches!(self, Self::Load | Self::Index | Self::Settle(_))
    }

    pub const fn run(&self) -> Option<&SqlRun> {
        if let Self::Run(run) = self { Some(run) } else { None }
    }
}

pub(super) const fn pace(pace: &SqlPace) -> StepPace {
    match *pace {
        SqlPace::Unlimited => StepPace::Closed,
        SqlPace::Rate { per_second, .. } => StepPace::Rate { per_second },
        SqlPace::Ramp { permille, limit_micros, .. } => {
            StepPace::Ramp { limit: Some(ResponseLimit { permille, micros: limit_micros }) }
        }
    }
}

/// Length of the window of a step that can be cut into slices: it only reads, in a closed loop and for a time.
fn slices(run: &SqlRun) -> Option<Nanos> {
    let blocks = run.operations.iter().flat_map(|operation| &operation.blocks);
    let mut statements = blocks.flat_map(|block| &block.statements);
    let only_reads = !run.writes && statements.all(|s| s.verb == Verb::Select);
    let for_a_time = run.pace == SqlPace::Unlimited && !run.whole;
    let length = Nanos::from_secs(u64::from(run.seconds));
    (run.measured && only_reads && for_a_time).then_some(length)
}

/// What throughput and cost per operation count.
fn counted(run: &SqlRun, counts: Counts) -> String {
    let operations = run.operations.len();
    match counts {
        Counts::Rows => "Counts the rows that are read.".to_owned(),
        Counts::Statements(n) => format!(
            "An operation is {n} statements{}; throughput and costs count statements, response times are of whole operations.",
            if run.operations.iter().all(|operation| operation.transaction) {
                ", BEGIN and COMMIT among them"
            } else {
                ""
            }
        ),
        Counts::Operations if operations > 1 => format!("A mix of {operations} operations."),
        Counts::Operations => "Counts statements.".to_owned(),
    }
}

/// When operations start, which are called `what`, where clients do not decide it.
pub(super) fn paced(what: &str, pace: &SqlPace) -> String {
    match pace {
        SqlPace::Unlimited => String::new(),
        SqlPace::Rate { per_second, .. } => {
            format!("{what} arrive at {} a second.", grouped(*per_second))
        }
        SqlPace::Ramp { permille, limit_micros, .. } => format!(
            "Looks for the highest rate at which p{} of response time stays within {}, and measures that.",
            f64::from(*permille) / 10.0,
            Nanos(limit_micros.saturating_mul(1_000))
        ),
    }
}

/// The kind under which each operation is recorded besides its own, where a step has several.
const EVERY: &str = "operation";
/// The kinds of the statements that begin and end a transaction.
pub const BEGIN: &str = "begin";
pub const COMMIT: &str = "commit";

/// The operation kinds of a step as clients number them: all operations, each one, each statement of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlKinds {
    pub specs: Vec<KindSpec>,
    pub subject: Subject,
    pub every: Option<usize>,
    operations: Vec<usize>,
}

impl SqlKinds {
    pub fn of(run: &SqlRun) -> Self {
        let scheduled = run.pace != SqlPace::Unlimited;
        let several = run.operations.len() > 1;
        let mut kinds = Self {
            specs: Vec::new(),
            subject: subject(run),
            every: several.then_some(0),
            operations: Vec::new(),
        };
        if several {
            kinds.place(EVERY, scheduled);
        }
        for operation in &run.operations {
            let place = kinds.place(&operation.name, scheduled);
            kinds.operations.push(place);
        }
        for operation in &run.operations {
            for statement in statements(operation) {
                kinds.place(&statement_kind(run, operation, statement), false);
            }
        }
        kinds
    }

    pub fn operation(&self, operation: usize) -> usize {
        self.operations[operation]
    }

    /// Place of the kind of a statement; `None` where the operation sends only one, whose time is the operation's.
    pub fn statement(
        &self,
        run: &SqlRun,
        operation: &SqlOperation,
        statement: &str,
    ) -> Option<usize> {
        if operation.statements() < 2 {
            return None;
        }
        let name = statement_kind(run, operation, statement);
        self.specs.iter().position(|kind| kind.name == name)
    }

    /// Place of the kind that counts every operation: that of all, or of the only one.
    pub fn of_all(&self) -> usize {
        self.every.unwrap_or(0)
    }

    fn place(&mut self, name: &str, scheduled: bool) -> usize {
        if let Some(place) = self.specs.iter().position(|kind| kind.name == name) {
            return place;
        }
        self.specs.push(KindSpec { name: name.to_owned(), scheduled });
        self.specs.len() - 1
    }
}

/// What the step is about: the rows that a scan reads, the statements of its only operation, or its operations.
fn subject(run: &SqlRun) -> Subject {
    let scans = |operation: &&SqlOperation| {
        operation.blocks.iter().flat_map(|block| &block.statements).any(|statement| statement.scans)
    };
    let (kind, counts) = if let Some(scan) = run.operations.iter().find(scans) {
        (scan.name.as_str(), Counts::Rows)
    } else if let [only] = run.operations.as_slice() {
        match only.statements() {
            0 | 1 => (only.name.as_str(), Counts::Operations),
            several => (only.name.as_str(), Counts::Statements(several)),
        }
    } else {
        (EVERY, Counts::Operations)
    };
    Subject { kind: kind.to_owned(), counts }
}

/// Names of the statements that are a kind of their own, in the order in which they are first sent.
fn statements(operation: &SqlOperation) -> Vec<&str> {
    if operation.statements() < 2 {
        return Vec::new();
    }
    let mut names: Vec<&str> = Vec::new();
    names.extend(operation.transaction.then_some(BEGIN));
    for block in &operation.blocks {
        names.extend(block.statements.iter().map(|s| s.name.as_str()));
    }
    names.extend(operation.transaction.then_some(COMMIT));
    names
}

/// The kind of a statement has its name, unless an operation has that name already.
fn statement_kind(run: &SqlRun, operation: &SqlOperation, statement: &str) -> String {
    let is_taken = statement == EVERY || run.operations.iter().any(|o| o.name == statement);
    if is_taken { format!("{}.{statement}", operation.name) } else { statement.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrivals, Expect, SqlBlock, SqlStatement, SqlTexts, TableChoice, Verb};

    fn run(operations: Vec<SqlOperation>) -> SqlRun {
        SqlRun { measured: true, seconds: 1, operations, ..SqlRun::default() }
    }

    fn operation(name: &str, transaction: bool, repeat: u32, statements: &[&str]) -> SqlOperation {
        SqlOperation {
            name: name.to_owned(),
            weight: 1,
            transaction,
            blocks: vec![SqlBlock {
                table: 0,
                choice: TableChoice::Random,
                repeat,
                draws: Vec::new(),
                statements: statements.iter().map(|name| statement(name)).collect(),
            }],
        }
    }

    fn statement(name: &str) -> SqlStatement {
        let text = SqlTexts { mysql: Vec::new(), postgres: Vec::new(), sqlite: Vec::new() };
        SqlStatement {
            name: name.to_owned(),
            verb: Verb::Select,
            text,
            expect: Expect::Rows(1, 1),
            always_text: false,
            scans: false,
        }
    }

    fn names(kinds: &SqlKinds) -> Vec<&str> {
        kinds.specs.iter().map(|kind| kind.name.as_str()).collect()
    }

    #[test]
    fn a_single_statement_has_one_kind() {
        let run = run(vec![operation("point", false, 1, &["point"])]);
        let kinds = SqlKinds::of(&run);
        assert_eq!(names(&kinds), ["point"]);
        assert_eq!(kinds.subject.kind, "point");
        assert_eq!(kinds.subject.counts, Counts::Operations);
        assert_eq!(kinds.every, None);
        assert_eq!(kinds.statement(&run, &run.operations[0], "point"), None);
    }

    #[test]
    fn a_transaction_counts_as_what_it_sends_and_shows_each_statement() {
        let run = run(vec![operation("read-only", true, 10, &["point", "sum"])]);
        let kinds = SqlKinds::of(&run);
        assert_eq!(names(&kinds), ["read-only", "begin", "point", "sum", "commit"]);
        assert_eq!(kinds.subject.counts, Counts::Statements(22));
        assert_eq!(kinds.statement(&run, &run.operations[0], "sum"), Some(3));
    }

    #[test]
    fn several_operations_are_also_counted_together() {
        let run = run(vec![
            operation("order", true, 1, &["order", "line"]),
            operation("status", false, 1, &["line"]),
        ]);
        let kinds = SqlKinds::of(&run);
        assert_eq!(
            names(&kinds),
            ["operation", "order", "status", "begin", "order.order", "line", "commit"]
        );
        assert_eq!(kinds.every, Some(0));
        assert_eq!((kinds.operation(0), kinds.operation(1)), (1, 2));
        assert_eq!(kinds.subject.kind, "operation");
        assert_eq!(kinds.subject.counts, Counts::Operations);
        // Its time is the operation's, so it is not recorded twice.
        assert_eq!(kinds.statement(&run, &run.operations[1], "line"), None);
        assert_eq!(kinds.statement(&run, &run.operations[0], "order"), Some(4));
    }

    #[test]
    fn a_scan_counts_the_rows_it_reads() {
        let mut scan = operation("scan", false, 1, &["scan"]);
        scan.blocks[0].statements[0] = SqlStatement { scans: true, ..statement("scan") };
        let kinds = SqlKinds::of(&run(vec![operation("point", false, 1, &["point"]), scan]));
        assert_eq!(kinds.subject.kind, "scan");
        assert_eq!(kinds.subject.counts, Counts::Rows);
        assert_eq!(kinds.of_all(), 0);
    }

    #[test]
    fn only_operations_follow_a_schedule() {
        let paced = SqlRun {
            pace: SqlPace::Rate { per_second: 10, arrivals: Arrivals::Even, queue: 1 },
            ..run(vec![operation("o", true, 1, &["s"])])
        };
        let scheduled = SqlKinds::of(&paced).specs;
        let scheduled: Vec<bool> = scheduled.iter().map(|kind| kind.scheduled).collect();
        assert_eq!(scheduled, [true, false, false, false]);
    }
}
