use std::collections::{BTreeMap, BTreeSet};

use model::{TpccCardinality, TpccSpec};

use super::*;
use crate::tpcc::random::{ORIGINAL, last_name};
use crate::tpcc::scale::tests::spec;
use crate::tpcc::tables::{Kind, tables};
use crate::tpcc::transactions::tests::fixture::sqlite;
use data::checksum::{Form, Sum};
use data::sink::Sink;
use data::source::Rows as _;

/// A value as it was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shown {
    Int(i64),
    Decimal(i64, usize),
    Text(String),
    Null,
}

/// Keeps all rows.
#[derive(Default)]
struct Kept {
    row: Vec<Shown>,
    rows: Vec<Vec<Shown>>,
}

impl Sink for Kept {
    fn int(&mut self, value: i64) {
        self.row.push(Shown::Int(value));
    }

    fn decimal(&mut self, units: i64, decimals: usize) {
        self.row.push(Shown::Decimal(units, decimals));
    }

    fn text(&mut self, write: impl FnOnce(&mut String)) {
        let mut text = String::new();
        write(&mut text);
        self.row.push(Shown::Text(text));
    }

    fn null(&mut self) {
        self.row.push(Shown::Null);
    }

    fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }
}

const SEED: u64 = 42;

fn population(spec: &TpccSpec) -> Population {
    Population::new(Scale::of(spec), SEED)
}

/// A warehouse of the standard's size.
fn standard() -> TpccSpec {
    TpccSpec { warehouses: 1, cardinality: TpccCardinality::STANDARD, ..spec() }
}

/// All batches of a table.
fn batches(population: &Population, table: Table, size: u32) -> Vec<Batch> {
    let numbers = 0..population.batches(table as usize, size);
    numbers.map(|number| population.batch(table as usize, size, number)).collect()
}

/// The sum of a batch.
fn sum(population: &Population, batch: &Batch) -> Sum {
    let columns = Table::ALL[batch.table].columns().iter();
    let forms: Vec<Form> = columns.map(|column| column.kind.form()).collect();
    population.sum(batch, &forms)
}

/// All rows of some batches.
fn rows_of(population: &Population, batches: impl IntoIterator<Item = Batch>) -> Vec<Vec<Shown>> {
    let mut kept = Kept::default();
    for batch in batches {
        let mut rows = population.rows(&batch);
        while rows.put(&mut kept) {}
    }
    kept.rows
}

/// All rows of a table.
fn table(spec: &TpccSpec, table: Table) -> Vec<Vec<Shown>> {
    let population = population(spec);
    rows_of(&population, batches(&population, table, spec.load.rows_per_commit))
}

/// The place of a column in its table.
fn place(table: Table, column: &str) -> usize {
    table.place_of(column).unwrap()
}

/// The integers, cents or rates of a column.
fn numbers(table: Table, rows: &[Vec<Shown>], column: &str) -> Vec<i64> {
    let place = place(table, column);
    let number = |row: &Vec<Shown>| match &row[place] {
        Shown::Int(number) | Shown::Decimal(number, _) => *number,
        other => panic!("{column}: {other:?}"),
    };
    rows.iter().map(number).collect()
}

/// The texts of a column.
fn texts<'a>(table: Table, rows: &'a [Vec<Shown>], column: &str) -> Vec<&'a str> {
    let place = place(table, column);
    let text = |row: &'a Vec<Shown>| match &row[place] {
        Shown::Text(text) => text.as_str(),
        other => panic!("{other:?}"),
    };
    rows.iter().map(text).collect()
}

#[test]
fn every_value_fits_into_its_column() {
    for of in Table::ALL {
        for row in table(&spec(), of) {
            assert_eq!(row.len(), of.columns().len(), "{of:?}");
            for (column, value) in of.columns().iter().zip(&row) {
                let fits = match (column.kind, value) {
                    (_, Shown::Null) => column.nullable,
                    (Kind::Small, Shown::Int(value)) => (0..=100).contains(value),
                    (Kind::Int, Shown::Int(value)) => (0..=100_000).contains(value),
                    (Kind::Money(digits), Shown::Decimal(value, 2)) => {
                        value.unsigned_abs() < 10_u64.pow(digits.into())
                    }
                    (Kind::Rate, Shown::Decimal(value, 4)) => (0..10_000).contains(value),
                    (Kind::Char(length), Shown::Text(text)) => text.len() == usize::from(length),
                    (Kind::Varchar(length), Shown::Text(text)) => {
                        !text.is_empty() && text.len() <= usize::from(length)
                    }
                    (Kind::Name(length), Shown::Text(text)) => {
                        !text.is_empty() && text.len() <= usize::from(length)
                    }
                    (Kind::Time, Shown::Text(time)) => time == LOADED_AT,
                    _ => false,
                };
                assert!(fits, "{}: {value:?}", column.name);
                if let (false, Shown::Text(text)) = (column.kind == Kind::Time, value) {
                    assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{text}");
                }
            }
        }
    }
}

