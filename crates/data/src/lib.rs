//! The data layer of the workloads: descriptions of tables, the rows that a seed makes, the statements that make,
//! load and settle tables, and the proofs of what they hold.

pub mod checksum;
pub mod decimal;
pub mod distribution;
pub mod drain;
pub mod judge;
pub mod literal;
pub mod loading;
pub mod reading;
pub mod row_counts;
pub mod rows;
pub mod schema;
pub mod settle;
pub mod sink;
pub mod source;
pub mod state;
pub mod statements;
pub mod table;
pub mod values;
