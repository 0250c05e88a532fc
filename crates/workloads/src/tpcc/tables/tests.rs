use std::collections::BTreeSet;

use super::*;
use crate::tpcc::scale::tests::spec;

const DIALECTS: [(Dialect, Engine); 3] = [
    (Dialect::Mysql, Engine::Innodb),
    (Dialect::Postgres, Engine::Heap),
    (Dialect::Sqlite, Engine::Btree),
];

fn schema() -> TpccSchema {
    spec().schema
}

fn definition(table: Table, schema: TpccSchema, dialect: Dialect, engine: Engine) -> Vec<String> {
    table.table(schema, dialect, engine).create(dialect)
}

#[test]
fn a_table_is_made_in_the_words_of_its_dialect() {
    let orders = |(dialect, engine)| definition(Table::NewOrder, schema(), dialect, engine);
    assert_eq!(
        DIALECTS.map(orders).concat(),
        [
            "CREATE TABLE new_order (no_w_id INTEGER NOT NULL, no_d_id SMALLINT NOT NULL, no_o_id \
             INTEGER NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id)) ENGINE=InnoDB DEFAULT \
             CHARSET=latin1 COLLATE=latin1_bin",
            "CREATE TABLE new_order (no_w_id INTEGER NOT NULL, no_d_id SMALLINT NOT NULL, no_o_id \
             INTEGER NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id))",
            "CREATE TABLE new_order (no_w_id INTEGER NOT NULL, no_d_id INTEGER NOT NULL, no_o_id \
             INTEGER NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id)) WITHOUT ROWID",
        ]
    );
    let customer = definition(Table::Customer, schema(), Dialect::Postgres, Engine::Heap).concat();
    assert!(customer.contains("c_last VARCHAR(16) COLLATE \"C\" NOT NULL"), "{customer}");
    assert!(customer.contains("c_since TIMESTAMP(0) NOT NULL"), "{customer}");
    assert!(customer.contains("c_balance DECIMAL(12,2) NOT NULL"), "{customer}");
    let orders = definition(Table::Orders, schema(), Dialect::Mysql, Engine::Innodb).concat();
    assert!(orders.contains("o_carrier_id SMALLINT, "), "{orders}");
    assert!(orders.contains("o_entry_d DATETIME NOT NULL, "), "{orders}");
}

#[test]
fn sqlite_keeps_money_as_integers_and_times_as_text() {
    for table in Table::ALL {
        let sql = definition(table, schema(), Dialect::Sqlite, Engine::Btree).concat();
        let words: BTreeSet<&str> =
            sql.split(|c: char| !c.is_ascii_uppercase()).filter(|word| word.len() > 1).collect();
        for word in ["DECIMAL", "NUMERIC", "DATETIME", "CHAR", "VARCHAR", "COLLATE"] {
            assert!(!words.contains(word), "{sql}");
        }
        let is_composite = table.key().len() > 1;
        assert_eq!(sql.ends_with("WITHOUT ROWID"), is_composite, "{sql}");
    }
}

#[test]
fn history_has_a_key_where_it_is_wanted() {
    let history = |schema: &TpccSchema| {
        DIALECTS.map(|(dialect, engine)| {
            let sql = definition(Table::History, *schema, dialect, engine).concat();
            sql.matches("h_id").count() + sql.matches("PRIMARY KEY").count()
        })
    };
    assert_eq!(history(&schema()), [0, 0, 0]);
    let mut keyed = schema();
    keyed.history_key = true;
    assert_eq!(history(&keyed), [3, 3, 3]);
    keyed.partitions = 4;
    let sql = definition(Table::History, keyed, Dialect::Mysql, Engine::Innodb).concat();
    assert!(sql.contains("PRIMARY KEY (h_id, h_w_id))"), "{sql}");
    assert!(sql.ends_with("PARTITION BY HASH (h_w_id) PARTITIONS 4"), "{sql}");
}

#[test]
fn tables_that_grow_are_partitioned() {
    let mut schema = schema();
    schema.partitions = 2;
    let stock = definition(Table::Stock, schema, Dialect::Postgres, Engine::Heap);
    assert!(stock[0].ends_with(") PARTITION BY HASH (s_w_id)"), "{}", stock[0]);
    assert_eq!(
        stock[1..],
        [
            "CREATE TABLE stock_0 PARTITION OF stock FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
            "CREATE TABLE stock_1 PARTITION OF stock FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
        ]
    );
    let item = definition(Table::Item, schema, Dialect::Postgres, Engine::Heap);
    assert!(item.len() == 1 && !item[0].contains("PARTITION"));
}

