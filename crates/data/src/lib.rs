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

pub use checksum::{Form, RowHash, Sum};
pub use decimal::Digits;
pub use judge::{Fate, Fates, Judge, Replaced, Seen};
pub use literal::{push_int, push_number, push_text};
pub use loading::{IndexBuilder, LoadWork, Loader, loaders};
pub use reading::{Against, Found, ReadWork, taken};
pub use row_counts::{Counted, RowCounts, check, check_counts};
pub use rows::SqlRows;
pub use schema::TableCopy;
pub use sink::{Cells, Sink};
pub use source::Source;
pub use state::Loaded;
pub use statements::push_placeholder;
pub use table::{Batch, Column, Index, Partitions, Table, engine_option};
pub use values::{Maker, Seal};
