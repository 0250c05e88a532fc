//! The words of the lab: plain data and units; no I/O, no clock, no threads.
//!
//! Every other crate speaks in these types. `docs/glossary.md` defines each word once; the types
//! here carry the same names. Data flows one way: a plan file becomes a [`Plan`] of [`Trial`]s,
//! each trial yields a [`StepRecord`] per step, records become [`Measurement`]s, measurements of
//! two systems become a [`Comparison`] with a [`Verdict`].

/// Shows values of a type as a text of theirs, padded as the format asks.
macro_rules! shown {
    ($name:ident, |$it:ident| $text:expr) => {
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $it = self;
                f.pad($text)
            }
        }
    };
}

mod comparison;
mod counted;
mod counter;
mod dbms;
mod insert;
mod latency;
mod lua;
mod made;
mod metric;
mod note;
mod plan;
mod product;
mod profile;
mod recipe;
mod record;
mod rng;
mod run;
mod secret;
mod sql;
mod step;
mod steps;
mod system;
mod text;
mod tpcc;
mod units;
mod version;

pub use comparison::*;
pub use counted::{FEWEST_ROUNDS, counts_disturbed};
pub use counter::*;
pub use dbms::*;
pub use insert::*;
pub use latency::*;
pub use lua::*;
pub use made::Made;
pub use metric::*;
pub use note::*;
pub use plan::*;
pub use product::{
    Banner, BuiltIn, CaptureRule, Case, ConditionRule, ConnectionFacts, Costs, EngineFacts,
    HugePages, LayerRule, PRODUCT_FILE, Product, ProductError, Program, Since, Tree, catalog_files,
    common_layers,
};
pub use profile::{Profile, ProfiledStep, Resource};
pub use recipe::*;
pub use record::*;
pub use rng::*;
pub use run::*;
pub use secret::*;
pub use sql::*;
pub use step::*;
pub use steps::*;
pub use system::*;
pub use text::*;
pub use tpcc::*;
pub use units::*;
pub use version::*;

/// The error of a callback, whose type the callee does not know.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;
