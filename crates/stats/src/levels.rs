//! How sure is sure enough.

/// The confidence of every interval that is shown or judged by.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The rest, in the same terms as the level of a test.
pub(crate) const LEVEL: f64 = 0.05;

/// Rounds below which no verdict is given: two agree by chance too easily.
pub(crate) const FEWEST_ROUNDS: u32 = 3;

/// Rounds below which nothing is said about less than what another start changes.
pub(crate) const FEWEST_STARTS: u32 = 4;
