//! The prior of a variance, from a family of series.

use crate::moderate::{Family, Prior};

/// A variance and the degrees of freedom behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variance {
    pub(super) value: f64,
    /// Its degrees of freedom; above zero.
    pub(super) df: f64,
}

/// The variance that a series of a family has before it is looked at; `None` for small families.
pub(super) fn fit(seen: &[Variance]) -> Option<Prior> {
    Prior::fit(&Family {
        variances: seen.iter().map(|one| (one.value, one.df)).collect(),
        cells: seen.len() as u32,
        df: seen.iter().map(|one| one.df).sum(),
    })
}

impl Variance {
    /// The variance of a series, drawn towards that of its family.
    pub(super) fn moderated(self, prior: Option<Prior>) -> Self {
        let Some(prior) = prior else {
            return self;
        };
        let (value, added) = prior.moderate(self.value, self.df);
        Self { value, df: self.df + added }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_alone_keeps_its_variance_and_one_of_many_is_drawn_to_the_others() {
        let usual = Variance { value: 1.0, df: 3.0 };
        let wild = Variance { value: 9.0, ..usual };
        assert_eq!(wild.moderated(fit(&[wild; 3])), wild);
        let mut family = vec![usual; 20];
        family.push(wild);
        let drawn = wild.moderated(fit(&family));
        assert!(drawn.value < 5.0 && drawn.df > 3.0, "{drawn:?}");
    }
}
