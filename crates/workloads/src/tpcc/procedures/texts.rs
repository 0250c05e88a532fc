//! The texts of the procedures.
//!
//! MySQL 5.6, MariaDB 10.1 and everything after them: a handler rolls back whatever ends in an error and passes
//! the error on, so that no transaction is left open. What must be there and is not is signalled, which ends in
//! the same handler. Where a SELECT finds nothing, its variables keep the NULL that they had.
//!
//! PostgreSQL 9.6 and everything after it: a function is one statement and so a transaction of its own, which
//! an exception rolls back. It cannot end one: a New-Order that is rolled back on purpose tells so, and who
//! called it does that. Parameters come as 64-bit integers; those of a function are the tables' own, so calls
//! convert them.

use model::{PaymentOrder, StockLevel, TpccProfile, TpccSpec};

/// What a dialect says.
pub(super) struct Texts {
    new_order: &'static str,
    payment: &'static str,
    payment_warehouse: &'static str,
    payment_district: &'static str,
    payment_customer: &'static str,
    order_status: &'static str,
    delivery: &'static str,
    stock_level: &'static str,
    stock_level_join: &'static str,
    stock_level_loop: &'static str,
    /// What the loop of a Stock-Level declares.
    cursor: &'static str,
    /// Who is meant by a number, or by a last name.
    find_customer: &'static str,
    /// What the names of variables that hold taxes, discount and total begin with.
    variable: &'static str,
}

macro_rules! texts {
    ($dialect:literal, $cursor:expr, $variable:literal) => {
        Texts {
            new_order: include_str!(concat!($dialect, "/new_order.sql")),
            payment: include_str!(concat!($dialect, "/payment.sql")),
            payment_warehouse: include_str!(concat!($dialect, "/payment_warehouse.sql")),
            payment_district: include_str!(concat!($dialect, "/payment_district.sql")),
            payment_customer: include_str!(concat!($dialect, "/payment_customer.sql")),
            order_status: include_str!(concat!($dialect, "/order_status.sql")),
            delivery: include_str!(concat!($dialect, "/delivery.sql")),
            stock_level: include_str!(concat!($dialect, "/stock_level.sql")),
            stock_level_join: include_str!(concat!($dialect, "/stock_level_join.sql")),
            stock_level_loop: include_str!(concat!($dialect, "/stock_level_loop.sql")),
            cursor: $cursor,
            find_customer: include_str!(concat!($dialect, "/find_customer.sql")),
            variable: $variable,
        }
    };
}

pub(super) const MYSQL: Texts = texts!("mysql", include_str!("mysql/stock_level_cursor.sql"), "v");

pub(super) const POSTGRES: Texts = texts!("postgres", "", "r");

/// Parts of MySQL's texts. Text is as in the tables: a variable in another character set would make the server
/// convert the column, and no index serves that. The handler ends what failed.
pub(super) const MYSQL_PARTS: [(&str, &str); 2] = [
    ("{latin}", "CHARACTER SET latin1 COLLATE latin1_bin"),
    ("{handler}", "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;"),
];

/// A text with parts of it replaced, one after the other: what one brings in, a later one may replace.
pub(super) fn fill(text: &str, parts: &[(&str, &str)]) -> String {
    let replaced = |text: String, (name, part): &(&str, &str)| text.replace(name, part);
    parts.iter().fold(text.to_owned(), replaced)
}

impl Texts {
    /// The procedures in the order of [`model::TpccTransaction::ALL`].
    pub(super) fn all(&self, spec: &TpccSpec) -> [String; 5] {
        [
            self.new_order(spec.profile),
            self.payment(spec),
            self.order_status(),
            self.delivery.to_owned(),
            self.stock_level(spec.stock_level),
        ]
    }

    fn new_order(&self, profile: TpccProfile) -> String {
        let v = self.variable;
        let factor = format!("(1 + {v}_w_tax + {v}_d_tax) * (1 - {v}_discount)");
        let (amount, counted, total) = match profile {
            TpccProfile::Standard => (
                "v_ordered * v_price".to_owned(),
                ", s_ytd = s_ytd + v_ordered, s_order_cnt = s_order_cnt + 1, \
                 s_remote_cnt = s_remote_cnt + CASE WHEN v_supply <> p_w THEN 1 ELSE 0 END",
                format!("{v}_total * {factor}"),
            ),
            TpccProfile::Percona => {
                (format!("ROUND(v_ordered * v_price * {factor}, 2)"), "", format!("{v}_total"))
            }
        };
        let parts = [("{amount}", &*amount), ("{counted}", counted), ("{total}", &*total)];
        fill(self.new_order, &parts)
    }

    fn payment(&self, spec: &TpccSpec) -> String {
        let counted = match spec.profile {
            TpccProfile::Standard => {
                ", c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1"
            }
            TpccProfile::Percona => "",
        };
        let (warehouse, district) = (self.payment_warehouse, self.payment_district);
        let work = match spec.payment_order {
            PaymentOrder::Warehouse => [warehouse, district, self.payment_customer],
            PaymentOrder::District => [district, self.payment_customer, warehouse],
        };
        fill(
            self.payment,
            &[
                ("{work}", &work.concat()),
                ("{find customer}", self.find_customer),
                ("{counted}", counted),
            ],
        )
    }

    fn order_status(&self) -> String {
        fill(
            self.order_status,
            &[
                ("{find customer}", self.find_customer),
                // The customer is one of the terminal's own warehouse.
                ("p_c_w", "p_w"),
                ("p_c_d", "p_d"),
            ],
        )
    }

    fn stock_level(&self, shape: StockLevel) -> String {
        let (cursor, count) = match shape {
            StockLevel::Join => ("", self.stock_level_join),
            StockLevel::Loop => (self.cursor, self.stock_level_loop),
        };
        fill(self.stock_level, &[("{cursor}", cursor), ("{count}", count)])
    }
}
