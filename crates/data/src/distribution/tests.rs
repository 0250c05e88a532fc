use super::*;

const DRAWS: usize = 200_000;

/// All of them, in the shapes that plans get without asking.
const ALL: [Distribution; 5] = [
    Distribution::Uniform,
    Distribution::Zipfian { exponent: 800 },
    Distribution::Gaussian { draws: 12 },
    Distribution::Pareto { h: 200 },
    SPECIAL,
];

const SPECIAL: Distribution =
    Distribution::Special { draws: 12, hot_percent: 1, draws_percent: 75, hot: HotValues::Upper };

fn draws(low: i64, high: i64, by: Distribution) -> impl Iterator<Item = i64> {
    let ints = Ints::new(low, high, by);
    let mut rng = Rng::new(20_261_121);
    std::iter::repeat_with(move || ints.draw(&mut rng))
}

/// How often each of `cells` equal parts of 0 to `count` - 1 was drawn.
fn histogram(count: i64, cells: usize, by: Distribution) -> Vec<f64> {
    let mut seen = vec![0.0; cells];
    for drawn in draws(0, count - 1, by).take(DRAWS) {
        seen[(i128::from(drawn) * cells as i128 / i128::from(count)) as usize] += 1.0;
    }
    seen
}

/// Pearson's test: do counts come from these probabilities? Cells in which less than ten are expected are
/// put together.
fn fits(seen: &[f64], probability: impl Fn(usize) -> f64) {
    let total: f64 = seen.iter().sum();
    let (mut statistic, mut freedom) = (0.0, -1.0);
    let (mut observed, mut expected, mut all) = (0.0, 0.0, 0.0);
    for (cell, count) in seen.iter().enumerate() {
        all += probability(cell);
        observed += count;
        expected += probability(cell) * total;
        if expected >= 10.0 {
            statistic += f64::powi(observed - expected, 2) / expected;
            freedom += 1.0;
            (observed, expected) = (0.0, 0.0);
        }
    }
    assert!((all - 1.0).abs() < 1e-6, "probabilities sum to {all}");
    // Mean and variance of chi-square with f degrees of freedom are f and 2 f.
    let limit = freedom + 4.0 * f64::sqrt(2.0 * freedom) + 8.0;
    assert!(statistic < limit, "{statistic} with {freedom} degrees of freedom");
}

/// Is a share that was seen in [`DRAWS`] draws this one, within four deviations?
fn is_share(seen: usize, share: f64) -> bool {
    let deviation = (share * (1.0 - share) * DRAWS as f64).sqrt();
    (seen as f64 - share * DRAWS as f64).abs() < 4.0 * deviation + 1.0
}

/// The sum of 1/k^s for k from 1 to `n`: the first terms, then Euler and Maclaurin's formula.
fn harmonic(n: f64, s: f64) -> f64 {
    let term = |k: f64| k.powf(-s);
    let first = n.min(1000.0);
    let sum: f64 = (1..=first as u32).map(|k| term(f64::from(k))).sum();
    if n <= 1000.0 {
        return sum;
    }
    let integral = |x: f64| {
        if (s - 1.0).abs() < f64::EPSILON { x.ln() } else { x.powf(1.0 - s) / (1.0 - s) }
    };
    sum + integral(n) - integral(first) + (term(n) - term(first)) / 2.0
}

/// Share of the means of `n` uniform draws from 0 to 1 that are at most `x` (Irwin and Hall).
fn bell_below(n: u32, x: f64) -> f64 {
    let sum = f64::from(n) * x;
    let mut chosen = 1.0;
    let mut share = 0.0;
    for k in 0..=n {
        let base = (sum - f64::from(k)).max(0.0);
        share += if k % 2 == 0 { chosen } else { -chosen } * base.powi(n as i32);
        chosen = chosen * f64::from(n - k) / f64::from(k + 1);
    }
    share / (1..=n).map(f64::from).product::<f64>()
}

#[test]
fn uniform_draws_are_all_alike() {
    for count in [100, 1 << 20, 10_000_000_000, i64::MAX] {
        fits(&histogram(count, 100, Distribution::Uniform), |_| 0.01);
    }
}

#[test]
fn zipfian_ranks_follow_their_law_at_any_exponent() {
    for exponent in [1, 200, 500, 800, 990, 999, 1000, 1001, 1200, 2500, 5000] {
        let seen = histogram(300, 300, Distribution::Zipfian { exponent });
        let s = f64::from(exponent) / 1000.0;
        let all = harmonic(300.0, s);
        fits(&seen, |cell| (cell as f64 + 1.0).powf(-s) / all);
    }
}

