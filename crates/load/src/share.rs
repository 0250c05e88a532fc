//! The share of a step's clients that one of several processes runs.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// 2^64 divided by the golden ratio: its multiples fill any range evenly, however few of them there are.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Clients keep the numbers, and arrivals the times, that they have where one process runs all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Numbers of its clients, from zero.
    pub clients: Range<u32>,
    pub all_clients: u32,
    /// Its place among the processes, from zero.
    pub process: u32,
    pub processes: u32,
}

impl Share {
    pub const fn whole(clients: u32) -> Self {
        Self { clients: 0..clients, all_clients: clients, process: 0, processes: 1 }
    }

    /// Divides `all_clients` among at most so many processes; each has at least one.
    pub fn divide(all_clients: u32, processes: u32) -> Vec<Self> {
        let processes = processes.min(all_clients);
        let first = |process: u32| {
            (u64::from(all_clients) * u64::from(process) / u64::from(processes)) as u32
        };
        let share = |process| Self {
            clients: first(process)..first(process + 1),
            all_clients,
            process,
            processes,
        };
        (0..processes).map(share).collect()
    }

    /// Does the arrival with this number belong to it?
    pub(crate) fn has_arrival(&self, number: u64) -> bool {
        let place = u128::from(number.wrapping_mul(GOLDEN)) * u128::from(self.all_clients);
        self.clients.contains(&((place >> 64) as u32))
    }

    /// Its part of what all clients have together, at least one.
    pub(crate) fn part_of(&self, total: u32) -> u32 {
        let clients = u64::from(self.clients.end - self.clients.start);
        let part = u64::from(total) * clients / u64::from(self.all_clients.max(1));
        (part as u32).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_is_in_one_share_and_no_share_is_empty() {
        for (clients, processes) in [(1, 1), (1, 3), (7, 2), (7, 3), (2_000, 2), (u32::MAX, 3)] {
            let shares = Share::divide(clients, processes);
            assert_eq!(shares.len() as u32, processes.min(clients));
            let mut next = 0;
            for share in &shares {
                assert_eq!(share.clients.start, next);
                assert!(!share.clients.is_empty());
                next = share.clients.end;
            }
            assert_eq!(next, clients);
        }
        assert_eq!(Share::divide(5, 1), [Share::whole(5)]);
    }

    #[test]
    fn each_arrival_is_in_one_share_and_shares_are_served_evenly() {
        let shares = Share::divide(3, 2);
        let mut of = [0u64; 2];
        for number in 0..3_000 {
            let owners: Vec<usize> = (0..2).filter(|n| shares[*n].has_arrival(number)).collect();
            assert_eq!(owners.len(), 1);
            of[owners[0]] += 1;
            // One client and two clients: never more than four arrivals off.
            assert!((3 * of[0]).abs_diff(number + 1) <= 12, "{number}: {of:?}");
        }
        assert!(shares[0].has_arrival(0));
        assert!((0..100).all(|number| Share::whole(7).has_arrival(number)));
    }

    #[test]
    fn what_all_have_together_is_divided_by_clients() {
        let parts =
            |total| Share::divide(4, 3).iter().map(|s| s.part_of(total)).collect::<Vec<_>>();
        assert_eq!(parts(100), [25, 25, 50]);
        assert_eq!(parts(1), [1, 1, 1]);
    }
}
