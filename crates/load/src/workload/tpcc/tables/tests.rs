use std::collections::BTreeSet;

use super::*;

#[test]
fn a_prepared_insert_has_a_placeholder_for_each_value() {
    let (sql, types) = insert_prepared(Table::NewOrder, Dialect::Postgres, false, 2);
    assert_eq!(
        sql,
        "INSERT INTO new_order (no_w_id,no_d_id,no_o_id) VALUES ($1,$2,$3),($4,$5,$6)"
    );
    assert_eq!(types, [ParamType::Int; 6]);
    let (sql, types) = insert_prepared(Table::Orders, Dialect::Mysql, true, 1);
    assert!(sql.ends_with("VALUES (?,?,?,?,?,NULL,?,?)"), "{sql}");
    assert_eq!((types.len(), types[4]), (7, ParamType::DateTime));
    let (_, types) = insert_prepared(Table::OrderLine, Dialect::Mysql, false, 1);
    assert_eq!(types[8], ParamType::Decimal);
    let (_, types) = insert_prepared(Table::OrderLine, Dialect::Sqlite, false, 1);
    assert_eq!(types[8], ParamType::Int);
}

#[test]
fn every_table_and_column_has_a_name_of_its_own() {
    let columns = Table::ALL.iter().flat_map(|table| table.column_names());
    let columns: Vec<&str> = columns.collect();
    let distinct: BTreeSet<&&str> = columns.iter().collect();
    assert_eq!((columns.len(), distinct.len()), (92, 92));
    for table in Table::ALL {
        let names = table.column_names();
        assert!(table.key().iter().all(|key| names.contains(key)));
        assert!(
            table
                .partitioned_by()
                .is_none_or(|column| names.contains(&column))
        );
    }
}
