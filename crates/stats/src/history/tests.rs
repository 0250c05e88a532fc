//! What is found in series, made up and published.

use model::{Rng, mix};

use super::*;
use crate::tests::simulation::{heavy_tailed, normal};

mod joined;
mod labelled;
mod runs;

/// A family of series without replicates: each build's level and its chance.
fn family(
    series: u32,
    seed: u64,
    levels: &[f64],
    sd: f64,
    chance: fn(&mut Rng) -> f64,
) -> Vec<Series> {
    (0..series)
        .map(|number| {
            let mut rng = Rng::new(mix(seed, &[u64::from(number)]));
            let builds = levels.iter().map(|level| vec![level + sd * chance(&mut rng)]);
            Series { builds: builds.collect(), margin: 0.0, ..Series::default() }
        })
        .collect()
}

fn places(found: &Found) -> Vec<usize> {
    found.changes.iter().map(|change| change.at).collect()
}

/// Levels of 30 builds with these changes: (place, logarithm).
fn levels(steps: &[(usize, f64)]) -> Vec<f64> {
    let level =
        |build: usize| steps.iter().filter(|(at, _)| *at <= build).map(|(_, log)| log).sum::<f64>();
    (0..30).map(level).collect()
}

#[test]
fn two_builds_are_judged_with_the_certainty_of_a_comparison() {
    // A mean difference of 10 % in rounds that scatter by the same: p between 0.01 and 0.05, and below 0.01.
    let two = |scatter: f64| {
        let rounds =
            |level: f64| [-1.0, -0.3, 0.3, 1.0].map(|round| level + scatter * round).into();
        let builds = vec![rounds(0.0), rounds(-0.1)];
        Series {
            builds,
            is_linked: true,
            first_beside: true,
            last_beside: true,
            ..Series::default()
        }
    };
    let changes = |scatter: f64| analyse(&[two(scatter)])[0].changes.clone();
    let certain = changes(0.01);
    assert!(certain.len() == 1 && certain[0].q_value <= 0.01, "{certain:?}");
    assert_eq!(changes(0.055), []);
}

#[test]
fn three_rounds_of_two_builds_say_nothing_about_less_than_another_start_may_change() {
    let found = |rounds: usize, step: f64| {
        let build = |level: f64| (0..rounds).map(|round| level + 1e-4 * round as f64).collect();
        let two = Series {
            builds: vec![build(0.0), build(step)],
            is_linked: true,
            first_beside: true,
            last_beside: true,
            ..Series::default()
        };
        places(&analyse(&[two])[0])
    };
    assert_eq!([found(3, 0.015), found(4, 0.015), found(3, 0.025)], [vec![], vec![1], vec![1]]);
}

#[test]
fn where_nothing_changes_little_is_found() {
    for (name, chance) in [("normal", normal as fn(&mut Rng) -> f64), ("heavy tails", heavy_tailed)]
    {
        // Six are the smallest family.
        for series in [32, 6] {
            let families = 200;
            let mut alarmed = 0;
            let mut steps = 0;
            for seed in 0..families {
                let found = analyse(&family(series, seed, &levels(&[]), 0.015, chance));
                let changes: usize = found.iter().map(|one| one.changes.len()).sum();
                steps += changes;
                alarmed += u32::from(changes > 0);
            }
            println!(
                "no change, {name}: {alarmed} of {families} families of {series} series, {steps} steps"
            );
            assert!(
                f64::from(alarmed) <= 0.1 * families as f64,
                "{name}, {series} series: {alarmed}"
            );
        }
    }
}

#[test]
fn steps_of_three_per_cent_are_found_where_they_are() {
    let (mut exact, mut near, mut all) = (0, 0, 0);
    for seed in 0..20 {
        let family = family(32, seed, &levels(&[(9, -0.03), (21, 0.03)]), 0.007, normal);
        for found in analyse(&family) {
            let found = places(&found);
            for at in [9, 21] {
                all += 1;
                exact += u32::from(found.contains(&at));
                near += u32::from(found.iter().any(|place| place.abs_diff(at) <= 1));
            }
        }
    }
    println!("steps of 3 %, sd 0.7 %: {exact} of {all} at their build, {near} within one");
    assert!(near * 100 >= all * 95 && exact * 100 >= all * 85);
}

#[test]
fn a_single_low_build_is_an_outlier_wherever_it_is() {
    for at in 1..29 {
        let mut family = family(32, 5, &levels(&[]), 0.007, normal);
        family[3].builds[at][0] -= 0.1;
        let found = &analyse(&family)[3];
        assert_eq!(places(found), [0_usize; 0], "{at}");
        assert_eq!(found.standing[at], Standing::Outlier, "{at}");
    }
}