#[test]
fn a_table_has_the_rows_that_are_told() {
    let spec = spec();
    let population = population(&spec);
    for of in Table::ALL {
        let rows = table(&spec, of);
        assert_eq!(rows.len() as u64, population.total(of as usize), "{of:?}");
        let scale = Scale::of(&spec);
        if of != Table::OrderLine {
            assert_eq!(rows.len() as u64, scale.rows(of), "{of:?}");
        }
        for batch in batches(&population, of, 7) {
            assert_eq!(population.count(&batch), sum(&population, &batch).rows, "{batch:?}");
        }
    }
}

#[test]
fn rows_do_not_depend_on_the_batches_they_are_made_in() {
    let spec = spec();
    let population = population(&spec);
    for of in Table::ALL {
        let whole = rows_of(&population, batches(&population, of, u32::MAX));
        for rows in [1, 3, 64] {
            let cut = rows_of(&population, batches(&population, of, rows));
            assert_eq!(cut, whole, "{of:?}");
        }
    }
}

#[test]
fn every_seed_and_place_has_rows_of_its_own() {
    let spec = spec();
    let sums = |seed| -> BTreeSet<u64> {
        let population = Population::new(Scale::of(&spec), seed);
        let all = Table::ALL.into_iter().flat_map(|of| batches(&population, of, 10));
        all.map(|batch| sum(&population, &batch).hash).collect()
    };
    let count = |of| batches(&population(&spec), of, 10).len();
    let all: usize = Table::ALL.into_iter().map(count).sum();
    let (one, other) = (sums(1), sums(2));
    assert_eq!(one.len(), all);
    // The queue for delivery is keys alone.
    let shared = one.intersection(&other).count();
    assert_eq!(shared, count(Table::NewOrder));
}

#[test]
fn the_rows_are_those_of_earlier_runs() {
    // Pinned: a change of these numbers is a change of everybody's data, and needs another DATA_VERSION.
    let spec = spec();
    let population = population(&spec);
    let sums = Table::ALL.map(|of| {
        let mut all = Sum::default();
        for batch in batches(&population, of, 1000) {
            all.add(sum(&population, &batch));
        }
        (of.name(), all.rows, all.hash)
    });
    assert_eq!(sums, PINNED);
    assert_eq!(DATA_VERSION, 1);
}

const PINNED: [(&str, u64, u64); 9] = [
    ("warehouse", 2, 5_619_887_077_183_248_200),
    ("district", 20, 6_555_304_298_446_216_271),
    ("customer", 600, 4_502_914_372_222_361_761),
    ("history", 600, 2_405_787_528_047_375_338),
    ("orders", 600, 7_904_165_044_664_697_922),
    ("new_order", 180, 13_451_216_721_158_686_145),
    ("item", 50, 18_340_357_669_330_673_875),
    ("stock", 100, 2_975_260_836_370_169_746),
    ("order_line", 5859, 5_397_057_570_223_227_948),
];

#[test]
fn each_customer_has_one_order() {
    let spec = spec();
    let orders = table(&spec, Table::Orders);
    let customers = numbers(Table::Orders, &orders, "o_c_id");
    let mut permutations = BTreeSet::new();
    for district in customers.chunks(30) {
        let mut sorted = district.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, (1..=30).collect::<Vec<i64>>());
        assert!(permutations.insert(district.to_vec()), "each district has its own order");
    }
    assert_eq!(permutations.len(), 20);
}

#[test]
fn all_orders_of_customers_are_equally_likely() {
    let mut spec = spec();
    spec.cardinality.customers = 4;
    let mut counts = BTreeMap::new();
    for seed in 0..240 {
        let population = Population::new(Scale::of(&spec), seed);
        for warehouse in 1..=10 {
            for district in 1..=DISTRICTS {
                let customers = population.customers(warehouse, district);
                *counts.entry(customers).or_insert(0_i64) += 1;
            }
        }
    }
    assert_eq!(counts.len(), 24, "those with fixed points too");
    // A thousand each; the sum of the squares of the differences in the unit of the mean has 23 degrees of
    // freedom, and is over 50 in one of a thousand samples.
    let chi: i64 = counts.values().map(|count| (count - 1000) * (count - 1000)).sum();
    assert!(chi < 50 * 1000, "{counts:?}");
}

