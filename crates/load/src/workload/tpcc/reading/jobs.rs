//! What is read, in which order.

use model::TpccSchema;

use crate::workload::tpcc::population::{Cuts, Unit};
use crate::workload::tpcc::scale::Scale;
use crate::workload::tpcc::tables::{Index, Table, index_list};

/// Rows that one query returns.
const RANGE: u32 = 20_000;

/// What one query reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// The rows of a unit; its place among those of its table.
    Unit(u64, Unit),
    /// All rows of a table that has no index to find some by.
    Whole(Table),
    /// How many rows a table has: also those that belong to no unit.
    Count(Table),
    /// An index.
    Index(Table, Index),
}

/// All jobs, by number. What takes longest comes first, so that clients end together.
pub(super) struct Jobs {
    first: Vec<Job>,
    cuts: Cuts,
}

impl Jobs {
    /// The jobs for tables of this scale, and for the indexes of a schema where these are read too.
    pub(super) fn new(scale: Scale, schema: Option<&TpccSchema>) -> Self {
        let whole = |table: &Table| is_read_whole(*table);
        let tables = Table::ALL.into_iter();
        let mut first: Vec<Job> = tables.clone().filter(whole).map(Job::Whole).collect();
        first.extend(tables.clone().filter(|table| !whole(table)).map(Job::Count));
        first.extend(tables.flat_map(|table| {
            let indexes = schema.map_or(Vec::new(), |schema| index_list(table, *schema));
            indexes
                .into_iter()
                .map(move |index| Job::Index(table, index))
        }));
        Self {
            first,
            cuts: Cuts::new(scale, RANGE),
        }
    }

    /// Job `number`, from zero; `None` behind the last.
    pub(super) fn get(&self, number: u64) -> Option<Job> {
        if let Some(job) = self.first.get(usize::try_from(number).ok()?) {
            return Some(*job);
        }
        let mut place = number - self.first.len() as u64;
        for table in Table::ALL {
            if is_read_whole(table) {
                continue;
            }
            let count = self.cuts.count(table);
            if place < count {
                return Some(Job::Unit(place, self.cuts.unit(table, place)));
            }
            place -= count;
        }
        None
    }

    /// All units of a table, with their places.
    pub(super) fn units(&self, table: Table) -> impl Iterator<Item = (u64, Unit)> {
        (0..).zip(self.cuts.units(table))
    }
}

/// Has a table no index by which a unit of it could be read?
const fn is_read_whole(table: Table) -> bool {
    matches!(table, Table::History)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tpcc::scale::tests::spec;

    fn all(jobs: &Jobs) -> Vec<Job> {
        (0..).map_while(|number| jobs.get(number)).collect()
    }

    #[test]
    fn every_row_is_read_once_and_every_table_counted() {
        let scale = Scale::of(&spec());
        let jobs = all(&Jobs::new(scale, None));
        let cuts = Cuts::new(scale, RANGE);
        for table in Table::ALL {
            let units: Vec<Unit> = jobs
                .iter()
                .filter_map(|job| match job {
                    Job::Unit(_, unit) if unit.table == table => Some(*unit),
                    _ => None,
                })
                .collect();
            if table == Table::History {
                assert!(units.is_empty() && jobs.contains(&Job::Whole(table)));
            } else {
                assert_eq!(units, cuts.units(table).collect::<Vec<Unit>>());
                assert!(jobs.contains(&Job::Count(table)));
            }
        }
    }

    #[test]
    fn indexes_are_read_where_they_are_wanted() {
        let spec = spec();
        let jobs = all(&Jobs::new(Scale::of(&spec), Some(&spec.schema)));
        let indexes: Vec<&str> = jobs
            .iter()
            .filter_map(|job| match job {
                Job::Index(_, index) => Some(index.name),
                _ => None,
            })
            .collect();
        assert_eq!(indexes, ["idx_customer", "idx_orders"]);
        assert_eq!(jobs[0], Job::Whole(Table::History));
    }
}
