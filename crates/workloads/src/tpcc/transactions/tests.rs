pub(in crate::tpcc) mod fixture;

use model::{PaymentOrder, Rng, Statements, StockLevel, TpccMix, TpccProfile, TpccTransaction};

use self::fixture::{Database, ROWS};
use super::*;
use crate::tpcc::deck::Deck;
use crate::tpcc::input::Committed;
use crate::tpcc::input::{Customer, Inputs, MOST_LINES, NewOrder, OrderStatus, Payment};
use crate::tpcc::random::Constants;
use crate::tpcc::scale;

/// Two small warehouses.
fn spec() -> TpccSpec {
    scale::tests::spec()
}

/// One terminal on a database, without a step around it.
struct Bench {
    session: Box<dyn Session>,
    runner: Runner,
}

impl Bench {
    fn new(spec: &TpccSpec, database: &Database) -> Self {
        let statements = Arc::new(StepStatements::new(spec, Dialect::Sqlite));
        let mut session = database.session();
        let population = Population::new(scale::Scale::of(spec), ROWS);
        let runner = Runner::prepare(
            &Arc::new(spec.clone()),
            &statements,
            population,
            Dialect::Sqlite,
            &mut *session,
        );
        let runner = runner.map_err(|refused| refused.source).unwrap();
        Self { session, runner }
    }

    fn run(&mut self, input: &Input) -> Outcome {
        let mut progress = Progress::default();
        self.runner.run(&mut *self.session, input, &mut progress).unwrap()
    }
}

fn inputs(spec: &TpccSpec) -> Inputs {
    Inputs::new(spec, Constants::of_run(ROWS, 1), 0, Rng::new(5))
}

/// What came of so many transactions, all the same for the same spec; more Deliveries than orders for them.
fn outcomes(spec: &TpccSpec, database: &Database, count: usize) -> Vec<Outcome> {
    let mut bench = Bench::new(spec, database);
    let mut deck = Deck::new(TpccMix::Weights([30, 30, 10, 20, 10]));
    let (mut inputs, mut rng) = (inputs(spec), Rng::new(6));
    (0..count).map(|_| bench.run(&inputs.draw(deck.draw(&mut rng)))).collect()
}

/// The next order of these that has what is asked for.
fn an_order(spec: &TpccSpec, mut is_it: impl FnMut(&NewOrder) -> bool) -> NewOrder {
    let mut inputs = inputs(spec);
    loop {
        match inputs.draw(TpccTransaction::NewOrder) {
            Input::NewOrder(order) if is_it(&order) => return order,
            _ => {}
        }
    }
}

#[test]
fn every_form_and_option_leaves_the_same() {
    let plain = spec();
    let loaded = Database::loaded(&plain);
    let variants = [
        plain.clone(),
        TpccSpec { statements: Statements::Text, ..plain.clone() },
        TpccSpec { form: TpccForm::Batched, ..plain.clone() },
        TpccSpec {
            form: TpccForm::Batched,
            statements: Statements::Text,
            stock_level: StockLevel::Loop,
            ..plain.clone()
        },
        TpccSpec {
            payment_order: PaymentOrder::District,
            delivery_by_district: true,
            stock_level: StockLevel::Loop,
            ..plain
        },
    ];
    let mut first: Option<(Vec<Outcome>, Vec<String>)> = None;
    for variant in variants {
        let database = loaded.copy();
        let mut outcomes = outcomes(&variant, &database, 400);
        for outcome in &mut outcomes {
            assert_eq!(outcome.wrong, None);
            // Statements are not the same, so that they do not read the same rows.
            // Only a Delivery that finds all ten queues empty reads none.
            assert!(outcome.rows > 0 || outcome.skipped == 10, "{outcome:?}");
            outcome.rows = 0;
        }
        let left = (outcomes, database.dump());
        match &first {
            None => first = Some(left),
            Some(first) => assert!(*first == left, "{variant:?} leaves something else"),
        }
    }
    let (outcomes, left) = first.unwrap();
    assert_ne!(left, loaded.dump());
    assert!(outcomes.iter().any(|outcome| outcome.rolled_back));
    assert!(outcomes.iter().any(|outcome| outcome.skipped > 0), "queues run empty");
}

