//! Days: effects that all builds of one run share, and other runs do not.
//!
//! A machine is a few per cent faster on one day than on another. Builds that two runs both measured say how far
//! the days of these are apart; a contrast of builds of different days is certain only as far as that is.

use std::collections::BTreeMap;

/// The logarithms of one build, run by run: the place of the run, its replicates.
pub(super) type ByRun = Vec<(usize, Vec<f64>)>;

pub(super) type Sums = Vec<(f64, f64)>;

/// The days of a series: which build was measured on which, and how far they are apart.
///
/// Runs of a single build are one day: how much such runs differ is part of how much their builds scatter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Days {
    /// Of each build, day by day: replicates, and the sum of their logarithms. Empty where there is one day.
    builds: Vec<Vec<(usize, f64, f64)>>,
    /// The first day that shares a build with each, directly or through others.
    linked: Vec<usize>,
    /// The covariance of the distances of days from the first that they are linked with, in variances of a replicate.
    covariance: Vec<Vec<f64>>,
}

pub(super) struct Centred {
    /// The replicates of each build, as if all had been measured on the first day that links them.
    pub(super) builds: Vec<Vec<f64>>,
    /// The value subtracted from the logarithms of each run.
    pub(super) shifts: BTreeMap<usize, f64>,
    pub(super) free: u32,
    /// Do the replicates tell how much builds scatter: does nothing but days that are linked part them?
    pub(super) is_linked: bool,
    pub(super) days: Days,
}

/// Takes out the distances of days, by least squares with a level for each build (the two-way analysis of variance).
pub(super) fn centre(builds: &[ByRun]) -> Centred {
    let (day_of, runs_alone) = days_of(builds);
    let days = day_of.values().max().map_or(0, |last| last + 1);
    if days < 2 {
        let all = builds.iter().map(|runs| runs.iter().flat_map(|(_, logs)| logs.clone()));
        return Centred {
            builds: all.map(Iterator::collect).collect(),
            shifts: BTreeMap::new(),
            free: 0,
            is_linked: runs_alone < 2,
            days: Days::one(),
        };
    }
    let mut cells = cells(builds, &day_of);
    let linked = linked(&cells, days);
    let (matrix, right) = equations(&cells, &linked);
    let covariance = inverse(matrix);
    let shift =
        |day: usize| -> f64 { covariance[day].iter().zip(&right).map(|(a, b)| a * b).sum() };
    let by_day: Vec<f64> = (0..days).map(shift).collect();
    for (day, replicates, sum) in cells.iter_mut().flatten() {
        *sum -= *replicates * by_day[*day];
    }
    let of_build = |runs: &ByRun| -> Vec<f64> {
        let centred = runs.iter().flat_map(|(run, logs)| {
            let shift = by_day[day_of[run]];
            logs.iter().map(move |log| log - shift)
        });
        centred.collect()
    };
    let components = linked.iter().enumerate().filter(|(day, first)| day == *first).count();
    Centred {
        builds: builds.iter().map(of_build).collect(),
        shifts: day_of.iter().map(|(run, day)| (*run, by_day[*day])).collect(),
        free: (days - components) as u32,
        is_linked: components == 1 && runs_alone < 2,
        days: Days { builds: cells, linked, covariance },
    }
}

/// The day of each run, counted from 0 in the order of the runs; and how many runs hold a single build.
fn days_of(builds: &[ByRun]) -> (BTreeMap<usize, usize>, usize) {
    let mut held: BTreeMap<usize, u32> = BTreeMap::new();
    for (run, _) in builds.iter().flatten() {
        *held.entry(*run).or_default() += 1;
    }
    let runs_alone = held.values().filter(|held| **held == 1).count();
    let (mut next, mut alone) = (0, None);
    let mut new_day = || {
        next += 1;
        next - 1
    };
    let days = held.into_iter().map(|(run, held)| {
        let day = if held > 1 { new_day() } else { *alone.get_or_insert_with(&mut new_day) };
        (run, day)
    });
    (days.collect(), runs_alone)
}

fn cells(builds: &[ByRun], day_of: &BTreeMap<usize, usize>) -> Vec<Vec<(usize, f64, f64)>> {
    let of_build = |runs: &ByRun| {
        let mut days: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (run, logs) in runs {
            let (replicates, sum) = days.entry(day_of[run]).or_default();
            *replicates += logs.len() as f64;
            *sum += logs.iter().sum::<f64>();
        }
        days.into_iter().map(|(day, (n, sum))| (day, n, sum)).collect()
    };
    builds.iter().map(of_build).collect()
}

