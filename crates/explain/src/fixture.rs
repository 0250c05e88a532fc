//! The catalog's own rules, for tests.

use model::Dbms;
use plan::VariableRules;

/// What the catalog knows of the variables of a Dbms.
pub(crate) fn rules(dbms: Dbms) -> VariableRules {
    plan::Catalog::embedded().unwrap().variables(dbms).clone()
}
