//! Evidence of a family's other series about the place of a change.

/// How many series of a family change at each build.
pub(super) struct Crowd {
    series: usize,
    changed: Vec<usize>,
}

impl Crowd {
    pub(super) fn of<'a>(family: impl Iterator<Item = &'a Vec<usize>>) -> Self {
        let (mut series, mut changed) = (0, Vec::new());
        for borders in family {
            series += 1;
            for border in borders {
                if changed.len() <= *border {
                    changed.resize(border + 1, 0);
                }
                changed[*border] += 1;
            }
        }
        Self { series, changed }
    }

    /// For each build the odds against a change there, as the series other than the one with
    /// these borders have it: those without over those with one.
    ///
    /// It begins with one change in a series, wherever, so that a family without any is no evidence
    /// against one. Weighing p-values by other data keeps the rate of false
    /// discoveries (Genovese, Roeder & Wasserman 2006, *False discovery control with p-value weighting*,
    /// Biometrika 93(3)).
    pub(super) fn odds(&self, own: &[usize], builds: usize) -> Vec<f64> {
        let places = builds.saturating_sub(1) as f64;
        let at = |place: usize| {
            let all = self.changed.get(place).copied().unwrap_or(0);
            let with = all - usize::from(own.contains(&place));
            (self.series.saturating_sub(1 + with) as f64 + places) / (with as f64 + 1.0)
        };
        (0..builds).map(at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_that_change_there_lower_the_odds_and_others_that_do_not_never_raise_the_price() {
        let family = [vec![1], vec![1, 3], vec![1], vec![], vec![]];
        let crowd = Crowd::of(family.iter());
        // Four others: two of them with the second one's border at 1, none with its border at 3.
        let odds = crowd.odds(&family[1], 5);
        assert_eq!(odds, [8.0, 6.0 / 3.0, 8.0, 8.0, 8.0]);
        assert_eq!(crowd.odds(&family[3], 5)[..2], [8.0, 5.0 / 4.0]);
        let alone = Crowd::of([vec![2]].iter());
        assert_eq!(alone.odds(&[2], 5), [4.0; 5]);
        assert!(Crowd::of([].iter()).odds(&[], 0).is_empty());
    }
}
