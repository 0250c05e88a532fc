//! The summary that posts show: least, largest, mean and median ratio of the tests of a group.

use std::collections::BTreeSet;

use import::ImportedStep;
use import::round::fixed;

/// What ratios of a group come to, printed with two digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupRatios {
    pub(crate) tests: usize,
    pub(crate) least: String,
    pub(crate) largest: String,
    pub(crate) mean: String,
    /// The median; of an even number the mean of the two in the middle.
    pub(crate) median: String,
}

/// Ratios of rates as the tables have them, `system` to `base`, of the tests for which `is_in` says yes, unrounded until
/// they are printed; `scan.warm` is left out, as posts do. `rows` are of one number of clients and one round.
/// `None` where there is none.
pub(crate) fn group_ratios(
    rows: &[ImportedStep],
    system: &str,
    base: &str,
    is_in: impl Fn(&str) -> bool,
) -> Option<GroupRatios> {
    let rate = |system: &str, test: &str| {
        let mut rows = rows.iter().filter(|row| row.system == system && row.test == test);
        rows.find_map(|row| row.value("rate"))
    };
    let listed: BTreeSet<&str> = rows.iter().map(|row| row.test.as_str()).collect();
    let listed = listed.into_iter();
    let listed = listed.filter(|test| is_in(test) && !test.starts_with("scan.warm"));
    let mut ratios: Vec<f64> = listed
        .filter_map(|test| Some(rate(system, test)? / rate(base, test).filter(|b| *b > 0.0)?))
        .collect();
    ratios.sort_by(f64::total_cmp);
    let (least, largest) = (*ratios.first()?, *ratios.last()?);
    let at = |place: usize| ratios.get(place).copied();
    let middle = ratios.len() / 2;
    let median = if ratios.len() % 2 == 1 {
        at(middle)?
    } else {
        f64::midpoint(at(middle.checked_sub(1)?)?, at(middle)?)
    };
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    Some(GroupRatios {
        tests: ratios.len(),
        least: fixed(least, 2),
        largest: fixed(largest, 2),
        mean: fixed(mean, 2),
        median: fixed(median, 2),
    })
}
