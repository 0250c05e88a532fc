//! The arithmetic of the transactions, in whole cents and ten-thousandths.

use model::TpccProfile;

/// Stock that is left when so much is ordered. Less than ten left over, and ninety-one more are delivered:
/// it stays from 10 to 100.
pub(super) const fn left(quantity: i64, ordered: i64) -> i64 {
    if quantity >= ordered + 10 { quantity - ordered } else { quantity - ordered + 91 }
}

/// What an order costs besides its goods, in ten-thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) warehouse_tax: i64,
    pub(crate) district_tax: i64,
    pub(crate) discount: i64,
}

impl Terms {
    /// An amount with the taxes and without the discount, rounded to whole cents, half of one up.
    pub(super) const fn apply(&self, cents: i64) -> i64 {
        let taxed = cents * (ONE + self.warehouse_tax + self.district_tax);
        (taxed * (ONE - self.discount) + ONE * ONE / 2) / (ONE * ONE)
    }
}

/// 1 in ten-thousandths.
const ONE: i64 = 10_000;

/// The amount of a line. In the standard taxes and discount are of the whole order, and only shown.
pub(crate) const fn line(profile: TpccProfile, quantity: i64, price: i64, terms: &Terms) -> i64 {
    let cents = quantity * price;
    match profile {
        TpccProfile::Standard => cents,
        TpccProfile::Percona => terms.apply(cents),
    }
}

pub(super) fn is_original(data: &[u8]) -> bool {
    const MARK: u64 = u64::from_le_bytes(*b"ORIGINAL");
    data.windows(8).any(|window| {
        let letters = <[u8; 8]>::try_from(window).map_or(0, u64::from_le_bytes);
        letters == MARK
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stock_stays_from_10_to_100() {
        assert_eq!(left(20, 10), 10);
        assert_eq!(left(19, 10), 100);
        assert_eq!(left(10, 1), 100);
        assert_eq!(left(100, 1), 99);
        for quantity in 10..=100 {
            for ordered in 1..=10 {
                let left = left(quantity, ordered);
                assert!((10..=100).contains(&left), "{quantity} - {ordered}: {left}");
                assert_eq!((quantity - ordered - left).rem_euclid(91), 0);
            }
        }
    }

    #[test]
    fn taxes_and_discount_are_in_the_amount_of_a_line_in_one_profile_only() {
        let terms = Terms { warehouse_tax: 2_000, district_tax: 1_000, discount: 5_000 };
        // 3 * 1.01 * 1.3 * 0.5 = 1.9695
        assert_eq!(line(TpccProfile::Percona, 3, 101, &terms), 197);
        assert_eq!(line(TpccProfile::Standard, 3, 101, &terms), 303);
        // 0.01 * 1.0 * 0.5 = 0.005, rounded up
        let half = Terms { discount: 5_000, ..Terms::default() };
        assert_eq!(half.apply(1), 1);
        assert_eq!(Terms::default().apply(123), 123);
        // The most that there is: 10 * 100.00 * 1.4.
        let most = Terms { warehouse_tax: 2_000, district_tax: 2_000, discount: 0 };
        assert_eq!(line(TpccProfile::Percona, 10, 10_000, &most), 140_000);
    }

    #[test]
    fn originals_have_the_mark_anywhere() {
        for data in ["ORIGINAL", "abcORIGINAL", "ORIGINALxyz", "1ORIGINAL2", "OORIGINALL"] {
            assert!(is_original(data.as_bytes()), "{data}");
        }
        for data in ["", "ORIGINA", "original", "ORIGINLA", "RIGINALO"] {
            assert!(!is_original(data.as_bytes()), "{data}");
        }
    }
}
