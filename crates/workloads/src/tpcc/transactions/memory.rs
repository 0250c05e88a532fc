//! The memory of transactions: buffers that a session keeps, and what stands in them.

use drivers::Param;

use super::sample::Sample;
use crate::tpcc::input::Line;

/// Memory that is kept from transaction to transaction, not what is in it.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) warehouse_name: String,
    pub(super) district_name: String,
    pub(super) text: String,
    pub(super) data: String,
    pub(super) customers: Vec<(u32, i64)>,
    pub(super) items: Vec<u32>,
    pub(super) lines: Vec<Work>,
    pub(super) parcels: Vec<Parcel>,
    pub(super) params: Vec<Param<'static>>,
    pub(super) sample: Sample,
}

/// A line of a batched order, and what was read for it.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) line: Line,
    /// Once its item was read.
    pub(super) price: Option<i64>,
    pub(super) may_be_original: bool,
    /// What its stock row has; at last, what is left of it.
    pub(super) quantity: Option<i64>,
    pub(super) dist_info: String,
    pub(super) amount: i64,
}

/// An order that is delivered.
#[derive(Debug)]
pub(super) struct Parcel {
    pub(super) district: u32,
    pub(super) order: u32,
    pub(super) customer: u32,
    pub(super) cents: i64,
}
