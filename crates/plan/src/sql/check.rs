//! What must hold of a workload as a whole, whatever it says in detail.

use model::{Dbms, SqlBlock, SqlPiece, SqlRun, SqlSpec, SqlStatement, SqlStep, Statements, Verb};

use super::scan::is_word;

use crate::error::grouped;
use crate::fields::Fields;
use crate::{Place, Result};

/// More rows than this would take weeks to load.
const MAX_TOTAL_ROWS: u128 = 1_000_000_000_000;
/// Parameters of a prepared statement in the protocols of MySQL and PostgreSQL, which count them in 16 bits.
const MAX_PARAMETERS: u64 = 65_535;

/// Checks what needs no system. `rows_place` is where the plan says how many rows there are, if it does.
pub(crate) fn check(spec: &SqlSpec, fields: &Fields<'_>, rows_place: Option<&Place>) -> Result<()> {
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

/// What a step sends, each statement with its block.
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
