use super::*;

/// How often each value comes among all pairs of draws, which are equally likely. For one second draw,
/// the first one leads to each number that has its bits and others among the lower ones, each as often as
/// the bits it has there can be missing in the first.
fn histogram(a: u32, low: u32, high: u32, c: u32) -> Vec<u64> {
    let range = (high - low + 1) as usize;
    let mut counts = vec![0; range];
    for upper in 0..=high / (a + 1) {
        let mut ways = vec![0_u64; a as usize + 1];
        for second in (low..=high).filter(|second| second / (a + 1) == upper) {
            let lower = second & a;
            ways[lower as usize] += 1 << lower.count_ones();
        }
        for bit in 0..a.count_ones() {
            for lower in (0..=a as usize).filter(|lower| (lower >> bit) & 1 == 1) {
                ways[lower] += ways[lower & !(1 << bit)];
            }
        }
        for (lower, ways) in (0_u32..).zip(ways) {
            let either = (upper * (a + 1)) | lower;
            counts[(either + c) as usize % range] += ways;
        }
    }
    counts
}

/// The standard's three: A, low, high.
const NAMES: (u32, u32, u32) = (OF_NAMES, 0, 999);
const CUSTOMERS: (u32, u32, u32) = (OF_CUSTOMERS, 1, 3000);
const ITEMS: (u32, u32, u32) = (OF_ITEMS, 1, 100_000);

#[test]
fn the_skew_is_that_of_the_standard() {
    // Top 1, 10, 20 and 50 % of the values in per cent of the draws; hottest and coldest over the mean.
    let published = [
        (NAMES, ["14.73", "54.23", "72.33", "92.58"], "25.63", "0.0039"),
        (CUSTOMERS, ["22.24", "61.32", "78.99", "94.86"], "57.67", "0.00098"),
        (ITEMS, ["30.46", "70.98", "84.44", "97.43"], "194.62", "0.00012"),
    ];
    for ((a, low, high), shares, hottest, coldest) in published {
        let mut counts = histogram(a, low, high, 77);
        counts.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        let all: u64 = counts.iter().sum();
        let range = counts.len();
        assert_eq!(all, (u64::from(a) + 1) * range as u64);
        let share = |percent: usize| {
            let top: u64 = counts[..range * percent / 100].iter().sum();
            format!("{:.2}", 100.0 * top as f64 / all as f64)
        };
        assert_eq!([1, 10, 20, 50].map(share), shares);
        let mean = all as f64 / range as f64;
        assert_eq!(format!("{:.2}", counts[0] as f64 / mean), hottest);
        let digits = coldest.len() - 2;
        let least = counts[range - 1] as f64 / mean;
        assert_eq!(format!("{least:.digits$}"), coldest);
    }
}

#[test]
fn draws_have_the_skew_of_their_constant() {
    // Of the values that are the top fifth with a constant, draws with it are as many as the standard
    // says; with a constant that is drawn anew each time they would be a fifth.
    for ((a, low, high), expected) in [(NAMES, 0.7233), (CUSTOMERS, 0.7899), (ITEMS, 0.8444)] {
        let c = a / 3;
        let counts = histogram(a, low, high, c);
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|value| std::cmp::Reverse(counts[*value]));
        let mut is_hot = vec![false; counts.len()];
        for value in &order[..counts.len() / 5] {
            is_hot[*value] = true;
        }
        let mut rng = Rng::new(u64::from(a));
        let draws = 100_000;
        let hot = (0..draws)
            .filter(|_| is_hot[(nurand(&mut rng, a, low, high, c) - low) as usize])
            .count();
        let share = hot as f64 / f64::from(draws);
        assert!((share - expected).abs() < 0.006, "{a}: {share}");
    }
}

#[test]
fn draws_stay_in_their_range() {
    let mut rng = Rng::new(1);
    for (low, high) in [(0, 0), (1, 1), (1, 7), (0, 999), (1, 3000)] {
        for _ in 0..2000 {
            let drawn = nurand(&mut rng, OF_ITEMS, low, high, OF_ITEMS);
            assert!((low..=high).contains(&drawn), "{drawn}");
        }
    }
    let mut seen = [false; 6];
    (0..200).for_each(|_| seen[between(&mut rng, 0, 5) as usize] = true);
    assert_eq!(seen, [true; 6]);
}