/// Of each day the first that it is linked with by builds that both hold.
fn linked(cells: &[Vec<(usize, f64, f64)>], days: usize) -> Vec<usize> {
    let mut linked: Vec<usize> = (0..days).collect();
    for build in cells {
        let groups: Vec<usize> = build.iter().map(|(day, ..)| linked[*day]).collect();
        let Some(first) = groups.iter().min().copied() else { continue };
        for group in linked.iter_mut().filter(|group| groups.contains(group)) {
            *group = first;
        }
    }
    linked
}

/// The normal equations of the distances, those of builds eliminated. The first day of those that are linked stands
/// at zero: its row and column are empty.
fn equations(cells: &[Vec<(usize, f64, f64)>], linked: &[usize]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let days = linked.len();
    let mut matrix = vec![vec![0.0; days]; days];
    let mut right = vec![0.0; days];
    for build in cells {
        let all: f64 = build.iter().map(|(_, n, _)| n).sum();
        let mean = build.iter().map(|(.., sum)| sum).sum::<f64>() / all;
        for (day, n, sum) in build.iter().filter(|(day, ..)| linked[*day] != *day) {
            right[*day] += sum - n * mean;
            matrix[*day][*day] += n;
            for (other, m, _) in build.iter().filter(|(day, ..)| linked[*day] != *day) {
                matrix[*day][*other] -= n * m / all;
            }
        }
    }
    (matrix, right)
}

/// Of a matrix that is positive definite but for rows and columns of zeros, which stay so (Gauss and Jordan).
fn inverse(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let kept: Vec<usize> = (0..size).filter(|place| matrix[*place][*place] > 0.0).collect();
    for &pivot in &kept {
        let over = 1.0 / matrix[pivot][pivot];
        let row = matrix[pivot].clone();
        for &other in kept.iter().filter(|other| **other != pivot) {
            let factor = matrix[other][pivot] * over;
            for &column in kept.iter().filter(|column| **column != pivot) {
                matrix[other][column] -= factor * row[column];
            }
            matrix[other][pivot] = -factor;
        }
        for &column in &kept {
            matrix[pivot][column] = row[column] * over;
        }
        matrix[pivot][pivot] = over;
    }
    matrix
}

impl Days {
    pub(super) const fn one() -> Self {
        Self { builds: Vec::new(), linked: Vec::new(), covariance: Vec::new() }
    }

    /// Were all values measured on one day, or each build on one of its own?
    pub(super) const fn is_one(&self) -> bool {
        self.builds.is_empty()
    }

    /// The replicates of some builds, day by day; those that do not count are left out.
    pub(super) fn sums(&self, builds: impl Iterator<Item = usize>) -> Sums {
        let mut sums = vec![(0.0, 0.0); self.linked.len()];
        for (day, replicates, sum) in builds.flat_map(|build| &self.builds[build]) {
            sums[*day].0 += replicates;
            sums[*day].1 += sum;
        }
        sums
    }

    /// The distance of two levels as the days show it on which both were measured, its variance in variances of a
    /// replicate, and the replicates there of the level that has fewer; `None` where there was no such day.
    pub(super) fn beside(left: &Sums, right: &Sums) -> Option<(f64, f64, f64)> {
        let (mut all, mut sum) = (0.0, 0.0);
        let mut replicates = [0.0, 0.0];
        let both = left.iter().zip(right);
        for ((n, left), (m, right)) in both.filter(|((n, _), (m, _))| *n > 0.0 && *m > 0.0) {
            let weight = n * m / (n + m);
            all += weight;
            sum += weight * (right / m - left / n);
            replicates = [replicates[0] + n, replicates[1] + m];
        }
        (all > 0.0).then(|| (sum / all, 1.0 / all, replicates[0].min(replicates[1])))
    }

