//! Many tests at once.

/// False-discovery-rate adjusted p-values, in the order of `p_values`.
///
/// The step-up procedure of Benjamini & Hochberg 1995, *Controlling the false discovery rate*,
/// J. R. Statist. Soc. B 57(1): the hypotheses whose adjusted value is at most `q` are those that
/// the procedure rejects at level `q`. Adjusted values as in Yekutieli & Benjamini 1999: the i-th
/// smallest of m becomes min over j ≥ i of `m·p(j)/j`.
pub fn adjust(p_values: &[f64]) -> Vec<f64> {
    let tests = p_values.len() as f64;
    let mut ranked: Vec<(usize, f64)> = p_values.iter().copied().enumerate().collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut smallest = 1.0_f64;
    let mut adjusted: Vec<(usize, f64)> = Vec::with_capacity(ranked.len());
    for (rank, (place, p)) in ranked.into_iter().enumerate().rev() {
        smallest = smallest.min(tests * p / (rank + 1) as f64);
        adjusted.push((place, smallest));
    }
    adjusted.sort_unstable_by_key(|(place, _)| *place);
    adjusted.into_iter().map(|(_, q)| q).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The fifteen p-values of the paper's §4.1 (thrombolysis in myocardial infarction): at 0.05
    /// the procedure rejects the four smallest, where Bonferroni's rejects three.
    const PAPER: [f64; 15] = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
        0.5719, 0.6528, 0.7590, 1.0,
    ];

    #[test]
    fn rejects_what_the_paper_rejects() {
        let adjusted = adjust(&PAPER);
        assert_eq!(adjusted.iter().filter(|q| **q <= 0.05).count(), 4);
        let by_hand = [
            (0, 15.0 * 0.0001),
            (3, 15.0 * 0.0095 / 4.0),
            (5, 15.0 * 0.0298 / 7.0),
            (6, 15.0 * 0.0298 / 7.0),
            (7, 15.0 * 0.0344 / 8.0),
            (14, 1.0),
        ];
        for (place, expected) in by_hand {
            assert!((adjusted[place] - expected).abs() < 1e-12, "{place}");
        }
    }

    #[test]
    fn one_test_is_not_adjusted_and_none_is_none() {
        assert_eq!(adjust(&[0.03]), [0.03]);
        assert!(adjust(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn keeps_order_and_never_lowers(
            p_values in prop::collection::vec(0.0..=1.0f64, 1..30),
            turn in 0usize..30,
        ) {
            let adjusted = adjust(&p_values);
            for (i, p) in p_values.iter().enumerate() {
                prop_assert!(adjusted[i] >= *p - 1e-15 && adjusted[i] <= 1.0);
                for (j, other) in p_values.iter().enumerate() {
                    prop_assert!(p > other || adjusted[i] <= adjusted[j]);
                }
            }
            let mut turned = p_values.clone();
            turned.rotate_left(turn % p_values.len());
            let mut expected = adjusted;
            expected.rotate_left(turn % p_values.len());
            prop_assert_eq!(adjust(&turned), expected);
        }
    }
}
