//! The catalog's own rules, for tests.

use model::Dbms;
use plan::VariableRules;

/// What the catalog knows of the variables of a Dbms.
pub(crate) fn rules(dbms: Dbms) -> VariableRules {
    let text = match dbms {
        Dbms::Mysql | Dbms::Mariadb => include_str!("../../../catalog/variables/mysql.toml"),
        Dbms::Postgres => include_str!("../../../catalog/variables/postgres.toml"),
        Dbms::Sqlite | Dbms::Other => include_str!("../../../catalog/variables/sqlite.toml"),
    };
    VariableRules::parse(text, dbms.name()).unwrap()
}
