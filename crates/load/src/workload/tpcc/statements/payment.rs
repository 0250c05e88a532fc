//! The statements of a Payment.

use model::TpccProfile;

use super::{Ask, INT, TEXT, Writer};

/// Columns of a name and address, without the letter of the table.
const ADDRESS: [&str; 6] = ["street_1", "street_2", "city", "state", "zip", "name"];

/// Columns of a customer who pays.
const PAYER: &str = "c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, \
                     c_phone, c_credit, c_credit_lim, c_discount, c_balance, c_since";

/// Which customer.
const KEY: &str = "c_w_id = ? AND c_d_id = ? AND c_id = ?";

impl Writer<'_> {
    pub(super) fn put_payment(&mut self) {
        let (money, amount) = (self.money(), self.amount());
        self.put(
            Ask::PayWarehouse,
            &format!("UPDATE warehouse SET w_ytd = w_ytd + {amount} WHERE w_id = ?"),
            &[money, INT],
        );
        let address = address('w');
        self.put(
            Ask::Warehouse,
            &format!("SELECT {address} FROM warehouse WHERE w_id = ?"),
            &[INT],
        );
        self.put(
            Ask::PayDistrict,
            &format!("UPDATE district SET d_ytd = d_ytd + {amount} WHERE d_w_id = ? AND d_id = ?"),
            &[money, INT, INT],
        );
        let address = self::address('d');
        self.put(
            Ask::District,
            &format!("SELECT {address} FROM district WHERE d_w_id = ? AND d_id = ?"),
            &[INT, INT],
        );
        self.put_count_named();
        self.put(
            Ask::Named,
            "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first",
            &[INT, INT, TEXT],
        );
        self.put_payer();
        self.put(
            Ask::AddHistory,
            "INSERT INTO history \
             (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
             VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)",
            &[INT, INT, INT, INT, INT, money, TEXT],
        );
    }

    /// tpcc-mysql counts the customers of a name before it reads them.
    pub(super) fn put_count_named(&mut self) {
        match self.profile {
            TpccProfile::Standard => {}
            TpccProfile::Percona => self.put(
                Ask::CountNamed,
                "SELECT COUNT(c_id) FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ?",
                &[INT, INT, TEXT],
            ),
        }
    }

    fn put_payer(&mut self) {
        let (money, lock) = (self.money(), self.lock());
        self.put(
            Ask::Payer,
            &format!("SELECT {PAYER} FROM customer WHERE {KEY}{lock}"),
            &[INT; 3],
        );
        self.put(
            Ask::PayerData,
            &format!("SELECT c_data FROM customer WHERE {KEY}"),
            &[INT; 3],
        );
        let (counted, amounts) = match self.profile {
            TpccProfile::Standard => (
                format!(
                    ", c_ytd_payment = c_ytd_payment + {}, c_payment_cnt = c_payment_cnt + 1",
                    self.amount()
                ),
                2,
            ),
            TpccProfile::Percona => (String::new(), 1),
        };
        let mut types = vec![money; amounts];
        self.put(
            Ask::Pay,
            &format!("UPDATE customer SET c_balance = ?{counted} WHERE {KEY}"),
            &[types.as_slice(), &[INT; 3]].concat(),
        );
        types.push(TEXT);
        self.put(
            Ask::PayBadly,
            &format!("UPDATE customer SET c_balance = ?{counted}, c_data = ? WHERE {KEY}"),
            &[types.as_slice(), &[INT; 3]].concat(),
        );
    }
}

/// The columns of a name and address in a table whose columns begin with this letter.
fn address(letter: char) -> String {
    ADDRESS
        .map(|column| format!("{letter}_{column}"))
        .join(", ")
}
