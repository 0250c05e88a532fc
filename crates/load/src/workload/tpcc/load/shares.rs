//! Which client loads which units.
//!
//! Tables come largest first, and a client that is free takes what the fewest others are at: so each has a
//! table for itself as long as there are enough, and all end together. Where they must share one, it
//! depends on how its rows lie. In a heap, the units of one sequence are dealt out in turn. In a tree that
//! is ordered by the key, clients that add to the same end wait for each other's pages and split them
//! badly; there the table has as many parts as there are clients, one warehouse after the other in each.

use model::Dialect;

use crate::workload::sql::load::chunks::{Chunks, Parts};
use crate::workload::tpcc::population::Cuts;
use crate::workload::tpcc::tables::Table;

/// All tables, those that take longest first.
const LONGEST_FIRST: [Table; 9] = [
    Table::OrderLine,
    Table::Stock,
    Table::Customer,
    Table::History,
    Table::Orders,
    Table::Item,
    Table::NewOrder,
    Table::District,
    Table::Warehouse,
];

/// What is not handed out yet.
pub(super) struct Shares {
    /// The table of each share, and the number of its first unit.
    shares: Vec<(Table, u64)>,
    /// Their units.
    chunks: Chunks,
}

impl Shares {
    /// The units of all tables for so many clients.
    pub(super) fn new(cuts: &Cuts, dialect: Dialect, clients: u32) -> Self {
        let parts = match dialect {
            // Its engines order rows by their key.
            Dialect::Mysql => u64::from(clients.max(1)),
            Dialect::Postgres | Dialect::Sqlite => 1,
        };
        let (mut shares, mut lengths) = (Vec::new(), Vec::new());
        for part in 0..parts {
            for table in LONGEST_FIRST {
                let units = cuts.count(table);
                let first = units * part / parts;
                shares.push((table, first));
                lengths.push(units * (part + 1) / parts - first);
            }
        }
        Self {
            shares,
            chunks: Chunks::new(&lengths, 1, Parts::Whole),
        }
    }

    /// The next unit for a client that is at `at`, which tells where it is then: table and number. `None`
    /// when nothing is left.
    pub(super) fn take(&self, at: &mut Option<usize>) -> Option<(Table, u64)> {
        let chunk = self.chunks.take(at)?;
        let (table, first) = *self.shares.get(chunk.copy)?;
        // Units are counted from one there.
        Some((table, first + chunk.first - 1))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::workload::tpcc::scale::Scale;
    use crate::workload::tpcc::scale::tests::spec;

    fn cuts(rows: u32) -> Cuts {
        Cuts::new(Scale::of(&spec()), rows)
    }

    /// Units as clients take them that are equally fast, with the number of the client.
    fn dealt(shares: &Shares, clients: usize) -> Vec<(usize, Table, u64)> {
        let mut at = vec![None; clients];
        let mut taken = Vec::new();
        loop {
            let before = taken.len();
            for (client, at) in at.iter_mut().enumerate() {
                let next = shares.take(at);
                taken.extend(next.map(|(table, unit)| (client, table, unit)));
            }
            if taken.len() == before {
                return taken;
            }
        }
    }

    #[test]
    fn every_unit_is_handed_out_once() {
        for dialect in [Dialect::Mysql, Dialect::Postgres] {
            for (rows, clients) in [(1, 1), (7, 3), (100, 2), (100_000, 8)] {
                let cuts = cuts(rows);
                let shares = Shares::new(&cuts, dialect, clients as u32);
                let taken = dealt(&shares, clients);
                let distinct: BTreeSet<(Table, u64)> = taken
                    .iter()
                    .map(|(_, table, unit)| (*table, *unit))
                    .collect();
                let all: u64 = Table::ALL.iter().map(|table| cuts.count(*table)).sum();
                assert_eq!((taken.len() as u64, distinct.len() as u64), (all, all));
                assert!(
                    distinct
                        .iter()
                        .all(|(table, unit)| *unit < cuts.count(*table))
                );
            }
        }
    }

    #[test]
    fn each_client_begins_with_a_table_of_its_own() {
        for dialect in [Dialect::Mysql, Dialect::Postgres] {
            let taken = dealt(&Shares::new(&cuts(7), dialect, 4), 4);
            let tables: Vec<Table> = taken[..4].iter().map(|(_, table, _)| *table).collect();
            assert_eq!(tables, LONGEST_FIRST[..4]);
        }
    }

    #[test]
    fn parts_of_a_tree_lie_apart() {
        let taken = dealt(&Shares::new(&cuts(100), Dialect::Mysql, 2), 1);
        let lines: Vec<u64> = taken
            .iter()
            .filter(|(_, table, _)| *table == Table::OrderLine)
            .map(|(_, _, unit)| *unit)
            .collect();
        let half = cuts(100).count(Table::OrderLine) / 2;
        assert_eq!((lines[0], lines[half as usize]), (0, half));
        let place = |of: (Table, u64)| {
            taken
                .iter()
                .position(|(_, table, unit)| (*table, *unit) == of)
        };
        let (other, second) = (place((Table::Stock, 0)), place((Table::OrderLine, half)));
        assert!(
            other < second,
            "the second part comes after the first of each table"
        );
    }
}
