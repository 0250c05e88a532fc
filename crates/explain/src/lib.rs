//! What differs between two systems at run time, and whether it should: pure.
//!
//! [`Facts`] are what is known of one system while it runs: its variables, its config, its session.
//! [`explain`] compares two of them variable by variable, [`overview`] several with a base,
//! [`conditions`] says in words that hold for every Dbms what a comparison must keep equal, and
//! [`unequal`] where a plan's systems do not, [`durability`] what a commit survives. What is known of
//! variables (groups, notes, names that changed) is data: `catalog/dbms/`. [`why`] tells from sampled stacks where a
//! system spends more than its base, and [`stack_costs`] what each stack costs.

mod difference;
mod facts;
mod layers;
mod overview;
mod stack_costs;
mod stand;
mod text;
mod value;
mod why;

pub use difference::{Difference, Explanation, NOTHING, Reason, SetBy, explain};
pub use facts::{Facts, Reading};
pub use model::Condition;
pub use overview::{Names, Overview, VariableRow, overview};
pub use stack_costs::{StackCosts, stack_costs};
pub use stand::{Durability, Side, Stand, Warning, conditions, durability, unequal};
pub use text::{TextLine, text};
pub use why::{Quality, StepWhy, WhyLine, why};

/// What the catalog knows of the variables of a Dbms, for tests.
#[cfg(test)]
fn rules(dbms: model::Dbms) -> plan::VariableRules {
    plan::Catalog::embedded().unwrap().variables(dbms).clone()
}