#[test]
fn the_first_build_alone_is_a_level_where_other_series_say_so() {
    let mut family = family(32, 6, &levels(&[]), 0.007, normal);
    for series in &mut family[..2] {
        series.builds[0][0] += 0.1;
    }
    let found = &analyse(&family)[0];
    assert_eq!(places(found), [0_usize; 0]);
    assert_eq!(found.standing[0], Standing::Outlier);
    for series in &mut family[2..20] {
        series.builds[0][0] += 0.1;
    }
    let found = analyse(&family);
    for one in &found[..20] {
        assert_eq!(places(one), [1]);
    }
    assert!(found[20..].iter().all(|one| one.changes.is_empty()));
}

#[test]
fn a_wild_build_beside_one_that_is_somewhat_off_is_no_level() {
    let mut family = family(32, 6, &levels(&[]), 0.007, normal);
    family[0].builds[14][0] = -0.1;
    family[0].builds[15][0] = -0.02;
    assert_eq!(places(&analyse(&family)[0]), [0_usize; 0]);
    family[0].builds[15][0] = -0.08;
    assert_eq!(places(&analyse(&family)[0]), [14, 16]);
}

#[test]
fn the_last_build_alone_is_not_confirmed_and_two_are_a_step() {
    let mut low = family(32, 6, &levels(&[]), 0.007, normal);
    low[0].builds[29][0] -= 0.1;
    let found = &analyse(&low)[0];
    assert_eq!(places(found), [0_usize; 0]);
    assert_eq!(found.standing[29], Standing::Unconfirmed);

    low[0].builds[28][0] -= 0.1;
    let found = &analyse(&low)[0];
    assert_eq!(places(found), [28]);
    let change = found.changes[0];
    assert!((change.ratio - 0.905).abs() < 0.02, "{change:?}");
    assert!(change.low < change.ratio && change.ratio < change.high);
    assert!(change.confidence() > 0.99, "{change:?}");
}

/// Four rounds of three builds in one run, the last of them slower: the rounds are the evidence.
#[test]
fn replicates_beside_each_other_confirm_few_builds() {
    let series = Series {
        builds: vec![
            vec![0.000, 0.002, -0.001, 0.001],
            vec![0.001, -0.001, 0.000, 0.002],
            vec![-0.050, -0.048, -0.051, -0.049],
        ],
        shared: 3,
        is_linked: true,
        first_beside: true,
        last_beside: true,
        rounded: 0.0,
        margin: 0.02,
        days: Days::one(),
    };
    let found = &analyse(std::slice::from_ref(&series))[0];
    assert_eq!(places(found), [2]);
    let mut turned = series.clone();
    turned.builds.reverse();
    assert_eq!(places(&analyse(&[turned])[0]), [1]);
    // The same of several runs: nothing says how much runs differ.
    let runs = Series { is_linked: false, ..series };
    let found = &analyse(&[runs])[0];
    assert_eq!((places(found), &found.chance), (vec![], &None));
}

#[test]
fn a_build_between_two_levels_makes_two_steps() {
    let mut family = family(32, 7, &levels(&[(15, -0.05)]), 0.004, normal);
    family[2].builds[15][0] = -0.2;
    assert_eq!(places(&analyse(&family)[2]), [15, 16]);
}

#[test]
fn what_does_not_matter_is_no_step() {
    let mut family = family(32, 8, &levels(&[(12, -0.03)]), 0.004, normal);
    for series in &mut family {
        series.margin = 0.05;
    }
    assert!(analyse(&family).iter().all(|found| found.changes.is_empty()));
}

#[test]
fn nothing_and_equal_values_are_no_trouble() {
    assert!(analyse(&[]).is_empty());
    let empty = analyse(&[Series::default()]);
    assert_eq!(empty, [Found::default()]);
    let same = Series { builds: vec![vec![1.0]; 40], ..Series::default() };
    assert_eq!(places(&analyse(&[same])[0]), [0_usize; 0]);
    let mut stairs = vec![vec![0.0]; 20];
    stairs.extend(vec![vec![1.0]; 20]);
    let stairs = Series { builds: stairs, ..Series::default() };
    assert_eq!(places(&analyse(&[stairs])[0]), [20]);
}

/// A page of 500 series of 100 builds, every fifth with two steps.
#[test]
#[ignore = "measures time: cargo test --release -p stats a_page_of_history -- --ignored --nocapture"]
fn a_page_of_history_is_analysed_at_once() {
    let steps: Vec<f64> =
        (0..100).map(|i| if (30..70).contains(&i) { 0.05 } else { 0.0 }).collect();
    let mut page = family(400, 1, &[0.0; 100], 0.01, normal);
    page.extend(family(100, 2, &steps, 0.01, normal));
    let begin = std::time::Instant::now();
    let found = analyse(&page);
    let took = begin.elapsed();
    let changes: usize = found.iter().map(|one| one.changes.len()).sum();
    println!("500 series of 100 builds: {took:?}, {changes} steps");
    assert!(took.as_millis() < 100, "{took:?}");
}
