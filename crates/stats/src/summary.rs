//! Summaries of slices, as reports print them. Each is `None` for an empty slice and where a
//! value is not finite, so that no summary hides a broken one.

/// The middle value; of an even number, the mean of the two middle ones.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = finite(values)?.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(sorted.len() / 2 - 1)?;
    Some(f64::midpoint(lower, upper))
}

pub fn mean(values: &[f64]) -> Option<f64> {
    let values = finite(values)?;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Some(mean).filter(|m| m.is_finite())
}

/// The n-th root of the product; `None` too where a value is not positive.
///
/// The only mean of ratios that does not depend on which side is the base: Fleming & Wallace
/// 1986, *How not to lie with statistics*, CACM 29(3).
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let values = finite(values)?;
    values.iter().all(|v| *v > 0.0).then(|| {
        let logs: f64 = values.iter().map(|v| v.ln()).sum();
        (logs / values.len() as f64).exp()
    })
}

pub fn min(values: &[f64]) -> Option<f64> {
    finite(values)?.iter().copied().reduce(f64::min)
}

pub fn max(values: &[f64]) -> Option<f64> {
    finite(values)?.iter().copied().reduce(f64::max)
}

fn finite(values: &[f64]) -> Option<&[f64]> {
    (!values.is_empty() && values.iter().all(|v| v.is_finite())).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn worked_by_hand() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert!((geometric_mean(&[1.0, 8.0, 27.0]).unwrap() - 6.0).abs() < 1e-12);
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(min(&[2.0, -1.0, 3.0]), Some(-1.0));
        assert_eq!(max(&[2.0, -1.0, 3.0]), Some(3.0));
    }

    #[test]
    fn nothing_and_nonsense_have_no_summary() {
        for summary in [median, mean, geometric_mean, min, max] {
            assert_eq!(summary(&[]), None);
            assert_eq!(summary(&[1.0, f64::NAN]), None);
            assert_eq!(summary(&[1.0, f64::INFINITY]), None);
        }
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(geometric_mean(&[1.0, -1.0]), None);
    }

    proptest! {
        #[test]
        fn every_mean_lies_between_the_extremes(values in prop::collection::vec(1e-3..1e6f64, 1..20)) {
            let (low, high) = (min(&values).unwrap(), max(&values).unwrap());
            for mean in [median(&values).unwrap(), mean(&values).unwrap(), geometric_mean(&values).unwrap()] {
                prop_assert!(low * (1.0 - 1e-12) <= mean && mean <= high * (1.0 + 1e-12));
            }
        }
    }
}
