//! The columns of each table: those of the key first, in its order.

use super::Kind::{Char, Int, Money, Name, Rate, Small, Time, Varchar};
use super::{Column, Written};

/// A column that keeps what was loaded.
const fn column(name: &'static str, kind: super::Kind) -> Column {
    Column {
        name,
        kind,
        nullable: false,
        written: Written::Never,
    }
}

/// A column that only a Delivery writes, in place of NULL.
const fn nullable(name: &'static str, kind: super::Kind) -> Column {
    Column {
        nullable: true,
        ..column(name, kind)
    }
}

/// A column that transactions of both profiles change.
const fn changing(name: &'static str, kind: super::Kind) -> Column {
    Column {
        written: Written::Always,
        ..column(name, kind)
    }
}

/// A column that tpcc-mysql leaves as it was loaded.
const fn counted(name: &'static str, kind: super::Kind) -> Column {
    Column {
        written: Written::Standard,
        ..column(name, kind)
    }
}

pub(super) const WAREHOUSE: &[Column] = &[
    column("w_id", Int),
    column("w_name", Varchar(10)),
    column("w_street_1", Varchar(20)),
    column("w_street_2", Varchar(20)),
    column("w_city", Varchar(20)),
    column("w_state", Char(2)),
    column("w_zip", Char(9)),
    column("w_tax", Rate),
    changing("w_ytd", Money(16)),
];

pub(super) const DISTRICT: &[Column] = &[
    column("d_w_id", Int),
    column("d_id", Small),
    column("d_name", Varchar(10)),
    column("d_street_1", Varchar(20)),
    column("d_street_2", Varchar(20)),
    column("d_city", Varchar(20)),
    column("d_state", Char(2)),
    column("d_zip", Char(9)),
    column("d_tax", Rate),
    changing("d_ytd", Money(16)),
    changing("d_next_o_id", Int),
];

pub(super) const CUSTOMER: &[Column] = &[
    column("c_w_id", Int),
    column("c_d_id", Small),
    column("c_id", Int),
    column("c_first", Name(16)),
    column("c_middle", Char(2)),
    column("c_last", Name(16)),
    column("c_street_1", Varchar(20)),
    column("c_street_2", Varchar(20)),
    column("c_city", Varchar(20)),
    column("c_state", Char(2)),
    column("c_zip", Char(9)),
    column("c_phone", Char(16)),
    column("c_since", Time),
    column("c_credit", Char(2)),
    column("c_credit_lim", Money(12)),
    column("c_discount", Rate),
    changing("c_balance", Money(12)),
    counted("c_ytd_payment", Money(12)),
    counted("c_payment_cnt", Int),
    changing("c_delivery_cnt", Int),
    changing("c_data", Varchar(500)),
];

pub(super) const HISTORY: &[Column] = &[
    column("h_c_w_id", Int),
    column("h_c_d_id", Small),
    column("h_c_id", Int),
    column("h_w_id", Int),
    column("h_d_id", Small),
    column("h_date", Time),
    column("h_amount", Money(6)),
    column("h_data", Varchar(24)),
];

pub(super) const NEW_ORDER: &[Column] = &[
    column("no_w_id", Int),
    column("no_d_id", Small),
    column("no_o_id", Int),
];

pub(super) const ORDERS: &[Column] = &[
    column("o_w_id", Int),
    column("o_d_id", Small),
    column("o_id", Int),
    column("o_c_id", Int),
    column("o_entry_d", Time),
    nullable("o_carrier_id", Small),
    column("o_ol_cnt", Small),
    column("o_all_local", Small),
];

pub(super) const ORDER_LINE: &[Column] = &[
    column("ol_w_id", Int),
    column("ol_d_id", Small),
    column("ol_o_id", Int),
    column("ol_number", Small),
    column("ol_i_id", Int),
    column("ol_supply_w_id", Int),
    nullable("ol_delivery_d", Time),
    column("ol_quantity", Small),
    column("ol_amount", Money(6)),
    column("ol_dist_info", Char(24)),
];

pub(super) const ITEM: &[Column] = &[
    column("i_id", Int),
    column("i_im_id", Int),
    column("i_name", Varchar(24)),
    column("i_price", Money(5)),
    column("i_data", Varchar(50)),
];

pub(super) const STOCK: &[Column] = &[
    column("s_w_id", Int),
    column("s_i_id", Int),
    changing("s_quantity", Small),
    column("s_dist_01", Char(24)),
    column("s_dist_02", Char(24)),
    column("s_dist_03", Char(24)),
    column("s_dist_04", Char(24)),
    column("s_dist_05", Char(24)),
    column("s_dist_06", Char(24)),
    column("s_dist_07", Char(24)),
    column("s_dist_08", Char(24)),
    column("s_dist_09", Char(24)),
    column("s_dist_10", Char(24)),
    counted("s_ytd", Int),
    counted("s_order_cnt", Int),
    counted("s_remote_cnt", Int),
    column("s_data", Varchar(50)),
];
