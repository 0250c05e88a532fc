use insta::assert_snapshot;

use super::*;
use crate::tpcc::input::tests::fixture;

const DIALECTS: [Dialect; 3] = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite];

fn spec(profile: TpccProfile, form: TpccForm) -> TpccSpec {
    TpccSpec { profile, form, ..fixture::spec(1) }
}

/// The statements at these places, one a line.
fn texts(statements: &StepStatements, places: impl IntoIterator<Item = usize>) -> String {
    let statements = places.into_iter().map(|place| match statements.get(place) {
        Some(statement) => format!("{}: {}", statement.name, statement.sql),
        None => format!("{place}: none"),
    });
    statements.collect::<Vec<_>>().join("\n")
}

fn all(profile: TpccProfile, dialect: Dialect) -> String {
    let statements = StepStatements::new(&spec(profile, TpccForm::Single), dialect);
    texts(&statements, (0..ASKS).filter(|place| statements.get(*place).is_some()))
}

#[test]
fn the_statements_of_the_standard_for_mysql() {
    assert_snapshot!(all(TpccProfile::Standard, Dialect::Mysql), @r"
    Begin: BEGIN
    BeginReading: BEGIN
    Commit: COMMIT
    Terms: SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse WHERE w_id = ? AND c_w_id = w_id AND c_d_id = ? AND c_id = ?
    NextOrder: SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE
    TakeOrder: UPDATE district SET d_next_o_id = ? WHERE d_w_id = ? AND d_id = ?
    AddOrder: INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)
    AddNewOrder: INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)
    Item: SELECT i_price, i_name, i_data FROM item WHERE i_id = ?
    Stock: SELECT s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10 FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE
    TakeStock: UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?
    AddLine: INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    PayWarehouse: UPDATE warehouse SET w_ytd = w_ytd + CAST(? AS DECIMAL(12,2)) WHERE w_id = ?
    Warehouse: SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM warehouse WHERE w_id = ?
    PayDistrict: UPDATE district SET d_ytd = d_ytd + CAST(? AS DECIMAL(12,2)) WHERE d_w_id = ? AND d_id = ?
    District: SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM district WHERE d_w_id = ? AND d_id = ?
    Named: SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first
    Payer: SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim, c_discount, c_balance, c_since FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE
    PayerData: SELECT c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE
    Pay: UPDATE customer SET c_balance = ?, c_ytd_payment = c_ytd_payment + CAST(? AS DECIMAL(12,2)), c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?
    PayBadly: UPDATE customer SET c_balance = ?, c_ytd_payment = c_ytd_payment + CAST(? AS DECIMAL(12,2)), c_payment_cnt = c_payment_cnt + 1, c_data = ? WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?
    AddHistory: INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)
    NamedBalances: SELECT c_id, c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first
    Balance: SELECT c_id, c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?
    NewestOrder: SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1
    Lines: SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?
    Oldest: SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE
    Dequeue: DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?
    Orderer: SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?
    SetCarrier: UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?
    SetDelivered: UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?
    SumLines: SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?
    Charge: UPDATE customer SET c_balance = c_balance + CAST(? AS DECIMAL(12,2)), c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?
    RecentOrders: SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?
    LowJoined: SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ? AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?
    ");
}

