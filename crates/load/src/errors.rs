//! What clients do about errors: by the server's code, with the plan's own lists first.

use drivers::{SessionError, retryable};
use model::{Dialect, ErrorRules};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// The operation is given up and counted; the client goes on with the next.
    Ignore,
    Retry,
    /// The session is of no further use: the operation is given up, the client connects again.
    Reconnect,
    Fail,
}

/// The rules of one step: the plan's lists, then what is usual for the dialect.
#[derive(Clone, Debug)]
pub struct Rules {
    plan: ErrorRules,
    usual: Usual,
}

/// What is usual for a dialect. A code that ends in `*` stands for all that begin so. The lists are asked
/// in this order; an error in none of them fails the step.
type Usual = &'static [(&'static [&'static str], Reaction)];

/// Numbers: <https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html> and
/// <https://mariadb.com/docs/server/reference/error-codes/mariadb-error-code-reference>.
const MYSQL: Usual = &[
    // 1153 a packet over the limit: it comes again, however often it is sent.
    (&["1153"], Reaction::Fail),
    (retryable(Dialect::Mysql), Reaction::Retry),
    // 1022, 1062, 1586 duplicate key.
    (&["1022", "1062", "1586"], Reaction::Ignore),
    // 1053 shutdown, 1152 to 1161 the connection was aborted, 1927 and 3169 it was killed, 2006 and 2013 it
    // is gone, 4031 it was idle for too long.
    (
        &[
            "1053", "1152", "1154", "1155", "1156", "1157", "1158", "1159", "1160", "1161", "1927",
            "2006", "2013", "3169", "4031",
        ],
        Reaction::Reconnect,
    ),
];

/// SQLSTATEs: <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
const POSTGRES: Usual = &[
    // 08P01 is of class 08, but says that statement and parameters do not fit.
    (&["08P01"], Reaction::Fail),
    (retryable(Dialect::Postgres), Reaction::Retry),
    // 23505 unique violation.
    (&["23505"], Reaction::Ignore),
    // Class 08 the connection, 57P01 shutdown, 57P02 another session's crash, 57P03 starting, 57P05 idle.
    (&["08*", "57P01", "57P02", "57P03", "57P05"], Reaction::Reconnect),
];

/// Result codes: <https://sqlite.org/rescode.html>. Sessions tell the primary one and add the extended
/// one to the message. `SQLITE_CONSTRAINT` is a duplicate key only with one of [`DUPLICATE_KEY`].
const SQLITE: Usual = &[(retryable(Dialect::Sqlite), Reaction::Retry)];

/// Extended codes of `SQLITE_CONSTRAINT` for duplicates: of the primary key, a unique index, the rowid.
const DUPLICATE_KEY: [&str; 3] = ["1555", "2067", "2579"];

impl Rules {
    pub fn new(plan: &ErrorRules, dialect: Dialect) -> Self {
        Self {
            plan: plan.clone(),
            usual: match dialect {
                Dialect::Mysql => MYSQL,
                Dialect::Postgres => POSTGRES,
                Dialect::Sqlite => SQLITE,
            },
        }
    }

    /// Tries of one operation before the step fails.
    pub fn tries(&self) -> u32 {
        self.plan.tries
    }

    /// What to do about `error`. Never [`Reaction::Reconnect`] where the plan gives no time for it.
    pub fn reaction(&self, error: &SessionError) -> Reaction {
        let reaction = match self.of_plan(error.code()) {
            // The operation cannot be repeated, nor the next one be sent, without another session.
            Some(Reaction::Ignore | Reaction::Retry)
                if !matches!(error, SessionError::Server { .. }) =>
            {
                Reaction::Reconnect
            }
            Some(reaction) => reaction,
            None => self.of_usual(error),
        };
        match reaction {
            Reaction::Reconnect if self.plan.reconnect_seconds == 0 => Reaction::Fail,
            other => other,
        }
    }

    pub fn is_of_plan(&self, error: &SessionError) -> bool {
        self.of_plan(error.code()).is_some()
    }

    fn of_plan(&self, code: &str) -> Option<Reaction> {
        let ErrorRules { ignore, retry, fatal, .. } = &self.plan;
        first(
            &[(fatal, Reaction::Fail), (retry, Reaction::Retry), (ignore, Reaction::Ignore)],
            code,
        )
    }

    fn of_usual(&self, error: &SessionError) -> Reaction {
        match error {
            SessionError::Lost { .. } => Reaction::Reconnect,
            SessionError::Server { code, message, .. } => {
                if code == "SQLITE_CONSTRAINT" && is_duplicate_key(message) {
                    return Reaction::Ignore;
                }
                first(self.usual, code).unwrap_or(Reaction::Fail)
            }
            // Connecting has its own rules; a server that hangs or breaks the protocol must be seen.
            SessionError::Connect { .. }
            | SessionError::Library { .. }
            | SessionError::Login { .. }
            | SessionError::Timeout { .. }
            | SessionError::Protocol { .. } => Reaction::Fail,
        }
    }
}

fn first<S: AsRef<str>>(lists: &[(impl AsRef<[S]>, Reaction)], code: &str) -> Option<Reaction> {
    let has = |list: &[S]| list.iter().any(|listed| stands_for(listed.as_ref(), code));
    lists.iter().find(|(list, _)| has(list.as_ref())).map(|(_, reaction)| *reaction)
}

/// Is `code` the listed one, or one of those that it stands for?
fn stands_for(listed: &str, code: &str) -> bool {
    match listed.strip_suffix('*') {
        Some(beginning) => code.starts_with(beginning),
        None => code == listed,
    }
}

fn is_duplicate_key(message: &str) -> bool {
    let ends = |extended| message.ends_with(&format!("(extended code {extended})"));
    // Before 3.7.16 there is no extended code: `PRIMARY KEY must be unique`, `column id is not unique`.
    DUPLICATE_KEY.iter().any(ends) || message.ends_with(" unique")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use Reaction::{Fail, Ignore, Reconnect, Retry};

    use super::*;

    fn plan() -> ErrorRules {
        ErrorRules {
            ignore: Vec::new(),
            retry: Vec::new(),
            fatal: Vec::new(),
            tries: 7,
            reconnect_seconds: 60,
        }
    }

    fn server(code: &str, message: &str) -> SessionError {
        SessionError::Server {
            code: code.to_owned(),
            state: Box::default(),
            message: message.to_owned(),
            statement: "UPDATE".to_owned(),
        }
    }

    fn lost() -> SessionError {
        SessionError::Lost { cause: "broken pipe".to_owned() }
    }

    fn timeout() -> SessionError {
        SessionError::Timeout { limit: Duration::from_secs(1), statement: "SELECT 1".to_owned() }
    }

    /// Errors that are no answer of the server.
    fn others() -> [(SessionError, Reaction); 5] {
        let address = "10.0.0.1:3306".to_owned();
        let connect =
            SessionError::Connect { address: address.clone(), cause: "refused".to_owned() };
        let login = SessionError::Login { address, user: "u".to_owned(), message: "no".to_owned() };
        let protocol = SessionError::Protocol { what: "a short packet".to_owned() };
        [(lost(), Reconnect), (timeout(), Fail), (connect, Fail), (login, Fail), (protocol, Fail)]
    }

    #[test]
    fn each_dialect_has_its_usual_rules() {
        let tables: [(Dialect, &[&str], Reaction); 10] = [
            (Dialect::Mysql, &["1020", "1205", "1213", "1615", "3572"], Retry),
            (Dialect::Mysql, &["1062", "1586", "1022"], Ignore),
            (
                Dialect::Mysql,
                &["1053", "1152", "1158", "1161", "1927", "2006", "2013", "3169", "4031"],
                Reconnect,
            ),
            (
                Dialect::Mysql,
                // No such table, syntax, packet, read-only, and a code of another dialect.
                &["1146", "1064", "1153", "1290", "40001", "", "12050"],
                Fail,
            ),
            (Dialect::Postgres, &["40001", "40P01", "55P03"], Retry),
            (Dialect::Postgres, &["23505"], Ignore),
            (
                Dialect::Postgres,
                &["08000", "08003", "08006", "57P01", "57P02", "57P03", "57P05"],
                Reconnect,
            ),
            (Dialect::Postgres, &["42P01", "23503", "08P01", "57014", "53300", "1213"], Fail),
            (Dialect::Sqlite, &["SQLITE_BUSY", "SQLITE_LOCKED"], Retry),
            (Dialect::Sqlite, &["SQLITE_FULL", "SQLITE_CONSTRAINT", "SQLITE_ERROR"], Fail),
        ];
        for (dialect, codes, expected) in tables {
            let rules = Rules::new(&plan(), dialect);
            for code in codes {
                let reaction = rules.reaction(&server(code, "said"));
                assert_eq!(reaction, expected, "{code} of {dialect:?}");
            }
        }
        for dialect in [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite] {
            let rules = Rules::new(&plan(), dialect);
            for (error, expected) in others() {
                assert_eq!(rules.reaction(&error), expected, "{error}");
            }
        }
        assert_eq!(Rules::new(&plan(), Dialect::Mysql).tries(), 7);
    }

    #[test]
    fn of_the_constraints_of_sqlite_only_duplicate_keys_are_ignored() {
        let rules = Rules::new(&plan(), Dialect::Sqlite);
        let of = |extended: u32| {
            let message = format!("UNIQUE constraint failed: t.id (extended code {extended})");
            rules.reaction(&server("SQLITE_CONSTRAINT", &message))
        };
        // Primary key, unique, rowid; not null, foreign key.
        let reactions = [1555, 2067, 2579, 1299, 787].map(of);
        assert_eq!(reactions, [Ignore, Ignore, Ignore, Fail, Fail]);
    }

    #[test]
    fn the_lists_of_the_plan_come_first_and_fatal_before_all() {
        let plan = ErrorRules {
            ignore: vec!["1146".to_owned(), "1205".to_owned(), "13*".to_owned()],
            retry: vec!["1062".to_owned(), "1205".to_owned()],
            fatal: vec!["1213".to_owned(), "139*".to_owned()],
            ..plan()
        };
        let rules = Rules::new(&plan, Dialect::Mysql);
        let of = |code: &str| rules.reaction(&server(code, "said"));
        assert_eq!(of("1146"), Ignore);
        assert_eq!(of("1205"), Retry);
        assert_eq!(of("1062"), Retry);
        assert_eq!(of("1213"), Fail);
        assert_eq!(of("1317"), Ignore);
        assert_eq!(of("1399"), Fail);
        assert_eq!(of("1020"), Retry, "the usual is still there");
        let is_of_plan = |code: &str| rules.is_of_plan(&server(code, "said"));
        assert!(is_of_plan("1146") && is_of_plan("1399") && !is_of_plan("1020"));
    }

    #[test]
    fn without_a_session_there_is_nothing_to_ignore_or_to_repeat() {
        let plan = ErrorRules {
            ignore: vec!["timeout".to_owned()],
            retry: vec!["lost".to_owned()],
            ..plan()
        };
        let rules = Rules::new(&plan, Dialect::Postgres);
        assert_eq!(rules.reaction(&timeout()), Reconnect);
        assert_eq!(rules.reaction(&lost()), Reconnect);
        let plan = ErrorRules { fatal: vec!["lost".to_owned()], ..plan };
        let rules = Rules::new(&plan, Dialect::Postgres);
        assert_eq!(rules.reaction(&lost()), Fail);
    }

    #[test]
    fn without_time_to_connect_again_a_lost_connection_fails() {
        let plan =
            ErrorRules { reconnect_seconds: 0, ignore: vec!["timeout".to_owned()], ..plan() };
        let rules = Rules::new(&plan, Dialect::Mysql);
        for error in [lost(), timeout(), server("3169", "killed")] {
            assert_eq!(rules.reaction(&error), Fail, "{error}");
        }
        assert_eq!(rules.reaction(&server("1213", "deadlock")), Retry);
    }
}
