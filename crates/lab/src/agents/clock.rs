//! The clock of another host against ours.

use model::Nanos;

/// Messages that ask for the time; the one that took least says most.
pub(super) const LOOKS: u32 = 16;

/// How well a clock must be known, because intervals of different hosts are added: 5 % of one.
pub(super) const CLOSE: Nanos = Nanos::from_millis(50);

/// What a clock says while ours says zero, and how far that may be off at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    ahead: i64,
    pub(super) off_by: Nanos,
}

impl Clock {
    /// It said `theirs` at some moment between our `asked` and `answered`.
    pub(super) const fn seen(asked: Nanos, theirs: Nanos, answered: Nanos) -> Self {
        let half = answered.saturating_sub(asked).0.div_ceil(2);
        Self { ahead: theirs.0.wrapping_sub(asked.0 + half).cast_signed(), off_by: Nanos(half) }
    }

    /// What it says when ours says `ours`.
    pub(super) const fn says_at(&self, ours: Nanos) -> Nanos {
        Nanos(ours.0.saturating_add_signed(self.ahead))
    }

    /// By how much it has moved against ours since an `earlier` look, at least.
    pub(super) const fn moved_since(&self, earlier: &Self) -> Nanos {
        let moved = Nanos(self.ahead.abs_diff(earlier.ahead));
        moved.saturating_sub(self.off_by).saturating_sub(earlier.off_by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_as_far_ahead_as_in_the_middle_of_the_question() {
        let ms = Nanos::from_millis;
        let ahead = Clock::seen(ms(1_000), ms(90_005), ms(1_010));
        assert_eq!((ahead.says_at(ms(1_100)), ahead.off_by), (ms(90_100), ms(5)));
        let behind = Clock::seen(ms(90_000), ms(1_001), ms(90_002));
        assert_eq!(behind.says_at(ms(90_500)), ms(1_500));
    }

    #[test]
    fn it_has_moved_by_what_no_look_explains() {
        let ms = Nanos::from_millis;
        let first = Clock::seen(ms(0), ms(100), ms(2));
        assert_eq!(Clock::seen(ms(10), ms(110), ms(12)).moved_since(&first), ms(0));
        assert_eq!(Clock::seen(ms(10), ms(190), ms(12)).moved_since(&first), ms(78));
        assert_eq!(first.moved_since(&Clock::seen(ms(10), ms(190), ms(12))), ms(78));
    }
}
