use super::super::population::LOADED_AT;
use super::super::scale::tests::spec;
use super::*;

/// The hash of a row as one dialect returns it.
fn hash(dialect: Dialect, row: &[(Kind, Value<'_>)]) -> u64 {
    let mut hash = RowHash::new();
    for (kind, value) in row {
        add_value(&mut hash, *kind, *value, dialect);
    }
    hash.finish()
}

fn text(text: &str) -> Value<'_> {
    Value::Bytes(text.as_bytes())
}

#[test]
fn dialects_that_write_a_row_differently_have_one_hash() {
    let kinds = [
        Kind::Int,
        Kind::Small,
        Kind::Money(12),
        Kind::Rate,
        Kind::Char(4),
        Kind::Name(16),
        Kind::Time,
        Kind::Small,
    ];
    let row = |values: [Value<'static>; 8]| -> Vec<(Kind, Value<'static>)> {
        kinds.into_iter().zip(values).collect()
    };
    let mysql = row([
        text("7"),
        text("-1"),
        text("-10.00"),
        text("0.1500"),
        text("ab"),
        text("BARBARBAR"),
        text(LOADED_AT),
        Value::Null,
    ]);
    let mut postgres = mysql.clone();
    postgres[4].1 = text("ab  ");
    let mut sqlite = mysql.clone();
    for (place, int) in [(0, 7), (1, -1), (2, -1000), (3, 1500)] {
        sqlite[place].1 = Value::Int(int);
    }
    let expected = hash(Dialect::Mysql, &mysql);
    assert_eq!(hash(Dialect::Postgres, &postgres), expected);
    assert_eq!(hash(Dialect::Sqlite, &sqlite), expected);
    for (place, other) in [
        (0, text("8")),
        (2, text("-10.01")),
        (2, Value::Null),
        (3, text("0.1501")),
        (4, text("abc")),
        (5, text("BARBAROUGHT")),
        (5, text("barbarbar")),
        (6, text("2026-01-01 00:00:01")),
        (7, text("0")),
    ] {
        let mut changed = mysql.clone();
        changed[place].1 = other;
        assert_ne!(hash(Dialect::Mysql, &changed), expected, "{other:?}");
    }
}

fn reading() -> Reading {
    Reading::new(&spec(), 42, Dialect::Mysql, false)
}

#[test]
fn what_is_as_it_was_made_holds() {
    let reading = reading();
    for table in Table::ALL {
        for (place, unit) in reading.jobs.units(table) {
            let actual = reading.population.sum(&unit);
            reading.add(table, [(place, unit)].into_iter(), actual);
        }
    }
    let checks = reading.checks();
    assert_eq!(checks.len(), 9);
    assert!(checks.iter().all(|check| check.holds), "{checks:?}");
    let history = &checks[3];
    assert_eq!(history.what, "checksum of history");
    assert!(
        history.expected.ends_with(" of 600 rows"),
        "{}",
        history.expected
    );
    assert_eq!(history.expected, history.actual);
}

#[test]
fn the_first_unit_that_differs_is_told() {
    let reading = reading();
    let table = Table::Stock;
    let units: Vec<(u64, Unit)> = reading.jobs.units(table).collect();
    for (place, unit) in units.into_iter().rev() {
        let mut actual = reading.population.sum(&unit);
        actual.hash ^= 1;
        reading.add(table, [(place, unit)].into_iter(), actual);
    }
    let checks = reading.checks();
    let stock = checks
        .iter()
        .find(|check| check.what == "checksum of stock");
    let stock = stock.unwrap();
    assert!(!stock.holds);
    assert!(
        stock
            .actual
            .ends_with("; the first that differs: stock of warehouse 1, s_i_id 1 to 50"),
        "{}",
        stock.actual
    );
}

#[test]
fn errors_that_cancel_out_are_found() {
    let reading = reading();
    let units: Vec<(u64, Unit)> = reading.jobs.units(Table::Stock).collect();
    // The rows of the two warehouses in each other's place.
    let [one, two] = [units[0], units[1]];
    for (at, other) in [(one, two), (two, one)] {
        let actual = reading.population.sum(&other.1);
        reading.add(Table::Stock, [at].into_iter(), actual);
    }
    let checks = reading.checks();
    let stock = checks
        .iter()
        .find(|check| check.what == "checksum of stock");
    let stock = stock.unwrap();
    assert!(!stock.holds, "{stock:?}");
}
