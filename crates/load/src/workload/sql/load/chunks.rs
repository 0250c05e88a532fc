//! Which client loads which rows.
//!
//! The rows of a copy are cut into chunks of one transaction each and handed out in ascending order. A
//! client stays with its copy until nothing is left of it, then it goes to the copy with the fewest
//! clients. So with as many copies as clients each copy is loaded by one client, in the order of its
//! numbers. Where several clients share a copy its chunks interleave: the rows are the same, but in a heap
//! they lie in the order in which the chunks came.

use std::sync::{Mutex, PoisonError};

/// Consecutive rows of one copy that are loaded in one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Index of the copy among all copies of all tables.
    pub(super) copy: usize,
    /// Number of the first row.
    pub(super) first: u64,
    /// Number of the last row.
    pub(super) last: u64,
}

impl Chunk {
    /// How many rows.
    pub(super) const fn rows(&self) -> u64 {
        self.last - self.first + 1
    }
}

/// What is not handed out yet.
#[derive(Debug)]
pub(super) struct Chunks {
    /// Rows of a chunk.
    size: u64,
    copies: Mutex<Vec<Progress>>,
}

#[derive(Debug)]
struct Progress {
    /// The first row that is not handed out.
    next: u64,
    rows: u64,
    clients: u32,
}

impl Progress {
    const fn is_done(&self) -> bool {
        self.next > self.rows
    }
}

impl Chunks {
    /// Chunks of `size` rows of copies with so many rows each.
    pub(super) fn new(rows_of_copies: impl Iterator<Item = u64>, size: u32) -> Self {
        let copies = rows_of_copies.map(|rows| Progress {
            next: 1,
            rows,
            clients: 0,
        });
        Self {
            size: u64::from(size.max(1)),
            copies: Mutex::new(copies.collect()),
        }
    }

    /// The next chunk for a client that is at copy `at`, which tells where it is then; `None` when
    /// nothing is left.
    pub(super) fn take(&self, at: &mut Option<usize>) -> Option<Chunk> {
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let current = at.and_then(|copy| copies.get_mut(copy));
        if let Some(current) = current
            && current.is_done()
        {
            current.clients -= 1;
            *at = None;
        }
        if at.is_none() {
            let left = copies.iter_mut().enumerate();
            let (copy, progress) = left
                .filter(|(_, progress)| !progress.is_done())
                .min_by_key(|(_, progress)| progress.clients)?;
            progress.clients += 1;
            *at = Some(copy);
        }
        let copy = (*at)?;
        let progress = copies.get_mut(copy)?;
        let first = progress.next;
        let last = progress.rows.min(first.saturating_add(self.size - 1));
        progress.next = last + 1;
        Some(Chunk { copy, first, last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(rows: &[u64], size: u32, clients: usize) -> Vec<(usize, Chunk)> {
        let chunks = Chunks::new(rows.iter().copied(), size);
        let mut at = vec![None; clients];
        let mut taken = Vec::new();
        loop {
            let before = taken.len();
            for (client, at) in at.iter_mut().enumerate() {
                taken.extend(chunks.take(at).map(|chunk| (client, chunk)));
            }
            if taken.len() == before {
                return taken;
            }
        }
    }

    #[test]
    fn every_row_is_handed_out_once_and_in_order() {
        for (rows, size, clients) in [
            (vec![0], 10, 2),
            (vec![1], 10, 2),
            (vec![10, 9, 11], 10, 1),
            (vec![101, 7, 0, 33], 9, 7),
            (vec![5, 5], 1, 3),
        ] {
            let mut next = vec![1; rows.len()];
            for (_, chunk) in all(&rows, size, clients) {
                assert_eq!(chunk.first, next[chunk.copy]);
                assert!((1..=u64::from(size)).contains(&chunk.rows()));
                next[chunk.copy] = chunk.last + 1;
            }
            let expected: Vec<u64> = rows.iter().map(|rows| rows + 1).collect();
            assert_eq!(next, expected);
        }
    }

    #[test]
    fn each_client_has_a_copy_of_its_own_as_long_as_there_are_enough() {
        for (client, chunk) in all(&[100, 100, 100], 10, 3) {
            assert_eq!(client, chunk.copy);
        }
        // Two clients for three copies: who is done first goes to the one that nobody has.
        let copies = |client| -> Vec<usize> {
            let taken = all(&[20, 40, 20], 10, 2);
            let mine = taken.iter().filter(|(who, _)| *who == client);
            mine.map(|(_, chunk)| chunk.copy).collect()
        };
        assert_eq!(copies(0), [0, 0, 2, 2]);
        assert_eq!(copies(1), [1, 1, 1, 1]);
    }
}