#[test]
fn zipfian_ranks_of_huge_ranges_follow_their_law() {
    for (exponent, n) in [(800, 1i64 << 40), (1000, 1 << 33), (1200, i64::MAX), (500, 1 << 62)] {
        let s = f64::from(exponent) / 1000.0;
        let all = harmonic(n as f64, s);
        let drawn: Vec<i64> = draws(1, n, Distribution::Zipfian { exponent }).take(DRAWS).collect();
        for upto in [1, 2, 10, 1000, 1 << 20, 1 << 32, n / 1000, n / 2] {
            let seen = drawn.iter().filter(|rank| **rank <= upto).count();
            let share = harmonic(upto as f64, s) / all;
            assert!(is_share(seen, share), "{seen} up to {upto} at {s}, not {share}");
        }
    }
}

#[test]
fn large_numbers_have_no_holes() {
    let by = [
        Distribution::Zipfian { exponent: 500 },
        Distribution::Zipfian { exponent: 1100 },
        Distribution::Pareto { h: 400 },
        Distribution::Gaussian { draws: 3 },
    ];
    for by in by {
        for large in [33, 40, 50] {
            let mut seen = vec![0.0; 64];
            for drawn in draws(0, i64::MAX, by).take(DRAWS) {
                if drawn > 1 << large {
                    seen[(drawn % 64) as usize] += 1.0;
                }
            }
            assert!(seen.iter().sum::<f64>() > 1000.0);
            fits(&seen, |_| 1.0 / 64.0);
        }
    }
}

#[test]
fn the_last_block_of_a_large_range_is_no_larger_than_the_range() {
    for large in [LARGE, 1 << 48, 1 << 63] {
        let mut rng = Rng::new(1);
        let mut seen = [0.0; 6];
        for _ in 0..60_000 {
            seen[(fill(large as f64, large + 5, &mut rng) - large) as usize] += 1.0;
        }
        fits(&seen, |_| 1.0 / 6.0);
    }
    let mut rng = Rng::new(1);
    assert_eq!(fill(f64::INFINITY, 3, &mut rng), 3);
}

#[test]
fn a_bell_is_the_mean_of_its_draws() {
    for n in [1, 2, 3, 12] {
        for count in [50, 1 << 40] {
            let seen = histogram(count, 50, Distribution::Gaussian { draws: n });
            let below = |cell: usize| bell_below(n, cell as f64 / 50.0);
            fits(&seen, |cell| below(cell + 1) - below(cell));
        }
    }
    let (low, high) = (-1_000_000, 3_000_000);
    let drawn = draws(low, high, Distribution::Gaussian { draws: 12 }).take(DRAWS);
    let drawn: Vec<f64> = drawn.map(|it| it as f64).collect();
    let mean = drawn.iter().sum::<f64>() / DRAWS as f64;
    let variance = drawn.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / DRAWS as f64;
    // Of the mean of twelve draws from a range: a twelfth of the range as deviation.
    let deviation = 4_000_000.0 / 12.0;
    assert!((mean - 1_000_000.0).abs() < 4.0 * deviation / (DRAWS as f64).sqrt());
    assert!((variance.sqrt() / deviation - 1.0).abs() < 0.01);
}

#[test]
fn pareto_gives_a_share_of_the_range_the_other_share_of_the_draws() {
    for h in [100, 200, 400, 499] {
        let share = f64::from(h) / 1000.0;
        let power = share.ln() / (1.0 - share).ln();
        for count in [1000, 1i64 << 50] {
            let seen = histogram(count, 100, Distribution::Pareto { h });
            let below = |cell: usize| (cell as f64 / 100.0).powf(1.0 / power);
            fits(&seen, |cell| below(cell + 1) - below(cell));
        }
        // And within the first share likewise.
        let count = 1i64 << 40;
        let upto = |limit: f64| {
            let drawn = draws(0, count - 1, Distribution::Pareto { h }).take(DRAWS);
            drawn.filter(|it| (*it as f64) < limit * count as f64).count()
        };
        assert!(is_share(upto(share), 1.0 - share));
        assert!(is_share(upto(share * share), (1.0 - share).powi(2)));
    }
}

/// Share of the middle one per cent that the hot draws of [`SPECIAL`] hit: its upper three quarters.
fn hot_share(cell: f64, cells: f64) -> f64 {
    let (from, to) = (0.495 + 0.0025, 0.505);
    let overlap = f64::min((cell + 1.0) / cells, to) - f64::max(cell / cells, from);
    overlap.max(0.0) / (to - from)
}

#[test]
fn special_draws_are_hot_in_the_middle_and_a_bell_besides() {
    let cells = 4_000;
    let seen = histogram(100_000_000, cells, SPECIAL);
    fits(&seen, |cell| {
        let below = |cell: usize| bell_below(12, cell as f64 / cells as f64);
        0.75 * hot_share(cell as f64, cells as f64) + 0.25 * (below(cell + 1) - below(cell))
    });
    for hot in [HotValues::All, HotValues::Upper] {
        let hottest = Distribution::Special { draws: 1, hot_percent: 100, draws_percent: 100, hot };
        fits(&histogram(64, 64, hottest), |_| 1.0 / 64.0);
    }
}