#[test]
fn an_order_is_entered_as_it_was_asked_for() {
    let spec = spec();
    let database = Database::loaded(&spec);
    let order = an_order(&spec, |order| !order.rolls_back && !order.is_local());
    let stock = |what: &str| database.number(&format!("SELECT SUM({what}) FROM stock"));
    assert_eq!(stock("s_ytd"), 0);
    let outcome = Bench::new(&spec, &database).run(&Input::NewOrder(order));
    let NewOrder { warehouse, district, customer, .. } = order;
    let entered = Committed::Order { warehouse, district, order: 31 };
    assert_eq!(outcome.committed, Some(entered));
    let count = order.lines().len();
    assert_eq!(
        database.rows(&format!(
            "SELECT o_c_id, o_carrier_id, o_ol_cnt, o_all_local FROM orders \
             WHERE o_w_id = {warehouse} AND o_d_id = {district} AND o_id = 31"
        )),
        [format!("{customer} NULL {count} 0")]
    );
    let lines = database.rows(&format!(
        "SELECT ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount = ol_quantity * i_price, \
         ol_delivery_d FROM order_line JOIN item ON i_id = ol_i_id \
         WHERE ol_w_id = {warehouse} AND ol_d_id = {district} AND ol_o_id = 31 ORDER BY 1"
    ));
    let asked = order.lines().iter().zip(1..).map(|(line, number)| {
        format!("{number} {} {} {} 1 NULL", line.item, line.supply, line.quantity)
    });
    assert_eq!(lines, asked.collect::<Vec<_>>());
    let ordered: u32 = order.lines().iter().map(|line| line.quantity).sum();
    let remote = order.lines().iter().filter(|line| line.supply != warehouse);
    assert_eq!(stock("s_ytd"), i64::from(ordered));
    assert_eq!(stock("s_order_cnt"), count as i64);
    assert_eq!(stock("s_remote_cnt"), remote.count() as i64);
    let dist = database.number(&format!(
        "SELECT COUNT(*) FROM order_line JOIN stock ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id \
         WHERE ol_w_id = {warehouse} AND ol_d_id = {district} AND ol_o_id = 31 \
         AND ol_dist_info = s_dist_{district:02}"
    ));
    assert_eq!(dist, count as i64, "the texts are those of the district");
}

#[test]
fn an_order_of_what_there_is_not_leaves_nothing() {
    for form in [TpccForm::Single, TpccForm::Batched] {
        let spec = TpccSpec { form, ..spec() };
        let database = Database::loaded(&spec);
        let before = database.dump();
        let order = an_order(&spec, |order| order.rolls_back);
        let outcome = Bench::new(&spec, &database).run(&Input::NewOrder(order));
        assert!(outcome.rolled_back && outcome.rows > 10, "{outcome:?}");
        assert_eq!((outcome.committed, outcome.wrong), (None, None));
        assert_eq!(database.dump(), before);
    }
}

#[test]
fn the_other_profile_has_taxes_in_its_lines_and_counts_less() {
    for form in [TpccForm::Single, TpccForm::Batched] {
        let spec = TpccSpec { profile: TpccProfile::Percona, form, ..spec() };
        let database = Database::loaded(&spec);
        let all = outcomes(&spec, &database, 200);
        assert!(all.iter().all(|outcome| outcome.wrong.is_none()), "{all:?}");
        let sum = "SELECT SUM(s_ytd) + SUM(s_order_cnt) + SUM(s_remote_cnt) FROM stock";
        assert_eq!(database.number(sum), 0);
        assert_eq!(database.number("SELECT MAX(c_payment_cnt) FROM customer"), 1);
        // In ten-thousandths of ten-thousandths of cents.
        let wrong = "SELECT COUNT(*) FROM order_line \
            JOIN item ON i_id = ol_i_id JOIN warehouse ON w_id = ol_w_id \
            JOIN district ON d_w_id = ol_w_id AND d_id = ol_d_id \
            JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
            JOIN customer ON c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id \
            WHERE ol_o_id > 30 AND ol_amount <> (ol_quantity * i_price * (10000 + w_tax + d_tax) \
            * (10000 - c_discount) + 50000000) / 100000000";
        assert_eq!(database.number(wrong), 0);
        assert!(database.number("SELECT COUNT(*) FROM orders WHERE o_id > 30") > 30);
    }
}

