//! The statements of the transactions that only read: Order-Status and Stock-Level.

use model::{StockLevel, TpccProfile};

use super::{Ask, INT, TEXT, Writer};

/// Columns of a customer whose order is asked for.
const CUSTOMER: &str = "c_id, c_balance, c_first, c_middle, c_last";

/// Columns of an order.
const ORDER: &str = "o_id, o_entry_d, o_carrier_id";

/// Which orders.
const OF_CUSTOMER: &str = "o_w_id = ? AND o_d_id = ? AND o_c_id = ?";

impl Writer<'_> {
    pub(super) fn put_order_status(&mut self) {
        self.put_count_named();
        self.put(
            Ask::NamedBalances,
            &format!(
                "SELECT {CUSTOMER} FROM customer \
                 WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first"
            ),
            &[INT, INT, TEXT],
        );
        self.put(
            Ask::Balance,
            &format!(
                "SELECT {CUSTOMER} FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
            ),
            &[INT; 3],
        );
        match self.profile {
            TpccProfile::Standard => self.put(
                Ask::NewestOrder,
                &format!(
                    "SELECT {ORDER} FROM orders WHERE {OF_CUSTOMER} ORDER BY o_id DESC LIMIT 1"
                ),
                &[INT; 3],
            ),
            TpccProfile::Percona => self.put(
                Ask::NewestOrder,
                &format!(
                    "SELECT {ORDER} FROM orders WHERE {OF_CUSTOMER} \
                     AND o_id = (SELECT MAX(o_id) FROM orders WHERE {OF_CUSTOMER})"
                ),
                &[INT; 6],
            ),
        }
        self.put(
            Ask::Lines,
            "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
             WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
            &[INT; 3],
        );
    }

    pub(super) fn put_stock_level(&mut self, shape: StockLevel) {
        self.put(
            Ask::RecentOrders,
            "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?",
            &[INT; 2],
        );
        match shape {
            StockLevel::Join => self.put(
                Ask::LowJoined,
                "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock \
                 WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ? \
                 AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?",
                &[INT; 6],
            ),
            StockLevel::Loop => {
                self.put(
                    Ask::RecentItems,
                    "SELECT DISTINCT ol_i_id FROM order_line \
                     WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ?",
                    &[INT; 4],
                );
                self.put(
                    Ask::Low,
                    "SELECT COUNT(*) FROM stock WHERE s_w_id = ? AND s_i_id = ? AND s_quantity < ?",
                    &[INT; 3],
                );
            }
        }
    }
}
