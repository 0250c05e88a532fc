//! Which transaction comes next.

use model::{Rng, TpccMix, TpccTransaction};

/// Cards of a deck.
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
}
