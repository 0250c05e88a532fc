//! What is proved of the data; which queries are made for it, and in which order.

use model::TpccProfile;

use crate::tpcc::conditions::{self, Condition, Over, Warehouses, When};
use crate::tpcc::tables::Table;

/// The proof that stock is what was loaded, less what was ordered.
pub(super) const QUANTITIES: &str = "stock quantities";
#[derive(Clone, Copy, Debug)]
pub(super) enum Proof {
    Condition(&'static Condition),
    Quantities,
    Contents(Table),
}

impl Proof {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Condition(condition) => condition.name,
            Self::Quantities => QUANTITIES,
            Self::Contents(table) => table.name(),
        }
    }

    pub(super) fn says(self) -> &'static str {
        match self {
            Self::Condition(condition) => condition.says,
            Self::Quantities => "s_quantity as loaded - s_ytd - s_quantity is a multiple of 91",
            Self::Contents(Table::History | Table::Orders) => {
                "loaded rows are as loaded, others as transactions add them"
            }
            Self::Contents(Table::OrderLine) => {
                "loaded rows are as loaded, in others ol_amount = ol_quantity * i_price"
            }
            Self::Contents(
                Table::Warehouse
                | Table::District
                | Table::Customer
                | Table::NewOrder
                | Table::Item
                | Table::Stock,
            ) => "rows are as loaded, except for what transactions write",
        }
    }

    fn over(self) -> Over {
        match self {
            Self::Condition(condition) => condition.over,
            // It has no key by warehouse, and what is looked up in it takes no memory.
            Self::Contents(table) if table.groups() == 0 || table == Table::History => Over::All,
            Self::Quantities | Self::Contents(_) => Over::Warehouse,
        }
    }

    pub(super) fn of(profile: TpccProfile, when: When) -> (Vec<Self>, Vec<Self>) {
        let conditions = conditions::all().map(Self::Condition);
        let mut proofs: Vec<Self> = conditions.collect();
        if when == When::Used {
            proofs.push(Self::Quantities);
            // Of the queue for delivery there is no more than its keys.
            let tables = Table::ALL.into_iter();
            let tables = tables.filter(|table| *table != Table::NewOrder);
            proofs.extend(tables.map(Self::Contents));
        }
        proofs.into_iter().partition(|proof| match proof {
            Self::Condition(condition) => condition.applies(profile, when),
            Self::Quantities => profile == TpccProfile::Standard,
            Self::Contents(_) => true,
        })
    }
}

/// A query reads `history` or `orders` whole for at least this many warehouses: what it adds up for each of
/// their customers fits into the memory that servers have for that.
const SLICE: u32 = 4;

/// They are read whole at most so often for one condition, or with as many clients once each.
const MOST_SLICES: u32 = 40;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) proof: usize,
    pub(super) warehouses: Warehouses,
}

/// All queries. The longest come first, so that clients end together; then by warehouse, to read pages once.
pub(super) fn jobs(proofs: &[Proof], warehouses: u32, clients: u32) -> Vec<Job> {
    let all = Warehouses { first: 1, last: warehouses };
    let of = |wanted: Over| {
        let proofs = proofs.iter().enumerate();
        proofs.filter(move |(_, proof)| proof.over() == wanted)
    };
    let mut jobs = Vec::new();
    for (proof, _) in of(Over::Slice) {
        let slices = slices(warehouses, clients).into_iter();
        jobs.extend(slices.map(|warehouses| Job { proof, warehouses }));
    }
    for (proof, _) in of(Over::All) {
        jobs.push(Job { proof, warehouses: all });
    }
    for number in 1..=warehouses {
        let warehouses = Warehouses { first: number, last: number };
        jobs.extend(of(Over::Warehouse).map(|(proof, _)| Job { proof, warehouses }));
    }
    jobs
}

fn slices(warehouses: u32, clients: u32) -> Vec<Warehouses> {
    let each = warehouses.div_ceil(clients).min(SLICE);
    let each = each.max(warehouses.div_ceil(MOST_SLICES)).max(1);
    let firsts = (1..=warehouses).step_by(each as usize);
    let slice =
        |first: u32| Warehouses { first, last: warehouses.min(first.saturating_add(each - 1)) };
    firsts.map(slice).collect()
}

#[cfg(test)]
mod tests {
    use model::TpccProfile;

    use super::*;

    fn lengths(warehouses: u32, clients: u32) -> Vec<u32> {
        let mut next = 1;
        let slices = slices(warehouses, clients).into_iter();
        let lengths = slices.map(|Warehouses { first, last }| {
            assert_eq!(first, next);
            next = last + 1;
            next - first
        });
        let lengths = lengths.collect();
        assert_eq!(next, warehouses + 1);
        lengths
    }

    #[test]
    fn slices_are_neither_large_nor_many() {
        assert_eq!(lengths(1, 8), [1]);
        assert_eq!(lengths(6, 2), [3, 3]);
        assert_eq!(lengths(10, 2), [4, 4, 2]);
        assert_eq!(lengths(100, 2).len(), 25);
        assert_eq!(lengths(1000, 2), [25; 40]);
    }

    #[test]
    fn each_proof_is_made_of_each_warehouse_once() {
        let (proofs, _) = Proof::of(TpccProfile::Standard, When::Used);
        let jobs = jobs(&proofs, 10, 2);
        for (index, proof) in proofs.iter().enumerate() {
            let own = jobs.iter().filter(|job| job.proof == index);
            let own: Vec<Warehouses> = own.map(|job| job.warehouses).collect();
            let covered: u32 = own.iter().map(|own| own.last - own.first + 1).sum();
            assert_eq!(covered, 10);
            let queries = match proof.over() {
                Over::All => 1,
                Over::Slice => 3,
                Over::Warehouse => 10,
            };
            assert_eq!(own.len(), queries, "{}", proof.name());
        }
        let first = proofs[jobs[0].proof].name();
        assert_eq!(first, "condition 10");
        let last = &jobs[jobs.len() - 1];
        assert_eq!((last.warehouses.first, last.warehouses.last), (10, 10));
    }
}