#[test]
fn last_names_are_the_published_ones() {
    let name = |number| {
        let mut out = String::new();
        last_name(number, &mut out);
        out
    };
    assert_eq!(name(371), "PRICALLYOUGHT");
    assert_eq!(name(40), "BARPRESBAR");
    assert_eq!(name(0), "BARBARBAR");
    assert_eq!(name(999), "EINGEINGEING");
    let all: std::collections::BTreeSet<String> = (0..1000).map(name).collect();
    assert_eq!(all.len(), 1000);
    assert!(all.iter().all(|name| name.len() <= 16));
}

#[test]
fn constants_of_load_and_run_differ_as_they_must() {
    let mut differences = std::collections::BTreeSet::new();
    for seed in 0..3000 {
        let load = Constants::of_load(seed);
        let run = Constants::of_run(seed, seed * 7 + 1);
        let difference = load.name.abs_diff(run.name);
        assert!(is_legal(difference), "{difference}");
        differences.insert(difference);
        for Constants { name, customer, item } in [load, run] {
            assert!(name <= OF_NAMES && customer <= OF_CUSTOMERS && item <= OF_ITEMS);
        }
    }
    assert_eq!(differences.len(), 119 - 65 + 1 - 2);
    assert_eq!((64..=120).filter(|d| is_legal(*d)).count(), differences.len());
    assert_eq!(Constants::of_run(5, 6), Constants::of_run(5, 6));
    assert_ne!(Constants::of_run(5, 6), Constants::of_run(5, 7));
    assert_ne!(Constants::of_load(5), Constants::of_load(6));
}

fn many(mut make: impl FnMut(&mut Rng, &mut String)) -> Vec<String> {
    let mut rng = Rng::new(11);
    let text = |_| {
        let mut out = String::new();
        make(&mut rng, &mut out);
        out
    };
    (0..20_000).map(text).collect()
}

#[test]
fn texts_have_all_lengths_and_characters() {
    let texts = many(|rng, out| letters(rng, 14, 24, out));
    let lengths: std::collections::BTreeSet<usize> = texts.iter().map(String::len).collect();
    assert_eq!(lengths, (14..=24).collect());
    let mut counts = std::collections::BTreeMap::new();
    for character in texts.iter().flat_map(|text| text.chars()) {
        assert!(character.is_ascii_alphanumeric());
        *counts.entry(character).or_insert(0_u32) += 1;
    }
    assert_eq!(counts.len(), 62);
    let all: u32 = counts.values().sum();
    let mean = f64::from(all) / 62.0;
    assert!(counts.values().all(|n| (f64::from(*n) / mean - 1.0).abs() < 0.1));
    let long = many(|rng, out| letters(rng, 300, 500, out));
    assert!(long.iter().all(|text| (300..=500).contains(&text.len())));
    assert_eq!(many(|rng, out| letters(rng, 24, 24, out))[7].len(), 24);
}

#[test]
fn zips_and_states_have_their_shape() {
    for text in many(zip) {
        assert!(text.len() == 9 && text.ends_with("11111"), "{text}");
        assert!(text.bytes().all(|byte| byte.is_ascii_digit()), "{text}");
    }
    let zips: std::collections::BTreeSet<String> = many(zip).into_iter().collect();
    assert!(zips.len() > 8000, "all 10,000 are possible");
    for text in many(state) {
        assert!(text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase()));
    }
}

#[test]
fn one_in_ten_is_marked_anywhere() {
    let texts = many(data);
    assert!(texts.iter().all(|text| (26..=50).contains(&text.len())));
    let places: Vec<usize> = texts.iter().filter_map(|text| text.find(ORIGINAL)).collect();
    assert!((1850..2150).contains(&places.len()), "{}", places.len());
    // From the beginning of a text to its end, which is at most at 50.
    let distinct: std::collections::BTreeSet<usize> = places.into_iter().collect();
    assert_eq!(distinct.first(), Some(&0));
    assert!(distinct.last().is_some_and(|last| (38..=42).contains(last)));
    // Texts before it stay as they are.
    let mut rng = Rng::new(3);
    let mut out = "'".repeat(60);
    (0..100).for_each(|_| data(&mut rng, &mut out));
    assert!(out.starts_with(&"'".repeat(60)) && !out[60..].contains('\''));
}
