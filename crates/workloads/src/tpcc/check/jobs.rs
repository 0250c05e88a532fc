//! Which queries are made, and in which order.

use super::proof::Proof;
use crate::tpcc::conditions::{Over, Warehouses};
use crate::tpcc::tables::Table;

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

/// All queries. The longest come first, so that clients end together; then one warehouse after the other, so
/// that its pages are read once.
pub(super) fn jobs(proofs: &[Proof], warehouses: u32, clients: u32) -> Vec<Job> {
    let all = Warehouses { first: 1, last: warehouses };
    let of = |wanted: Over| {
        let proofs = proofs.iter().enumerate();
        proofs.filter(move |(_, proof)| over(**proof) == wanted)
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

const fn over(proof: Proof) -> Over {
    match proof {
        Proof::Condition(condition) => condition.over,
        Proof::Quantities => Over::Warehouse,
        Proof::Contents(table) => match table {
            // It has no key by warehouse, and what is looked up in it takes no memory.
            Table::History | Table::Item | Table::Warehouse | Table::District => Over::All,
            Table::Customer | Table::NewOrder | Table::Orders | Table::OrderLine | Table::Stock => {
                Over::Warehouse
            }
        },
    }
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
    use crate::tpcc::conditions::When;

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
            let queries = match over(*proof) {
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