#[test]
fn the_last_orders_are_not_delivered() {
    let spec = spec();
    let (delivered, customers) = (21, 30);
    let orders = table(&spec, Table::Orders);
    let carrier = place(Table::Orders, "o_carrier_id");
    for (row, number) in orders.iter().zip((1..=customers).cycle()) {
        assert_eq!(row[2], Shown::Int(number));
        match &row[carrier] {
            Shown::Int(carrier) => assert!(number <= delivered && (1..=10).contains(carrier)),
            other => assert!(number > delivered && *other == Shown::Null),
        }
    }
    let lines = table(&spec, Table::OrderLine);
    let order = numbers(Table::OrderLine, &lines, "ol_o_id");
    let amounts = numbers(Table::OrderLine, &lines, "ol_amount");
    let time = place(Table::OrderLine, "ol_delivery_d");
    for ((row, order), amount) in lines.iter().zip(order).zip(amounts) {
        let is_delivered = order <= delivered;
        assert_eq!(row[time] != Shown::Null, is_delivered);
        assert_eq!(amount == 0, is_delivered);
        assert!(amount <= 999_999);
    }
    let queue = table(&spec, Table::NewOrder);
    let queue = numbers(Table::NewOrder, &queue, "no_o_id");
    assert!(queue.iter().zip((delivered + 1..=customers).cycle()).all(|(a, b)| *a == b));
}

#[test]
fn what_rows_say_of_their_nulls_is_so() {
    let spec = spec();
    let population = population(&spec);
    for of in Table::ALL {
        for batch in batches(&population, of, 100) {
            let mut rows = population.rows(&batch);
            while let Some(has_null) = rows.next_has_null() {
                let mut kept = Kept::default();
                assert!(rows.put(&mut kept));
                assert_eq!(kept.rows[0].contains(&Shown::Null), has_null);
            }
            assert!(!rows.put(&mut Kept::default()));
        }
    }
}

#[test]
fn an_order_has_as_many_lines_as_it_says() {
    let spec = spec();
    let orders = table(&spec, Table::Orders);
    let lines = table(&spec, Table::OrderLine);
    let said = numbers(Table::Orders, &orders, "o_ol_cnt");
    let mut lines = numbers(Table::OrderLine, &lines, "ol_number").into_iter();
    for count in &said {
        let numbers: Vec<i64> = lines.by_ref().take(*count as usize).collect();
        assert_eq!(numbers, (1..=*count).collect::<Vec<i64>>());
    }
    assert_eq!(lines.next(), None);
    let distinct: BTreeSet<i64> = said.into_iter().collect();
    assert_eq!(distinct, (5..=15).collect());
}

#[test]
fn money_adds_up_from_the_start() {
    let spec = spec();
    let sum = |of: Table, column: &str| -> i64 {
        let rows = table(&spec, of);
        numbers(of, &rows, column).into_iter().sum()
    };
    let paid = sum(Table::History, "h_amount");
    assert_eq!(paid, 2 * 10 * 30 * 1000);
    assert_eq!(sum(Table::Warehouse, "w_ytd"), paid);
    assert_eq!(sum(Table::District, "d_ytd"), paid);
    assert_eq!(sum(Table::Customer, "c_ytd_payment"), paid);
    assert_eq!(sum(Table::Customer, "c_balance"), -paid);
    let districts = table(&spec, Table::District);
    let next = numbers(Table::District, &districts, "d_next_o_id");
    assert!(next.iter().all(|next| *next == 31));
    let warehouse = table(&standard(), Table::Warehouse);
    assert_eq!(numbers(Table::Warehouse, &warehouse, "w_ytd"), [30_000_000]);
}

#[test]
fn shares_of_customers_are_those_of_the_standard() {
    let spec = standard();
    let population = population(&spec);
    let two = batches(&population, Table::Customer, 3000).into_iter().take(2);
    let rows = rows_of(&population, two);
    let customers = Table::Customer;
    let credit = texts(customers, &rows, "c_credit");
    let bad = credit.iter().filter(|credit| **credit == "BC").count();
    assert!((500..700).contains(&bad), "{bad} of 6000");
    let names = texts(customers, &rows, "c_last");
    for (number, name) in (0..1000).zip(&names) {
        let mut expected = String::new();
        last_name(number, &mut expected);
        assert_eq!(*name, expected);
    }
    // Behind them the hottest name comes some 25 times as often as the mean, which is twice.
    let mut counts = BTreeMap::new();
    for name in &names[1000..3000] {
        *counts.entry(*name).or_insert(0) += 1;
    }
    let most = counts.values().max().copied().unwrap_or(0);
    assert!((35..80).contains(&most), "{most}");
    let first = &names[..3000];
    assert_ne!(first, &names[3000..], "each district has its own customers");
    let discounts = numbers(customers, &rows, "c_discount");
    assert!(discounts.iter().all(|discount| (0..=5000).contains(discount)));
    assert!(discounts.iter().any(|discount| *discount > 4900));
    let lengths = texts(customers, &rows, "c_data").into_iter().map(str::len);
    let lengths: BTreeSet<usize> = lengths.collect();
    assert_eq!((lengths.first(), lengths.last()), (Some(&300), Some(&500)));
}

