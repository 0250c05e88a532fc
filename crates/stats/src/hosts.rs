//! Runs merged from several hosts: which log ratios are independent of each other.

use std::collections::BTreeMap;

use model::HostRounds;

use crate::paired::sum;

/// With at least this many hosts, hosts are the replicates.
const FEWEST_HOSTS: usize = 3;

/// The independent log ratios of these rounds: one mean per host from [`FEWEST_HOSTS`] hosts on, otherwise all of them.
///
/// `hosts` are those of the run, `logs` are (round, log ratio).
pub(crate) fn replicates(hosts: &[HostRounds], logs: &[(u32, f64)]) -> Vec<f64> {
    let by_host = logs.iter().map(|(round, log)| (HostRounds::place(hosts, *round), *log));
    means_of_hosts(by_host).unwrap_or_else(|| logs.iter().map(|(_, log)| *log).collect())
}

/// The mean log ratio of each host, where many measured the rounds; `None` where rounds are the replicates.
///
/// A host may favour a system: rounds on it then differ from the truth together, and more of them make the mean no surer.
/// This is the summary-measures analysis of a random host × system effect. With fewer hosts than [`FEWEST_HOSTS`] that
/// effect cannot be estimated, and the result is about these hosts.
pub(crate) fn means_of_hosts(logs: impl Iterator<Item = (usize, f64)>) -> Option<Vec<f64>> {
    let mut of_hosts: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (host, log) in logs {
        of_hosts.entry(host).or_default().push(log);
    }
    let means = of_hosts.into_values().map(|logs| sum(&logs) / logs.len() as f64);
    Some(means.collect::<Vec<f64>>()).filter(|means| means.len() >= FEWEST_HOSTS)
}

#[cfg(test)]
mod tests {
    use model::Host;

    use super::*;

    #[test]
    fn three_hosts_are_three_replicates_and_two_hosts_are_their_rounds() {
        let host = |rounds: &[u32]| HostRounds { host: Host::default(), rounds: rounds.to_vec() };
        let logs = [(1, 0.1), (2, 0.3), (3, 0.5), (4, 0.7), (5, 0.9)];
        let three = [host(&[1, 2]), host(&[3, 4]), host(&[5])];
        for (found, expected) in replicates(&three, &logs).iter().zip([0.2, 0.6, 0.9]) {
            assert!((found - expected).abs() < 1e-12, "{found}");
        }
        let rounds = [0.1, 0.3, 0.5, 0.7, 0.9];
        assert_eq!(replicates(&[host(&[1, 2, 3]), host(&[4, 5])], &logs), rounds);
        assert_eq!(replicates(&[], &logs), rounds);
        // The third host has none of these rounds.
        assert_eq!(replicates(&three, &logs[..4]), rounds[..4]);
    }
}