/// What is told when a statement spoilt the database before a transaction that asks for what is gone; and
/// nothing of it must be left.
fn told(spoil: &str, transaction: TpccTransaction, form: TpccForm) -> String {
    let spec = TpccSpec { form, ..spec() };
    let database = Database::loaded(&spec);
    database.execute(spoil);
    let before = database.dump();
    let outcome = Bench::new(&spec, &database).run(&inputs(&spec).draw(transaction));
    assert_eq!(database.dump(), before);
    assert_eq!(outcome.committed, None);
    outcome.wrong.unwrap()
}

#[test]
fn what_must_be_there_and_is_not_is_told() {
    use TpccTransaction::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
    let single = |spoil, transaction| told(spoil, transaction, TpccForm::Single);
    let batched = |spoil, transaction| told(spoil, transaction, TpccForm::Batched);
    for (text, beginning) in [
        (single("DELETE FROM item", NewOrder), "Item: rows expected: one whole row, found: 0"),
        (batched("DELETE FROM item", NewOrder), "Items of "),
        (single("DELETE FROM stock", NewOrder), "Stock: rows expected: one whole row, found: 0"),
        (batched("DELETE FROM stock", NewOrder), "Stocks of "),
        (single("DELETE FROM district", NewOrder), "NextOrder: "),
        (single("DELETE FROM customer", NewOrder), "Terms: rows expected: one whole row"),
        (single("DELETE FROM warehouse", Payment), "PayWarehouse: rows expected: 1 to change"),
        (single("DELETE FROM orders", OrderStatus), "NewestOrder: "),
        (single("DELETE FROM order_line", OrderStatus), "Lines: rows expected: 5 to 15"),
        (single("DELETE FROM orders", Delivery), "SetCarrier: "),
        (batched("DELETE FROM orders", Delivery), "SetCarriers of 10: "),
        (single("DELETE FROM order_line", Delivery), "SetDelivered: "),
        (batched("DELETE FROM order_line", Delivery), "SetAllDelivered of 10: "),
        (batched("DELETE FROM customer", Delivery), "ChargeAll of 10: rows expected: 10 to change"),
        (single("DELETE FROM district", StockLevel), "RecentOrders: "),
    ] {
        assert!(text.starts_with(beginning), "{text}");
    }
}

#[test]
fn a_customer_who_is_told_by_name_is_the_one_in_the_middle() {
    let spec = spec();
    let database = Database::loaded(&spec);
    let mut inputs = inputs(&spec);
    let (payment, name) = loop {
        if let Input::Payment(payment) = inputs.draw(TpccTransaction::Payment)
            && let Customer::Name(name) = payment.customer
        {
            break (payment, name);
        }
    };
    let Payment { customer_warehouse: warehouse, customer_district: district, .. } = payment;
    // Four of that name; the second by first name is neither the first nor the last by id.
    let of = format!("c_w_id = {warehouse} AND c_d_id = {district}");
    database.execute(&format!("UPDATE customer SET c_last = 'OTHER' WHERE {of}"));
    for (id, first) in [(3, "D"), (7, "B"), (11, "A"), (20, "C")] {
        database.execute(&format!(
            "UPDATE customer SET c_last = '{name}', c_first = '{first}' WHERE {of} AND c_id = {id}"
        ));
    }
    let outcome = Bench::new(&spec, &database).run(&Input::Payment(payment));
    let paid = Committed::Payment {
        warehouse: payment.warehouse,
        district: payment.district,
        customer: (warehouse, district, 7),
        cents: payment.cents,
    };
    assert_eq!(outcome.committed, Some(paid));
    let balance = format!("SELECT c_balance FROM customer WHERE {of} AND c_id = 7");
    assert_eq!(database.number(&balance), -1000 - payment.cents);
}