#[test]
fn other_dialects_differ_in_locks_placeholders_and_money() {
    let mysql = all(TpccProfile::Standard, Dialect::Mysql);
    let sqlite = all(TpccProfile::Standard, Dialect::Sqlite);
    let alike = mysql.replace(" FOR UPDATE", "").replace("CAST(? AS DECIMAL(12,2))", "?").replacen(
        "BEGIN",
        "BEGIN IMMEDIATE",
        1,
    );
    assert_eq!(sqlite, alike);
    let postgres = StepStatements::new(&fixture::spec(1), Dialect::Postgres);
    let places = [Ask::Begin, Ask::PayWarehouse, Ask::Stock, Ask::Pay, Ask::Oldest];
    assert_snapshot!(texts(&postgres, places.map(Ask::place)), @r"
    Begin: BEGIN
    PayWarehouse: UPDATE warehouse SET w_ytd = w_ytd + $1 WHERE w_id = $2
    Stock: SELECT s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10 FROM stock WHERE s_w_id = $1 AND s_i_id = $2 FOR UPDATE
    Pay: UPDATE customer SET c_balance = $1, c_ytd_payment = c_ytd_payment + $2, c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = $3 AND c_d_id = $4 AND c_id = $5
    Oldest: SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id LIMIT 1 FOR UPDATE
    ");
}

#[test]
fn the_other_profile_writes_fewer_columns_and_counts_names() {
    let standard = all(TpccProfile::Standard, Dialect::Postgres);
    let percona = all(TpccProfile::Percona, Dialect::Postgres);
    let others = percona.lines().filter(|line| !standard.contains(line));
    let others: Vec<&str> = others.collect();
    assert_snapshot!(others.join("\n"), @r"
    TakeStock: UPDATE stock SET s_quantity = $1 WHERE s_w_id = $2 AND s_i_id = $3
    CountNamed: SELECT COUNT(c_id) FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3
    Pay: UPDATE customer SET c_balance = $1 WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4
    PayBadly: UPDATE customer SET c_balance = $1, c_data = $2 WHERE c_w_id = $3 AND c_d_id = $4 AND c_id = $5
    NewestOrder: SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 AND o_id = (SELECT MAX(o_id) FROM orders WHERE o_w_id = $4 AND o_d_id = $5 AND o_c_id = $6)
    ");
}

#[test]
fn lists_are_as_long_as_what_they_are_about() {
    let of =
        |dialect| StepStatements::new(&spec(TpccProfile::Standard, TpccForm::Batched), dialect);
    let places = |count| {
        [
            List::Items,
            List::Stocks,
            List::TakeStocks,
            List::DequeueAll,
            List::SetCarriers,
            List::Sums,
            List::ChargeAll,
        ]
        .map(|list| list.place(count))
    };
    let postgres = texts(&of(Dialect::Postgres), places(4))
        .replace(", s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05", "")
        .replace(", s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10", " …");
    assert_snapshot!(postgres, @r"
    Items of 4: SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN ($1, $2, $3, $4)
    Stocks of 4: SELECT s_w_id, s_i_id, s_quantity, s_data … FROM stock WHERE (s_w_id = $1 AND s_i_id = $2) OR (s_w_id = $3 AND s_i_id = $4) OR (s_w_id = $5 AND s_i_id = $6) OR (s_w_id = $7 AND s_i_id = $8) ORDER BY s_w_id, s_i_id FOR UPDATE
    TakeStocks of 4: WITH v (w, i, quantity, ordered, orders, remote) AS (VALUES ($1, $2, $3, $4, $5, $6), ($7, $8, $9, $10, $11, $12), ($13, $14, $15, $16, $17, $18), ($19, $20, $21, $22, $23, $24)) UPDATE stock SET s_quantity = v.quantity, s_ytd = s_ytd + v.ordered, s_order_cnt = s_order_cnt + v.orders, s_remote_cnt = s_remote_cnt + v.remote FROM v WHERE s_w_id = v.w AND s_i_id = v.i
    DequeueAll of 4: DELETE FROM new_order WHERE (no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3) OR (no_w_id = $4 AND no_d_id = $5 AND no_o_id = $6) OR (no_w_id = $7 AND no_d_id = $8 AND no_o_id = $9) OR (no_w_id = $10 AND no_d_id = $11 AND no_o_id = $12)
    SetCarriers of 4: UPDATE orders SET o_carrier_id = $1 WHERE (o_w_id = $2 AND o_d_id = $3 AND o_id = $4) OR (o_w_id = $5 AND o_d_id = $6 AND o_id = $7) OR (o_w_id = $8 AND o_d_id = $9 AND o_id = $10) OR (o_w_id = $11 AND o_d_id = $12 AND o_id = $13)
    Sums of 4: SELECT ol_d_id, SUM(ol_amount) FROM order_line WHERE (ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3) OR (ol_w_id = $4 AND ol_d_id = $5 AND ol_o_id = $6) OR (ol_w_id = $7 AND ol_d_id = $8 AND ol_o_id = $9) OR (ol_w_id = $10 AND ol_d_id = $11 AND ol_o_id = $12) GROUP BY ol_d_id
    ChargeAll of 4: WITH v (w, d, c, amount) AS (VALUES ($1, $2, $3, $4), ($5, $6, $7, $8), ($9, $10, $11, $12), ($13, $14, $15, $16)) UPDATE customer SET c_balance = c_balance + v.amount, c_delivery_cnt = c_delivery_cnt + 1 FROM v WHERE c_w_id = v.w AND c_d_id = v.d AND c_id = v.c
    ");
    let mysql = of(Dialect::Mysql);
    let places = [List::ChargeAll.place(1), List::ChargeAll.place(2)];
    assert_snapshot!(texts(&mysql, places), @r"
    ChargeAll of 1: UPDATE (SELECT CAST(? AS SIGNED) AS w, CAST(? AS SIGNED) AS d, CAST(? AS SIGNED) AS c, CAST(? AS DECIMAL(12,2)) AS amount) AS v STRAIGHT_JOIN customer ON c_w_id = v.w AND c_d_id = v.d AND c_id = v.c SET c_balance = c_balance + v.amount, c_delivery_cnt = c_delivery_cnt + 1
    ChargeAll of 2: UPDATE (SELECT CAST(? AS SIGNED) AS w, CAST(? AS SIGNED) AS d, CAST(? AS SIGNED) AS c, CAST(? AS DECIMAL(12,2)) AS amount UNION ALL SELECT CAST(? AS SIGNED), CAST(? AS SIGNED), CAST(? AS SIGNED), CAST(? AS DECIMAL(12,2))) AS v STRAIGHT_JOIN customer ON c_w_id = v.w AND c_d_id = v.d AND c_id = v.c SET c_balance = c_balance + v.amount, c_delivery_cnt = c_delivery_cnt + 1
    ");
}

#[test]
fn every_statement_has_a_type_for_each_placeholder() {
    for dialect in DIALECTS {
        for profile in [TpccProfile::Standard, TpccProfile::Percona] {
            for form in [TpccForm::Single, TpccForm::Batched] {
                let statements = StepStatements::new(&spec(profile, form), dialect);
                for statement in statements.by_place.iter().flatten() {
                    let placeholders = statement.placeholders();
                    assert_eq!(statement.types.len(), placeholders, "{}", statement.name);
                }
            }
        }
    }
}

#[test]
fn a_step_has_the_statements_that_it_needs() {
    let count = |spec: &TpccSpec| {
        let statements = StepStatements::new(spec, Dialect::Postgres);
        statements.by_place.iter().flatten().count()
    };
    let whole = fixture::spec(1);
    assert_eq!(count(&whole), 35);
    assert_eq!(StepStatements::new(&whole, Dialect::Postgres).prepared(), 35);
    // Without BEGIN of either kind, which MySQL cannot prepare.
    assert_eq!(StepStatements::new(&whole, Dialect::Mysql).prepared(), 33);
    let procedures = spec(TpccProfile::Standard, TpccForm::Procedures);
    assert_eq!(count(&procedures), 0);
    let loops = TpccSpec {
        stock_level: StockLevel::Loop,
        mix: TpccMix::Weights([0, 0, 0, 0, 1]),
        ..fixture::spec(1)
    };
    assert_eq!(count(&loops), 3 + 3);
    let text = TpccSpec { statements: Statements::Text, ..fixture::spec(1) };
    assert_eq!(StepStatements::new(&text, Dialect::Postgres).prepared(), 0);
    // The numbers of lines of an order, one less for those rolled back; the districts.
    let batched = spec(TpccProfile::Standard, TpccForm::Batched);
    assert_eq!(count(&batched), 35 - 3 - 6 + 4 * 12 + 6 * 10);
}

#[test]
fn texts_have_their_values_in_them() {
    let write = |dialect, ask: Ask, params: &[Param<'_>]| {
        let mut sql = "from before".to_owned();
        let statements = StepStatements::new(&fixture::spec(1), dialect);
        statements.get(ask.place()).unwrap().write(dialect, params, &mut sql);
        sql
    };
    let paid = [Param::Text("-12.50"), Param::Int(7)];
    assert_eq!(
        write(Dialect::Postgres, Ask::PayWarehouse, &paid),
        "UPDATE warehouse SET w_ytd = w_ytd +  -12.50 WHERE w_id = 7"
    );
    let paid = [Param::Int(-1250), Param::Int(7)];
    assert_eq!(
        write(Dialect::Sqlite, Ask::PayWarehouse, &paid),
        "UPDATE warehouse SET w_ytd = w_ytd +  -1250 WHERE w_id = 7"
    );
    let named = [Param::Int(1), Param::Int(2), Param::Text("O'BAR")];
    assert_eq!(
        write(Dialect::Mysql, Ask::Named, &named),
        "SELECT c_id FROM customer WHERE c_w_id = 1 AND c_d_id = 2 AND c_last = 'O''BAR' ORDER BY c_first"
    );
    assert_eq!(write(Dialect::Sqlite, Ask::Begin, &[]), "BEGIN IMMEDIATE");
}

#[test]
fn every_text_is_of_a_statement_and_of_known_words() {
    let words = [
        "standard", "percona", "batched", "single", "together", "by-order", "join", "loop",
        "mysql", "others",
    ];
    let names = TpccTransaction::ALL.map(TpccTransaction::name);
    for (header, lines) in blocks(TEXTS) {
        let [name, transactions, conditions] = header[..] else { panic!("{header:?}") };
        assert!(named::<Ask>(name).is_some() || named::<List>(name).is_some(), "{name}");
        assert!(transactions.split(' ').all(|name| names.contains(&name)), "{name}");
        assert!(conditions.split_whitespace().all(|word| words.contains(&word)), "{name}");
        assert!(!lines.is_empty(), "{name}");
    }
}

#[test]
fn isolation_is_of_the_session() {
    let of = |dialect| isolate(Isolation::RepeatableRead, dialect);
    assert_eq!(
        of(Dialect::Mysql).unwrap(),
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"
    );
    assert_eq!(
        of(Dialect::Postgres).unwrap(),
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ"
    );
    assert_eq!(of(Dialect::Sqlite), None);
}
