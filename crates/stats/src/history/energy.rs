//! Where a stretch of values is best divided in two.

/// The place that divides `values` best, among those that `may_be` allows: the first of the right part.
///
/// The statistic is that of Matteson & James 2014, *A nonparametric approach for multiple change point
/// analysis of multivariate data*, J. Am. Stat. Assoc. 109(505), with exponent 1 and each value weighted:
/// W(l)·W(r) / (W(l) + W(r)) · (2·E|X − Y| − E|X − X'| − E|Y − Y'|). A weight of zero leaves a value out.
pub(super) fn best_split(
    values: &[f64],
    weights: &[f64],
    may_be: impl Fn(usize) -> bool,
) -> Option<usize> {
    let all: f64 = weights.iter().sum();
    // Sums of w·w'·|x − x'| over ordered pairs: within the left part, within the right one, between them.
    let (mut left, mut between) = (0.0, 0.0);
    let mut right: f64 =
        (0..values.len()).map(|place| reach(values, weights, place).1).sum::<f64>() * 2.0;
    let mut weight = 0.0;
    let mut best: Option<(usize, f64)> = None;
    for place in 1..values.len() {
        let (before, after) = reach(values, weights, place - 1);
        left += 2.0 * before;
        right -= 2.0 * after;
        between += after - before;
        weight += weights[place - 1];
        let rest = all - weight;
        if !(weight > 0.0 && rest > 0.0 && may_be(place)) {
            continue;
        }
        let distance =
            2.0 * between / (weight * rest) - left / (weight * weight) - right / (rest * rest);
        let statistic = weight * rest / all * distance;
        if best.is_none_or(|(_, most)| statistic > most) {
            best = Some((place, statistic));
        }
    }
    best.map(|(place, _)| place)
}

/// The weighted distances of one value to those before it, and to those after it.
fn reach(values: &[f64], weights: &[f64], place: usize) -> (f64, f64) {
    let sum = |range: std::ops::Range<usize>| -> f64 {
        let others = values[range.clone()].iter().zip(&weights[range]);
        let far: f64 = others.map(|(value, weight)| weight * (value - values[place]).abs()).sum();
        far * weights[place]
    };
    (sum(0..place), sum(place + 1..values.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Rng;

    /// The statistic by its definition.
    fn by_the_book(values: &[f64], weights: &[f64], place: usize) -> f64 {
        let mean = |a: std::ops::Range<usize>, b: std::ops::Range<usize>| {
            let (mut sum, mut weight) = (0.0, 0.0);
            for i in a {
                for j in b.clone() {
                    sum += weights[i] * weights[j] * (values[i] - values[j]).abs();
                    weight += weights[i] * weights[j];
                }
            }
            sum / weight
        };
        let n = values.len();
        let (l, r): (f64, f64) = (weights[..place].iter().sum(), weights[place..].iter().sum());
        let distance =
            2.0 * mean(0..place, place..n) - mean(0..place, 0..place) - mean(place..n, place..n);
        l * r / (l + r) * distance
    }

    #[test]
    fn the_running_sums_agree_with_the_definition() {
        let mut rng = Rng::new(5);
        for n in 2..20 {
            let values: Vec<f64> = (0..n).map(|_| rng.unit()).collect();
            let weights: Vec<f64> = (0..n).map(|_| 1.0 + rng.below(4) as f64).collect();
            let found = best_split(&values, &weights, |_| true).unwrap();
            let most = (1..n).map(|place| by_the_book(&values, &weights, place));
            let most = most.fold(f64::MIN, f64::max);
            assert!((by_the_book(&values, &weights, found) - most).abs() < 1e-9, "{n}");
        }
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let values = [1.0, 1.1, 1.0, 1.1, 2.0, 2.1, 2.0];
        assert_eq!(best_split(&values, &[1.0; 7], |_| true), Some(4));
        assert_eq!(best_split(&values, &[1.0; 7], |place| place < 3), Some(2));
        assert_eq!(best_split(&values, &[1.0; 7], |_| false), None);
        assert_eq!(best_split(&[1.0], &[1.0], |_| true), None);
        assert_eq!(best_split(&[], &[], |_| true), None);
    }
}
