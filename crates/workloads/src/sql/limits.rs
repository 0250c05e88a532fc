//! What a step needs of the server and may not get: asked before anybody connects, and said with numbers.

use drivers::SessionError;
use model::{Dialect, SqlKinds as Kinds, SqlSpec, SqlWork};

use super::compile::compile;
use load::{Result, StepError, Target};

/// Sessions that a step holds besides its clients': one for the server's counters, or that counts rows.
pub(crate) const BESIDES: u64 = 1;

/// The most that a step needs, and which step that is.
pub(crate) type Most<'a> = (u64, &'a str);

/// Fails where a step needs more of the server than it allows, or has operations that make no sense here.
pub(super) fn check(spec: &SqlSpec, target: &Target) -> Result {
    let (connections, prepared) = needed(spec, target.dialect)?;
    check_needs(connections, prepared, target)
}

/// Fails where the server allows fewer connections, or prepared statements of all sessions, than a step needs.
pub(crate) fn check_needs(connections: Most<'_>, prepared: Most<'_>, target: &Target) -> Result {
    let question = match target.dialect {
        Dialect::Mysql => "SELECT @@GLOBAL.max_connections, @@GLOBAL.max_prepared_stmt_count",
        // Those reserved may be open to this user, but somebody else may have them by then.
        Dialect::Postgres => {
            "SELECT current_setting('max_connections')::bigint \
             - current_setting('superuser_reserved_connections')::bigint \
             - coalesce(current_setting('reserved_connections', true)::bigint, 0)"
        }
        // Neither is limited.
        Dialect::Sqlite => return Ok(()),
    };
    let failed = |source| StepError::Session { client: "limits of the server".to_owned(), source };
    let mut session = target.connector.connect().map_err(failed)?;
    let mut numbers = [None; 2];
    let asked = session.query(question, &mut |row| {
        let number = |column| row.value(column).as_int().and_then(|i| u64::try_from(i).ok());
        numbers = [number(0), number(1)];
    });
    match (asked, numbers) {
        // Who may not ask is told by the server when it is too late, but loud enough.
        (Err(SessionError::Server { .. }), _) | (Ok(_), [None, _]) => Ok(()),
        (Err(error), _) => Err(failed(error)),
        (Ok(_), [Some(allowed), limit]) => {
            compare(target.dialect, (allowed, limit), connections, prepared)
        }
    }
}

/// The most connections, and the most prepared statements, that a step needs.
fn needed(spec: &SqlSpec, dialect: Dialect) -> Result<(Most<'_>, Most<'_>)> {
    let (mut connections, mut prepared) = (Most::default(), Most::default());
    let copies = spec.tables.iter().map(|table| table.copies).sum::<u32>();
    for step in &spec.steps {
        let clients = match &step.work {
            SqlWork::Load | SqlWork::Reset => spec.load.clients,
            // One for each table, and one that leads the settle phase.
            SqlWork::Index => copies,
            SqlWork::Settle(_) => copies.saturating_add(1),
            SqlWork::Run(_) => step.clients,
        };
        connections = larger(connections, (u64::from(clients) + BESIDES, &step.id.0));
        if let SqlWork::Run(run) = &step.work {
            let program = compile(spec, run, &Kinds::of(run), dialect)
                .map_err(|error| StepError::Unsupported(format!("step `{}`: {error}", step.id)))?;
            let all = u64::from(clients) * program.prepared() as u64;
            prepared = larger(prepared, (all, &step.id.0));
        }
    }
    Ok((connections, prepared))
}

/// The first one where both are the same.
fn larger<'a>(most: Most<'a>, other: Most<'a>) -> Most<'a> {
    if other.0 > most.0 { other } else { most }
}

/// Prepared statements of all sessions together have a `limit`, except where it is `None`.
fn compare(
    dialect: Dialect,
    (allowed, limit): (u64, Option<u64>),
    (connections, step): Most<'_>,
    (prepared, preparing): Most<'_>,
) -> Result {
    if connections > allowed {
        // PostgreSQL keeps some of them back.
        let enough = connections + if dialect == Dialect::Postgres { 10 } else { 0 };
        return Err(StepError::Unsupported(format!(
            "step `{step}` needs {connections} connections and the server allows {allowed}; set max_connections to at least {enough}"
        )));
    }
    match limit {
        Some(limit) if prepared > limit => Err(StepError::Unsupported(format!(
            "step `{preparing}` needs {prepared} prepared statements and the server allows {limit}; \
             set max_prepared_stmt_count to at least {prepared}, or use fewer tables or clients"
        ))),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use model::{Settle, SqlStep};

    use super::*;
    use crate::sql::tests::fixture::{operation, run, spec, step};

    fn most(number: u64) -> Most<'static> {
        (number, "point@64")
    }

    fn said(dialect: Dialect, connections: u64, prepared: u64) -> String {
        let allowed = (151, (dialect == Dialect::Mysql).then_some(16_382));
        match compare(dialect, allowed, most(connections), most(prepared)) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_is_missing_is_said_with_the_numbers() {
        assert_eq!(said(Dialect::Mysql, 151, 16_382), "");
        assert_eq!(
            said(Dialect::Mysql, 152, 0),
            "step `point@64` needs 152 connections and the server allows 151; \
             set max_connections to at least 152"
        );
        assert_eq!(
            said(Dialect::Mysql, 65, 16_383),
            "step `point@64` needs 16383 prepared statements and the server allows 16382; \
             set max_prepared_stmt_count to at least 16383, or use fewer tables or clients"
        );
        assert_eq!(said(Dialect::Postgres, 151, 1_000_000), "");
        assert!(said(Dialect::Postgres, 152, 0).ends_with("at least 162"));
    }

    #[test]
    fn the_largest_step_counts() {
        let point = || run(vec![operation("point", true, 1, &["a", "b"])]);
        let mut spec = spec(vec![
            step("small", 3, point()),
            step("large", 64, point()),
            step("last", 5, point()),
        ]);
        spec.tables[0].copies = 8;
        let (connections, prepared) = needed(&spec, Dialect::Mysql).unwrap();
        assert_eq!(connections, (65, "large"));
        // Two statements for each table, BEGIN and COMMIT.
        assert_eq!(prepared.0, 64 * (2 * 8 + 2));
    }

    #[test]
    fn steps_without_operations_have_a_session_for_each_table() {
        let of = |work| {
            let mut spec = spec(vec![SqlStep { work, ..step("phase", 1, run(Vec::new())) }]);
            spec.tables[0].copies = 8;
            needed(&spec, Dialect::Postgres).unwrap().0.0
        };
        assert_eq!(of(SqlWork::Load), 2);
        assert_eq!(of(SqlWork::Index), 9);
        assert_eq!(of(SqlWork::Settle(Settle::Seconds(0))), 10);
    }
}
