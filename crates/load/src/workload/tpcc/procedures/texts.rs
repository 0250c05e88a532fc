//! What the texts of the procedures are made of, where it is the same in the words of all dialects.

use model::{PaymentOrder, TpccProfile, TpccSpec};

/// A text with parts of it replaced, one after the other: what one brings in, a later one may replace.
pub(super) fn fill(text: &str, parts: &[(&str, &str)]) -> String {
    let replaced = |text: String, (name, part): &(&str, &str)| text.replace(name, part);
    parts.iter().fold(text.to_owned(), replaced)
}

/// What a dialect says in a Payment.
pub(super) struct PaymentTexts {
    /// All of it, but for the work on the three tables.
    pub(super) whole: &'static str,
    pub(super) warehouse: &'static str,
    pub(super) district: &'static str,
    pub(super) customer: &'static str,
    /// Who is meant by a number, or by a last name.
    pub(super) find_customer: &'static str,
}

/// The procedure of Payment.
pub(super) fn payment(texts: &PaymentTexts, spec: &TpccSpec) -> String {
    let counted = match spec.profile {
        TpccProfile::Standard => {
            ", c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1"
        }
        TpccProfile::Percona => "",
    };
    let PaymentTexts {
        whole,
        warehouse,
        district,
        customer,
        find_customer,
    } = *texts;
    let work = match spec.payment_order {
        PaymentOrder::Warehouse => [warehouse, district, customer],
        PaymentOrder::District => [district, customer, warehouse],
    };
    fill(
        whole,
        &[
            ("{work}", &work.concat()),
            ("{find customer}", find_customer),
            ("{counted}", counted),
        ],
    )
}

/// The procedure of Order-Status, of which `text` is all but who is meant by a number or a last name.
pub(super) fn order_status(text: &str, find_customer: &str) -> String {
    fill(
        text,
        &[
            ("{find customer}", find_customer),
            // The customer is one of the terminal's own warehouse.
            ("p_c_w", "p_w"),
            ("p_c_d", "p_d"),
        ],
    )
}
