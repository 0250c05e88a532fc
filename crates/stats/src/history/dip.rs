//! A stretch that comes and goes, which no single border shows.

/// The stretch within `values` that differs most from its surroundings: its first place, and the one
/// after its last. Neither end is an end of `values`. With it, how many stretches there could be.
///
/// Levels on both sides of it are taken for one, so that a short dip in a long series stands out where
/// either border alone hardly moves a mean (Olshen et al. 2004, *Circular binary segmentation for the
/// analysis of array-based DNA copy number data*, Biostatistics 5(4)). A weight of zero leaves a value out.
pub(super) fn most_unlike(
    values: &[f64],
    weights: &[f64],
    may_be: impl Fn(usize) -> bool,
) -> Option<((usize, usize), usize)> {
    let sums = running(values.iter().zip(weights).map(|(value, weight)| value * weight));
    let counts = running(weights.iter().copied());
    let (all, sum) = (*counts.last()?, *sums.last()?);
    let places: Vec<usize> = (1..values.len()).filter(|place| may_be(*place)).collect();
    let mut best: Option<((usize, usize), f64)> = None;
    for (number, from) in places.iter().enumerate() {
        for to in &places[number + 1..] {
            let inside = counts[*to] - counts[*from];
            let around = all - inside;
            // How far the sum inside is from its share of all, in standard errors but for a factor.
            let off = (sums[*to] - sums[*from]) - sum * inside / all;
            let far = off * off / (inside * around);
            if far > best.map_or(0.0, |(_, most)| most) {
                best = Some(((*from, *to), far));
            }
        }
    }
    let stretches = places.len() * places.len().saturating_sub(1) / 2;
    best.map(|(stretch, _)| (stretch, stretches))
}

/// The sums of the first none, one, two … of these.
fn running(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let sums = values.scan(0.0, |sum, value| {
        *sum += value;
        Some(*sum)
    });
    std::iter::once(0.0).chain(sums).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dip_is_found_and_its_ends_are_where_they_may_be() {
        let mut values = [1.0; 12];
        values[5..7].fill(0.5);
        let found = |may_be: &dyn Fn(usize) -> bool| most_unlike(&values, &[1.0; 12], may_be);
        assert_eq!(found(&|_| true), Some(((5, 7), 55)));
        assert_eq!(found(&|place| place != 7), Some(((5, 8), 45)));
        assert_eq!(found(&|place| place == 7), None);
        assert_eq!(most_unlike(&[1.0; 12], &[1.0; 12], |_| true), None);
        assert_eq!(most_unlike(&[], &[], |_| true), None);
        assert_eq!(most_unlike(&values, &[0.0; 12], |_| true), None);
    }
}