/// A run that was begun before goes on with the draws that it began with, and is not compared with later ones.
#[test]
fn plans_from_before_the_upper_part_was_hot_keep_their_draws() {
    let stored = r#"{"special":{"draws":12,"hot_percent":1,"draws_percent":75}}"#;
    let before: Distribution = serde_json::from_str(stored).unwrap();
    assert_ne!(before, SPECIAL);
    // As backslide of 2026-11-22 drew them.
    let first: Vec<i64> = draws(1, 20_000, before).take(BEFORE.len()).collect();
    assert_eq!(first, BEFORE);
    let mut hits = vec![0; 20_001];
    for drawn in draws(1, 20_000, before).take(DRAWS) {
        hits[drawn as usize] += 1;
    }
    let hot: Vec<usize> = (1..=20_000).filter(|value| hits[*value] > 100).collect();
    assert_eq!((hot.len(), hot[0], hot[hot.len() - 1]), (200, 9_901, 10_100));
}

const BEFORE: [i64; 12] =
    [9981, 10033, 9987, 9968, 10046, 10077, 9918, 9972, 10096, 10006, 9904, 9921];

#[test]
fn special_draws_hit_the_values_that_sysbench_1_0_20_hits() {
    // Counts per million draws from 1 to `n` by its `sysbench.rand.special`, measured with its Debian package.
    let share = |n: i64, value: i64| {
        let drawn = draws(1, n, SPECIAL).take(DRAWS);
        drawn.filter(|it| *it == value).count()
    };
    for (n, value, per_million) in [
        (100, 51, 511_558.0),
        (100, 50, 262_461.0),
        (101, 51, 511_497.0),
        (101, 52, 262_296.0),
        (1000, 499, 92_534.0),
        (1000, 500, 92_409.0),
        (1000, 501, 92_487.0),
    ] {
        let seen = share(n, value);
        assert!(is_share(seen, per_million / 1e6), "{value} of {n}: {seen} of {DRAWS}");
    }
    let mut hits = vec![0; 20_001];
    for drawn in draws(1, 20_000, SPECIAL).take(DRAWS) {
        hits[drawn as usize] += 1;
    }
    // A hot value comes about a thousand times in 200,000 draws, any other about seven times at most.
    let hot: Vec<usize> = (1..=20_000).filter(|value| hits[*value] > 100).collect();
    assert_eq!((hot.len(), hot[0], hot[hot.len() - 1]), (152, 9_950, 10_101));
}

#[test]
fn both_ends_of_a_range_are_drawn_and_nothing_beyond() {
    for by in ALL {
        for low in [-2, 0, 7, i64::MIN, i64::MAX - 2] {
            let mut seen = [0; 3];
            for drawn in draws(low, low + 2, by).take(20_000) {
                seen[(drawn - low) as usize] += 1;
            }
            assert!(seen.iter().all(|n| *n > 0), "{by:?} from {low}: {seen:?}");
        }
    }
}

#[test]
fn a_range_of_one_has_one_value() {
    for by in ALL {
        for only in [-7, 0, i64::MIN, i64::MAX] {
            assert!(draws(only, only, by).take(100).all(|drawn| drawn == only));
        }
        assert!(draws(5, 3, by).take(100).all(|drawn| drawn == 5));
    }
}

#[test]
fn the_widest_range_is_drawn_from_on_both_sides_of_zero() {
    for by in ALL {
        let drawn: Vec<i64> = draws(i64::MIN, i64::MAX, by).take(10_000).collect();
        let above = drawn.iter().filter(|it| **it > 0).count();
        assert!((500..9_900).contains(&above), "{by:?}: {above}");
    }
    for by in ALL {
        assert!(
            draws(-5_000_000_000, -1, by).take(10_000).all(|it| (-5_000_000_000..0).contains(&it))
        );
    }
}

#[test]
fn the_first_draws_are_pinned() {
    // A change of these lines is a change of everybody's data. Zipf's and Pareto's go through the
    // machine's own logarithms.
    let first = |by| draws(1, 10_000_000_000, by).take(4).collect::<Vec<_>>();
    assert_eq!(
        first(Distribution::Uniform),
        [1_687_502_972, 4_024_044_928, 5_165_931_936, 6_625_990_738]
    );
    assert_eq!(
        first(Distribution::Gaussian { draws: 12 }),
        [4_771_660_367, 3_327_642_247, 4_317_992_308, 4_709_289_145]
    );
    assert_eq!(first(SPECIAL), [5_005_180_338, 5_024_694_931, 5_007_398_374, 5_000_295_174]);
}
