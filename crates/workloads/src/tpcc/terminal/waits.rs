//! Keying and think times.

use model::{Nanos, Rng, TpccPace, TpccTransaction};

use super::kind;

/// Seconds in which a transaction is keyed in, in the order of [`TpccTransaction::ALL`] (5.2.5.7).
const KEYING: [u64; 5] = [18, 3, 2, 2, 2];

/// Seconds of thinking after a transaction, in the mean.
const THINK: [u64; 5] = [12, 12, 10, 5, 5];

/// Nobody thinks longer than so many means.
const LONGEST: f64 = 10.0;

pub(super) fn keying(transaction: TpccTransaction, percent: u32) -> Nanos {
    share(Nanos::from_secs(KEYING[kind(transaction)]), percent)
}

/// How long somebody thinks after a transaction: exponentially distributed, times this share.
pub(super) fn think(transaction: TpccTransaction, percent: u32, rng: &mut Rng) -> Nanos {
    let means = (-(1.0 - rng.unit()).ln()).min(LONGEST);
    let mean = Nanos::from_secs(THINK[kind(transaction)]);
    share(Nanos((means * mean.0 as f64) as u64), percent)
}

/// How long a terminal waits before its first transaction: some of what it takes to think and to key it in,
/// so that terminals do not begin all together.
pub(super) fn first(pace: &TpccPace, transaction: TpccTransaction, rng: &mut Rng) -> Nanos {
    match pace {
        TpccPace::Wait { percent } => {
            let seconds = KEYING[kind(transaction)] + THINK[kind(transaction)];
            let longest = Nanos::from_secs(seconds);
            share(Nanos(rng.below(longest.0)), *percent)
        }
        TpccPace::NoWait | TpccPace::Rate { .. } | TpccPace::Ramp { .. } => Nanos(0),
    }
}

fn share(time: Nanos, percent: u32) -> Nanos {
    Nanos(time.0 * u64::from(percent) / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_cycle_of_a_deck_is_that_of_the_standard() {
        let of_deck = [10.0, 10.0, 1.0, 1.0, 1.0];
        let mut rng = Rng::new(1);
        let mut cycle = 0.0;
        for (transaction, cards) in TpccTransaction::ALL.into_iter().zip(of_deck) {
            let times = 20_000;
            let thought: f64 =
                (0..times).map(|_| think(transaction, 100, &mut rng).as_secs_f64()).sum();
            let mean = thought / f64::from(times);
            let expected = THINK[kind(transaction)] as f64;
            assert!((mean / expected - 1.0).abs() < 0.05, "{mean} of {expected}");
            cycle += cards / 23.0 * (expected + keying(transaction, 100).as_secs_f64());
        }
        assert!((cycle - 20.7).abs() < 0.01, "{cycle}");
    }

    #[test]
    fn a_share_scales_all_times() {
        assert_eq!(keying(TpccTransaction::NewOrder, 100), Nanos::from_secs(18));
        assert_eq!(keying(TpccTransaction::NewOrder, 1), Nanos::from_millis(180));
        let thought = |percent| think(TpccTransaction::Payment, percent, &mut Rng::new(5));
        assert_eq!(thought(10).0, thought(100).0 / 10);
        let longest = Nanos::from_secs(120);
        let mut rng = Rng::new(2);
        assert!((0..200_000).all(|_| think(TpccTransaction::Payment, 100, &mut rng) <= longest));
    }

    #[test]
    fn terminals_do_not_begin_together() {
        let pace = TpccPace::Wait { percent: 100 };
        let mut rng = Rng::new(1);
        let firsts = [(); 100].map(|()| first(&pace, TpccTransaction::Delivery, &mut rng));
        assert!(firsts.iter().all(|first| *first < Nanos::from_secs(7)));
        assert!(firsts.iter().any(|first| *first > Nanos::from_secs(6)));
        assert!(firsts.iter().any(|first| *first < Nanos::from_secs(1)));
        let none = first(&TpccPace::NoWait, TpccTransaction::Payment, &mut rng);
        assert_eq!(none, Nanos(0));
    }
}
