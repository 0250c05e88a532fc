//! What is done with the rows of an answer: the readers of both protocols are compiled once for each, so that
//! rows that are only counted cost no call and no place to decode into.

use crate::Row;

/// Takes the rows of an answer.
pub(crate) trait Visit {
    /// Does it look at them? Otherwise they are only counted.
    const LOOKS: bool;

    /// A row; called only where it looks.
    fn show(&mut self, row: &dyn Row);
}

pub(crate) struct Each<'a>(pub(crate) &'a mut dyn FnMut(&dyn Row));

impl Visit for Each<'_> {
    const LOOKS: bool = true;

    #[inline]
    fn show(&mut self, row: &dyn Row) {
        (self.0)(row);
    }
}

pub(crate) struct Counted;

impl Visit for Counted {
    const LOOKS: bool = false;

    #[inline]
    fn show(&mut self, _: &dyn Row) {}
}