#[test]
fn shares_of_goods_are_those_of_the_standard() {
    let spec = standard();
    let population = population(&spec);
    let batch = |of: Table, number| population.batch(of as usize, 20_000, number);
    for (of, column) in [(Table::Item, "i_data"), (Table::Stock, "s_data")] {
        let rows = rows_of(&population, [batch(of, 1)]);
        let data = texts(of, &rows, column);
        let marked = data.iter().filter(|data| data.contains(ORIGINAL)).count();
        assert!((1850..2150).contains(&marked), "{marked} of 20000");
    }
    let stock = rows_of(&population, [batch(Table::Stock, 0)]);
    let quantities: BTreeSet<i64> =
        numbers(Table::Stock, &stock, "s_quantity").into_iter().collect();
    assert_eq!(quantities, (10..=100).collect());
    let told = (1..=100_000).map(|item| i64::from(population.stock_quantity(1, item)));
    assert!(told.zip(numbers(Table::Stock, &stock, "s_quantity")).all(|(a, b)| a == b));
    let items = rows_of(&population, [batch(Table::Item, 0)]);
    let prices = numbers(Table::Item, &items, "i_price");
    assert!(prices.iter().all(|price| (100..=10_000).contains(price)));
}

#[test]
fn batches_together_are_all_keys_once() {
    for size in [0, 1, 7, 30, 1000, 10_000_000] {
        let population = population(&spec());
        for table in Table::ALL {
            let mut seen = BTreeSet::new();
            for batch in batches(&population, table, size) {
                assert!(batch.first <= batch.last, "{batch:?}");
                for key in batch.first..=batch.last {
                    assert!(seen.insert((batch.group, key)), "{batch:?}");
                }
            }
            let has_ten = matches!(table, Table::District | Table::OrderLine);
            let rows_of_key = if has_ten { 10 } else { 1 };
            assert_eq!(seen.len() as u64 * rows_of_key, Scale::of(&spec()).rows(table));
        }
    }
}

#[test]
fn batches_are_about_as_long_as_they_may_be_and_named_by_their_keys() {
    let population = population(&spec());
    let tables = tables(&spec(), &sqlite()).unwrap();
    let count = |table: Table| population.batches(table as usize, 20);
    let place = |table: Table, number| {
        let batch = population.batch(table as usize, 20, number);
        tables[table as usize].place(&batch)
    };
    assert_eq!(count(Table::Stock), 2 * 3);
    assert_eq!(place(Table::Stock, 2), "stock, s_w_id 1, s_i_id 41 to 50");
    assert_eq!(place(Table::Stock, 3), "stock, s_w_id 2, s_i_id 1 to 20");
    assert_eq!(count(Table::OrderLine), 2 * 10 * 15);
    let line = place(Table::OrderLine, 15 * 16 + 1);
    assert_eq!(line, "order_line, ol_w_id 2, ol_d_id 7, ol_o_id 3 to 4");
    assert_eq!(place(Table::NewOrder, 0), "new_order, no_w_id 1, no_d_id 1, no_o_id 22 to 30");
    assert_eq!(place(Table::District, 0), "district, d_w_id 1 to 2");
    assert_eq!(count(Table::Item), 3);
    let condition = |table: Table, number| {
        let batch = population.batch(table as usize, 100, number);
        tables[table as usize].condition(&batch).unwrap()
    };
    assert_eq!(condition(Table::Item, 0), "i_id BETWEEN 1 AND 50");
    assert_eq!(condition(Table::Stock, 1), "s_w_id = 2 AND s_i_id BETWEEN 1 AND 50");
    assert_eq!(
        condition(Table::History, 19),
        "h_c_w_id = 2 AND h_c_d_id = 10 AND h_c_id BETWEEN 1 AND 30"
    );
}

#[test]
fn only_history_has_no_order() {
    for schema in [true, false] {
        let mut spec = spec();
        spec.schema.history_key = schema;
        for table in tables(&spec, &sqlite()).unwrap() {
            assert_eq!(table.is_in_order(), table.name != "history", "{}", table.name);
        }
    }
}

#[test]
fn a_scale_without_undelivered_orders_has_no_batches_of_them() {
    let mut spec = spec();
    spec.cardinality.customers = 3;
    let population = population(&spec);
    assert_eq!(population.batches(Table::NewOrder as usize, 100), 0);
    assert_eq!(population.batches(Table::Orders as usize, 100), 20);
    assert_eq!(population.of_warehouses(Table::NewOrder, 1, 2).count(), 0);
}
