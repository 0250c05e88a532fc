//! Which client loads which batches.
//!
//! A client that is free takes the part that the fewest others are at, the first one of these, and stays until
//! nothing is left of it. So each has a table for itself as long as there are enough, and loads it in the order
//! of its numbers.
//!
//! Where clients share a table, it depends on how its rows lie. In a heap they lie in the order in which they
//! came, so the batches of one part are dealt out in turn. In a tree that is ordered by the key, clients that
//! add to the same end wait for each other's pages, and split them badly: MariaDB takes half as much CPU again,
//! and the index that is built afterwards takes half as long again. There a table has several parts, ranges of
//! the key.

use std::sync::Mutex;

use load::lock;

#[derive(Debug)]
pub(super) struct Handout(Mutex<Vec<Part>>);

/// Consecutive batches of a table.
#[derive(Debug)]
struct Part {
    table: usize,
    next: u64,
    end: u64,
    clients: u32,
}

impl Handout {
    /// Of tables with their numbers of batches, in the order in which they begin; each is cut into `parts`.
    pub(super) fn new(tables: &[(usize, u64)], parts: u64) -> Self {
        let parts = parts.max(1);
        let all = (0..parts).flat_map(|part| {
            tables.iter().map(move |(table, batches)| Part {
                table: *table,
                next: batches * part / parts,
                end: batches * (part + 1) / parts,
                clients: 0,
            })
        });
        Self(Mutex::new(all.collect()))
    }

    /// The next table and batch number for a client at part `at`, which it updates; `None` when none is left.
    pub(super) fn take(&self, at: &mut Option<usize>) -> Option<(usize, u64)> {
        let mut parts = lock(&self.0);
        let is_left = |part: &Part| part.next < part.end;
        if let Some(current) = at.and_then(|at| parts.get_mut(at))
            && !is_left(current)
        {
            current.clients -= 1;
            *at = None;
        }
        if at.is_none() {
            let left = parts.iter_mut().enumerate().filter(|(_, part)| is_left(part));
            let (index, part) = left.min_by_key(|(_, part)| part.clients)?;
            part.clients += 1;
            *at = Some(index);
        }
        let part = parts.get_mut((*at)?)?;
        part.next += 1;
        Some((part.table, part.next - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Batches as clients take them that are equally fast: client, table, number.
    fn dealt(tables: &[u64], parts: u64, clients: usize) -> Vec<(usize, usize, u64)> {
        let tables: Vec<(usize, u64)> = tables.iter().copied().enumerate().collect();
        let handout = Handout::new(&tables, parts);
        let mut at = vec![None; clients];
        let mut taken = Vec::new();
        loop {
            let before = taken.len();
            for (client, at) in at.iter_mut().enumerate() {
                taken.extend(handout.take(at).map(|(table, batch)| (client, table, batch)));
            }
            if taken.len() == before {
                return taken;
            }
        }
    }

    #[test]
    fn every_batch_is_handed_out_once_and_a_whole_table_in_order() {
        for (tables, clients) in [
            (vec![0], 2),
            (vec![1], 2),
            (vec![1, 1, 2], 1),
            (vec![12, 1, 0, 4], 7),
            (vec![5, 5], 3),
        ] {
            let mut next = vec![0; tables.len()];
            for (_, table, batch) in dealt(&tables, 1, clients) {
                assert_eq!(batch, next[table]);
                next[table] += 1;
            }
            assert_eq!(next, tables);
            let mut parts: Vec<(usize, u64)> =
                dealt(&tables, 3, clients).into_iter().map(|(_, table, n)| (table, n)).collect();
            parts.sort_unstable();
            let all =
                tables.iter().enumerate().flat_map(|(table, n)| (0..*n).map(move |n| (table, n)));
            assert_eq!(parts, all.collect::<Vec<_>>());
        }
    }

    #[test]
    fn each_client_has_a_table_of_its_own_as_long_as_there_are_enough() {
        for parts in [1, 3] {
            for (client, table, _) in &dealt(&[10, 10, 10], parts, 3)[..3] {
                assert_eq!(client, table);
            }
        }
        // Two clients for three tables: who is done first goes to the one that nobody has.
        let tables = |client| -> Vec<usize> {
            let taken = dealt(&[2, 4, 2], 1, 2);
            let mine = taken.iter().filter(|(who, ..)| *who == client);
            mine.map(|(_, table, _)| *table).collect()
        };
        assert_eq!(tables(0), [0, 0, 2, 2]);
        assert_eq!(tables(1), [1, 1, 1, 1]);
    }

    #[test]
    fn clients_that_share_a_tree_have_a_part_each() {
        let taken = dealt(&[10], 2, 2);
        let of = |client| -> Vec<u64> {
            let mine = taken.iter().filter(|(who, ..)| *who == client);
            mine.map(|(_, _, batch)| *batch).collect()
        };
        assert_eq!(of(0), [0, 1, 2, 3, 4]);
        assert_eq!(of(1), [5, 6, 7, 8, 9]);
    }

    #[test]
    fn the_second_part_of_a_table_comes_after_the_first_of_each() {
        let taken = dealt(&[4, 2], 2, 1);
        let place = |of| taken.iter().position(|(_, table, batch)| (*table, *batch) == of);
        assert!(place((1, 0)) < place((0, 2)));
    }
}
