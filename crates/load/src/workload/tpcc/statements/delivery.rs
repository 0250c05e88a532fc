//! The statements of a Delivery.

use super::{Ask, INT, List, Writer};

/// Which orders, of each table.
const QUEUED: &str = "no_w_id = ? AND no_d_id = ? AND no_o_id = ?";
const ORDER: &str = "o_w_id = ? AND o_d_id = ? AND o_id = ?";
const LINES: &str = "ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?";

impl Writer<'_> {
    pub(super) fn put_delivery(&mut self) {
        let (money, amount) = (self.money(), self.amount());
        self.put_oldest();
        self.put(
            Ask::Dequeue,
            &format!("DELETE FROM new_order WHERE {QUEUED}"),
            &[INT; 3],
        );
        self.put(
            Ask::Orderer,
            &format!("SELECT o_c_id FROM orders WHERE {ORDER}"),
            &[INT; 3],
        );
        self.put(
            Ask::SetCarrier,
            &format!("UPDATE orders SET o_carrier_id = ? WHERE {ORDER}"),
            &[INT; 4],
        );
        self.put(
            Ask::SetDelivered,
            &format!("UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE {LINES}"),
            &[INT; 3],
        );
        self.put(
            Ask::SumLines,
            &format!("SELECT SUM(ol_amount) FROM order_line WHERE {LINES}"),
            &[INT; 3],
        );
        self.put(
            Ask::Charge,
            &format!(
                "UPDATE customer SET c_balance = c_balance + {amount}, \
                 c_delivery_cnt = c_delivery_cnt + 1 \
                 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
            ),
            &[money, INT, INT, INT],
        );
    }

    /// The head of a queue is locked when it is read: else two that deliver could both take it.
    fn put_oldest(&mut self) {
        let lock = self.lock();
        self.put(
            Ask::Oldest,
            &format!(
                "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? \
                 ORDER BY no_o_id LIMIT 1{lock}"
            ),
            &[INT; 2],
        );
    }

    /// The same, with the districts as lists. The heads of the queues are read one by one: no statement
    /// that locks them together is the same on all servers.
    pub(super) fn put_delivery_lists(&mut self) {
        self.put_oldest();
        let money = self.money();
        for count in List::Sums.counts() {
            let (queued, orders, lines) = (
                List::any_of(count, QUEUED),
                List::any_of(count, ORDER),
                List::any_of(count, LINES),
            );
            let keys = [INT; 3];
            self.put_list(
                List::DequeueAll,
                count,
                &format!("DELETE FROM new_order WHERE {queued}"),
                &keys,
            );
            self.put_list(
                List::Orderers,
                count,
                &format!("SELECT o_d_id, o_c_id FROM orders WHERE {orders}"),
                &keys,
            );
            self.put_typed(
                List::SetCarriers,
                count,
                &format!("UPDATE orders SET o_carrier_id = ? WHERE {orders}"),
                &vec![INT; 1 + 3 * count],
            );
            self.put_list(
                List::SetAllDelivered,
                count,
                &format!("UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE {lines}"),
                &keys,
            );
            self.put_list(
                List::Sums,
                count,
                &format!(
                    "SELECT ol_d_id, SUM(ol_amount) FROM order_line WHERE {lines} GROUP BY ol_d_id"
                ),
                &keys,
            );
            self.put_update_list(
                List::ChargeAll,
                count,
                "customer",
                &[("w", INT), ("d", INT), ("c", INT), ("amount", money)],
                (
                    "c_balance = c_balance + v.amount, c_delivery_cnt = c_delivery_cnt + 1",
                    "c_w_id = v.w AND c_d_id = v.d AND c_id = v.c",
                ),
            );
        }
    }
}