#[test]
fn a_delivery_by_district_goes_on_where_it_was() {
    let spec = TpccSpec { delivery_by_district: true, ..spec() };
    let database = Database::loaded(&spec);
    let queued = "SELECT COUNT(*) FROM new_order";
    let before = database.number(queued);
    let mut bench = Bench::new(&spec, &database);
    let input = inputs(&spec).draw(TpccTransaction::Delivery);
    let mut progress = Progress { districts: 7, skipped: 1 };
    let session = &mut *bench.session;
    let outcome = bench.runner.run(session, &input, &mut progress).unwrap();
    assert_eq!(database.number(queued), before - 3);
    assert_eq!((outcome.skipped, progress.districts), (1, 10));
}

#[test]
fn longest_order_fits() {
    let spec = TpccSpec { form: TpccForm::Batched, ..spec() };
    let database = Database::loaded(&spec);
    let mut bench = Bench::new(&spec, &database);
    for count in [5, MOST_LINES] {
        for rolls_back in [false, true] {
            let order = an_order(&spec, |order| {
                order.lines().len() == count && order.rolls_back == rolls_back
            });
            let outcome = bench.run(&Input::NewOrder(order));
            assert_eq!(outcome.wrong, None);
            assert_eq!(outcome.rolled_back, rolls_back);
        }
    }
}

#[test]
fn what_a_sampled_transaction_reads_is_compared_with_the_seed() {
    let loaded = Database::loaded(&spec());
    for form in [TpccForm::Single, TpccForm::Batched] {
        let mut spec = spec();
        spec.form = form;
        let told = |statement: &str, kind| {
            let database = loaded.copy();
            database.execute(statement);
            let mut bench = Bench::new(&spec, &database);
            // The first transaction of a session is looked at.
            let outcome = bench.run(&inputs(&spec).draw(kind));
            outcome.wrong.unwrap_or_default()
        };
        let order = |statement| told(statement, TpccTransaction::NewOrder);
        assert_eq!(order("UPDATE item SET i_price = i_price"), "");
        let prices = order("UPDATE item SET i_price = 2 * i_price");
        assert!(prices.contains(" cents, name "), "{prices}");
        let data = order("UPDATE item SET i_data = 'other'");
        assert!(data.contains("data other; loaded were "), "{data}");
        let status = |statement| told(statement, TpccTransaction::OrderStatus);
        assert_eq!(status("UPDATE item SET i_price = i_price"), "");
        let amounts = status("UPDATE order_line SET ol_amount = ol_amount + 1");
        assert!(amounts.ends_with("is not what was entered"), "{amounts}");
        let items = status("UPDATE order_line SET ol_i_id = 1 + ol_i_id % 50");
        assert!(items.ends_with("is not what was entered"), "{items}");
    }
}

#[test]
fn lines_that_a_transaction_entered_are_known_by_their_prices() {
    let database = Database::loaded(&spec());
    let order = an_order(&spec(), |order| !order.rolls_back);
    let outcome = Bench::new(&spec(), &database).run(&Input::NewOrder(order));
    assert_eq!(outcome.wrong, None);
    let status = Input::OrderStatus(OrderStatus {
        warehouse: order.warehouse,
        district: order.district,
        customer: Customer::Id(order.customer),
    });
    let wrong = || Bench::new(&spec(), &database).run(&status).wrong;
    assert_eq!(wrong(), None);
    database.execute("UPDATE order_line SET ol_amount = ol_amount + 1 WHERE ol_o_id > 30");
    assert!(wrong().unwrap().contains("order 31 of district "));
}
