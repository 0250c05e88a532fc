//! Which transaction comes next, and how long a terminal keys it in and thinks after it.

use model::{Nanos, Rng, TpccMix, TpccPace, TpccTransaction};

const CARDS: usize = 23;

/// How many cards of a deck each transaction has, in the order of [`TpccTransaction::ALL`].
const OF_EACH: [usize; 5] = [10, 10, 1, 1, 1];

/// Where a terminal gets its next transaction from.
#[derive(Clone, Debug)]
pub(super) enum Deck {
    /// Cards that are drawn one by one, and shuffled when none is left.
    Cards {
        cards: [TpccTransaction; CARDS],
        drawn: usize,
    },
    Weights([u32; 5]),
}

impl Deck {
    /// For a mix; cards are shuffled before the first is drawn.
    pub(super) fn new(mix: TpccMix) -> Self {
        match mix {
            TpccMix::Deck => Self::Cards { cards: cards(), drawn: CARDS },
            TpccMix::Weights(weights) => Self::Weights(weights),
        }
    }

    pub(super) fn draw(&mut self, rng: &mut Rng) -> TpccTransaction {
        match self {
            Self::Cards { cards, drawn } => {
                if *drawn == CARDS {
                    rng.shuffle(cards);
                    *drawn = 0;
                }
                *drawn += 1;
                cards[*drawn - 1]
            }
            Self::Weights(weights) => weighted(weights, rng),
        }
    }
}

fn cards() -> [TpccTransaction; CARDS] {
    let mut cards = [TpccTransaction::NewOrder; CARDS];
    let of_each = TpccTransaction::ALL.into_iter().zip(OF_EACH);
    let sorted = of_each.flat_map(|(transaction, count)| std::iter::repeat_n(transaction, count));
    for (card, transaction) in cards.iter_mut().zip(sorted) {
        *card = transaction;
    }
    cards
}

fn weighted(weights: &[u32; 5], rng: &mut Rng) -> TpccTransaction {
    let all: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
    let mut number = rng.below(all);
    for (transaction, weight) in TpccTransaction::ALL.into_iter().zip(weights) {
        let weight = u64::from(*weight);
        if number < weight {
            return transaction;
        }
        number -= weight;
    }
    // Only where all weights are zero.
    TpccTransaction::NewOrder
}

/// Seconds in which a transaction is keyed in, in the order of [`TpccTransaction::ALL`] (5.2.5.7).
const KEYING: [u64; 5] = [18, 3, 2, 2, 2];

/// Seconds of thinking after a transaction, in the mean.
const THINK: [u64; 5] = [12, 12, 10, 5, 5];

/// Nobody thinks longer than so many means.
const LONGEST: f64 = 10.0;

pub(super) fn keying(transaction: TpccTransaction, percent: u32) -> Nanos {
    share(Nanos::from_secs(KEYING[transaction as usize]), percent)
}

/// How long somebody thinks after a transaction: exponentially distributed, times this share.
pub(super) fn think(transaction: TpccTransaction, percent: u32, rng: &mut Rng) -> Nanos {
    let means = (-(1.0 - rng.unit()).ln()).min(LONGEST);
    let mean = Nanos::from_secs(THINK[transaction as usize]);
    share(Nanos((means * mean.0 as f64) as u64), percent)
}

/// A terminal's wait before its first transaction: part of its think and keying time, to spread terminals.
pub(super) fn first(pace: &TpccPace, transaction: TpccTransaction, rng: &mut Rng) -> Nanos {
    match pace {
        TpccPace::Wait { percent } => {
            let seconds = KEYING[transaction as usize] + THINK[transaction as usize];
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

    fn counts(drawn: &[TpccTransaction]) -> [usize; 5] {
        TpccTransaction::ALL.map(|one| drawn.iter().filter(|drawn| **drawn == one).count())
    }

    #[test]
    fn every_deck_holds_its_cards_exactly() {
        assert_eq!(OF_EACH.iter().sum::<usize>(), CARDS);
        let (mut deck, mut rng) = (Deck::new(TpccMix::Deck), Rng::new(1));
        let mut orders = Vec::new();
        for _ in 0..100 {
            let drawn = [(); CARDS].map(|()| deck.draw(&mut rng));
            assert_eq!(counts(&drawn), OF_EACH);
            orders.push(drawn);
        }
        assert!(orders.windows(2).all(|pair| pair[0] != pair[1]), "shuffled anew");
    }

    #[test]
    fn terminals_do_not_draw_the_same() {
        let drawn = |seed| {
            let (mut deck, mut rng) = (Deck::new(TpccMix::Deck), Rng::new(seed));
            [(); CARDS].map(|()| deck.draw(&mut rng))
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }

    #[test]
    fn weights_are_shares() {
        let mut deck = Deck::new(TpccMix::Weights([45, 43, 4, 4, 4]));
        let mut rng = Rng::new(1);
        let drawn: Vec<_> = (0..100_000).map(|_| deck.draw(&mut rng)).collect();
        for (count, weight) in counts(&drawn).into_iter().zip([45, 43, 4, 4, 4]) {
            let expected = weight * 1000;
            assert!(count.abs_diff(expected) < 1000, "{count} of {expected}");
        }
    }

    #[test]
    fn one_transaction_alone_is_possible() {
        let mut deck = Deck::new(TpccMix::Weights([0, 0, 0, 7, 0]));
        let mut rng = Rng::new(1);
        assert!((0..100).all(|_| deck.draw(&mut rng) == TpccTransaction::Delivery));
    }

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
            let expected = THINK[transaction as usize] as f64;
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
