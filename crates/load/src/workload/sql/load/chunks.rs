//! Which client loads which rows.
//!
//! The rows of a copy are cut into chunks of one transaction each and handed out in ascending order. A
//! client stays with its copy until nothing is left of it, then it goes to the copy with the fewest
//! clients. So with as many copies as clients each copy is loaded by one client, in the order of its
//! numbers.
//!
//! Where clients share a copy, it depends on how its rows lie. In a heap they lie in the order in which
//! they came, so the chunks of one ascending sequence are dealt out in turn. In a tree that is ordered by the
//! key ([`Parts::OfClients`]), clients that add to the same end wait for each other's pages, and split them
//! badly: MariaDB takes half as much CPU again, and the index that is built afterwards takes half as long
//! again. There each client has a part of the key's range for itself.

use std::sync::{Mutex, PoisonError};

/// Consecutive rows of one copy that are loaded in one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workload) struct Chunk {
    /// Index of the copy among all copies of all tables.
    pub(in crate::workload) copy: usize,
    /// Number of the first row.
    pub(in crate::workload) first: u64,
    /// Number of the last row.
    pub(in crate::workload) last: u64,
}

impl Chunk {
    /// How many rows.
    pub(in crate::workload) const fn rows(&self) -> u64 {
        self.last - self.first + 1
    }
}

/// Into how many ranges the rows of a copy are cut, each with its own ascending sequence of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workload) enum Parts {
    /// One.
    Whole,
    /// As many as it takes for so many clients to have one each.
    OfClients(u32),
}

/// What is not handed out yet.
#[derive(Debug)]
pub(in crate::workload) struct Chunks {
    /// Rows of a chunk.
    size: u64,
    parts: Mutex<Vec<Part>>,
}

/// A range of rows of a copy.
#[derive(Debug)]
struct Part {
    /// Index of the copy among all copies of all tables.
    copy: usize,
    /// The first row that is not handed out.
    next: u64,
    last: u64,
    clients: u32,
}

impl Part {
    const fn is_done(&self) -> bool {
        self.next > self.last
    }
}

impl Chunks {
    /// Chunks of `size` rows of copies with so many rows each.
    pub(in crate::workload) fn new(rows_of_copies: &[u64], size: u32, parts: Parts) -> Self {
        let size = u64::from(size.max(1));
        let parts = match parts {
            Parts::Whole => 1,
            Parts::OfClients(clients) => {
                u64::from(clients).div_ceil(rows_of_copies.len().max(1) as u64)
            }
        };
        let copies = rows_of_copies.iter().enumerate();
        let parts = copies.flat_map(|(copy, rows)| {
            // Whole chunks, so that the last part is the one that may be shorter.
            let length = rows.div_ceil(size).div_ceil(parts.max(1)).max(1) * size;
            (0..*rows).step_by(length as usize).map(move |before| Part {
                copy,
                next: before + 1,
                last: (before + length).min(*rows),
                clients: 0,
            })
        });
        Self {
            size,
            parts: Mutex::new(parts.collect()),
        }
    }

    /// The next chunk for a client that is at part `at`, which tells where it is then; `None` when
    /// nothing is left.
    pub(in crate::workload) fn take(&self, at: &mut Option<usize>) -> Option<Chunk> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let current = at.and_then(|part| parts.get_mut(part));
        if let Some(current) = current
            && current.is_done()
        {
            current.clients -= 1;
            *at = None;
        }
        if at.is_none() {
            let left = parts.iter_mut().enumerate();
            let (index, part) = left
                .filter(|(_, part)| !part.is_done())
                .min_by_key(|(_, part)| part.clients)?;
            part.clients += 1;
            *at = Some(index);
        }
        let part = parts.get_mut((*at)?)?;
        let first = part.next;
        let last = part.last.min(first.saturating_add(self.size - 1));
        part.next = last + 1;
        Some(Chunk {
            copy: part.copy,
            first,
            last,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(rows: &[u64], size: u32, clients: usize) -> Vec<(usize, Chunk)> {
        dealt(&Chunks::new(rows, size, Parts::Whole), clients)
    }

    /// Chunks as clients take them that are equally fast, with the number of the client.
    fn dealt(chunks: &Chunks, clients: usize) -> Vec<(usize, Chunk)> {
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

    #[test]
    fn clients_that_share_a_tree_have_a_part_each() {
        let chunks = Chunks::new(&[95], 10, Parts::OfClients(2));
        let taken = dealt(&chunks, 2);
        let of = |client| -> Vec<(u64, u64)> {
            let mine = taken.iter().filter(|(who, _)| *who == client);
            mine.map(|(_, chunk)| (chunk.first, chunk.last)).collect()
        };
        assert_eq!(of(0), [(1, 10), (11, 20), (21, 30), (31, 40), (41, 50)]);
        assert_eq!(of(1), [(51, 60), (61, 70), (71, 80), (81, 90), (91, 95)]);
    }

    #[test]
    fn parts_together_are_all_rows_once() {
        for (rows, size, clients) in [
            (vec![0], 10, 2),
            (vec![1], 10, 2),
            (vec![10, 9, 11], 10, 7),
            (vec![101, 7, 0, 33], 9, 9),
            (vec![5], 1, 8),
        ] {
            let chunks = Chunks::new(&rows, size, Parts::OfClients(clients));
            let mut taken: Vec<Chunk> = dealt(&chunks, clients as usize)
                .into_iter()
                .map(|(_, chunk)| chunk)
                .collect();
            taken.sort_by_key(|chunk| (chunk.copy, chunk.first));
            let mut next = vec![1; rows.len()];
            for chunk in taken {
                assert_eq!(chunk.first, next[chunk.copy]);
                next[chunk.copy] = chunk.last + 1;
            }
            let expected: Vec<u64> = rows.iter().map(|rows| rows + 1).collect();
            assert_eq!(next, expected);
        }
    }
}
