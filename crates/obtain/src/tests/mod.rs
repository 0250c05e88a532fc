//! What unit tests stand on.

pub(crate) mod archives;
pub(crate) mod stand_in;
