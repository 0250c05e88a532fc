//! Small loaded databases for tests.

use std::path::PathBuf;
use std::sync::Arc;

use drivers::{Connector, Session};
use model::{Dialect, TpccSpec};
use tempfile::TempDir;

use crate::tpcc::loading::Setting;
use load::Target;
use load::engine::{Blind, Stop};

/// The seed of the rows.
pub(crate) const ROWS: u64 = 20_261_121;

/// An SQLite file that is gone with its test.
pub(crate) struct Database {
    _directory: TempDir,
    path: PathBuf,
    pub(crate) connector: Arc<dyn Connector>,
}

impl Database {
    /// What `spec` loads.
    pub(crate) fn loaded(spec: &TpccSpec) -> Self {
        let database = Self::new();
        let (target, stop) = (&database.target(), &Stop::default());
        Setting { spec, rows_seed: ROWS, target, stop }.load(&mut Blind).unwrap();
        database
    }

    pub(crate) fn copy(&self) -> Self {
        let copy = Self::new();
        std::fs::copy(&self.path, &copy.path).unwrap();
        copy
    }

    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tpcc.sqlite");
        Self { connector: testkit::databases::sqlite(path.clone()), path, _directory: directory }
    }

    pub(crate) fn target(&self) -> Target {
        target(&self.connector)
    }

    pub(crate) fn session(&self) -> Box<dyn Session> {
        self.connector.connect().unwrap()
    }

    pub(crate) fn execute(&self, sql: &str) {
        self.session().execute(sql).unwrap();
    }

    pub(crate) fn rows(&self, sql: &str) -> Vec<String> {
        let mut rows = Vec::new();
        let mut each = |row: &dyn drivers::Row| {
            let values = (0..row.len()).map(|column| row.value(column).to_text());
            let values: Vec<String> = values.map(|text| text.unwrap_or("NULL".into())).collect();
            rows.push(values.join(" "));
        };
        self.session().query(sql, &mut each).unwrap();
        rows
    }

    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.rows(sql)[0].parse().unwrap()
    }

    pub(crate) fn dump(&self) -> Vec<String> {
        CHANGEABLE.iter().flat_map(|sql| self.rows(sql)).collect()
    }
}

/// A server of ours behind this connector.
pub(crate) fn target(connector: &Arc<dyn Connector>) -> Target {
    testkit::databases::target(Arc::clone(connector), Dialect::Sqlite)
}

/// A target whose description matters, not its rows.
pub(crate) fn sqlite() -> Target {
    Database::new().target()
}

const CHANGEABLE: [&str; 8] = [
    "SELECT w_id, w_ytd FROM warehouse ORDER BY 1",
    "SELECT d_w_id, d_id, d_ytd, d_next_o_id FROM district ORDER BY 1, 2",
    "SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data \
     FROM customer ORDER BY 1, 2, 3",
    "SELECT h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_amount, h_data FROM history \
     ORDER BY 1, 2, 3, 4, 5, 6, 7",
    "SELECT no_w_id, no_d_id, no_o_id FROM new_order ORDER BY 1, 2, 3",
    "SELECT o_w_id, o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt, o_all_local FROM orders \
     ORDER BY 1, 2, 3",
    "SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d IS NULL, \
     ol_quantity, ol_amount, ol_dist_info FROM order_line ORDER BY 1, 2, 3, 4",
    "SELECT s_w_id, s_i_id, s_quantity, s_ytd, s_order_cnt, s_remote_cnt FROM stock ORDER BY 1, 2",
];
