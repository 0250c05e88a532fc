//! The summary that posts show: least, largest, mean and median ratio of the tests of a group.

use crate::Row;
use crate::round::fixed;

use super::{tests, value};

/// What ratios of a group come to, printed with two digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRatios {
    /// Tests in it.
    pub tests: usize,
    /// The smallest.
    pub least: String,
    /// The largest.
    pub largest: String,
    /// The arithmetic mean.
    pub mean: String,
    /// The median; of an even number the mean of the two in the middle.
    pub median: String,
}

/// Ratios of rates as the tables have them, `system` to `base`, of the tests for which `is_in` says yes, unrounded until
/// they are printed; `scan.warm` is left out, as posts do. `rows` are of one number of clients and one round.
/// `None` where there is none.
pub fn group_ratios(
    rows: &[Row],
    system: &str,
    base: &str,
    is_in: impl Fn(&str) -> bool,
) -> Option<GroupRatios> {
    let rate = |system, test| value(rows, system, test, "rate");
    let listed = tests(rows).into_iter();
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

#[cfg(test)]
mod of_groups {
    use super::*;
    use crate::file::file;
    use crate::{Options, tables};

    const TABLE: &str = "col-1 : my5651.a\ncol-2 : my8043.a\n\ncol-1\tcol-2\n\
        100\t90\tscan_range=100\n100\t1\tscan.warm_range=100\n1000\t704\trange-covered-pk_range=100\n\
        3\t2\trange-covered-si_range=100\n200\t170\trange-notcovered-pk_range=100\n7\t7\tinsert_range=100\n";

    #[test]
    fn ratios_are_rounded_when_they_are_printed() {
        let options = Options {
            clients: vec![1],
            ..Options::default()
        };
        let rows = tables::qps::rows(&file("qps.abs", TABLE), None, &options).unwrap();
        let in_range = |test: &str| tables::group_of(test) == "range";
        let seen = group_ratios(&rows, "my8043.a", "my5651.a", in_range).unwrap();
        // 0.6667, 0.704, 0.85, 0.9
        let expected = GroupRatios {
            tests: 4,
            least: "0.67".into(),
            largest: "0.90".into(),
            mean: "0.78".into(),
            median: "0.78".into(),
        };
        assert_eq!(seen, expected);
        assert_eq!(group_ratios(&rows, "none", "my5651.a", in_range), None);
    }
}