#[test]
fn what_a_server_cannot_do_is_refused() {
    let refused = |foreign_keys, partitions, (dialect, engine), version: &str| {
        let schema = TpccSchema { foreign_keys, partitions, ..schema() };
        let version = version.parse().unwrap();
        refuse_unsupported(schema, dialect, engine, &version).err().map(|error| error.to_string())
    };
    let [mysql, postgres, sqlite] = DIALECTS;
    let myrocks = (Dialect::Mysql, Engine::Myrocks);
    for (foreign_keys, partitions, system, version) in [
        (false, 0, sqlite, "3.50.4"),
        (true, 0, mysql, "10.11.19"),
        (false, 8, mysql, "10.11.19"),
        (false, 8, myrocks, "8.0.36"),
        (true, 0, postgres, "9.6.24"),
        (false, 8, postgres, "11.22"),
        (true, 8, postgres, "12.22"),
    ] {
        assert_eq!(refused(foreign_keys, partitions, system, version), None);
    }
    for (foreign_keys, partitions, system, version, why) in [
        (true, 0, sqlite, "3.50.4", "SQLite adds no foreign keys"),
        (false, 1, sqlite, "3.50.4", "SQLite has no partitions"),
        (true, 8, mysql, "9.7.0", "partitioned tables have no foreign keys"),
        (true, 0, myrocks, "8.0.36", "no engine but InnoDB"),
        (false, 8, postgres, "10.23", "from version 11 on"),
        (true, 8, postgres, "11.22", "from version 12 on"),
    ] {
        let message = refused(foreign_keys, partitions, system, version).unwrap();
        assert!(message.contains(why), "{message}");
        assert!(message.contains("change the schema's foreign_keys or partitions"));
    }
}

#[test]
fn indexes_are_those_of_the_schema() {
    let all = |indexes| -> Vec<String> {
        let schema = TpccSchema { indexes, ..schema() };
        let of =
            |table: Table| table.table(schema, Dialect::Sqlite, Engine::Btree).create_indexes();
        Table::ALL.into_iter().flat_map(of).collect()
    };
    let minimum = [
        "CREATE INDEX idx_customer ON customer (c_w_id, c_d_id, c_last, c_first)",
        "CREATE INDEX idx_orders ON orders (o_w_id, o_d_id, o_c_id, o_id)",
    ];
    assert_eq!(all(TpccIndexes::Minimum), minimum);
    let percona = all(TpccIndexes::Percona);
    assert_eq!(percona[..2], minimum);
    assert_eq!(
        percona[2..],
        [
            "CREATE INDEX fkey_stock_2 ON stock (s_i_id)",
            "CREATE INDEX fkey_order_line_2 ON order_line (ol_supply_w_id, ol_i_id)",
        ]
    );
    let count = |(dialect, engine)| {
        let orders = Table::Orders.table(schema(), dialect, engine);
        orders.count_index(dialect, &orders.indexes[0])
    };
    assert_eq!(
        DIALECTS.map(count),
        [
            "SELECT COUNT(o_w_id) FROM orders FORCE INDEX (idx_orders)",
            "SELECT COUNT(o_w_id) FROM orders",
            "SELECT COUNT(o_w_id) FROM orders INDEXED BY idx_orders",
        ]
    );
}

#[test]
fn foreign_keys_name_columns_that_there_are() {
    assert_eq!(foreign_keys(schema()), [""; 0]);
    let mut schema = schema();
    schema.foreign_keys = true;
    let all = foreign_keys(schema);
    assert_eq!(all.len(), 10);
    assert_eq!(
        all[0],
        "ALTER TABLE district ADD CONSTRAINT fkey_district_1 FOREIGN KEY (d_w_id) REFERENCES \
         warehouse (w_id)"
    );
    let of_name = |name: &str| Table::ALL.into_iter().find(|table| table.name() == name).unwrap();
    for table in Table::ALL {
        for [name, columns, parent, key] in &table.described().references {
            let parent = of_name(parent);
            assert_eq!(parent.key().join(", "), *key, "{name}");
            let kind =
                |table: Table, name: &str| table.columns()[table.place_of(name).unwrap()].kind;
            for (column, key) in columns.split(", ").zip(key.split(", ")) {
                assert_eq!(kind(table, column), kind(parent, key), "{name}");
            }
            assert!(parent < table, "{name}");
        }
    }
}

#[test]
fn a_prepared_insert_has_a_placeholder_for_each_value() {
    let insert = |table: Table, dialect, nulls, rows| {
        let table = table.table(schema(), dialect, Engine::Innodb);
        table.insert_prepared(dialect, nulls, rows)
    };
    let (sql, types) = insert(Table::NewOrder, Dialect::Postgres, false, 2);
    assert_eq!(sql, "INSERT INTO new_order (no_w_id,no_d_id,no_o_id) VALUES ($1,$2,$3),($4,$5,$6)");
    assert_eq!(types, [ParamType::Int; 6]);
    let (sql, types) = insert(Table::Orders, Dialect::Mysql, true, 1);
    assert!(sql.ends_with("VALUES (?,?,?,?,?,NULL,?,?)"), "{sql}");
    assert_eq!((types.len(), types[4]), (7, ParamType::DateTime));
    let (_, types) = insert(Table::OrderLine, Dialect::Mysql, false, 1);
    assert_eq!(types[8], ParamType::Decimal);
    let (_, types) = insert(Table::OrderLine, Dialect::Sqlite, false, 1);
    assert_eq!(types[8], ParamType::Int);
}

#[test]
fn every_table_and_column_has_a_name_of_its_own() {
    let columns =
        Table::ALL.iter().flat_map(|table| table.columns().iter().map(|column| column.name));
    let columns: Vec<&str> = columns.collect();
    let distinct: BTreeSet<&&str> = columns.iter().collect();
    assert_eq!((columns.len(), distinct.len()), (92, 92));
    for table in Table::ALL {
        let Described { key, group, number, partitioned_by, .. } = table.described();
        let named = key.iter().chain(group).chain([number]).chain(partitioned_by);
        assert!(named.into_iter().all(|name| table.place_of(name).is_some()), "{table:?}");
    }
}