    /// In variances of a replicate, that of the distance of two levels over all days; `None` if these are not linked.
    pub(super) fn across(&self, left: &Sums, right: &Sums) -> Option<f64> {
        let weight = |sums: &Sums| sums.iter().map(|(n, _)| n).sum::<f64>();
        let (n, m) = (weight(left), weight(right));
        let shares = left.iter().zip(right);
        let shares: Vec<f64> = shares.map(|((l, _), (r, _))| l / n - r / m).collect();
        // What stands on days that nothing links must stand on both sides.
        let mut apart = vec![0.0; shares.len()];
        for (share, first) in shares.iter().zip(&self.linked) {
            apart[*first] += share;
        }
        if apart.iter().any(|share: &f64| share.abs() > 1e-9) {
            return None;
        }
        let rows = shares.iter().zip(&self.covariance);
        let days: f64 = rows
            .map(|(share, row)| share * row.iter().zip(&shares).map(|(a, b)| a * b).sum::<f64>())
            .sum();
        Some(1.0 / n + 1.0 / m + days)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds 0 to 2 of the first run, 2 to 4 of the second, which is slower by `day`; two rounds each.
    fn chain(day: f64) -> Vec<ByRun> {
        let level = |build: usize| 0.01 * build as f64;
        let logs =
            |build: usize, day: f64| vec![level(build) + day + 0.001, level(build) + day - 0.001];
        (0..5)
            .map(|build| {
                let mut runs = Vec::new();
                if build <= 2 {
                    runs.push((0, logs(build, 0.0)));
                }
                if build >= 2 {
                    runs.push((1, logs(build, day)));
                }
                runs
            })
            .collect()
    }

    #[test]
    fn a_build_of_two_runs_tells_how_far_their_days_are_apart() {
        let found = centre(&chain(-0.03));
        assert!((found.shifts[&1] + 0.03).abs() < 1e-12 && found.shifts[&0] == 0.0);
        assert!(found.is_linked && found.free == 1);
        for (place, logs) in found.builds.iter().enumerate() {
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            assert!((mean - 0.01 * place as f64).abs() < 1e-12, "{place}");
        }
    }

    #[test]
    fn levels_of_different_days_are_as_certain_as_what_links_them() {
        let days = centre(&chain(0.0)).days;
        let sums = |builds: std::ops::Range<usize>| days.sums(builds);
        // Build 2 stands beside builds 3 and 4 in the second run: 2 replicates against 4.
        let (log, variance, replicates) = Days::beside(&sums(0..3), &sums(3..5)).unwrap();
        assert!((log - 0.015).abs() < 1e-12 && (variance - 0.75).abs() < 1e-12);
        assert!((replicates - 2.0).abs() < 1e-12);
        assert_eq!(Days::beside(&sums(0..2), &sums(3..5)), None);
        // 2 replicates each, and the distance of the days, which rests on 2 against 2.
        let across = days.across(&sums(0..1), &sums(4..5)).unwrap();
        assert!((across - 2.0).abs() < 1e-12, "{across}");
    }

    #[test]
    fn runs_that_share_no_build_are_not_linked_and_runs_of_one_build_are_one_day() {
        let logs = || vec![0.0, 0.001];
        let apart =
            centre(&[vec![(0, logs())], vec![(0, logs())], vec![(1, logs())], vec![(1, logs())]]);
        assert!(!apart.is_linked && apart.free == 0);
        let days = &apart.days;
        assert_eq!(days.across(&days.sums(0..2), &days.sums(2..4)), None);
        assert!(days.across(&days.sums(0..1), &days.sums(1..2)).is_some());
        let nightly = centre(&[vec![(0, logs())], vec![(1, logs())], vec![(2, logs())]]);
        assert!(nightly.days.is_one() && !nightly.is_linked);
        assert!(centre(&[vec![(0, logs())], vec![(0, logs())]]).is_linked);
    }

    #[test]
    fn three_days_in_a_ring_agree_with_least_squares() {
        // Each pair of days shares a build; the ring does not close by 0.03, a third of which goes to each link.
        let builds = [
            vec![(0, vec![0.0]), (1, vec![0.01])],
            vec![(1, vec![0.0]), (2, vec![0.01])],
            vec![(2, vec![0.0]), (0, vec![0.01])],
        ];
        let found = centre(&builds);
        assert!(found.shifts.values().all(|shift| shift.abs() < 1e-12));
        // A link of 1 against 1 has a variance of 2; two in series beside it have 4.
        let days = &found.days;
        assert!((days.covariance[1][1] - 4.0 / 3.0).abs() < 1e-12);
    }
}
