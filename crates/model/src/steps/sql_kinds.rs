//! The operation kinds of a step that runs operations, and what it is about.

use crate::{Counts, KindSpec, SqlOperation, SqlPace, SqlRun, Subject};

/// The kind under which each operation is recorded besides its own, where a step has several.
const EVERY: &str = "operation";
/// The kind of the statement that begins a transaction.
pub const BEGIN: &str = "begin";
/// The kind of the statement that ends it.
pub const COMMIT: &str = "commit";

/// The operation kinds of a step, in the order in which clients number them: all operations together,
/// each operation, each statement of those that send more than one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlKinds {
    pub specs: Vec<KindSpec>,
    pub subject: Subject,
    /// Place of the kind of all operations, where there is one.
    pub every: Option<usize>,
    /// Place of each operation's own kind.
    operations: Vec<usize>,
}

impl SqlKinds {
    pub fn of(run: &SqlRun) -> Self {
        let scheduled = match run.pace {
            SqlPace::Unlimited => false,
            SqlPace::Rate { .. } | SqlPace::Ramp { .. } => true,
        };
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

    /// Place of the kind of an operation.
    pub fn operation(&self, operation: usize) -> usize {
        self.operations[operation]
    }

    /// Place of the kind of a statement; `None` where the operation sends only one, whose time is the
    /// operation's.
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

/// What the step is about: the rows that a scan reads, the statements of its only operation, or its
/// operations.
fn subject(run: &SqlRun) -> Subject {
    let scans = |operation: &&SqlOperation| {
        let mut statements = operation.blocks.iter().flat_map(|block| &block.statements);
        statements.any(|statement| statement.scans)
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
