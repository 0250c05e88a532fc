//! The statements of a New-Order.

use drivers::ParamType;
use model::TpccProfile;

use super::{Ask, INT, List, TEXT, Writer};

/// Columns of a stock row that a New-Order reads: its quantity, its data, the texts for ten districts.
const STOCK: &str = "s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, \
                     s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10";

/// Columns of a line.
const LINE: &str = "ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, \
                    ol_amount, ol_dist_info";

impl Writer<'_> {
    pub(super) fn put_new_order(&mut self) {
        self.put_order();
        let lock = self.lock();
        self.put(
            Ask::Stock,
            &format!("SELECT {STOCK} FROM stock WHERE s_w_id = ? AND s_i_id = ?{lock}"),
            &[INT, INT],
        );
        match self.profile {
            TpccProfile::Standard => self.put(
                Ask::TakeStock,
                "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, \
                 s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?",
                &[INT; 5],
            ),
            TpccProfile::Percona => self.put(
                Ask::TakeStock,
                "UPDATE stock SET s_quantity = ? WHERE s_w_id = ? AND s_i_id = ?",
                &[INT; 3],
            ),
        }
        let money = self.money();
        self.put(
            Ask::AddLine,
            &format!("INSERT INTO order_line ({LINE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
            &[INT, INT, INT, INT, INT, INT, INT, money, TEXT],
        );
    }

    /// The order itself, and an item, which is looked for alone where there is none of it.
    fn put_order(&mut self) {
        let lock = self.lock();
        self.put(
            Ask::Terms,
            "SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse \
             WHERE w_id = ? AND c_w_id = w_id AND c_d_id = ? AND c_id = ?",
            &[INT; 3],
        );
        self.put(
            Ask::NextOrder,
            &format!("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ?{lock}"),
            &[INT; 2],
        );
        self.put(
            Ask::TakeOrder,
            "UPDATE district SET d_next_o_id = ? WHERE d_w_id = ? AND d_id = ?",
            &[INT; 3],
        );
        self.put(
            Ask::AddOrder,
            "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
             VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)",
            &[INT; 6],
        );
        self.put(
            Ask::AddNewOrder,
            "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)",
            &[INT; 3],
        );
        self.put(
            Ask::Item,
            "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?",
            &[INT],
        );
    }

    /// The same, with the lines as lists.
    pub(super) fn put_new_order_lists(&mut self) {
        self.put_order();
        let (lock, money) = (self.lock(), self.money());
        for count in List::Items.counts() {
            let any = vec!["?"; count].join(", ");
            self.put_list(
                List::Items,
                count,
                &format!("SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN ({any})"),
                &[INT],
            );
            let keys = List::any_of(count, "s_w_id = ? AND s_i_id = ?");
            self.put_list(
                List::Stocks,
                count,
                // Sorted, because rows are locked in this order.
                &format!(
                    "SELECT s_w_id, s_i_id, {STOCK} FROM stock WHERE {keys} ORDER BY s_w_id, s_i_id{lock}"
                ),
                &[INT, INT],
            );
            self.put_take_stocks(count);
            let rows = vec!["(?, ?, ?, ?, ?, ?, ?, ?, ?)"; count].join(", ");
            self.put_list(
                List::AddLines,
                count,
                &format!("INSERT INTO order_line ({LINE}) VALUES {rows}"),
                &[INT, INT, INT, INT, INT, INT, INT, money, TEXT],
            );
        }
    }

    fn put_take_stocks(&mut self, count: usize) {
        let (columns, set): (&[(&str, ParamType)], &str) = match self.profile {
            TpccProfile::Standard => (
                &[
                    ("w", INT),
                    ("i", INT),
                    ("quantity", INT),
                    ("ordered", INT),
                    ("orders", INT),
                    ("remote", INT),
                ],
                "s_quantity = v.quantity, s_ytd = s_ytd + v.ordered, \
                 s_order_cnt = s_order_cnt + v.orders, s_remote_cnt = s_remote_cnt + v.remote",
            ),
            TpccProfile::Percona => (
                &[("w", INT), ("i", INT), ("quantity", INT)],
                "s_quantity = v.quantity",
            ),
        };
        let on = "s_w_id = v.w AND s_i_id = v.i";
        self.put_update_list(List::TakeStocks, count, "stock", columns, (set, on));
    }
}
